//! A unique field that the struct does not have.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", unique(mail, pk = "EMAIL#{mail}"))]
struct Order {
    customer: Id,
    email: Id,
}

fn main() {}
