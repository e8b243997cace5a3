//! Whether a pattern asks of the store what it declares, read by read.

use async_trait::async_trait;
use futures::future::BoxFuture;
use tabla_core::Result;
use tabla_core::ops::{BatchWriteItem, Query, Scan, TransactGetItems};
use tabla_core::{attr, ops};
use tabla_entity::AppDesign;
use tabla_entity::{Db, Entity, EntityKey, EntityQuery, Id, KeyPart, Pattern, UtcTime};
use tabla_kit::{Answer, App, Progress, Race};

use crate::design::*;

type Reads = for<'d> fn(&'d Db) -> BoxFuture<'d, Result<()>>;

/// An app that declares one thing, and does another.
struct Reader {
    pattern: Pattern,
    reads: Reads,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.pattern.fmt(f)
    }
}

#[async_trait]
impl App for Reader {
    fn design(&self) -> AppDesign {
        AppDesign::new("shop", "orders")
            .tables(vec![&SHOP, &PAYMENTS])
            .entities(vec![Order::design(), Customer::design(), Event::design(), Payment::design()])
            .patterns(vec![self.pattern.clone()])
    }

    async fn seed(&self, _: &Db, _: u32, _: Progress<'_>) -> Result<()> {
        Ok(())
    }

    async fn run(&self, db: &Db, _: &str) -> Result<Answer> {
        (self.reads)(db).await?;
        Ok(Answer::new(0, "read"))
    }

    async fn race(&self, _: &Db) -> Result<Vec<Race>> {
        Ok(Vec::new())
    }
}

async fn run(pattern: Pattern, reads: Reads) -> Result<tabla_kit::Ran> {
    let (db, _) = db().await;
    for number in 1..=5 {
        db.create(order("ana", number)).await?.done().expect("it is new");
    }
    let reader = Reader { pattern: pattern.clone(), reads };
    tabla_kit::run(&reader, &db, pattern).await
}

/// How what was asked differs from what was declared.
async fn difference(pattern: Pattern, reads: Reads) -> String {
    let error = run(pattern, reads).await.expect_err("it asks something else");
    error.message().to_owned()
}

fn pattern() -> Pattern {
    Pattern::new("read", "something")
}

fn orders(customer: &str) -> OrderOf {
    Order::of(id(customer))
}

fn declared() -> Pattern {
    pattern().find(|| {
        let find = Order::of(Id::example("customer"));
        find.filter(Order::STATUS.eq(Status::Paid)).unexpired().descending().limit(2).describe()
    })
}

fn open(customer: &str) -> EntityQuery<Order> {
    orders(customer).filter(Order::STATUS.eq(Status::Open)).unexpired()
}

/// Reads a page of this.
macro_rules! page {
    ($find:expr) => {
        |db| Box::pin(async move { db.page($find).await.map(drop) })
    };
}

#[tokio::test]
async fn a_query_may_be_about_other_values_and_of_many_pages() {
    let ran = run(declared(), |db| {
        Box::pin(async { db.all(open("ana").descending().limit(2)).await.map(drop) })
    });
    assert_eq!(ran.await.unwrap().traces.len(), 3);
    // What is left of a page is less than one.
    run(declared(), page!(open("eva").descending().limit(1))).await.unwrap();
}

#[tokio::test]
async fn a_query_asks_what_it_declares() {
    let asked = "declares [Query in shop, PK = \"CUSTOMER#…\" AND begins_with(SK, \"ORDER#…\"), \
                 filter status = <S> AND NOT expires <= <N>, \
                 descending, limit 2] and asks [";
    let cases: [(&str, Reads, &str); 9] = [
        ("order", page!(open("ana").limit(2)), ", limit 2]"),
        ("more at once", page!(open("ana").descending().limit(3)), "descending, limit 3]"),
        ("as many as there are", page!(open("ana").descending()), "descending]"),
        (
            "a filter that is left out",
            page!(orders("ana").unexpired().descending().limit(2)),
            "filter NOT expires <= <N>, descending",
        ),
        (
            "what has expired",
            page!(orders("ana").filter(Order::STATUS.eq(Status::Open)).descending().limit(2)),
            "filter status = <S>, descending",
        ),
        (
            "another comparison",
            page!(
                orders("ana")
                    .filter(Order::STATUS.ne(Status::Open))
                    .unexpired()
                    .descending()
                    .limit(2)
            ),
            "filter status <> <S>",
        ),
        (
            "consistency",
            |db| {
                Box::pin(async move {
                    db.eventual().page(open("ana").descending().limit(2)).await.map(drop)
                })
            },
            "asks [Query eventual, in shop",
        ),
        (
            "a condition on the key",
            page!(
                orders("ana")
                    .number(1)
                    .filter(Order::STATUS.eq(Status::Open))
                    .unexpired()
                    .descending()
                    .limit(2)
            ),
            "AND SK = \"ORDER#…\"",
        ),
        (
            "another entity of the partition",
            |db| {
                let condition =
                    attr("PK").eq("CUSTOMER#ana").and(attr("SK").begins_with("PROFILE"));
                let query = Query::new("shop", condition).limit(2).descending();
                Box::pin(async { db.store().query(query).await.map(drop) })
            },
            "begins_with(SK, \"PROFILE\")",
        ),
    ];
    for (what, reads, words) in cases {
        let message = difference(declared(), reads).await;
        assert!(message.contains(asked) && message.contains(words), "{what}: {message}");
    }
}

#[tokio::test]
async fn a_query_is_of_one_table_and_one_index() {
    let by_status = || pattern().find(|| Order::by_status(Status::Paid).limit(9).describe());
    let message = difference(by_status(), page!(orders("ana").limit(9))).await;
    assert!(
        message.contains("declares [Query GSI1, in shop") && message.contains("asks [Query in")
    );
    let message = difference(by_status(), page!(Payment::by_user(id("ana")).limit(9)));
    let message = message.await;
    assert!(message.contains("asks [Query by-user, in payments"), "{message}");
    run(by_status(), page!(Order::by_status(Status::Open).limit(9))).await.unwrap();
}

/// Each shard is asked for as much as may be left of a page, whatever a page has.
#[tokio::test]
async fn a_query_of_shards_has_the_limit_of_all() {
    let events = || pattern().find(|| Event::of(Id::example("user")).limit(3).describe());
    let read: Reads = page!(Event::of(id("ana")).limit(3));
    assert_eq!(run(events(), read).await.unwrap().traces.len(), 10);
    let read: Reads = page!(Event::of(id("ana")).descending().limit(3));
    let message = difference(events(), read).await;
    // What is repeated is said once.
    assert!(message.ends_with("PK = \"EVENTS#…\", descending (10 times)]"), "{message}");
}

#[tokio::test]
async fn a_get_is_as_consistent_as_it_declares() {
    let key = || Order::key(id("ana"), 1);
    let eventual = || pattern().get_eventually::<Order>();
    let consistent: Reads =
        |db| Box::pin(async { db.get(&Order::key(id("ana"), 1)).await.map(drop) });
    let message = difference(eventual(), consistent).await;
    assert!(message.ends_with("declares [GetItem eventual] and asks [GetItem]"), "{message}");
    let ran = run(pattern().get::<Order>(), consistent).await.unwrap();
    assert_eq!((ran.units(), units(&ran)), (1.0, 1.0));
    let late: Reads =
        |db| Box::pin(async { db.eventual().get(&Order::key(id("ana"), 1)).await.map(drop) });
    let ran = run(eventual(), late).await.unwrap();
    assert_eq!((ran.units(), units(&ran)), (0.5, 0.5));
    assert_eq!(ran.traces[0].touched[0].item, key().to_item().unwrap());
}

/// What a pattern declares to cost, for one item.
fn units(ran: &tabla_kit::Ran) -> f64 {
    let design = Reader { pattern: ran.pattern.clone(), reads: |_| Box::pin(async { Ok(()) }) };
    let calls = ran.pattern.calls().unwrap();
    calls.iter().map(|call| call.units(&design.design(), 1024, 1)).sum()
}

#[tokio::test]
async fn a_batch_is_of_the_entities_that_it_declares() {
    let both: Reads = |db| {
        Box::pin(async {
            let keys: Vec<OrderKey> =
                (1..=150).map(|number| Order::key(id("ana"), number)).collect();
            db.get_all(&keys).await?;
            db.get_all(&[Customer::key(id("ana"))]).await.map(drop)
        })
    };
    let declared = || pattern().batch_get::<Order>();
    let ran = run(declared().batch_get::<Customer>(), both).await.unwrap();
    assert_eq!(ran.traces.len(), 3, "a hundred keys at a time");
    let message = difference(declared(), both).await;
    assert!(
        message.ends_with(
            "declares [BatchGetItem Order] and asks [BatchGetItem Order (2 times); \
             BatchGetItem Customer]"
        ),
        "{message}"
    );
    let message = difference(pattern().batch_get_eventually::<Order>(), both).await;
    assert!(message.contains("declares [BatchGetItem eventual, Order]"), "{message}");
    // A declared batch costs what one costs.
    let one: Reads = |db| {
        let keys = [Order::key(id("ana"), 1)];
        Box::pin(async move { db.get_all(&keys).await.map(drop) })
    };
    let ran = run(declared(), one).await.unwrap();
    assert_eq!((ran.units(), units(&ran)), (1.0, 1.0));
}

#[tokio::test]
async fn a_batch_writes_what_it_declares() {
    let write: Reads = |db| {
        Box::pin(async {
            let payment = Payment {
                payment_id: id("p1"),
                user_id: id("ana"),
                paid_at: UtcTime::default(),
                amount: 1,
            };
            let batch = BatchWriteItem::new()
                .delete("shop", ops_key("CUSTOMER#ana", "ORDER#00000001"))
                .put("payments", payment.to_item()?);
            db.store().batch_write(batch).await.map(drop)
        })
    };
    let declared = || pattern().batch_write(|writes| writes.delete::<Order>().put::<Payment>());
    run(declared(), write).await.unwrap();
    let less = pattern().batch_write(|writes| writes.delete::<Order>());
    let message = difference(less, write).await;
    assert!(message.contains("asks `Put`"), "{message}");
    let other = pattern().batch_write(|writes| writes.put::<Order>().put::<Payment>());
    let message = difference(other, write).await;
    assert!(message.contains("declares `Put Order`, which it does not ask"), "{message}");
}

fn ops_key(partition: &str, sort: &str) -> tabla_core::Item {
    tabla_core::item! { "PK" => partition, "SK" => sort }
}

#[tokio::test]
async fn a_transaction_of_reads_and_a_scan_are_of_what_they_declare() {
    let transact: Reads = |db| {
        let get = ops::GetItem::new("shop", ops_key("CUSTOMER#ana", "ORDER#00000001"));
        let request = TransactGetItems::new([get]);
        Box::pin(async { db.store().transact_get(request).await.map(drop) })
    };
    run(pattern().transact_get::<Order>(), transact).await.unwrap();
    let message = difference(pattern().transact_get::<Customer>(), transact).await;
    assert!(message.contains("declares `Get Customer`"), "{message}");

    let scan: Reads = |db| Box::pin(async { db.store().scan(Scan::new("shop")).await.map(drop) });
    run(pattern().scan::<Order>().may_scan(), scan).await.unwrap();
    let message = difference(pattern().scan::<Payment>().may_scan(), scan).await;
    assert!(
        message.ends_with("[Scan eventual, in payments] and asks [Scan eventual, in shop]"),
        "{message}"
    );
}
