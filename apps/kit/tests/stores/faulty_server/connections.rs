//! Connections that break or stall, for each operation of a store that reads or writes items.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::{BoxFuture, FutureExt, join_all};
use tabla::dynamodb::{DynamoConfig, DynamoStore};
use tabla::ops::*;
use tabla::{
    Address, Applied, Error, ErrorKind, Item, KeyType, OpenContext, Opener, Registry, Result,
    Store, StoreExt, Update, attr, item,
};
use tabla_conformance::fault::Failures;

use super::behind::Behind;
use super::proxy::{Cut, Proxy};
use super::state::Tracked;
use super::tracked;

/// Time-out of the client. Every request that is not stalled has to be answered within it, on a busy
/// machine too.
const TIME_OUT: Duration = Duration::from_secs(2);

/// Opens `dynamodb:` addresses with a short time-out. Everything else is the registry's.
struct ImpatientOpener;

#[async_trait]
impl Opener for ImpatientOpener {
    fn scheme(&self) -> &'static str {
        "dynamodb"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Store>> {
        let config = DynamoConfig::from_address(address)?.with_read_timeout(TIME_OUT);
        Ok(Arc::new(DynamoStore::open(&config).await?.with_env(&context.env)))
    }
}

fn key() -> Item {
    item! { "pk" => "a" }
}

fn add_one() -> UpdateItem {
    let update = Update::new().set("n", attr("n").if_not_exists(0).plus(1));
    UpdateItem::new("things", key()).update(update)
}

/// How an operation ends if its request or the answer to it is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    /// It is repeated and succeeds.
    Repeated,
    /// It fails, and may have been executed.
    InDoubt,
}

type Call = fn(Arc<dyn Store>) -> BoxFuture<'static, Result<()>>;

/// An operation on the item `a`: what it does, how it ends, and the value of `n` after it.
struct Case {
    name: &'static str,
    call: Call,
    ending: Ending,
    after: Option<u32>,
}

/// `n` is 1 before each of them.
fn cases() -> Vec<Case> {
    macro_rules! case {
        ($name:ident($request:expr), $ending:ident, $after:expr) => {
            Case {
                name: stringify!($name),
                call: |store| async move { store.$name($request).await.map(drop) }.boxed(),
                ending: Ending::$ending,
                after: $after,
            }
        };
    }
    vec![
        case!(get(GetItem::new("things", key())), Repeated, Some(1)),
        case!(query(Query::new("things", attr("pk").eq("a"))), Repeated, Some(1)),
        case!(scan(Scan::new("things")), Repeated, Some(1)),
        case!(batch_get(BatchGetItem::new().keys("things", [key()])), Repeated, Some(1)),
        case!(
            transact_get(TransactGetItems::new([GetItem::new("things", key())])),
            Repeated,
            Some(1)
        ),
        case!(put(PutItem::new("things", key().with("n", 7))), InDoubt, Some(7)),
        case!(update(add_one()), InDoubt, Some(2)),
        case!(delete(DeleteItem::new("things", key())), InDoubt, None),
        case!(
            batch_write(BatchWriteItem::new().put("things", key().with("n", 8))),
            InDoubt,
            Some(8)
        ),
        // Under its client request token it is executed once.
        case!(transact_write(TransactWriteItems::new().item(add_one())), Repeated, Some(2)),
    ]
}

async fn count(store: &Tracked) -> Option<u32> {
    let item = store.get_item("things", key()).await.expect("an answer")?;
    let n = item.get("n").and_then(|n| n.as_number()).expect("a number");
    Some(n.to_string().parse().expect("a small number"))
}

/// Whether the server executes a request that is cut like this, and what the error says of it.
fn meaning(cut: Cut) -> (bool, &'static str) {
    match cut {
        Cut::RequestLost => (false, "the connection broke before the response came"),
        Cut::ResponseLost => (true, "the connection broke before the response came"),
        Cut::AnswerTruncated => (true, "cannot read the response of the service"),
        Cut::RequestStalled => (false, "the service did not respond in time"),
        Cut::AnswerStalled => (true, "the service did not respond in time"),
    }
}

fn check_doubt(error: &Error, what: &str, message: &str) {
    assert_eq!(error.kind(), &ErrorKind::Unavailable, "{what}: {error}");
    assert_eq!(error.applied(), Applied::Maybe, "{what}: {error}");
    assert!(error.message().starts_with(message), "{what}: {error}");
}

async fn check(case: Case, cut: Cut) {
    let what = format!("{}, {}", case.name, cut.name());
    let behind = Arc::new(Behind::new(tracked()));
    let table = CreateTable::new("things").partition_key("pk", KeyType::S);
    behind.store.create_table(table).await.expect("a table");
    behind.store.put(PutItem::new("things", key().with("n", 1))).await.expect("an item");
    let served = Arc::clone(&behind) as Arc<dyn Store>;
    let server = tabla::server::spawn(served).await.expect("a server");
    let proxy = Proxy::start(server.address()).await.expect("a proxy");
    let mut registry = Registry::new();
    registry.register(ImpatientOpener);
    let address = format!("dynamodb://{}", proxy.address());
    let store = registry.open(&address).await.expect("a store");

    behind.begin(Failures::new());
    proxy.begin(Some((1, cut)));
    let outcome = (case.call)(store).await;
    assert_eq!(proxy.done()[cut.name()], 1, "{what}");
    let (is_executed, message) = meaning(cut);
    match (case.ending, outcome) {
        (Ending::Repeated, outcome) => {
            outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
            let calls = if is_executed { 2 } else { 1 };
            assert_eq!(behind.end(), vec![case.name; calls], "{what}");
            assert_eq!(count(&behind.store).await, case.after, "{what}");
        }
        (Ending::InDoubt, outcome) => {
            let error = outcome.expect_err(&what);
            check_doubt(&error, &what, message);
            let after = if is_executed { case.after } else { Some(1) };
            assert_eq!(count(&behind.store).await, after, "{what}");
        }
    }
    server.shutdown().await;
}

async fn check_all(cuts: &[Cut]) {
    let checks = cuts.iter().flat_map(|cut| cases().into_iter().map(|case| check(case, *cut)));
    join_all(checks).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_connection_leaves_writes_in_doubt_and_repeats_the_rest() {
    check_all(&[Cut::RequestLost, Cut::ResponseLost, Cut::AnswerTruncated]).await;
}

/// All at the same time, because each waits for the time-out.
#[tokio::test(flavor = "multi_thread")]
async fn stalled_connection_leaves_writes_in_doubt_and_repeats_the_rest() {
    check_all(&[Cut::RequestStalled, Cut::AnswerStalled]).await;
}
