//! A template of nothing.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "")]
struct Order {
    customer: Id,
}

fn main() {}
