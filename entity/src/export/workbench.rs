//! Tables and entities as a data model of NoSQL Workbench's.

use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{distinct, projection};
use crate::{EntityDesign, KeyDesign, TableDesign, UtcTime};
use tabla_core::ValueKind;

/// What a data model says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// What it is called.
    pub name: String,
    /// Who made it.
    pub author: String,
    /// What it is.
    pub description: String,
    /// When it was made: given, so that the same design makes the same model.
    pub made_at: UtcTime,
}

impl Model {
    /// A model of this name, made at this time by nobody in particular.
    pub fn new(name: impl Into<String>, made_at: UtcTime) -> Self {
        let (author, description) = (String::new(), String::new());
        Self { name: name.into(), author, description, made_at }
    }
}

/// A data model of NoSQL Workbench's of these tables, each with the name beside it, and of the
/// entities that are in them.
///
/// Every entity is a facet of its table, with the templates of its key as the aliases of the key's
/// attributes. Where an entity is in several of the tables, or two have the same name, the name of
/// the table follows: a facet's name has to be the only one in the model.
///
/// A design does not say of what types the attributes are that are in no key. Here they are text,
/// unless the layer itself writes them as numbers.
///
/// ```
/// use std::sync::LazyLock;
///
/// use serde::{Deserialize, Serialize};
/// use tabla::entity::export::{Model, workbench};
/// use tabla::entity::{Entity, Id, TableDesign};
///
/// static SHOP: LazyLock<TableDesign> =
///     LazyLock::new(|| TableDesign::new("shop").key("PK", "SK"));
///
/// #[derive(Clone, Serialize, Deserialize, Entity)]
/// #[entity(table = SHOP, pk = "CUSTOMER#{customer}", sk = "ORDER#{number:08}")]
/// struct Order {
///     #[entity(key_only)]
///     customer: Id,
///     number: u32,
/// }
///
/// let model = Model::new("Shop", "2025-08-18T10:30:00Z".parse()?);
/// let written = workbench(&model, &[("shop-test", &*SHOP)], &[Order::design()]);
///
/// let table = &written["DataModel"][0];
/// assert_eq!(table["TableName"], "shop-test");
/// let facet = &table["TableFacets"][0];
/// assert_eq!(facet["FacetName"], "Order");
/// assert_eq!(facet["KeyAttributeAlias"]["SortKeyAlias"], "ORDER#{number:08}");
/// # Ok::<(), tabla::Error>(())
/// ```
pub fn workbench<S: AsRef<str>>(
    model: &Model,
    tables: &[(S, &TableDesign)],
    entities: &[&EntityDesign],
) -> Value {
    let entities_of = |design: &TableDesign| -> Vec<&EntityDesign> {
        // A database knows the tables of a design by their names, too.
        let is_in = |entity: &&&EntityDesign| (entity.table)().name == design.name;
        entities.iter().filter(is_in).copied().collect()
    };
    let names = tables.iter().flat_map(|(table, design)| {
        entities_of(design)
            .into_iter()
            .map(|entity| (entity.name.to_owned(), format!("{} ({})", entity.name, table.as_ref())))
    });
    let mut facet_names = distinct(names.collect()).into_iter();
    let tables = tables.iter().map(|(name, design)| {
        let entities = entities_of(design);
        let names = facet_names.by_ref().take(entities.len());
        let facets = names.zip(&entities).map(|(name, entity)| facet(&name, entity, design));
        let facets: Vec<Value> = facets.collect();
        table(name.as_ref(), design, &entities, facets)
    });
    let tables: Vec<Value> = tables.collect();
    let made_at = date(model.made_at);
    json!({
        "ModelName": model.name,
        "ModelMetadata": {
            "Author": model.author,
            "DateCreated": made_at,
            "DateLastModified": made_at,
            "Description": model.description,
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
        "DataModel": tables,
    })
}

/// A moment as NoSQL Workbench writes it: `Aug 18, 2025, 10:30 AM`.
fn date(moment: UtcTime) -> String {
    let moment = OffsetDateTime::from_unix_timestamp(moment.as_secs() as i64)
        .expect("a moment is at most the last of the year 9999");
    let month = &moment.month().to_string()[..3];
    let half = if moment.hour() < 12 { "AM" } else { "PM" };
    let hour = match moment.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    let (day, year, minute) = (moment.day(), moment.year(), moment.minute());
    format!("{month} {day:02}, {year}, {hour:02}:{minute:02} {half}")
}

fn table(
    name: &str,
    design: &TableDesign,
    entities: &[&EntityDesign],
    facets: Vec<Value>,
) -> Value {
    let indexes = design.indexes.iter().map(|index| {
        json!({
            "IndexName": index.name,
            "KeyAttributes": key_attributes(&index.partition, index.sort.as_ref()),
            "Projection": projection(&index.projection),
        })
    });
    json!({
        "TableName": name,
        "KeyAttributes": key_attributes(&design.partition, design.sort.as_ref()),
        "NonKeyAttributes": attributes_of_table(design, entities).to_json(),
        "TableFacets": facets,
        "GlobalSecondaryIndexes": indexes.collect::<Vec<_>>(),
        "TableData": [],
        "DataAccess": { "MySql": {} },
        "SampleDataFormats": {},
        "BillingMode": "PAY_PER_REQUEST",
    })
}

fn key_attributes(partition: &KeyDesign, sort: Option<&KeyDesign>) -> Value {
    let attribute = |key: &KeyDesign| json!({ "AttributeName": key.attribute, "AttributeType": key.kind.code() });
    let mut written = json!({ "PartitionKey": attribute(partition) });
    if let Some(sort) = sort {
        written["SortKey"] = attribute(sort);
    }
    written
}

fn facet(name: &str, entity: &EntityDesign, table: &TableDesign) -> Value {
    let mut alias = json!({ "PartitionKeyAlias": entity.partition.to_string() });
    if let Some(sort) = &entity.sort {
        alias["SortKeyAlias"] = json!(sort.to_string());
    }
    let mut attributes = Attributes::besides_the_key_of(table);
    attributes.add_entity(entity, table);
    json!({
        "FacetName": name,
        "KeyAttributeAlias": alias,
        "TableData": [],
        "NonKeyAttributes": attributes.names(),
        "DataAccess": { "MySql": {} },
    })
}

/// Everything that a facet or an index names has to be among the attributes of the table.
fn attributes_of_table<'d>(design: &'d TableDesign, entities: &[&EntityDesign]) -> Attributes<'d> {
    let mut attributes = Attributes::besides_the_key_of(design);
    // The keys of indexes come first, as theirs are the types that are known.
    for index in &design.indexes {
        attributes.add_key(&index.partition);
        index.sort.iter().for_each(|sort| attributes.add_key(sort));
    }
    if let Some(ttl) = &design.ttl {
        attributes.add(ttl, "N");
    }
    for entity in entities {
        attributes.add_entity(entity, design);
    }
    for index in &design.indexes {
        for attribute in &index.projection.non_key_attributes {
            attributes.add(attribute, "S");
        }
    }
    attributes
}

/// Attributes that are not in the key of a table, each once, with their types.
struct Attributes<'d> {
    table: &'d TableDesign,
    added: Vec<(&'d str, &'static str)>,
}

impl<'d> Attributes<'d> {
    fn besides_the_key_of(table: &'d TableDesign) -> Self {
        Self { table, added: Vec::new() }
    }

    fn add(&mut self, attribute: &'d str, kind: &'static str) {
        let is_key = self.table.key_attributes(None).any(|key| key == attribute);
        if !is_key && !self.added.iter().any(|(known, _)| *known == attribute) {
            self.added.push((attribute, kind));
        }
    }

    fn add_key(&mut self, key: &'d KeyDesign) {
        self.add(&key.attribute, key.kind.code());
    }

    /// The attributes that an entity can have.
    fn add_entity(&mut self, entity: &EntityDesign, table: &'d TableDesign) {
        if let Some((tag, _)) = entity.tag {
            self.add(tag, "S");
        }
        for keys in entity.indexes {
            let Some(index) = table.find_index(keys.index) else { continue };
            self.add_key(&index.partition);
            index.sort.iter().for_each(|sort| self.add_key(sort));
        }
        for field in entity.fields.iter().filter(|field| !field.key_only) {
            // Most types of an app's own are written as text.
            self.add(field.attribute, field.kind.unwrap_or(ValueKind::S).code());
        }
    }

    fn names(&self) -> Vec<&'d str> {
        self.added.iter().map(|(name, _)| *name).collect()
    }

    fn to_json(&self) -> Value {
        let written =
            |(name, kind): &(&str, &str)| json!({ "AttributeName": name, "AttributeType": kind });
        self.added.iter().map(written).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use serde::{Deserialize, Serialize};

    use super::super::tests::everything;
    use super::*;
    use crate::{Entity, Id};

    static SHOP: LazyLock<TableDesign> = LazyLock::new(|| {
        TableDesign::new("shop").key("PK", "SK").index("GSI1", "GSI1PK", "GSI1SK").ttl("expires")
    });

    #[derive(Clone, Serialize, Deserialize, Entity)]
    #[entity(
        table = SHOP,
        tag("type" = "ORDER"),
        pk = "CUSTOMER#{customer}",
        sk = "ORDER#{number:08}",
        index(GSI1, pk = "STATUS#{status}", sk = "{@sk}"),
        revision = revision,
        ttl = expires
    )]
    struct Order {
        #[entity(key_only)]
        customer: Id,
        number: u32,
        status: Id,
        #[serde(rename = "rev")]
        revision: u32,
        expires: Option<u64>,
    }

    #[derive(Clone, Serialize, Deserialize, Entity)]
    #[entity(table = SHOP, pk = "CUSTOMER#{customer}", sk = "PROFILE")]
    struct Customer {
        #[entity(key_only)]
        customer: Id,
        email: Option<String>,
        is_new: bool,
        codes: Vec<String>,
    }

    static LOG: LazyLock<TableDesign> = LazyLock::new(everything);

    /// Its keys are attributes, one of them also that of an index.
    #[derive(Clone, Serialize, Deserialize, Entity)]
    #[entity(table = LOG, pk = user, sk = at, index("by-user", pk = user_again))]
    struct Event {
        #[serde(rename = "PK")]
        user: Id,
        #[serde(rename = "SK")]
        at: UtcTime,
        #[serde(rename = "user")]
        user_again: Id,
        kind: String,
    }

    fn model() -> Model {
        Model::new("Shop", "2025-08-08T22:05:59Z".parse().unwrap())
    }

    fn texts(list: &Value, key: &str) -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_small_model() {
        let expected = json!({
            "ModelName": "Shop",
            "ModelMetadata": {
                "Author": "",
                "DateCreated": "Aug 08, 2025, 10:05 PM",
                "DateLastModified": "Aug 08, 2025, 10:05 PM",
                "Description": "",
                "AWSService": "Amazon DynamoDB",
                "Version": "3.0",
            },
            "DataModel": [{
                "TableName": "shop-test",
                "KeyAttributes": {
                    "PartitionKey": { "AttributeName": "PK", "AttributeType": "S" },
                    "SortKey": { "AttributeName": "SK", "AttributeType": "S" },
                },
                "NonKeyAttributes": [
                    { "AttributeName": "GSI1PK", "AttributeType": "S" },
                    { "AttributeName": "GSI1SK", "AttributeType": "S" },
                    { "AttributeName": "expires", "AttributeType": "N" },
                    { "AttributeName": "type", "AttributeType": "S" },
                    { "AttributeName": "number", "AttributeType": "N" },
                    { "AttributeName": "status", "AttributeType": "S" },
                    { "AttributeName": "rev", "AttributeType": "N" },
                    { "AttributeName": "email", "AttributeType": "S" },
                    { "AttributeName": "is_new", "AttributeType": "BOOL" },
                    { "AttributeName": "codes", "AttributeType": "L" },
                ],
                "TableFacets": [
                    {
                        "FacetName": "Order",
                        "KeyAttributeAlias": {
                            "PartitionKeyAlias": "CUSTOMER#{customer}",
                            "SortKeyAlias": "ORDER#{number:08}",
                        },
                        "TableData": [],
                        "NonKeyAttributes":
                            ["type", "GSI1PK", "GSI1SK", "number", "status", "rev", "expires"],
                        "DataAccess": { "MySql": {} },
                    },
                    {
                        "FacetName": "Customer",
                        "KeyAttributeAlias": {
                            "PartitionKeyAlias": "CUSTOMER#{customer}",
                            "SortKeyAlias": "PROFILE",
                        },
                        "TableData": [],
                        "NonKeyAttributes": ["email", "is_new", "codes"],
                        "DataAccess": { "MySql": {} },
                    },
                ],
                "GlobalSecondaryIndexes": [{
                    "IndexName": "GSI1",
                    "KeyAttributes": {
                        "PartitionKey": { "AttributeName": "GSI1PK", "AttributeType": "S" },
                        "SortKey": { "AttributeName": "GSI1SK", "AttributeType": "S" },
                    },
                    "Projection": { "ProjectionType": "ALL" },
                }],
                "TableData": [],
                "DataAccess": { "MySql": {} },
                "SampleDataFormats": {},
                "BillingMode": "PAY_PER_REQUEST",
            }],
        });
        let entities = [Order::design(), Event::design(), Customer::design()];
        assert_eq!(workbench(&model(), &[("shop-test", &SHOP)], &entities), expected);
    }

    #[test]
    fn every_attribute_that_is_named_is_defined_once() {
        let entities = [Event::design()];
        let written = workbench(&model(), &[("log", &LOG)], &entities);
        let table = &written["DataModel"][0];
        let defined = texts(&table["NonKeyAttributes"], "AttributeName");
        assert_eq!(defined, ["day", "user", "expires", "kind", "size"]);
        assert_eq!(table["NonKeyAttributes"][0]["AttributeType"], "N");
        let facet = &table["TableFacets"][0];
        assert_eq!(facet["NonKeyAttributes"], json!(["user", "kind"]));
        assert_eq!(
            facet["KeyAttributeAlias"],
            json!({ "PartitionKeyAlias": "{user}", "SortKeyAlias": "{at}" })
        );
        let indexes = &table["GlobalSecondaryIndexes"];
        assert_eq!(
            indexes[0]["KeyAttributes"],
            json!({
                "PartitionKey": { "AttributeName": "day", "AttributeType": "N" },
                "SortKey": { "AttributeName": "SK", "AttributeType": "S" },
            })
        );
        assert_eq!(indexes[0]["Projection"], json!({ "ProjectionType": "KEYS_ONLY" }));
        assert_eq!(
            indexes[1]["KeyAttributes"],
            json!({ "PartitionKey": { "AttributeName": "user", "AttributeType": "S" } })
        );
        assert_eq!(
            indexes[1]["Projection"],
            json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": ["kind", "size"] })
        );
    }

    #[test]
    fn facets_of_all_tables_have_names_of_their_own() {
        let tables = [("log-01", &*LOG), ("shop", &*SHOP), ("log-02", &*LOG)];
        let entities = [Event::design(), Order::design()];
        let written = workbench(&model(), &tables, &entities);
        let names: Vec<String> = written["DataModel"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|table| texts(&table["TableFacets"], "FacetName"))
            .collect();
        assert_eq!(names, ["Event (log-01)", "Order", "Event (log-02)"]);
    }

    #[test]
    fn dates_are_written_with_twelve_hours() {
        let written = |text: &str| date(text.parse().unwrap());
        assert_eq!(written("2024-02-29T00:00:00Z"), "Feb 29, 2024, 12:00 AM");
        assert_eq!(written("2025-12-15T12:42:00Z"), "Dec 15, 2025, 12:42 PM");
        assert_eq!(written("9999-12-31T23:59:59Z"), "Dec 31, 9999, 11:59 PM");
    }
}
