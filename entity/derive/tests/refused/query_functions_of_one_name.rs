//! Two query functions of one name.

use tabla::entity::{Entity, Id, UtcTime};

#[derive(Entity)]
#[entity(
    table = TABLE,
    pk = "ORDER#{id}",
    index("by-day", pk = "DAY#{day}"),
    index("byDay", pk = "PLACED#{placed_at}", query = by_day)
)]
struct Order {
    id: Id,
    day: Id,
    placed_at: UtcTime,
}

fn main() {}
