//! The same, in another form.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, KeyPart, TableDesign};

static TABLE: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("table").key("PK", "SK"));

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KeyPart)]
struct Name(String);

#[derive(Clone, Serialize, Deserialize, Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{name:unordered}", sk = "PROFILE")]
struct Order {
    name: Name,
}

fn main() {}
