//! An entity with a type parameter.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}")]
struct Order<T> {
    customer: Id,
    more: T,
}

fn main() {}
