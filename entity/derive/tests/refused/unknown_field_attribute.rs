//! An attribute that fields do not have.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}")]
struct Order {
    #[entity(keyonly)]
    customer: Id,
}

fn main() {}
