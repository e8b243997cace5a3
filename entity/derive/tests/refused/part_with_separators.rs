//! A part of one's own that could contain the separator.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, KeyPart, TableDesign};

static TABLE: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("table").key("PK", "SK"));

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KeyPart)]
struct Name(String);

#[derive(Clone, Serialize, Deserialize, Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{name}", sk = "PROFILE")]
struct Order {
    name: Name,
}

fn main() {}
