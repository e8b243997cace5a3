//! A number that is not whole.

use tabla::entity::Entity;

#[derive(Entity)]
#[entity(table = TABLE, pk = "ORDER#{price:08}")]
struct Order {
    price: f64,
}

fn main() {}
