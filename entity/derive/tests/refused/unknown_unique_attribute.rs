//! An attribute that unique fields do not have.

use tabla::entity::{Entity, Id};

#[derive(Entity)]
#[entity(
    table = TABLE,
    pk = "CUSTOMER#{customer}",
    unique(customer, pk = "{customer}", when = customer)
)]
struct Order {
    customer: Id,
}

fn main() {}
