//! An index that is said twice.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", index(GSI1, pk = "A"), index(GSI1, pk = "B"))]
struct Order {
    customer: Id,
}

fn main() {}
