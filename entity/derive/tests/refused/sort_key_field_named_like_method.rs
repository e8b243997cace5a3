//! A sort-key field with the name of a method of queries.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(table = TABLE, pk = "ACCOUNT#{account}", sk = "LIMIT#{limit:08}")]
struct Rule {
    account: Id,
    limit: u32,
}

fn main() {}
