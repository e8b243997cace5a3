//! Two shards in one key.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "EVENTS{user:shard 2}{event:shard 3}")]
struct Order {
    user: Id,
    event: Id,
}

fn main() {}
