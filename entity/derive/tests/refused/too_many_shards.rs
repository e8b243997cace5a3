//! More shards than there can be.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "EVENTS{event:shard 1001}")]
struct Order {
    event: Id,
}

fn main() {}
