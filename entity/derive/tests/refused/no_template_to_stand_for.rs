//! A template of the table, where its key is a field.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = customer, index(GSI1, pk = "{@pk}"))]
struct Order {
    customer: Id,
}

fn main() {}
