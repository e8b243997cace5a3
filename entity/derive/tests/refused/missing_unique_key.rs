//! A unique field without a key.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", unique(email))]
struct Order {
    customer: Id,
    email: Id,
}

fn main() {}
