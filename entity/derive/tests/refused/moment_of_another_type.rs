//! A field that is set by itself, of a type that it cannot be set to.

use tabla::entity::{Day, Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", updated_at = updated_on)]
struct Order {
    customer: Id,
    updated_on: Day,
}

fn main() {}
