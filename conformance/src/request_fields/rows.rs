//! Rows of the request fields, each with the case that fails if a store ignores the field.
//!
//! ```text
//! group! {
//!     KeysAndAttributes in BatchGetItem, by batch_reads;
//!     projection => "batch-get-projection";
//!     some_field = Kind::Usual => "some-case";
//!     other_field => none "Why no case can observe that a store ignores it.";
//! }
//! ```
//!
//! `in` and `by` are for parts of a request: the request, and the function of
//! [`parts`](super::parts) that reaches them. A lost field has its default value, or the value
//! after `=`. `sample` is a value of the type, for types without a default. The reason after `none`
//! is rare: most fields show in a response, in what is stored, or in a request that must be
//! refused.

use tabla_core::KeyType;
use tabla_core::ops::*;

use super::parts::*;
use super::{Group, Loss, Proof, Row};

macro_rules! group {
    (@default) => {
        Default::default()
    };
    (@default $value:expr) => {
        $value
    };
    (@sample $part:ident) => {
        $part::default()
    };
    (@sample $part:ident $sample:expr) => {
        $sample
    };
    (@proof $case:literal) => {
        Proof::Case($case)
    };
    (@proof none $reason:literal) => {
        Proof::None($reason)
    };
    (
        $request:ident $(, sample: $sample:expr)?;
        $($rows:tt)+
    ) => {
        group! { $request in $request, by whole $(, sample: $sample)?; $($rows)+ }
    };
    (
        $part:ident in $request:ident, by $parts:ident $(, sample: $sample:expr)?;
        $($field:ident $(= $value:expr)? => $($none:ident)? $proof:literal;)+
    ) => {
        Group {
            request: stringify!($request),
            part: stringify!($part),
            reach: stringify!($parts),
            sample: format!("{:#?}", group!(@sample $part $($sample)?)),
            rows: vec![$(Row {
                field: stringify!($field),
                proof: group!(@proof $($none)? $proof),
                loss: Loss(|request| {
                    if let Some(request) = request.downcast_mut::<$request>() {
                        let parts: Vec<&mut $part> = $parts(request);
                        for part in parts {
                            part.$field = group!(@default $($value)?);
                        }
                    }
                }),
            }),+],
        }
    };
}

/// Rows of all requests, in the order of the operations of `Store`.
pub(super) fn groups() -> Vec<Group> {
    vec![
        group! {
            GetItem;
            table => "delete-table";
            key => "58b";
            projection => "22d";
            names => "projection-names";
            consistent_read => "58b";
            return_consumed_capacity => "58a";
        },
        group! {
            PutItem;
            table => "1a";
            item => "1a";
            condition => "condition-on-every-write";
            names => "condition-on-every-write";
            values => "31c";
            return_values => "29a";
            return_values_on_condition_check_failure => "30a";
            return_consumed_capacity => "write-costs-at-1024-bytes";
            return_item_collection_metrics => "60a";
        },
        group! {
            UpdateItem;
            table => "27a";
            key => "27a";
            update => "26b";
            condition => "condition-on-every-write";
            names => "update-dotted-name";
            values => "31c";
            return_values => "29e";
            return_values_on_condition_check_failure => "30b";
            return_consumed_capacity => "58g";
            return_item_collection_metrics => "60a";
        },
        group! {
            DeleteItem;
            table => "33a";
            key => "33a";
            condition => "condition-on-every-write";
            names => "condition-on-every-write";
            values => "31c";
            return_values => "29b";
            return_values_on_condition_check_failure => "30c";
            return_consumed_capacity => "delete-costs";
            return_item_collection_metrics => "60a";
        },
        group! {
            Query;
            table => "query-missing-table";
            index => "index-query-costs";
            key_condition => "ranges-of-table";
            filter => "44c";
            projection => "projection-in-every-read";
            names => "key-condition-placeholders";
            values => "28a";
            select => "50b";
            limit => "limit-zero";
            scan_index_forward = true => "52a";
            consistent_read => "48a";
            exclusive_start_key => "page-of-count";
            return_consumed_capacity => "empty-query-costs";
        },
        group! {
            Scan;
            table => "51f";
            index => "scan-sparse-index";
            filter => "filter-invalid-on-every-read";
            projection => "projection-in-every-read";
            names => "projection-in-every-read";
            values => "filter-invalid-on-every-read";
            select => "50b";
            limit => "limit-zero";
            segment => "51d";
            total_segments => "51d";
            consistent_read => "48b";
            exclusive_start_key => "51f";
            return_consumed_capacity => "empty-query-costs";
        },
        group! {
            BatchGetItem;
            requests => "35g";
            return_consumed_capacity => "batch-get-costs";
        },
        group! {
            KeysAndAttributes in BatchGetItem, by batch_reads;
            keys => "35g";
            projection => "batch-get-projection";
            names => "batch-get-projection";
            consistent_read => "batch-get-consistent-costs";
        },
        group! {
            BatchWriteItem;
            requests => "35a";
            return_consumed_capacity => "batch-write-costs";
            return_item_collection_metrics => "metrics-of-batches-and-transactions";
        },
        group! {
            TransactGetItems;
            items => "transact-get-in-order";
            return_consumed_capacity => "transact-get-costs";
        },
        group! {
            GetItem in TransactGetItems, by transaction_gets;
            table => "transact-get-in-order";
            key => "transact-get-in-order";
            projection => "transact-get-projected";
            names => "transact-get-projected";
            consistent_read => none
                "a transactional read is always consistent: DynamoDB's `Get` has no such field.";
            return_consumed_capacity => none
                "a transaction accounts for all its reads as one: DynamoDB's `Get` has no such field.";
        },
        group! {
            TransactWriteItems;
            items => "transaction-of-every-operation";
            client_request_token => "40b";
            return_consumed_capacity => "42a";
            return_item_collection_metrics => "transaction-metrics-by-table";
        },
        group! {
            PutItem in TransactWriteItems, by transaction_puts;
            table => "transaction-placeholders";
            item => "transaction-placeholders";
            condition => "30d";
            names => "transaction-placeholders";
            values => "transaction-placeholders";
            return_values => "transaction-operation-returns-nothing";
            return_values_on_condition_check_failure => "30d";
            return_consumed_capacity => "transaction-operation-returns-nothing";
            return_item_collection_metrics => "transaction-operation-returns-nothing";
        },
        group! {
            UpdateItem in TransactWriteItems, by transaction_updates;
            table => "transaction-placeholders";
            key => "transaction-placeholders";
            update => "transaction-placeholders";
            condition => "30d";
            names => "transaction-placeholders";
            values => "transaction-placeholders";
            return_values => "transaction-operation-returns-nothing";
            return_values_on_condition_check_failure => "30d";
            return_consumed_capacity => "transaction-operation-returns-nothing";
            return_item_collection_metrics => "transaction-operation-returns-nothing";
        },
        group! {
            DeleteItem in TransactWriteItems, by transaction_deletes;
            table => "transaction-placeholders";
            key => "transaction-placeholders";
            condition => "30d";
            names => "transaction-placeholders";
            values => "transaction-placeholders";
            return_values => "transaction-operation-returns-nothing";
            return_values_on_condition_check_failure => "30d";
            return_consumed_capacity => "transaction-operation-returns-nothing";
            return_item_collection_metrics => "transaction-operation-returns-nothing";
        },
        group! {
            ConditionCheck in TransactWriteItems, by transaction_checks;
            table => "transaction-placeholders";
            key => "transaction-placeholders";
            condition => "30d";
            names => "transaction-placeholders";
            values => "transaction-placeholders";
            return_values_on_condition_check_failure => "30d";
        },
        group! {
            CreateTable;
            table => "53a";
            attribute_definitions => "53a";
            key_schema => "53a";
            global_secondary_indexes => "53a";
            local_secondary_indexes => "53a";
            billing_mode => "billing-pay-per-request";
            provisioned_throughput => "billing-provisioned";
            stream => "53a";
            sse => "encryption-settings";
            deletion_protection => "53h";
            table_class => "table-class";
            tags => "tags-change";
        },
        group! {
            AttributeDefinition in CreateTable, by new_attributes, sample: AttributeDefinition::new("", KeyType::S);
            name => "53a";
            kind = KeyType::S => "53a";
        },
        group! {
            KeySchemaElement in CreateTable, by new_keys, sample: KeySchemaElement::new("", KeyRole::Partition);
            name => "53a";
            role = KeyRole::Partition => "53a";
        },
        group! {
            SecondaryIndex in CreateTable, by new_global_indexes, sample: SecondaryIndex::new("");
            name => "53a";
            key_schema => "53a";
            projection = IndexProjection::all() => "53a";
            provisioned_throughput => "billing-provisioned";
        },
        group! {
            SecondaryIndex in CreateTable, by new_local_indexes, sample: SecondaryIndex::new("");
            name => "53a";
            key_schema => "53a";
            projection = IndexProjection::all() => "53a";
            provisioned_throughput => none
                "a local index uses the throughput of its table: DynamoDB's `LocalSecondaryIndex` has no such field.";
        },
        group! {
            KeySchemaElement in CreateTable, by new_index_keys, sample: KeySchemaElement::new("", KeyRole::Partition);
            name => "53a";
            role = KeyRole::Partition => "53a";
        },
        group! {
            IndexProjection in CreateTable, by new_projections, sample: IndexProjection::all();
            kind = ProjectionType::All => "53a";
            non_key_attributes => "53a";
        },
        group! {
            ProvisionedThroughput in CreateTable, by new_throughput;
            read_capacity_units => "billing-provisioned";
            write_capacity_units => "billing-provisioned";
        },
        group! {
            ProvisionedThroughput in CreateTable, by new_index_throughput;
            read_capacity_units => "billing-provisioned";
            write_capacity_units => "billing-provisioned";
        },
        group! {
            StreamSpecification in CreateTable, by new_stream;
            enabled => "53a";
            view_type => "53a";
        },
        group! {
            SseSpecification in CreateTable, by new_sse;
            enabled => "encryption-settings";
            sse_type => "encryption-settings";
            kms_master_key_id => "encryption-settings-conflict";
        },
        group! {
            DescribeTable;
            table => "53a";
        },
        group! {
            UpdateTable;
            table => "54b";
            attribute_definitions => "54b";
            index_updates => "54b";
            billing_mode => "billing-changes";
            provisioned_throughput => "billing-changes";
            stream => "stream-reenabled";
            sse => "encryption-settings-conflict";
            deletion_protection => "deletion-protection-can-be-changed";
            table_class => "table-class";
        },
        group! {
            AttributeDefinition in UpdateTable, by added_attributes, sample: AttributeDefinition::new("", KeyType::S);
            name => "54b";
            kind = KeyType::S => "54b";
        },
        group! {
            SecondaryIndex in UpdateTable, by added_indexes, sample: SecondaryIndex::new("");
            name => "54b";
            key_schema => "54b";
            projection = IndexProjection::all() => "added-index-projection";
            provisioned_throughput => "added-index-throughput";
        },
        group! {
            KeySchemaElement in UpdateTable, by added_index_keys, sample: KeySchemaElement::new("", KeyRole::Partition);
            name => "54b";
            role = KeyRole::Partition => "54b";
        },
        group! {
            IndexProjection in UpdateTable, by added_projections, sample: IndexProjection::all();
            kind = ProjectionType::All => "added-index-projection";
            non_key_attributes => "added-index-projection";
        },
        group! {
            ProvisionedThroughput in UpdateTable, by changed_throughput;
            read_capacity_units => "billing-changes";
            write_capacity_units => "billing-changes";
        },
        group! {
            ProvisionedThroughput in UpdateTable, by added_index_throughput;
            read_capacity_units => "added-index-throughput";
            write_capacity_units => "added-index-throughput";
        },
        group! {
            ProvisionedThroughput in UpdateTable, by changed_index_throughput;
            read_capacity_units => "billing-changes-indexes";
            write_capacity_units => "billing-changes-indexes";
        },
        group! {
            StreamSpecification in UpdateTable, by changed_stream;
            enabled => "stream-reenabled";
            view_type => "stream-reenabled";
        },
        group! {
            SseSpecification in UpdateTable, by changed_sse;
            enabled => "encryption-settings-conflict";
            sse_type => "encryption-settings-conflict";
            kms_master_key_id => "encryption-settings-conflict";
        },
        group! {
            DeleteTable;
            table => "delete-table";
        },
        group! {
            ListTables;
            exclusive_start_table_name => "list-tables";
            limit => "list-tables-limit";
        },
        group! {
            UpdateTimeToLive;
            table => "ttl-described";
            attribute => "ttl-described";
            enabled => "ttl-described";
        },
        group! {
            DescribeTimeToLive;
            table => "ttl-described";
        },
        group! {
            TagTable;
            table => "tags-change";
            tags => "tags-change";
        },
        group! {
            UntagTable;
            table => "tags-change";
            keys => "tags-change";
        },
        group! {
            ListTableTags;
            table => "tags-change";
        },
        group! {
            ListStreams;
            table => "stream-list";
            exclusive_start_stream => "stream-list";
            limit => "stream-list";
        },
        group! {
            DescribeStream, sample: DescribeStream::new(StreamArn(String::new()));
            arn = StreamArn(String::new()) => "stream-described";
            exclusive_start_shard => "stream-shard-pages";
            shard_filter => "56q";
            limit => "stream-described";
        },
        group! {
            GetShardIterator, sample: GetShardIterator::new(StreamArn(String::new()), ShardId(String::new()), ShardPosition::TrimHorizon);
            arn = StreamArn(String::new()) => "56l";
            shard = ShardId(String::new()) => "56l";
            position = ShardPosition::TrimHorizon => "56m";
        },
        group! {
            GetRecords, sample: GetRecords::new(ShardIterator(String::new()));
            iterator = ShardIterator(String::new()) => "56b";
            limit => "stream-read-limit";
        },
    ]
}
