//! An attribute that indexes do not have.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", index(GSI1, pk = "{customer}", if = customer))]
struct Order {
    customer: Id,
}

fn main() {}
