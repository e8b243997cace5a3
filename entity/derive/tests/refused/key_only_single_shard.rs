//! A field without an attribute that is not written into keys.

use tabla::entity::{Entity, Sharded};

#[derive(Entity)]
#[entity(table = TABLE, pk = "COUNT{shard}")]
struct Order {
    #[entity(key_only)]
    shard: Sharded<1>,
}

fn main() {}
