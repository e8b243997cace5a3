//! A key of the table that may have no value.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = customer)]
struct Order {
    customer: Option<Id>,
}

fn main() {}
