//! A key of an index that may be NULL.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", index(GSI1, pk = courier))]
struct Order {
    customer: Id,
    #[entity(null)]
    courier: Option<Id>,
}

fn main() {}
