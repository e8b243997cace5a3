//! A type that is none.

use tabla::entity::Entity;

#[derive(Entity)]
#[entity(table = TABLE, pk = "ORDER#{number:as 8}")]
struct Order {
    number: u32,
}

fn main() {}
