//! A field that changes with every write, in a key.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(
    table = TABLE,
    pk = "CUSTOMER#{customer}",
    index(GSI1, pk = "ALL", sk = "{revision:08}"),
    revision = revision
)]
struct Order {
    customer: Id,
    revision: u32,
}

fn main() {}
