//! An entity that is an enum.

use tabla::entity::Entity;

#[derive(Entity)]
#[entity(table = TABLE, pk = "ORDER")]
enum Order {
    Open,
}

fn main() {}
