//! A query function with the name of a function of every entity.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "ORDER#{id}", index(revision, pk = "REVISION#{day}"))]
struct Order {
    id: Id,
    day: Id,
}

fn main() {}
