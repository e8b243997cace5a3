//! A key that is the attribute of a field without one.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", index(GSI1, pk = customer))]
struct Order {
    #[entity(key_only)]
    customer: Id,
}

fn main() {}
