//! A template with a brace that is not closed.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer")]
struct Order {
    customer: Id,
}

fn main() {}
