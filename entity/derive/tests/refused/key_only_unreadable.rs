//! A field without an attribute that cannot be read back from the key.

use tabla::entity::{Entity, UtcTime};

#[derive(Entity)]
#[entity(table = TABLE, pk = "ORDERS#{placed_at:as Day}")]
struct Order {
    #[entity(key_only)]
    placed_at: UtcTime,
}

fn main() {}
