//! Text after a field that could be a part of it.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "{customer}-ORDER")]
struct Order {
    customer: Id,
}

fn main() {}
