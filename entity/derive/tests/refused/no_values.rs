//! A field that could have no value.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "STATUS#{status}")]
struct Order {
    #[entity(values = 0)]
    status: Id,
}

fn main() {}
