//! A field without an attribute that is in no key of the table.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", index(GSI1, pk = "STATUS#{status}"))]
struct Order {
    customer: Id,
    #[entity(key_only)]
    status: Id,
}

fn main() {}
