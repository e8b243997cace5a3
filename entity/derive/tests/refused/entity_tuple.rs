//! An entity whose fields have no names.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "ORDER")]
struct Order(Id);

fn main() {}
