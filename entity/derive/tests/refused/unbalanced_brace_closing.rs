//! A template with a brace that was not opened.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#customer}")]
struct Order {
    customer: Id,
}

fn main() {}
