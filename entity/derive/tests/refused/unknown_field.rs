//! A template with a field that the struct does not have.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{costumer}")]
struct Order {
    customer: Id,
    number: u32,
}

fn main() {}
