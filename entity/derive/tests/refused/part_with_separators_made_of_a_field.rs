//! A part that another is made of, and more after it.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, Id, KeyPart, TableDesign};

static TABLE: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("table").key("PK", "SK"));

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KeyPart)]
struct Name(String);

impl From<Id> for Name {
    fn from(id: Id) -> Self {
        Self(id.to_string())
    }
}

#[derive(Clone, Serialize, Deserialize, Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{id:as Name}#X", sk = "PROFILE")]
struct Order {
    id: Id,
}

fn main() {}
