//! A field of the table's key that may have no value.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}")]
struct Order {
    customer: Option<Id>,
}

fn main() {}
