//! Execution of the model's operations on a store, and conversion of the responses to outcomes.

use tabla_core::ops::*;
use tabla_core::{CancellationCode, Error, ErrorKind, Item, Store, Update, assign, attr};

use super::call_outcome::{CallOutcome, classify_error, is_contention};
use super::explain::Violation;
use super::model::{Action, Condition, ModelOperation, Outcome, Returns, Row, Verdict, Write};
use super::tables::Tables;

/// Executes an operation of the model on a store.
///
/// # Errors
/// [`Violation::UnexpectedResponse`] if the response has no equivalent in the model.
pub(super) async fn call(
    store: &dyn Store,
    tables: &Tables,
    operation: &ModelOperation,
) -> Result<Outcome, Violation> {
    let answer = match operation {
        ModelOperation::Get(key) => {
            let request = get(tables, *key).consistent_read(true);
            store.get(request).await.map(|output| Response::Items(vec![output.item]))
        }
        ModelOperation::TransactGet(keys) => {
            let request = TransactGetItems::new(keys.iter().map(|key| get(tables, *key)));
            store.transact_get(request).await.map(|output| Response::Items(output.responses))
        }
        ModelOperation::Write(write) => {
            single_write(store, tables, write).await.map(|output| Response::Old(output.attributes))
        }
        ModelOperation::TransactWrite(writes) => {
            let request = writes
                .iter()
                .fold(TransactWriteItems::new(), |all, write| all.item(request(tables, write)));
            store.transact_write(request).await.map(|_| Response::Old(None))
        }
    };
    let outcome = match &answer {
        Ok(answer) => done(tables, operation, answer),
        Err(error) => failed(tables, operation, error),
    };
    outcome.ok_or_else(|| Violation::UnexpectedResponse {
        asked: operation.to_string(),
        answer: format!("{answer:?}"),
    })
}

/// Response of a successful call.
#[derive(Debug)]
enum Response {
    Items(Vec<Option<Item>>),
    Old(Option<Item>),
}

/// Outcome of a success; `None` if the response has items that cannot have been written.
fn done(tables: &Tables, operation: &ModelOperation, answer: &Response) -> Option<Outcome> {
    let keys = operation.keys();
    match answer {
        Response::Items(items) if items.len() != keys.len() => None,
        Response::Items(items) => {
            let rows = keys.iter().zip(items).map(|(key, item)| row(tables, *key, item.as_ref()));
            rows.collect::<Option<_>>().map(Outcome::Read)
        }
        Response::Old(item) => row(tables, *keys.first()?, item.as_ref()).map(Outcome::Written),
    }
}

/// Outcome of a failure; `None` if the error is not expected.
fn failed(tables: &Tables, operation: &ModelOperation, error: &Error) -> Option<Outcome> {
    match classify_error(error) {
        CallOutcome::NoEffect => Some(Outcome::NoEffect(error.code().into())),
        CallOutcome::Unknown => Some(Outcome::Unknown(error.code().into())),
        CallOutcome::Refused => refused(tables, operation, error),
        CallOutcome::Unexpected => None,
    }
}

fn refused(tables: &Tables, operation: &ModelOperation, error: &Error) -> Option<Outcome> {
    let verdicts = match (operation, error.kind()) {
        (ModelOperation::Write(write), ErrorKind::ConditionFailed { item }) => {
            vec![Verdict::Failed(row(tables, write.key, item.as_ref())?)]
        }
        (ModelOperation::TransactWrite(writes), ErrorKind::TransactionCanceled { reasons })
            if writes.len() == reasons.len() =>
        {
            // An engine that met contention may not have evaluated all conditions.
            let is_evaluated = !reasons.iter().any(|reason| is_contention(reason.code));
            let verdicts = writes.iter().zip(reasons).map(|(write, reason)| match reason.code {
                CancellationCode::ConditionalCheckFailed => {
                    row(tables, write.key, reason.item.as_ref()).map(Verdict::Failed)
                }
                CancellationCode::None if is_evaluated => Some(Verdict::Held),
                _ => Some(Verdict::NotReported),
            });
            verdicts.collect::<Option<_>>()?
        }
        _ => return None,
    };
    Some(Outcome::Refused(verdicts))
}

/// Row of an item, inner `None` for a missing item; `None` for an item that cannot have
/// been written.
fn row(tables: &Tables, key: usize, item: Option<&Item>) -> Option<Option<Row>> {
    match item {
        Some(item) => tables.row(key, item).map(Some),
        None => Some(None),
    }
}

fn get(tables: &Tables, key: usize) -> GetItem {
    GetItem::new(tables.table(key), tables.key(key))
}

async fn single_write(
    store: &dyn Store,
    tables: &Tables,
    write: &Write,
) -> tabla_core::Result<WriteOutput> {
    let returns = match write.returns {
        Returns::Nothing => ReturnValues::None,
        Returns::Old => ReturnValues::AllOld,
        Returns::New => ReturnValues::AllNew,
    };
    match request(tables, write) {
        TransactWriteItem::Put(put) => store.put(put.return_values(returns)).await,
        TransactWriteItem::Update(update) => store.update(update.return_values(returns)).await,
        TransactWriteItem::Delete(delete) => store.delete(delete.return_values(returns)).await,
        TransactWriteItem::ConditionCheck(_) => {
            Err(Error::validation("a condition check is only possible in a transaction"))
        }
    }
}

/// Request of a write, alone or as a part of a transaction.
fn request(tables: &Tables, write: &Write) -> TransactWriteItem {
    let (table, key) = (tables.table(write.key), tables.key(write.key));
    macro_rules! conditional {
        ($request:expr) => {{
            let mut request = $request;
            if let Some(condition) = write.condition {
                request = request.condition(expression(condition));
            }
            if write.item_on_failure {
                request = request.return_item_on_failure();
            }
            request.into()
        }};
    }
    match write.action {
        Action::Put(row) => conditional!(PutItem::new(table, tables.item(write.key, row))),
        Action::Update { tag, add } => {
            let mut update = Update::new();
            if let Some(tag) = tag {
                update = update.set("v", tag);
            }
            if let Some(add) = add {
                update = update.add("n", add);
            }
            conditional!(UpdateItem::new(table, key).update(update))
        }
        Action::Delete => conditional!(DeleteItem::new(table, key)),
        Action::Check => {
            // Without a condition the store rejects the request, as it should.
            let condition = write.condition.map(|condition| expression(condition).into());
            let table = table.to_owned();
            let mut check = assign!(ConditionCheck::default(), { table, key, condition });
            if write.item_on_failure {
                check = check.return_item_on_failure();
            }
            check.into()
        }
    }
}

fn expression(condition: Condition) -> tabla_core::Condition {
    match condition {
        Condition::Absent => attr("pk").not_exists(),
        Condition::Present => attr("pk").exists(),
        Condition::Tag(tag) => attr("v").eq(tag),
        Condition::CountAtLeast(count) => attr("n").ge(count),
    }
}
