//! A stream consumer: mails a receipt for every paid order, and resumes after a crash.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, Mutex};

use serde::{Deserialize, Serialize};
use tabla::consumer::{Consumer, Failure, each};
use tabla::entity::{Db, Entity, Id, RecordExt, TableDesign};
use tabla::ops::StreamViewType;

/// The stream has each item before and after its change.
static SHOP: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("shop").key("PK", "SK").stream(StreamViewType::NewAndOldImages)
});

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = SHOP, pk = "ORDER#{order}", sk = "ORDER")]
struct Order {
    order: Id,
    email: Option<String>,
    paid: bool,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("shop.db");
    let store = tabla::open(&format!("sqlite:{}", path.display())).await?;
    let db = Db::new(store.clone());
    db.create_table(&SHOP).await?;
    for (id, email) in [("1", Some("ana@example.com")), ("2", None), ("3", Some("bo@example.com"))]
    {
        let order = Order { order: Id::new(id)?, email: email.map(str::to_owned), paid: false };
        assert!(db.create(order.clone()).await?.is_done());
        assert!(db.update(order.change().set(Order::PAID, true)).await?.is_done());
    }

    // A record is delivered at least once: after a crash, the last ones are delivered again. The
    // set represents a mail service that sends one mail per order number.
    let mails: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let outbox = mails.clone();
    let send = each(move |record| {
        let outbox = outbox.clone();
        async move {
            let was_paid = record.old_entity::<Order>()?.is_some_and(|order| order.paid);
            let Some(order) = record.new_entity::<Order>()? else { return Ok(()) };
            if order.paid && !was_paid {
                // A retry cannot succeed: set the record aside, and continue with the next one.
                let email = order.email.ok_or_else(|| Failure::set_aside("no address"))?;
                outbox.lock().expect("no holder panics").insert(format!("{} {email}", order.order));
            }
            Ok(())
        }
    });

    // The name identifies the checkpoints in the store. Workers with the same name, in any process,
    // share the shards. A service calls `run`, which ends when its second argument does.
    let mailer = Consumer::new(store, "mailer", "shop");
    let drained = mailer.drain(&send).await?;
    println!("handled {}, set aside {}", drained.handled, drained.set_aside);
    assert_eq!((drained.handled, drained.set_aside), (5, 1));
    println!("receipts: {:?}", mails.lock().expect("no holder panics"));
    assert_eq!(mails.lock().expect("no holder panics").len(), 2);

    // Handled records are not delivered again. Retry records set aside after a repair.
    assert_eq!(mailer.drain(&send).await?.handled, 0);
    let [aside] = &mailer.set_aside().await?[..] else { panic!("one record was set aside") };
    println!("set aside: {}", aside.error);
    let repaired = each(|_| async { Ok(()) });
    assert_eq!(mailer.retry_set_aside(&repaired).await?.handled, 1);
    Ok(())
}
