//! A field that always has a value says nothing about an index.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", index(GSI1, pk = "ALL", when = customer))]
struct Order {
    customer: Id,
}

fn main() {}
