//! An entity of no table.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(pk = "CUSTOMER#{customer}")]
struct Order {
    customer: Id,
}

fn main() {}
