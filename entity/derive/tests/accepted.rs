//! What the macros accept where they would refuse the plain form.
#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{
    Day, Entity, EntityKey, Id, KeyPart, Sharded, TableDesign, UtcMillis, UtcTime,
};
use tabla::item;

static TABLE: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("table")
        .key("PK", "SK")
        .index("GSI1", "GSI1PK", "GSI1SK")
        .index("GSI2", "GSI2PK", "GSI2SK")
        .index_with("by-code", "code", None, tabla::ops::IndexProjection::all())
});

/// A part around another that cannot have the separator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KeyPart)]
struct Code(Id);

/// A part around any text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KeyPart)]
struct Name(String);

/// A part with separators of its own, which can stand at the end.
struct Hours(u64);

impl From<UtcTime> for Hours {
    fn from(time: UtcTime) -> Self {
        Self(time.as_secs() / 3600)
    }
}

impl KeyPart for Hours {
    const SAFE: bool = false;
    const ORDERED: bool = false;

    fn write_key(&self, out: &mut String) -> tabla::Result<()> {
        out.push_str(&format!("hour#{}", self.0));
        Ok(())
    }

    fn read_key(_: &str) -> tabla::Result<Self> {
        Err(tabla::Error::validation("it is not read"))
    }

    fn example(_: &str) -> Self {
        Self(1)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = TABLE,
    pk = "A#{name:escaped}#{text:checked}#{number:unordered}{once}",
    sk = "{at}{number:desc06}T{at:as Day}#{number:unordered}",
    index(GSI1, pk = "B#{code}#{at:as Hours}", sk = "{moment}", when = flag),
    index(GSI2, pk = "C{text:shard 100}", sk = "{@pk}"),
    index("by-code", pk = code),
    updated_at = moment
)]
struct Allowed {
    #[entity(key_only)]
    name: Name,
    #[entity(key_only)]
    text: String,
    number: u32,
    /// One shard is none.
    once: Sharded<1>,
    #[entity(key_only)]
    at: UtcTime,
    code: Option<Code>,
    moment: Option<UtcMillis>,
    flag: Option<bool>,
    r#type: i8,
}

#[test]
fn what_is_allowed_on_purpose_makes_keys_that_read_back() {
    let allowed = Allowed {
        name: Name("a#b".to_owned()),
        text: "c d".to_owned(),
        number: 7,
        once: Sharded::new(0).unwrap(),
        at: "2025-08-18T10:30:00Z".parse().unwrap(),
        code: Some(Code(Id::new("x").unwrap())),
        moment: Some(UtcMillis::from_millis(250)),
        flag: Some(true),
        r#type: -1,
    };
    let item = allowed.to_item().unwrap();
    assert_eq!(
        item,
        item! {
            "PK" => "A#a%23b#c d#7",
            "SK" => "2025-08-18T10:30:00Z999992T2025-08-18#7",
            "GSI1PK" => "B#x#hour#487642",
            "GSI1SK" => "1970-01-01T00:00:00.250Z",
            "GSI2PK" => format!("C#shard{}", Sharded::<100>::by("c d")),
            "GSI2SK" => "A#a%23b#c d#7",
            "number" => 7,
            "once" => 0,
            "code" => "x",
            "moment" => "1970-01-01T00:00:00.250Z",
            "flag" => true,
            "type" => -1,
        }
    );
    assert_eq!(Allowed::from_item(&item).unwrap(), allowed);
    assert_eq!(Allowed::TYPE.attribute, "type");
    assert!(Allowed { text: "c#d".to_owned(), ..allowed }.to_item().is_err());
}

/// Fields whose names the generated code also uses, and one that stands in the sort key twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = TABLE,
    query = named,
    pk = "N#{asked}#{name}",
    sk = "{at:as Day}#{query}#{type}#{at}"
)]
struct Named {
    asked: Id,
    name: Id,
    at: UtcTime,
    query: Id,
    r#type: Id,
}

#[test]
fn query_restricts_fields_of_any_name_in_the_order_of_the_sort_key() {
    let id = |text| Id::new(text).unwrap();
    let at: UtcTime = "2025-08-18T10:30:00Z".parse().unwrap();
    let name = id("b");
    let day = || Named::named(id("a"), &name).at(Day::from(at)).query(id("c"));
    assert!(day().describe().unwrap().is_range);
    assert!(day().r#type(id("d")).at(..=at).describe().unwrap().is_range);
    assert!(!day().r#type(id("d")).at(at).describe().unwrap().is_range);
    let key = Named::key(id("a"), id("b"), at, id("c"), id("d")).to_item().unwrap();
    let found = item! { "PK" => "N#a#b", "SK" => "2025-08-18#c#d#2025-08-18T10:30:00Z" };
    assert_eq!(key, found);
}
