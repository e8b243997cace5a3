//! A key that stands for a value and does not have it.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", unique(email, pk = "EMAIL#{customer}"))]
struct Order {
    customer: Id,
    email: Id,
}

fn main() {}
