//! A number of the partition key, written into a sort key.

use tabla::entity::Entity;

#[derive(Entity)]
#[entity(table = TABLE, pk = "ORDER#{number}", index(GSI1, pk = "ORDERS", sk = "{@pk}"))]
struct Order {
    number: u32,
}

fn main() {}
