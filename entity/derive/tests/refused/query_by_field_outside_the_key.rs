//! A query by a field that is not part of the key.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, Id, TableDesign, UtcTime};

static SHOP: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("shop").key("PK", "SK").index("by-status", "statusPK", "statusSK")
});

#[derive(Clone, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "CUSTOMER#{customer}",
    sk = "ORDER#{number:08}",
    index("by-status", pk = "STATUS#{status}", sk = "{total:010}#{placed_at}")
)]
struct Order {
    customer: Id,
    number: u32,
    status: Id,
    total: u32,
    placed_at: UtcTime,
}

fn main() {
    let ana = Id::new("ana").unwrap();
    Order::of(ana).total(3);
}
