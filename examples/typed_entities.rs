//! Typed entities: structs instead of items, with keys made from their fields.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{Db, Entity, Id, KeyPart, Outcome, TableDesign};

/// One table for all entities of the program, with one index.
static SHOP: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("shop").key("PK", "SK").index("by-status", "statusPK", "statusSK")
});

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, KeyPart)]
#[serde(rename_all = "lowercase")]
enum Status {
    Open,
    Paid,
}

// `{number:08}` writes eight digits, so that orders sort by number. A template that names no field
// does not compile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "CUSTOMER#{customer}",
    sk = "ORDER#{number:08}",
    index("by-status", pk = "STATUS#{status}", sk = "{customer}#{number:08}")
)]
struct Order {
    customer: Id,
    number: u32,
    status: Status,
    total: u32,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("shop.db");
    let db = Db::new(tabla::open(&format!("sqlite:{}", path.display())).await?);
    db.create_table(&SHOP).await?;

    let ana = Id::new("ana")?;
    let order =
        |number, total| Order { customer: ana.clone(), number, status: Status::Open, total };
    let first = order(1, 40);
    assert!(db.create(first.clone()).await?.is_done());
    // An order with this key exists: the outcome has it.
    assert_eq!(db.create(order(1, 99)).await?, Outcome::Lost(Some(first.clone())));
    println!("created order 1, once");

    // The change names fields. It also moves the order inside the index.
    let pay = || first.change().set(Order::STATUS, Status::Paid);
    let paid = db.update(pay().when(Order::STATUS.eq(Status::Open))).await?;
    println!("paid: {:?}", paid.done().expect("the order was open"));

    // A transaction writes any entities together. Each step returns a handle.
    let mut tx = db.transaction();
    tx.create(order(2, 15));
    let paid = tx.check(&first.to_key(), Order::STATUS.eq(Status::Paid));
    match tx.commit().await? {
        Committed => println!("created order 2, because order 1 is paid"),
        Canceled(c) if c.failed(&paid) => println!("order 1 is {:?}", c.current(&paid)?),
        Canceled(_) => println!("order 2 exists"),
    }

    let orders = db.all(Order::of(ana.clone())).await?;
    println!("orders of ana: {:?}", orders.iter().map(|order| order.number).collect::<Vec<_>>());
    assert_eq!(orders.len(), 2);
    let open = db.all(Order::by_status(Status::Open)).await?;
    println!("open orders: {:?}", open.iter().map(|order| order.number).collect::<Vec<_>>());
    assert_eq!(open, [order(2, 15)]);
    Ok(())
}
