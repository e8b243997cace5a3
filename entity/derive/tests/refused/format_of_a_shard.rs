//! A shard is written in one way.

use tabla::entity::{Entity, Sharded};

#[derive(Entity)]
#[entity(table = TABLE, pk = "EVENTS{shard:02}")]
struct Order {
    shard: Sharded<10>,
}

fn main() {}
