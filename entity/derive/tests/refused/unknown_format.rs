//! A format that there is not.

use tabla::entity::Entity;

#[derive(Entity)]
#[entity(table = TABLE, pk = "ORDER#{number:x8}")]
struct Order {
    number: u32,
}

fn main() {}
