//! A revision that cannot be counted.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", revision = revision)]
struct Order {
    customer: Id,
    revision: i64,
}

fn main() {}
