//! A key of an index that is said twice.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", index(GSI1, pk = "A", pk = "B"))]
struct Order {
    customer: Id,
}

fn main() {}
