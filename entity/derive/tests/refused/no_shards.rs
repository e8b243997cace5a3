//! No shards at all.

use tabla::entity::{Entity, Id, Sharded};

#[derive(Entity)]
#[entity(table = TABLE, pk = "COUNT#{name}{shard}")]
struct Order {
    name: Id,
    shard: Sharded<0>,
}

fn main() {}
