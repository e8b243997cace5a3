//! An index without a key.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", index(GSI1, sk = "X"))]
struct Order {
    customer: Id,
}

fn main() {}
