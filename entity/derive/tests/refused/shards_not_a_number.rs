//! A number of shards that the macro cannot read.

use tabla::entity::{Entity, Id, Sharded};

const SHARDS: u32 = 10;

#[derive(Entity)]
#[entity(table = TABLE, pk = "COUNT#{name}{shard}")]
struct Order {
    name: Id,
    shard: Sharded<SHARDS>,
}

fn main() {}
