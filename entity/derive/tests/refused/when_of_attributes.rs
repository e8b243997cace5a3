//! Attributes are in an index whatever another field says.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", index(GSI1, pk = customer, when = flag))]
struct Order {
    customer: Id,
    flag: Option<bool>,
}

fn main() {}
