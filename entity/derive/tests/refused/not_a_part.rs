//! A type that cannot stand in a key.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, TableDesign};

static TABLE: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("table").key("PK", "SK"));

#[derive(Clone, Serialize, Deserialize, Entity)]
#[entity(table = TABLE, pk = "FLAG#{flag}", sk = "FLAG")]
struct Order {
    flag: bool,
}

fn main() {}
