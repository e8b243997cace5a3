//! Operations of DynamoDB's API, and whether the server supports each.
//!
//! Operations are executed in `dispatch`.

/// Defines [`Operation`], from the name, the service and the support of each operation.
macro_rules! operations {
    ($($name:ident => $service:ident, $support:expr;)+) => {
        /// Operation of DynamoDB's API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Operation {
            $(
                #[doc = concat!("The operation `", stringify!($name), "`.")]
                $name,
            )+
        }

        impl Operation {
            /// All operations of both services, in alphabetical order.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Name of the operation in DynamoDB's API, such as `GetItem`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            /// Service that the operation belongs to.
            pub(crate) fn service(self) -> Service {
                match self {
                    $(Self::$name => Service::$service,)+
                }
            }

            /// Support of the server for the operation.
            pub(crate) fn support(self) -> Support {
                use Support::*;
                match self {
                    $(Self::$name => $support,)+
                }
            }

            fn in_service(service: Service, name: &str) -> Option<Self> {
                match (service, name) {
                    $((Service::$service, stringify!($name)) => Some(Self::$name),)+
                    _ => None,
                }
            }
        }
    };
}

/// One of DynamoDB's two services, which share an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Tables,
    Streams,
}

impl Service {
    const ALL: [Self; 2] = [Self::Tables, Self::Streams];

    /// Prefix of the operation in the header `X-Amz-Target`, without the dot.
    pub(crate) fn target(self) -> &'static str {
        match self {
            Self::Tables => "DynamoDB_20120810",
            Self::Streams => "DynamoDBStreams_20120810",
        }
    }
}

/// Support of the server for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    /// The server executes it.
    Supported,
    /// The server refuses it, for this reason. The text names an alternative if there is one.
    Refused(&'static str),
}

const PARTIQL: Support =
    Support::Refused("PartiQL is not supported yet; use the operations on items");
const BACKUPS: Support =
    Support::Refused("backups are not supported over this protocol; copy the file of the store");
const GLOBAL: Support = Support::Refused("global tables need multiple AWS Regions");
const INSIGHTS: Support = Support::Refused("contributor insights need CloudWatch");
const KINESIS: Support = Support::Refused("Kinesis is an AWS service; read the table's stream");
const S3: Support = Support::Refused("exports and imports need S3 buckets");
const POLICIES: Support = Support::Refused("resource policies need AWS accounts");
const BULK: Support = Support::Refused("bulk operations read from S3 buckets; use BatchWriteItem");
const VECTORS: Support = Support::Refused("vector indexes are not supported");
const SCALING: Support = Support::Refused("auto scaling is an AWS service");

operations! {
    BatchExecuteStatement => Tables, PARTIQL;
    BatchGetItem => Tables, Supported;
    BatchWriteItem => Tables, Supported;
    CancelBulkOperation => Tables, BULK;
    CreateBackup => Tables, BACKUPS;
    CreateGlobalTable => Tables, GLOBAL;
    CreateTable => Tables, Supported;
    DeleteBackup => Tables, BACKUPS;
    DeleteItem => Tables, Supported;
    DeleteResourcePolicy => Tables, POLICIES;
    DeleteTable => Tables, Supported;
    DescribeBackup => Tables, BACKUPS;
    DescribeBulkOperation => Tables, BULK;
    DescribeContinuousBackups => Tables, Supported;
    DescribeContributorInsights => Tables, INSIGHTS;
    DescribeEndpoints => Tables, Supported;
    DescribeExport => Tables, S3;
    DescribeGlobalTable => Tables, GLOBAL;
    DescribeGlobalTableSettings => Tables, GLOBAL;
    DescribeImport => Tables, S3;
    DescribeKinesisStreamingDestination => Tables, KINESIS;
    DescribeLimits => Tables, Supported;
    DescribeStream => Streams, Supported;
    DescribeTable => Tables, Supported;
    DescribeTableReplicaAutoScaling => Tables, SCALING;
    DescribeTimeToLive => Tables, Supported;
    DisableKinesisStreamingDestination => Tables, KINESIS;
    EnableKinesisStreamingDestination => Tables, KINESIS;
    ExecuteStatement => Tables, PARTIQL;
    ExecuteTransaction => Tables, PARTIQL;
    ExportTableToPointInTime => Tables, S3;
    GetItem => Tables, Supported;
    GetRecords => Streams, Supported;
    GetResourcePolicy => Tables, POLICIES;
    GetShardIterator => Streams, Supported;
    ImportTable => Tables, S3;
    ListBackups => Tables, BACKUPS;
    ListBulkOperations => Tables, BULK;
    ListContributorInsights => Tables, INSIGHTS;
    ListExports => Tables, S3;
    ListGlobalTables => Tables, GLOBAL;
    ListImports => Tables, S3;
    ListStreams => Streams, Supported;
    ListTables => Tables, Supported;
    ListTagsOfResource => Tables, Supported;
    PutItem => Tables, Supported;
    PutResourcePolicy => Tables, POLICIES;
    Query => Tables, Supported;
    RestoreTableFromBackup => Tables, BACKUPS;
    RestoreTableToPointInTime => Tables, BACKUPS;
    Scan => Tables, Supported;
    SearchVectors => Tables, VECTORS;
    StartBulkPutItems => Tables, BULK;
    TagResource => Tables, Supported;
    TransactGetItems => Tables, Supported;
    TransactWriteItems => Tables, Supported;
    UntagResource => Tables, Supported;
    UpdateContinuousBackups => Tables, Supported;
    UpdateContributorInsights => Tables, INSIGHTS;
    UpdateGlobalTable => Tables, GLOBAL;
    UpdateGlobalTableSettings => Tables, GLOBAL;
    UpdateItem => Tables, Supported;
    UpdateKinesisStreamingDestination => Tables, KINESIS;
    UpdateTable => Tables, Supported;
    UpdateTableReplicaAutoScaling => Tables, SCALING;
    UpdateTimeToLive => Tables, Supported;
}

impl Operation {
    /// Whether the operation reads or writes items. Operations on tables and streams are rare.
    pub(crate) fn is_on_items(self) -> bool {
        matches!(
            self,
            Self::BatchGetItem
                | Self::BatchWriteItem
                | Self::DeleteItem
                | Self::GetItem
                | Self::PutItem
                | Self::Query
                | Self::Scan
                | Self::TransactGetItems
                | Self::TransactWriteItems
                | Self::UpdateItem
        )
    }

    /// Parses the value of the header `X-Amz-Target`. Returns `None` for an unknown operation.
    pub fn from_target(target: &str) -> Option<Self> {
        let (service, name) = target.split_once('.')?;
        let service = Service::ALL.into_iter().find(|known| known.target() == service)?;
        Self::in_service(service, name)
    }

    /// Value of the header `X-Amz-Target` for the operation, such as `DynamoDB_20120810.GetItem`.
    pub fn target(self) -> String {
        format!("{}.{}", self.service().target(), self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_lists_every_operation_with_its_support() {
        let documented = include_str!("../../docs/wire.md");
        for operation in Operation::ALL {
            let name = operation.as_str();
            let row = match operation.support() {
                Support::Supported => format!("\n| {name} | supported | "),
                Support::Refused(why) => format!("\n| {name} | refused | {why} |"),
            };
            assert!(documented.contains(&row), "{row}");
        }
    }

    #[test]
    fn target_is_parsed_only_in_its_exact_form() {
        for operation in Operation::ALL {
            assert_eq!(Operation::from_target(&operation.target()), Some(*operation));
        }
        for target in [
            "",
            "GetItem",
            "DynamoDB_20120810",
            "DynamoDB_20120810.",
            "DynamoDB_20120810.getItem",
            "DynamoDB_20111205.GetItem",
            "DynamoDB_20120810.GetRecords",
            "DynamoDBStreams_20120810.GetItem",
        ] {
            assert_eq!(Operation::from_target(target), None, "{target}");
        }
    }
}
