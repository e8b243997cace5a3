//! Text that could contain the separator.

use tabla::entity::Entity;

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{email}")]
struct Order {
    email: String,
}

fn main() {}
