//! Values of types that the key fields do not have.

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
    Order::of(7).number(7_u64);
}
