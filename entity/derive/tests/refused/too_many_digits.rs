//! More digits than a number has.

use tabla::entity::Entity;

#[derive(Entity)]
#[entity(table = TABLE, pk = "ORDER#{number:020}")]
struct Order {
    number: u64,
}

fn main() {}
