//! Batches through `tabla::open("dynamodb://…")` over a server that leaves many of their items
//! unprocessed.

use std::sync::Arc;

use tabla::env::SeededRandom;
use tabla::ops::{BatchGetItem, BatchWriteItem, CreateTable, KeysAndAttributes, WriteRequest};
use tabla::{Applied, Item, KeyType, Store, assign, item};
use tabla_conformance::fault::{Failure, Failures, When};

use super::proxy::Cut;
use super::{Line, tracked};

const TABLES: [&str; 2] = ["left", "right"];
/// Items of all batches.
const ITEMS: usize = 2_000;
/// Keys of one batch read, in both tables together.
const KEYS: usize = 50;
/// Writes of one batch, in both tables together.
const WRITES: usize = 20;

async fn line(options: &str) -> Line {
    let store = tracked();
    for table in TABLES {
        let request = CreateTable::new(table).partition_key("pk", KeyType::N);
        store.create_table(request).await.expect("a table");
    }
    Line::open(store, options).await
}

/// Leaves 1, 3 or 7 operations of a batch unprocessed, or throttles it: also where nothing of it would
/// be processed.
fn failures(seed: u64) -> Failures {
    let kinds = [
        (0.15, Failure::Unprocessed(1)),
        (0.15, Failure::Unprocessed(3)),
        (0.15, Failure::Unprocessed(7)),
        (0.1, Failure::Throttled),
    ];
    let plan = Failures::new().random(Arc::new(SeededRandom::new(seed)));
    kinds
        .into_iter()
        .fold(plan, |plan, (chance, failure)| plan.on_any(When::Chance(chance), failure))
}

fn stored(number: usize) -> Item {
    item! { "pk" => number as u64, "text" => format!("item {number}") }
}

fn table_of(number: usize) -> &'static str {
    TABLES[number % TABLES.len()]
}

/// A batch of puts of these items, over both tables.
fn puts(numbers: &[usize]) -> BatchWriteItem {
    let mut request = BatchWriteItem::default();
    for number in numbers {
        let writes = request.requests.entry(table_of(*number).to_owned()).or_default();
        writes.push(WriteRequest::Put(stored(*number)));
    }
    request
}

fn numbers(items: impl IntoIterator<Item = Item>) -> Vec<usize> {
    let number = |item: Item| item.get("pk").and_then(|pk| pk.as_number()).map(|n| n.to_string());
    let mut numbers: Vec<usize> = items
        .into_iter()
        .map(|item| number(item).expect("a number").parse().expect("a small one"))
        .collect();
    numbers.sort_unstable();
    numbers
}

#[tokio::test(flavor = "multi_thread")]
async fn each_item_of_a_batch_is_written_and_read_once() {
    let line = line("").await;
    line.behind.begin(failures(11));
    let all: Vec<usize> = (0..ITEMS).collect();
    for chunk in all.chunks(WRITES) {
        let answer = line.store.batch_write(puts(chunk)).await.expect("a batch of writes");
        assert!(answer.unprocessed_items.is_empty());
    }
    assert_eq!(
        numbers(line.behind.store.put_in_batches()),
        all,
        "each item has reached the store once"
    );
    let written = line.behind.injected()["unprocessed"];

    line.behind.begin(failures(12));
    for chunk in all.chunks(KEYS) {
        let mut request = BatchGetItem::new();
        for (index, table) in TABLES.into_iter().enumerate() {
            let of_table = chunk.iter().filter(|number| **number % TABLES.len() == index);
            let keys = of_table.map(|number| item! { "pk" => *number as u64 }).collect();
            let keys = assign!(KeysAndAttributes::default(), { keys, consistent_read: true });
            request = request.request(table, keys);
        }
        let answer = line.store.batch_get(request).await.expect("a batch of reads");
        assert!(answer.unprocessed_keys.is_empty());
        for (table, items) in &answer.responses {
            for item in items {
                let number = numbers([item.clone()])[0];
                assert_eq!((table.as_str(), item), (table_of(number), &stored(number)));
            }
        }
        assert_eq!(numbers(answer.responses.into_values().flatten()), chunk);
    }
    let injected = line.behind.injected();
    let read = injected["unprocessed"] - written;
    assert!(written >= 25 && read >= 8 && injected["throttled"] > 5, "{written} {injected:?}");
    assert_eq!(line.store.leaks(), Vec::<String>::new());
    line.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_without_retries_shows_what_is_left() {
    let line = line("?retries=off").await;
    let all: Vec<usize> = (0..WRITES).collect();
    line.behind.begin(Failures::new().on_any(When::Always, Failure::Unprocessed(3)));
    let answer = line.store.batch_write(puts(&all)).await.expect("a batch of writes");
    assert_eq!(answer.unprocessed_items.values().flatten().count(), 3);
    assert_eq!(line.behind.store.put_in_batches().len(), WRITES - 3);
    line.server.shutdown().await;
}

/// A repetition could overwrite what another caller has written since.
#[tokio::test(flavor = "multi_thread")]
async fn batch_write_is_not_repeated_after_a_lost_answer() {
    let line = line("").await;
    let all: Vec<usize> = (0..WRITES).collect();
    for (cut, sent) in [(Cut::ResponseLost, WRITES), (Cut::RequestLost, 0)] {
        let before = line.behind.store.put_in_batches().len();
        line.proxy.begin(Some((1, cut)));
        let error = line.store.batch_write(puts(&all)).await.expect_err("a lost answer");
        assert_eq!(error.applied(), Applied::Maybe, "{cut:?}");
        assert_eq!(line.behind.store.put_in_batches().len() - before, sent, "{cut:?}");
    }
    // What was left of the first call is written before the second loses its answer.
    line.behind.begin(Failures::new().on_any(When::Call(1), Failure::Unprocessed(4)));
    let before = line.behind.store.put_in_batches().len();
    line.proxy.begin(Some((2, Cut::RequestLost)));
    let error = line.store.batch_write(puts(&all)).await.expect_err("a lost answer");
    assert_eq!(error.applied(), Applied::Maybe);
    assert_eq!(line.behind.store.put_in_batches().len() - before, WRITES - 4);
    line.server.shutdown().await;
}
