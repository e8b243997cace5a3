//! An index whose name is no name of a function.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "ORDER#{id}", index("2025", pk = "DAY#{day}"))]
struct Order {
    id: Id,
    day: Id,
}

fn main() {}
