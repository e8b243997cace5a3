//! An entity without a key.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE)]
struct Order {
    customer: Id,
}

fn main() {}
