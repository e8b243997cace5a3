//! Parsers of requests on tables.

use tabla_core::ops::{
    AttributeDefinition, BillingMode, CreateTable, IndexProjection, IndexUpdate, KeyRole,
    KeySchemaElement, ListTableTags, ListTables, ProjectionType, ProvisionedThroughput,
    SecondaryIndex, SseSpecification, StreamSpecification, StreamViewType, TagTable, Tags,
    UntagTable, UpdateTable, UpdateTimeToLive,
};
use tabla_core::{Error, KeyType, Result, assign};

use super::{Members, missing};

/// Parses the table of a request that has no other parameters.
pub(crate) fn table_only(members: &Members<'_>) -> Result<String> {
    members.table()
}

pub(crate) fn list_tables(members: &Members<'_>) -> Result<ListTables> {
    Ok(assign!(ListTables::default(), {
        exclusive_start_table_name: members.text("ExclusiveStartTableName")?,
        limit: members.integer("Limit")?,
    }))
}

pub(crate) fn create_table(members: &Members<'_>) -> Result<CreateTable> {
    refuse(members, &ONLY_AWS_CREATES)?;
    Ok(assign!(CreateTable::default(), {
        table: members.table()?,
        attribute_definitions: attribute_definitions(members)?,
        key_schema: key_schema(members)?,
        global_secondary_indexes: indexes(members, "GlobalSecondaryIndexes")?,
        local_secondary_indexes: indexes(members, "LocalSecondaryIndexes")?,
        billing_mode: billing_mode(members)?,
        provisioned_throughput: throughput(members)?,
        stream: stream(members)?,
        sse: sse(members)?,
        deletion_protection: members.flag("DeletionProtectionEnabled")?,
        table_class: members.text("TableClass")?,
        tags: tags(members)?,
    }))
}

pub(crate) fn update_table(members: &Members<'_>) -> Result<UpdateTable> {
    refuse(members, &ONLY_AWS_UPDATES)?;
    let updates = members.objects("GlobalSecondaryIndexUpdates", index_update)?;
    Ok(assign!(UpdateTable::default(), {
        table: members.table()?,
        attribute_definitions: attribute_definitions(members)?,
        index_updates: updates.unwrap_or_default(),
        billing_mode: billing_mode(members)?,
        provisioned_throughput: throughput(members)?,
        stream: stream(members)?,
        sse: sse(members)?,
        deletion_protection: members.boolean("DeletionProtectionEnabled")?,
        table_class: members.text("TableClass")?,
    }))
}

fn index_update(members: &Members<'_>) -> Result<IndexUpdate> {
    let create = members.object("Create")?;
    let update = members.object("Update")?;
    let delete = members.object("Delete")?;
    match (create, update, delete) {
        (Some(create), None, None) => index(&create).map(IndexUpdate::Create),
        (None, Some(update), None) => Ok(IndexUpdate::Update {
            name: update.need_text("IndexName")?,
            provisioned_throughput: throughput(&update)?
                .ok_or_else(|| missing("ProvisionedThroughput"))?,
        }),
        (None, None, Some(delete)) => {
            Ok(IndexUpdate::Delete { name: delete.need_text("IndexName")? })
        }
        (None, None, None) => Err(Error::validation(
            "One or more parameter values were invalid: One of GlobalSecondaryIndexUpdate.Update, \
             GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null",
        )),
        _ => Err(Error::validation(
            "One or more parameter values were invalid: Only one of \
             GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
             GlobalSecondaryIndexUpdate.Delete may be given",
        )),
    }
}

fn attribute_definitions(members: &Members<'_>) -> Result<Vec<AttributeDefinition>> {
    let types = [("S", KeyType::S), ("N", KeyType::N), ("B", KeyType::B)];
    let read = |definition: &Members<'_>| {
        Ok(AttributeDefinition::new(
            definition.need_text("AttributeName")?,
            definition.choice("AttributeType", &types)?.ok_or_else(|| missing("AttributeType"))?,
        ))
    };
    Ok(members.objects("AttributeDefinitions", read)?.unwrap_or_default())
}

fn key_schema(members: &Members<'_>) -> Result<Vec<KeySchemaElement>> {
    let roles = [("HASH", KeyRole::Partition), ("RANGE", KeyRole::Sort)];
    let read = |element: &Members<'_>| {
        Ok(KeySchemaElement::new(
            element.need_text("AttributeName")?,
            element.choice("KeyType", &roles)?.ok_or_else(|| missing("KeyType"))?,
        ))
    };
    Ok(members.objects("KeySchema", read)?.unwrap_or_default())
}

/// Parses the indexes of a new table. DynamoDB refuses an empty list.
fn indexes(members: &Members<'_>, name: &str) -> Result<Vec<SecondaryIndex>> {
    let Some(given) = members.objects(name, index)? else { return Ok(Vec::new()) };
    if given.is_empty() {
        let kind = name.trim_end_matches("es");
        return Err(Error::validation(format!(
            "One or more parameter values were invalid: List of {kind}es is empty"
        )));
    }
    Ok(given)
}

fn index(members: &Members<'_>) -> Result<SecondaryIndex> {
    Ok(assign!(SecondaryIndex::new(members.need_text("IndexName")?), {
        key_schema: key_schema(members)?,
        projection: projection(members)?,
        provisioned_throughput: throughput(members)?,
    }))
}

fn projection(members: &Members<'_>) -> Result<IndexProjection> {
    let kinds = [
        ("ALL", ProjectionType::All),
        ("KEYS_ONLY", ProjectionType::KeysOnly),
        ("INCLUDE", ProjectionType::Include),
    ];
    let projection = members.object("Projection")?.ok_or_else(|| missing("Projection"))?;
    let kind = projection.choice("ProjectionType", &kinds)?.ok_or_else(|| {
        Error::validation("One or more parameter values were invalid: Unknown ProjectionType: null")
    })?;
    let attributes: Option<Vec<Option<String>>> = projection.read("NonKeyAttributes")?;
    let named = |name: Option<String>| {
        name.ok_or_else(|| Error::validation("Attribute name must be specified."))
    };
    let non_key_attributes =
        attributes.unwrap_or_default().into_iter().map(named).collect::<Result<_>>()?;
    Ok(IndexProjection::new(kind, non_key_attributes))
}

fn billing_mode(members: &Members<'_>) -> Result<Option<BillingMode>> {
    let modes = [
        ("PAY_PER_REQUEST", BillingMode::PayPerRequest),
        ("PROVISIONED", BillingMode::Provisioned),
    ];
    members.choice("BillingMode", &modes)
}

fn throughput(members: &Members<'_>) -> Result<Option<ProvisionedThroughput>> {
    let Some(given) = members.object("ProvisionedThroughput")? else { return Ok(None) };
    let units = |name| given.long(name)?.ok_or_else(|| missing(name));
    Ok(Some(ProvisionedThroughput::new(units("ReadCapacityUnits")?, units("WriteCapacityUnits")?)))
}

fn stream(members: &Members<'_>) -> Result<Option<StreamSpecification>> {
    let views = [
        ("KEYS_ONLY", StreamViewType::KeysOnly),
        ("NEW_IMAGE", StreamViewType::NewImage),
        ("OLD_IMAGE", StreamViewType::OldImage),
        ("NEW_AND_OLD_IMAGES", StreamViewType::NewAndOldImages),
    ];
    let Some(given) = members.object("StreamSpecification")? else { return Ok(None) };
    Ok(Some(assign!(StreamSpecification::default(), {
        enabled: given.boolean("StreamEnabled")?.ok_or_else(|| missing("StreamEnabled"))?,
        view_type: given.choice("StreamViewType", &views)?,
    })))
}

fn sse(members: &Members<'_>) -> Result<Option<SseSpecification>> {
    let Some(given) = members.object("SSESpecification")? else { return Ok(None) };
    Ok(Some(assign!(SseSpecification::default(), {
        enabled: given.flag("Enabled")?,
        sse_type: given.text("SSEType")?,
        kms_master_key_id: given.text("KMSMasterKeyId")?,
    })))
}

fn tags(members: &Members<'_>) -> Result<Tags> {
    let tag = |tag: &Members<'_>| Ok((tag.need_text("Key")?, tag.need_text("Value")?));
    let mut tags = Tags::new();
    for (key, value) in members.objects("Tags", tag)?.unwrap_or_default() {
        if tags.contains_key(&key) {
            return Err(Error::validation(format!(
                "One or more parameter values were invalid: Duplicate tag key: {key}"
            )));
        }
        tags.insert(key, value);
    }
    Ok(tags)
}

/// Returns the table whose ARN a request on tags names.
fn resource(members: &Members<'_>) -> Result<String> {
    let arn = members.need_text("ResourceArn")?;
    match arn.starts_with("arn:") {
        true => Ok(arn),
        false => Err(Error::validation(format!(
            "Invalid TableArn: Invalid ResourceArn provided as input {arn}"
        ))),
    }
}

pub(crate) fn tag(members: &Members<'_>) -> Result<TagTable> {
    if !members.has("Tags") {
        return Err(missing("Tags"));
    }
    Ok(TagTable::new(resource(members)?, tags(members)?))
}

pub(crate) fn untag(members: &Members<'_>) -> Result<UntagTable> {
    let keys = members.read("TagKeys")?.ok_or_else(|| missing("TagKeys"))?;
    Ok(UntagTable::new(resource(members)?, keys))
}

pub(crate) fn list_tags(members: &Members<'_>) -> Result<ListTableTags> {
    Ok(ListTableTags::new(resource(members)?))
}

pub(crate) fn update_time_to_live(members: &Members<'_>) -> Result<UpdateTimeToLive> {
    const NAME: &str = "TimeToLiveSpecification";
    let specification = members.object(NAME)?.ok_or_else(|| missing(NAME))?;
    Ok(UpdateTimeToLive::new(
        members.table()?,
        specification.need_text("AttributeName")?,
        specification.boolean("Enabled")?.ok_or_else(|| missing("Enabled"))?,
    ))
}

/// Parses the table of UpdateContinuousBackups. Point-in-time recovery is always disabled: a
/// request that enables it is refused.
pub(crate) fn update_continuous_backups(members: &Members<'_>) -> Result<String> {
    const NAME: &str = "PointInTimeRecoverySpecification";
    let specification = members.object(NAME)?.ok_or_else(|| missing(NAME))?;
    let enabled = specification.boolean("PointInTimeRecoveryEnabled")?;
    match enabled.ok_or_else(|| missing("PointInTimeRecoveryEnabled"))? {
        false => members.table(),
        true => Err(not_supported(
            NAME,
            "point-in-time recovery cannot be enabled; copy the file of the store instead",
        )),
    }
}

const REPLICAS: &str = "replicas need multiple AWS Regions";
const VECTORS: &str = "this server has no vector indexes";

/// Parameters of CreateTable that only AWS supports, each with the reason.
const ONLY_AWS_CREATES: [(&str, &str); 4] = [
    ("GlobalTableSettingsReplicationMode", REPLICAS),
    ("GlobalTableSourceArn", REPLICAS),
    ("ResourcePolicy", "this server has no accounts to grant access to"),
    ("VectorIndexes", VECTORS),
];

/// Parameters of UpdateTable that only AWS supports, each with the reason.
const ONLY_AWS_UPDATES: [(&str, &str); 6] = [
    ("DisassociationProtectionEnabled", REPLICAS),
    ("GlobalTableSettingsReplicationMode", REPLICAS),
    ("GlobalTableWitnessUpdates", REPLICAS),
    ("MultiRegionConsistency", REPLICAS),
    ("ReplicaUpdates", REPLICAS),
    ("VectorIndexUpdates", VECTORS),
];

/// Refuses a request with one of these parameters: ignoring them would let clients believe that
/// they are in effect.
fn refuse(members: &Members<'_>, parameters: &[(&str, &str)]) -> Result<()> {
    match parameters.iter().find(|(name, _)| members.has(name)) {
        Some((name, why)) => Err(not_supported(name, why)),
        None => Ok(()),
    }
}

fn not_supported(parameter: &str, why: &str) -> Error {
    Error::validation(format!("{parameter} is not supported by this server: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_lists_every_refused_parameter() {
        let documented = include_str!("../../../docs/wire.md");
        for (operation, parameters) in
            [("CreateTable", &ONLY_AWS_CREATES[..]), ("UpdateTable", &ONLY_AWS_UPDATES[..])]
        {
            let beginning = format!("| {operation} | supported | ");
            let row = documented.lines().find(|line| line.starts_with(&beginning)).unwrap();
            // The refused parameters are the last part of the row.
            let (_, refused) = row.rsplit_once("; ").unwrap();
            for (parameter, _) in parameters {
                assert!(refused.contains(&format!("`{parameter}`")), "{operation} {parameter}");
            }
            assert_eq!(refused.matches('`').count(), 2 * parameters.len(), "{refused}");
        }
    }
}
