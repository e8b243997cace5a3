//! A number whose digits do not sort, because it may be negative.

use tabla::entity::Entity;

#[derive(Entity)]
#[entity(table = TABLE, pk = "ORDER#{number:08}")]
struct Order {
    number: i32,
}

fn main() {}
