//! Table of a server: creation, filling, emptying, and verification.

use std::time::Duration;

use serde_json::Value;

use super::client::{Connection, LoadRun, drive, unexpected};
use super::request::{self, Expected};
use crate::embedded::Failure;
use crate::embedded::workload::{self, BATCH_WRITE, ITEMS, PAGE, Workload};

/// Number of checks whether a table is active; with the pause between them 12 seconds.
const QUESTIONS: usize = 600;
const PAUSE: Duration = Duration::from_millis(20);

/// Number of connections that fill and empty a table.
const CONNECTIONS: usize = 4;

/// Number of batches per call of [`drive`], which the slowest server finishes within the
/// time limit.
const BATCHES: u64 = 40;

/// Creates the table, and waits until it is active.
pub(crate) async fn create(port: u16) -> Result<(), Failure> {
    let mut connection = Connection::open(port).await?;
    connection.expect(&request::create_table(port), Expected::Success).await?;
    let describe = request::describe_table(port);
    for _ in 0..QUESTIONS {
        let described = ask(&mut connection, &describe).await?;
        let table = &described["Table"];
        let indexes = table["GlobalSecondaryIndexes"].as_array().map_or(&[][..], Vec::as_slice);
        let is_active = table["TableStatus"] == "ACTIVE"
            && indexes.iter().all(|index| index["IndexStatus"] == "ACTIVE");
        if is_active {
            return Ok(());
        }
        pause().await;
    }
    Err("the table did not become active within 12 seconds".into())
}

/// Creates the table, and writes the initial items.
pub(crate) async fn load(port: u16) -> Result<(), Failure> {
    create(port).await?;
    fill(port, 0, ITEMS).await
}

/// Writes items in batches.
pub(crate) async fn fill(port: u16, first: u64, count: u64) -> Result<(), Failure> {
    in_batches(first, count, async |batches| {
        let requests = batches.map(|(begin, end)| request::put_batch(port, begin..end)).collect();
        drive(port, CONNECTIONS, requests, Expected::WholeBatch).await
    })
    .await
}

/// Deletes items in batches.
pub(crate) async fn clear(port: u16, first: u64, count: u64) -> Result<(), Failure> {
    in_batches(first, count, async |batches| {
        let requests =
            batches.map(|(begin, end)| request::delete_batch(port, begin..end)).collect();
        drive(port, CONNECTIONS, requests, Expected::WholeBatch).await
    })
    .await
}

async fn in_batches(
    first: u64,
    count: u64,
    write: impl AsyncFn(Batches) -> Result<LoadRun, Failure>,
) -> Result<(), Failure> {
    let end = first + count;
    let stride = BATCHES * BATCH_WRITE;
    for begin in (first..end).step_by(stride as usize) {
        write(Batches { next: begin, end: (begin + stride).min(end) }).await?;
    }
    Ok(())
}

/// Ranges of the batches of some items.
struct Batches {
    next: u64,
    end: u64,
}

impl Iterator for Batches {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let begin = self.next;
        self.next = (begin + BATCH_WRITE).min(self.end);
        (begin < self.end).then_some((begin, self.next))
    }
}

/// Verifies the result of a turn: the figures of a server that responds without doing the work
/// are worthless.
pub(crate) async fn verify(
    port: u16,
    operation: Workload,
    ops: u64,
    first: u64,
) -> Result<(), Failure> {
    let mut connection = Connection::open(port).await?;
    let last = ops.saturating_sub(1);
    let holds = match operation {
        Workload::Get => {
            let number = workload::pseudo_random_item(last);
            let found = ask(&mut connection, &request::of(port, operation, last, first)).await?;
            found["Item"]["note"] == request::item(number)["note"]
        }
        Workload::Put => has_item(&mut connection, port, first + last).await?,
        Workload::Update => {
            let amount = workload::amount(first, last);
            has_amount(&mut connection, port, workload::pseudo_random_item(last), amount).await?
        }
        Workload::Transact => {
            let amount = workload::amount(first, last);
            has_item(&mut connection, port, first + 2 * last + 1).await?
                && has_amount(
                    &mut connection,
                    port,
                    workload::pseudo_random_item(2 * last + 1),
                    amount,
                )
                .await?
        }
        _ => {
            let found = ask(&mut connection, &request::of(port, operation, last, first)).await?;
            let partition = workload::partition(workload::pseudo_random_item(last) / PAGE);
            let items = found["Items"].as_array().map_or(&[][..], Vec::as_slice);
            items.len() as u64 == PAGE
                && items.iter().all(|item| item["pk"]["S"] == partition.as_str())
                && items.is_sorted_by_key(|item| item["sk"]["S"].as_str())
        }
    };
    match holds {
        true => Ok(()),
        false => {
            Err(format!("the server responded to {} but did not execute it", operation.name())
                .into())
        }
    }
}

async fn has_item(connection: &mut Connection, port: u16, number: u64) -> Result<bool, Failure> {
    let found = ask(connection, &request::get(port, number)).await?;
    Ok(found["Item"] == request::item(number))
}

async fn has_amount(
    connection: &mut Connection,
    port: u16,
    number: u64,
    amount: i64,
) -> Result<bool, Failure> {
    let found = ask(connection, &request::get(port, number)).await?;
    let amount = amount.to_string();
    Ok(found["Item"]["amount"]["N"] == amount.as_str())
}

async fn ask(connection: &mut Connection, request: &[u8]) -> Result<Value, Failure> {
    let response = connection.ask(request).await?;
    match response.status {
        200 => Ok(serde_json::from_slice(response.body)?),
        _ => Err(unexpected(&response)),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process makes its table in real time, which no test clock moves"
)]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_have_every_item_once() {
        let all = |next, end| Batches { next, end }.collect::<Vec<_>>();
        assert_eq!(all(10, 65), [(10, 35), (35, 60), (60, 65)]);
        assert_eq!(all(0, 25), [(0, 25)]);
        assert!(all(5, 5).is_empty());
    }
}
