//! Rules on the operations of a transaction together, and the fingerprint of its operations.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use super::{OperationError, RowKey, WritePlan};
use crate::codec::{self, wire};
use crate::error::{CancellationReason, Error, ErrorKind, Result};
use crate::expr::{Condition, Expr, Names, Renderer, Update, Values};
use crate::limits;
use crate::ops::{
    ConditionCheck, DeleteItem, PutItem, ReturnConsumedCapacity, ReturnItemCollectionMetrics,
    ReturnValues, ReturnValuesOnConditionCheckFailure, TransactGetItems, TransactWriteItem,
    TransactWriteItems, UpdateItem,
};
use crate::schema::TableSchema;
use crate::{Item, MapRef};

/// Time for which a client request token makes a transaction idempotent (API reference,
/// TransactWriteItems).
pub const TOKEN_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// Validates number, size, token and operations of a transaction, before a table is looked up.
pub(crate) fn check_write(request: &TransactWriteItems) -> Result<()> {
    check_count(request.items.len())?;
    if let Some(token) = &request.client_request_token {
        check_token(token)?;
    }
    check_operations(&request.items)?;
    let size: usize = request.items.iter().map(payload_size).sum();
    if size > limits::TRANSACT_SIZE {
        return Err(Error::validation(format!(
            "Transaction payload size cannot exceed 4MB. Payload Size: {size}"
        )));
    }
    Ok(())
}

/// Checks the number of reads of a transaction, before a table is looked up.
pub(crate) fn check_get(request: &TransactGetItems) -> Result<()> {
    check_count(request.items.len())
}

fn check_count(count: usize) -> Result<()> {
    let constraint = match count {
        0 => "Member must have length greater than or equal to 1",
        1..=limits::TRANSACT_ITEMS => return Ok(()),
        _ => "Member must have length less than or equal to 100",
    };
    Err(Error::validation(format!(
        "1 validation error detected: Value at 'transactItems' failed to satisfy constraint: \
         {constraint}"
    )))
}

/// Validates each operation of a transaction by itself: it returns nothing of its own, and has the
/// expression that the API requires.
///
/// # Errors
/// [`ErrorKind::Validation`] for the first operation that is invalid.
pub fn check_operations(items: &[TransactWriteItem]) -> Result<()> {
    for (number, item) in items.iter().enumerate() {
        check_nothing_returned(item)?;
        check_expressions(number, item)?;
    }
    Ok(())
}

/// Refuses an operation without the expression that the API requires of it (API reference,
/// `Update` and `ConditionCheck`).
fn check_expressions(number: usize, item: &TransactWriteItem) -> Result<()> {
    let missing = match item {
        TransactWriteItem::Update(update) if update.update.is_none() => "update.updateExpression",
        TransactWriteItem::ConditionCheck(check) if check.condition.is_none() => {
            "conditionCheck.conditionExpression"
        }
        _ => return Ok(()),
    };
    Err(Error::validation(format!(
        "1 validation error detected: Value null at 'transactItems.{}.member.{missing}' failed to \
         satisfy constraint: Member must not be null",
        number + 1
    )))
}

fn check_token(token: &str) -> Result<()> {
    let constraint = match token.len() {
        0 => "greater than or equal to 1".to_owned(),
        1..=limits::CLIENT_REQUEST_TOKEN => return Ok(()),
        _ => format!("less than or equal to {}", limits::CLIENT_REQUEST_TOKEN),
    };
    Err(Error::validation(format!(
        "1 validation error detected: Value '{token}' at 'clientRequestToken' failed to satisfy \
         constraint: Member must have length {constraint}"
    )))
}

/// Refuses an operation that asks for attributes, capacity or metrics: a transaction returns none
/// of them per operation.
fn check_nothing_returned(item: &TransactWriteItem) -> Result<()> {
    let (values, capacity, metrics) = match item {
        TransactWriteItem::Put(put) => {
            (put.return_values, put.return_consumed_capacity, put.return_item_collection_metrics)
        }
        TransactWriteItem::Update(update) => (
            update.return_values,
            update.return_consumed_capacity,
            update.return_item_collection_metrics,
        ),
        TransactWriteItem::Delete(delete) => (
            delete.return_values,
            delete.return_consumed_capacity,
            delete.return_item_collection_metrics,
        ),
        TransactWriteItem::ConditionCheck(_) => return Ok(()),
    };
    if values != ReturnValues::None
        || capacity != ReturnConsumedCapacity::None
        || metrics != ReturnItemCollectionMetrics::None
    {
        return Err(Error::validation(
            "an operation of a transaction cannot return attributes, capacity or metrics of its \
             own; leave `return_values` out and set the others on the transaction",
        ));
    }
    Ok(())
}

/// Size in bytes that an operation adds to its transaction: item or key, and values.
fn payload_size(item: &TransactWriteItem) -> usize {
    let values = |values: &Values| -> usize { values.values().map(crate::Value::size).sum() };
    match item {
        TransactWriteItem::Put(put) => put.item.size() + values(&put.values),
        TransactWriteItem::Update(update) => {
            let literals = match &update.update {
                Some(Expr::Tree(tree)) => tree.literals().map(crate::Value::size).sum(),
                _ => 0,
            };
            update.key.size() + values(&update.values) + literals
        }
        TransactWriteItem::Delete(delete) => delete.key.size() + values(&delete.values),
        TransactWriteItem::ConditionCheck(check) => check.key.size() + values(&check.values),
    }
}

/// Name or ARN of the table of an operation.
pub(crate) fn table_of(item: &TransactWriteItem) -> &str {
    match item {
        TransactWriteItem::Put(put) => &put.table,
        TransactWriteItem::Update(update) => &update.table,
        TransactWriteItem::Delete(delete) => &delete.table,
        TransactWriteItem::ConditionCheck(check) => &check.table,
    }
}

/// Validates one operation against its table.
pub(crate) fn plan_operation(
    item: &TransactWriteItem,
    schema: &TableSchema,
) -> Result<WritePlan, OperationError> {
    match item {
        TransactWriteItem::Put(put) => WritePlan::put(put, schema),
        TransactWriteItem::Update(update) => WritePlan::update(update, schema),
        TransactWriteItem::Delete(delete) => WritePlan::delete(delete, schema),
        TransactWriteItem::ConditionCheck(check) => WritePlan::check(check, schema),
    }
}

/// Refuses two operations on one item.
pub(crate) fn check_distinct<'a>(
    items: impl IntoIterator<Item = (&'a str, &'a RowKey)>,
) -> Result<()> {
    let mut seen = BTreeSet::new();
    for item in items {
        if !seen.insert(item) {
            return Err(Error::validation(
                "Transaction request cannot include multiple operations on one item",
            ));
        }
    }
    Ok(())
}

/// Collects the outcomes of all operations: the results, or the cancellation with one reason
/// per operation.
///
/// # Errors
/// The first error of a request, if there is one; otherwise the cancellation.
pub(crate) fn collect_outcomes<T>(outcomes: Vec<Result<T, OperationError>>) -> Result<Vec<T>> {
    if outcomes.iter().all(Result::is_ok) {
        return Ok(outcomes.into_iter().filter_map(Result::ok).collect());
    }
    let reasons = outcomes
        .into_iter()
        .map(|outcome| match outcome {
            Ok(_) => Ok(CancellationReason::none()),
            Err(OperationError::Request(error)) => Err(error),
            Err(OperationError::Item(error)) => Ok(reason(error)),
        })
        .collect::<Result<_>>()?;
    Err(Error::transaction_canceled(reasons))
}

fn reason(error: Error) -> CancellationReason {
    let message = error.message().to_owned();
    match error.into_kind() {
        ErrorKind::ConditionFailed { item } => CancellationReason::condition_failed(item),
        _ => CancellationReason::invalid(message),
    }
}

/// Version of the encoding behind [`fingerprint`], and its first byte.
///
/// A new version changes all fingerprints. For ten minutes after an upgrade, a retry with a token
/// from before it fails with `IdempotentParameterMismatch`.
const FINGERPRINT_VERSION: u8 = 1;

/// Computes the fingerprint of the operations of a transaction, which is stored with its token.
///
/// It covers every operation, in order. It excludes the token and the settings of the transaction
/// as a whole (capacity, item-collection metrics), which may differ between retries.
///
/// The fingerprint is the XXH3-128 hash of these bytes. Stores persist it, so the encoding changes
/// only together with its version. A *number* is an unsigned LEB128 varint, a *block* is a length
/// (number) and that many bytes.
///
/// | part | bytes |
/// |---|---|
/// | version | 1 byte: 1 |
/// | operations | count (number), then each operation |
///
/// | part of an operation | bytes |
/// |---|---|
/// | kind | 1 byte: 1 put, 2 update, 3 delete, 4 condition check |
/// | table, as the request names it | block |
/// | item of a put, key of any other | block, in item format 1 (`docs/item-format.md`) |
/// | update expression, of an update only | 1 byte 0 if absent; otherwise 1 byte 1 and a block |
/// | condition expression | as the update expression |
/// | names | count (number), then a block for each placeholder and one for its name, in byte order of the placeholders |
/// | values | block: the values by their placeholders, as one item in item format 1 |
/// | return values, not of a condition check | 1 byte: 0 none, 1 all old, 2 updated old, 3 all new, 4 updated new |
/// | return values on condition check failure | 1 byte: 0 none, 1 all old |
/// | return consumed capacity, not of a condition check | 1 byte: 0 none, 1 total, 2 indexes |
/// | return item-collection metrics, not of a condition check | 1 byte: 0 none, 1 size |
///
/// Expressions are encoded as text with placeholders, as a request to DynamoDB has them.
/// [`Renderer`] renders a tree, update before condition, and its placeholders are added to names
/// and values. So a tree has the fingerprint of the text that it renders to.
pub(crate) fn fingerprint(request: &TransactWriteItems) -> u128 {
    xxhash_rust::xxh3::xxh3_128(&Encoding::of(request).0)
}

/// Bytes of a transaction whose hash is its fingerprint.
///
/// Requests are destructured without `..`: a new field does not compile until it is encoded or
/// explicitly ignored here.
struct Encoding(Vec<u8>);

impl Encoding {
    fn of(request: &TransactWriteItems) -> Self {
        let TransactWriteItems {
            items,
            client_request_token: _,
            return_consumed_capacity: _,
            return_item_collection_metrics: _,
        } = request;
        let mut encoding = Self(vec![FINGERPRINT_VERSION]);
        encoding.number(items.len());
        for item in items {
            match item {
                TransactWriteItem::Put(put) => encoding.put(put),
                TransactWriteItem::Update(update) => encoding.update(update),
                TransactWriteItem::Delete(delete) => encoding.delete(delete),
                TransactWriteItem::ConditionCheck(check) => encoding.check(check),
            }
        }
        encoding
    }

    fn put(&mut self, put: &PutItem) {
        let PutItem {
            table,
            item,
            condition,
            names,
            values,
            return_values,
            return_values_on_condition_check_failure,
            return_consumed_capacity,
            return_item_collection_metrics,
        } = put;
        self.target(1, table, item);
        let mut rendered = Rendered::new(names, values);
        let condition = rendered.condition(condition.as_ref());
        self.optional_text(condition.as_deref());
        self.placeholders(&rendered);
        self.return_values(*return_values);
        self.return_on_failure(*return_values_on_condition_check_failure);
        self.return_figures(*return_consumed_capacity, *return_item_collection_metrics);
    }

    fn update(&mut self, request: &UpdateItem) {
        let UpdateItem {
            table,
            key,
            update,
            condition,
            names,
            values,
            return_values,
            return_values_on_condition_check_failure,
            return_consumed_capacity,
            return_item_collection_metrics,
        } = request;
        self.target(2, table, key);
        let mut rendered = Rendered::new(names, values);
        let update = rendered.update(update.as_ref());
        self.optional_text(update.as_deref());
        let condition = rendered.condition(condition.as_ref());
        self.optional_text(condition.as_deref());
        self.placeholders(&rendered);
        self.return_values(*return_values);
        self.return_on_failure(*return_values_on_condition_check_failure);
        self.return_figures(*return_consumed_capacity, *return_item_collection_metrics);
    }

    fn delete(&mut self, delete: &DeleteItem) {
        let DeleteItem {
            table,
            key,
            condition,
            names,
            values,
            return_values,
            return_values_on_condition_check_failure,
            return_consumed_capacity,
            return_item_collection_metrics,
        } = delete;
        self.target(3, table, key);
        let mut rendered = Rendered::new(names, values);
        let condition = rendered.condition(condition.as_ref());
        self.optional_text(condition.as_deref());
        self.placeholders(&rendered);
        self.return_values(*return_values);
        self.return_on_failure(*return_values_on_condition_check_failure);
        self.return_figures(*return_consumed_capacity, *return_item_collection_metrics);
    }

    fn check(&mut self, check: &ConditionCheck) {
        let ConditionCheck {
            table,
            key,
            condition,
            names,
            values,
            return_values_on_condition_check_failure,
        } = check;
        self.target(4, table, key);
        let mut rendered = Rendered::new(names, values);
        let condition = rendered.condition(condition.as_ref());
        self.optional_text(condition.as_deref());
        self.placeholders(&rendered);
        self.return_on_failure(*return_values_on_condition_check_failure);
    }

    fn target(&mut self, kind: u8, table: &str, item: &Item) {
        self.byte(kind);
        self.block(table.as_bytes());
        // The encoding is canonical: equal items have equal bytes.
        self.block(&item.encode());
    }

    fn placeholders(&mut self, rendered: &Rendered<'_>) {
        let (names, values) = rendered.placeholders();
        self.number(names.len());
        for (placeholder, name) in names {
            self.block(placeholder.as_bytes());
            self.block(name.as_bytes());
        }
        let (values, _) = codec::encode_item(MapRef::from(values));
        self.block(&values);
    }

    fn return_values(&mut self, values: ReturnValues) {
        self.byte(match values {
            ReturnValues::None => 0,
            ReturnValues::AllOld => 1,
            ReturnValues::UpdatedOld => 2,
            ReturnValues::AllNew => 3,
            ReturnValues::UpdatedNew => 4,
        });
    }

    fn return_on_failure(&mut self, values: ReturnValuesOnConditionCheckFailure) {
        self.byte(match values {
            ReturnValuesOnConditionCheckFailure::None => 0,
            ReturnValuesOnConditionCheckFailure::AllOld => 1,
        });
    }

    fn return_figures(
        &mut self,
        capacity: ReturnConsumedCapacity,
        metrics: ReturnItemCollectionMetrics,
    ) {
        self.byte(match capacity {
            ReturnConsumedCapacity::None => 0,
            ReturnConsumedCapacity::Total => 1,
            ReturnConsumedCapacity::Indexes => 2,
        });
        self.byte(match metrics {
            ReturnItemCollectionMetrics::None => 0,
            ReturnItemCollectionMetrics::Size => 1,
        });
    }

    fn optional_text(&mut self, text: Option<&str>) {
        self.byte(u8::from(text.is_some()));
        if let Some(text) = text {
            self.block(text.as_bytes());
        }
    }

    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn number(&mut self, number: usize) {
        wire::put_varint(&mut self.0, number);
    }

    fn block(&mut self, bytes: &[u8]) {
        wire::put_block(&mut self.0, bytes);
    }
}

/// Expressions of one operation as text, with the placeholders of those that were rendered.
struct Rendered<'a> {
    names: &'a Names,
    values: &'a Values,
    /// Created for the first tree, with copies of the placeholders.
    renderer: Option<Renderer>,
}

impl<'a> Rendered<'a> {
    fn new(names: &'a Names, values: &'a Values) -> Self {
        Self { names, values, renderer: None }
    }

    fn condition(&mut self, condition: Option<&'a Expr<Condition>>) -> Option<Cow<'a, str>> {
        condition.map(|expr| self.text(expr, Condition::render))
    }

    fn update(&mut self, update: Option<&'a Expr<Update>>) -> Option<Cow<'a, str>> {
        update.map(|expr| self.text(expr, Update::render))
    }

    fn text<T>(
        &mut self,
        expr: &'a Expr<T>,
        render: impl FnOnce(&T, &mut Renderer) -> String,
    ) -> Cow<'a, str> {
        match expr {
            Expr::Text(text) => Cow::Borrowed(text),
            Expr::Tree(tree) => {
                let renderer = self.renderer.get_or_insert_with(|| {
                    Renderer::with_placeholders(self.names.clone(), self.values.clone())
                });
                Cow::Owned(render(tree, renderer))
            }
        }
    }

    fn placeholders(&self) -> (&Names, &Values) {
        match &self.renderer {
            Some(renderer) => (renderer.names(), renderer.values()),
            None => (self.names, self.values),
        }
    }
}

/// Error for a token that was used before with other operations.
pub(crate) fn token_mismatch_error() -> Error {
    Error::new(
        ErrorKind::IdempotentParameterMismatch,
        "DynamoDB rejected the request because you retried a request with a different payload but \
         with an idempotent token that was already used.",
    )
}

/// Checks that the items of a transactional read have at most 4 MB.
pub(crate) fn check_response_size<'a>(items: impl IntoIterator<Item = &'a Item>) -> Result<()> {
    let size: usize = items.into_iter().map(Item::size).sum();
    if size > limits::TRANSACT_SIZE {
        return Err(Error::validation(format!("Payload in response is too large.{size}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{attr, item};

    fn song() -> Item {
        item! { "pk" => "a", "plays" => 3 }
    }

    fn put() -> PutItem {
        PutItem::new("songs", song())
            .condition("#p < :p")
            .name("#p", "plays")
            .value(":p", 7)
            .return_item_on_failure()
    }

    fn update() -> UpdateItem {
        UpdateItem::new("songs", item! { "pk" => "b" })
            .update(Update::new().set("n", attr("n").if_not_exists(0).plus(1)).remove("old"))
            .condition(attr("n").exists().and(attr("tags").contains("x")))
    }

    fn delete() -> DeleteItem {
        DeleteItem::new("albums", item! { "pk" => "c" }).condition("attribute_exists(pk)")
    }

    fn check() -> ConditionCheck {
        ConditionCheck::new("albums", item! { "pk" => "d" }, "n = :n").value(":n", 1)
    }

    fn of(item: impl Into<TransactWriteItem>) -> u128 {
        fingerprint(&TransactWriteItems::new().item(item))
    }

    #[track_caller]
    fn assert_all_differ(fingerprints: &[u128]) {
        let distinct: BTreeSet<&u128> = fingerprints.iter().collect();
        assert_eq!(distinct.len(), fingerprints.len(), "{fingerprints:x?}");
    }

    /// Files store fingerprints: another value needs a new version of the encoding.
    #[test]
    fn fingerprint_of_the_sample_is_fixed() {
        let request =
            TransactWriteItems::new().item(put()).item(update()).item(delete()).item(check());
        assert_eq!(fingerprint(&request), 0xbf79_39a1_2a40_b501_c001_5b34_30d6_23e0);
    }

    #[test]
    fn encoding_has_the_documented_bytes() {
        let put = PutItem::new("t", item! { "k" => "v" })
            .condition("#n = :v")
            .name("#n", "k")
            .value(":v", true);
        let mut expected = vec![1, 1, 1, 1, b't', 8, 1, 2, 1, 1, b'k', 1, 1, b'v'];
        expected.extend(b"\x01\x07#n = :v");
        expected.extend(b"\x01\x02#n\x01k");
        expected.extend([7, 1, 3, 1, 2, b':', b'v', 5]);
        expected.extend([0, 0, 0, 0]);
        assert_eq!(Encoding::of(&TransactWriteItems::new().item(put)).0, expected);
    }

    #[test]
    fn fingerprint_excludes_token_and_settings_of_the_transaction() {
        let request = TransactWriteItems::new().item(put());
        let other = request
            .clone()
            .client_request_token("once")
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .return_item_collection_metrics(ReturnItemCollectionMetrics::Size);
        assert_eq!(fingerprint(&request), fingerprint(&other));
    }

    #[test]
    fn fingerprint_covers_every_field_of_a_put() {
        assert_all_differ(&[
            of(put()),
            of(PutItem { table: "song".to_owned(), ..put() }),
            of(PutItem { item: song().with("n", 1), ..put() }),
            of(PutItem { item: item! { "pk" => "a", "plays" => "3" }, ..put() }),
            of(PutItem { condition: None, ..put() }),
            of(put().condition("#p <= :p")),
            of(put().name("#q", "plays")),
            of(put().name("#p", "played")),
            of(put().value(":p", 8)),
            of(put().value(":q", 7)),
            of(put().return_values(ReturnValues::AllOld)),
            of(PutItem {
                return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure::None,
                ..put()
            }),
            of(put().return_consumed_capacity(ReturnConsumedCapacity::Total)),
            of(put().return_consumed_capacity(ReturnConsumedCapacity::Indexes)),
            of(put().return_item_collection_metrics(ReturnItemCollectionMetrics::Size)),
        ]);
    }

    #[test]
    fn fingerprint_covers_every_field_of_an_update() {
        assert_all_differ(&[
            of(update()),
            of(UpdateItem { table: "song".to_owned(), ..update() }),
            of(UpdateItem { key: item! { "pk" => "c" }, ..update() }),
            of(UpdateItem { update: None, ..update() }),
            of(update().update(Update::new().set("n", attr("n").if_not_exists(0).plus(2)))),
            of(update().update(Update::new().set("n", attr("n").if_not_exists(0).minus(1)))),
            of(UpdateItem { condition: None, ..update() }),
            of(update().condition(attr("n").exists().or(attr("tags").contains("x")))),
            of(update().condition(attr("m").exists().and(attr("tags").contains("x")))),
            of(update().condition(attr("n").exists().and(attr("tags").contains("y")))),
            of(update().name("#p", "plays")),
            of(update().value(":p", 7)),
            of(update().return_values(ReturnValues::AllOld)),
            of(update().return_values(ReturnValues::UpdatedOld)),
            of(update().return_values(ReturnValues::AllNew)),
            of(update().return_values(ReturnValues::UpdatedNew)),
            of(update().return_item_on_failure()),
            of(update().return_consumed_capacity(ReturnConsumedCapacity::Total)),
            of(update().return_item_collection_metrics(ReturnItemCollectionMetrics::Size)),
        ]);
    }

    #[test]
    fn fingerprint_covers_every_field_of_a_delete() {
        assert_all_differ(&[
            of(delete()),
            of(DeleteItem { table: "album".to_owned(), ..delete() }),
            of(DeleteItem { key: item! { "pk" => "d" }, ..delete() }),
            of(DeleteItem { condition: None, ..delete() }),
            of(delete().condition("attribute_exists(sk)")),
            of(delete().name("#p", "plays")),
            of(delete().value(":p", 7)),
            of(delete().return_values(ReturnValues::AllOld)),
            of(delete().return_item_on_failure()),
            of(delete().return_consumed_capacity(ReturnConsumedCapacity::Total)),
            of(delete().return_item_collection_metrics(ReturnItemCollectionMetrics::Size)),
        ]);
    }

    #[test]
    fn fingerprint_covers_every_field_of_a_condition_check() {
        assert_all_differ(&[
            of(check()),
            of(ConditionCheck { table: "album".to_owned(), ..check() }),
            of(ConditionCheck { key: item! { "pk" => "e" }, ..check() }),
            of(ConditionCheck { condition: None, ..check() }),
            of(ConditionCheck { condition: Some("n <> :n".into()), ..check() }),
            of(check().name("#p", "plays")),
            of(check().value(":n", 2)),
            of(check().return_item_on_failure()),
        ]);
    }

    #[test]
    fn fingerprint_covers_kind_number_and_order_of_operations() {
        let [one, other] = ["a", "b"].map(|pk| PutItem::new("songs", item! { "pk" => pk }));
        let pair = |first: &PutItem, second: &PutItem| {
            fingerprint(&TransactWriteItems::new().item(first.clone()).item(second.clone()))
        };
        assert_all_differ(&[
            fingerprint(&TransactWriteItems::new()),
            of(one.clone()),
            of(DeleteItem::new("songs", item! { "pk" => "a" })),
            of(UpdateItem::new("songs", item! { "pk" => "a" })),
            pair(&one, &other),
            pair(&other, &one),
        ]);
    }

    #[test]
    fn fingerprint_is_the_same_for_trees_and_encoded_items() {
        let encoded = PutItem { item: song().into_encoded(), ..put() };
        assert_eq!(of(encoded), of(put()));
        let reordered = Item::new().with("plays", 3).with("pk", "a");
        assert_eq!(of(PutItem { item: reordered, ..put() }), of(put()));
        let key = update().key.into_encoded();
        assert_eq!(of(UpdateItem { key, ..update() }), of(update()));
    }

    #[test]
    fn tree_has_the_fingerprint_of_the_text_that_it_renders_to() {
        let text = UpdateItem::new("songs", item! { "pk" => "b" })
            .update("SET #n0 = if_not_exists(#n0, :v0) + :v1 REMOVE #n1")
            .condition("attribute_exists(#n0) AND contains(#n2, :v2)")
            .name("#n0", "n")
            .name("#n1", "old")
            .name("#n2", "tags")
            .value(":v0", 0)
            .value(":v1", 1)
            .value(":v2", "x");
        assert_eq!(of(text), of(update()));
    }

    #[test]
    fn tree_beside_text_keeps_the_placeholders_of_the_text() {
        let mixed = |value: i32| {
            let update = UpdateItem::new("songs", item! { "pk" => "b" })
                .update(Update::new().set("n", 1))
                .condition("n = :v0")
                .value(":v0", value);
            of(update)
        };
        assert_all_differ(&[mixed(1), mixed(2)]);
    }
}
