//! Text has no digits.

use tabla::entity::Entity;

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{email:08}")]
struct Order {
    email: String,
}

fn main() {}
