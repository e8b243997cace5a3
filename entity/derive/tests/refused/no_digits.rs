//! A type that has no digits.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, Id, TableDesign};

static TABLE: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("table").key("PK", "SK"));

#[derive(Clone, Serialize, Deserialize, Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{id:08}", sk = "PROFILE")]
struct Order {
    id: Id,
}

fn main() {}
