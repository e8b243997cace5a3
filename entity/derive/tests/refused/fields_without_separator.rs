//! Two fields, and nothing between them.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "{customer}{number}")]
struct Order {
    customer: Id,
    number: u32,
}

fn main() {}
