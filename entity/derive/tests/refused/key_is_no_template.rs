//! A key that is neither a template nor a field.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = 7)]
struct Order {
    customer: Id,
}

fn main() {}
