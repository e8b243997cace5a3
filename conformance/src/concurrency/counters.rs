//! Counter test: concurrent increments must not be lost.

use std::sync::Arc;

use tabla_core::ops::*;
use tabla_core::{Error, Item, KeyType, Store, Update, ValueRef, attr, item};

use super::call_outcome::{RetryOutcome, retry_on_conflict};
use super::explain::Violation;
use super::recorder::at_once;
use super::tables::create_table;

/// Counts of a run of [`counters()`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountersReport {
    /// Increments that were committed.
    pub increments: usize,
    /// Optimistic retries: increments whose condition failed because the count had changed.
    pub overtaken: usize,
    /// Increments whose outcome is unknown, because the response was lost.
    pub unknown: usize,
    /// Calls repeated after a conflict, throttling or an unreachable store.
    pub conflicts: usize,
}

/// Runs tasks that make `increments` increments each on a few counters: in turn with ADD, with a
/// put and an update conditional on the count that was read, and with a transaction on
/// two counters.
///
/// At the end each counter must equal its number of increments.
///
/// # Errors
/// [`Violation::Invariant`] if a count is wrong, [`Violation::Store`] if a call fails for another
/// reason than a conflict or a lost response.
///
/// # Panics
/// If there is no store, or if `counters` is 0.
pub async fn counters(
    stores: &[Arc<dyn Store>],
    counters: usize,
    tasks: usize,
    increments: usize,
) -> Result<CountersReport, Violation> {
    assert!(counters > 0, "counters: the number of counters must be at least 1");
    let first = stores.first().expect("counters needs at least one store");
    let request = |name| CreateTable::new(name).partition_key("pk", KeyType::S);
    let table = create_table(&**first, "counters", request).await?;
    let clerks = (0..tasks).map(|task| {
        let clerk = Clerk {
            store: Arc::clone(&stores[task % stores.len()]),
            table: table.clone(),
            counted: vec![Counted::default(); counters],
            report: CountersReport::default(),
        };
        clerk.work(task, increments)
    });
    let mut report = CountersReport::default();
    let mut counted = vec![Counted::default(); counters];
    for clerk in at_once(clerks).await {
        let clerk = clerk?;
        report.add(clerk.report);
        for (all, one) in counted.iter_mut().zip(&clerk.counted) {
            all.surely += one.surely;
            all.perhaps += one.perhaps;
        }
    }
    for store in stores {
        for (number, counted) in counted.iter().enumerate() {
            let count = read(&**store, &table, number, &mut report.conflicts).await?.unwrap_or(0);
            let Counted { surely, perhaps } = *counted;
            if !(surely..=surely + perhaps).contains(&count) {
                let text = format!(
                    "counter {number} is {count} after {surely} increments, and {perhaps} that \
                     may have been made"
                );
                return Err(Violation::Invariant(text));
            }
        }
    }
    first.delete_table(DeleteTable::new(table)).await?;
    Ok(report)
}

impl CountersReport {
    fn add(&mut self, other: Self) {
        let Self { increments, overtaken, unknown, conflicts } = other;
        self.increments += increments;
        self.overtaken += overtaken;
        self.unknown += unknown;
        self.conflicts += conflicts;
    }
}

/// Expected count of a counter: committed increments, and those of unknown outcome.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    surely: i64,
    perhaps: i64,
}

/// Task that increments the counters.
struct Clerk {
    store: Arc<dyn Store>,
    table: String,
    counted: Vec<Counted>,
    report: CountersReport,
}

/// Write with which an optimistic increment is made.
#[derive(Clone, Copy)]
enum Pinned {
    Put,
    Update,
}

impl Clerk {
    async fn work(mut self, task: usize, increments: usize) -> Result<Self, Violation> {
        let has_transactions = self.store.capabilities().transactions && self.counted.len() > 1;
        for round in 0..increments {
            let counter = (task + round) % self.counted.len();
            match (task + round / 2) % 4 {
                0 => self.optimistic(counter, Pinned::Put).await?,
                1 => self.optimistic(counter, Pinned::Update).await?,
                2 if has_transactions => {
                    self.together(counter, (counter + 1) % self.counted.len()).await?;
                }
                _ => self.add(counter).await?,
            }
            tokio::task::yield_now().await;
        }
        Ok(self)
    }

    async fn add(&mut self, counter: usize) -> Result<(), Violation> {
        let request = increment(&self.table, counter);
        let store = &self.store;
        let answer =
            retry_on_conflict(&mut self.report.conflicts, || store.update(request.clone())).await?;
        self.count(&[counter], &answer)
    }

    async fn together(&mut self, one: usize, other: usize) -> Result<(), Violation> {
        let request = TransactWriteItems::new()
            .item(increment(&self.table, one))
            .item(increment(&self.table, other));
        let store = &self.store;
        let answer =
            retry_on_conflict(&mut self.report.conflicts, || store.transact_write(request.clone()))
                .await?;
        self.count(&[one, other], &answer)
    }

    /// Reads the count and writes the next one, with optimistic retries.
    async fn optimistic(&mut self, counter: usize, pinned: Pinned) -> Result<(), Violation> {
        loop {
            let conflicts = &mut self.report.conflicts;
            let count = read(&*self.store, &self.table, counter, conflicts).await?;
            let condition = match count {
                Some(count) => attr("n").eq(count),
                None => attr("pk").not_exists(),
            };
            let next = count.unwrap_or(0) + 1;
            let (store, table) = (&self.store, &self.table);
            let answer = retry_on_conflict(conflicts, || async {
                match pinned {
                    Pinned::Put => {
                        let put = PutItem::new(table, key(counter).with("n", next));
                        store.put(put.condition(condition.clone())).await
                    }
                    Pinned::Update => {
                        let update = Update::new().set("n", next);
                        let request = UpdateItem::new(table, key(counter)).update(update);
                        store.update(request.condition(condition.clone())).await
                    }
                }
            })
            .await?;
            if matches!(answer, RetryOutcome::Refused) {
                self.report.overtaken += 1;
                tokio::task::yield_now().await;
                continue;
            }
            return self.count(&[counter], &answer);
        }
    }

    fn count<T>(&mut self, counters: &[usize], answer: &RetryOutcome<T>) -> Result<(), Violation> {
        for counter in counters {
            let counted = &mut self.counted[*counter];
            match answer {
                RetryOutcome::Done(_) => {
                    counted.surely += 1;
                    self.report.increments += 1;
                }
                RetryOutcome::Unknown => {
                    counted.perhaps += 1;
                    self.report.unknown += 1;
                }
                RetryOutcome::Refused => {
                    let text =
                        format!("an unconditional increment of counter {counter} was refused");
                    return Err(Violation::Invariant(text));
                }
            }
        }
        Ok(())
    }
}

fn key(number: usize) -> Item {
    item! { "pk" => format!("counter-{number}") }
}

fn increment(table: &str, counter: usize) -> UpdateItem {
    UpdateItem::new(table, key(counter)).update(Update::new().add("n", 1))
}

/// Current count; `None` for a missing counter.
async fn read(
    store: &dyn Store,
    table: &str,
    counter: usize,
    conflicts: &mut usize,
) -> Result<Option<i64>, Violation> {
    let request = GetItem::new(table, key(counter)).consistent_read(true);
    let RetryOutcome::Done(answer) =
        retry_on_conflict(conflicts, || store.get(request.clone())).await?
    else {
        return Err(Violation::Store(Error::validation(
            "a read returned a failed condition or a lost response",
        )));
    };
    let Some(item) = answer.item else { return Ok(None) };
    let count = item.get("n").and_then(ValueRef::as_number).and_then(|number| number.to_i64());
    count.map(Some).ok_or_else(|| Violation::Invariant(format!("a counter has no count: {item:?}")))
}
