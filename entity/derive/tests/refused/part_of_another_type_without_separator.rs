//! A field, and a part that another is made of right behind it.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "{customer}{code:as Code}")]
struct Order {
    customer: Id,
    code: Id,
}

fn main() {}
