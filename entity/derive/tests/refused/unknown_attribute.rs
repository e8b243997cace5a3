//! An attribute that entities do not have.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", gsi = "GSI1")]
struct Order {
    customer: Id,
}

fn main() {}
