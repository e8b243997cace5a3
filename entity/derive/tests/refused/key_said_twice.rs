//! A key of the table that is said twice.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", pk = "ORDER")]
struct Order {
    customer: Id,
}

fn main() {}
