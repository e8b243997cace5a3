//! A time to live that the service would not see.

use tabla::entity::{Entity, Id, UtcTime};

#[derive(Entity)]
#[entity(table = TABLE, pk = "CUSTOMER#{customer}", ttl = expires)]
struct Order {
    customer: Id,
    expires: UtcTime,
}

fn main() {}
