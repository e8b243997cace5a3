//! A number in a sort key, where "10" comes before "9".

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", sk = "ORDER#{number}")]
struct Order {
    customer: Id,
    number: u32,
}

fn main() {}
