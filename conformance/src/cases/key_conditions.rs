//! Key conditions of queries (21b, 28).

mod ranges;
mod refusals;

use tabla_core::Result;

use self::ranges::*;
use self::refusals::*;
use super::prelude::*;
use super::texts::{self, names, values};

cases! {
    KeyConditions;
    clause "21b", value_of_another_type_is_rejected:
        "A key condition with a value of another type than the key is rejected with \
         ValidationException.";
    clause "28a", partition_key_needs_equality:
        "A query without equality on the partition key is rejected with ValidationException.";
    clause "28b", two_conditions_on_one_attribute_are_rejected:
        "Two conditions on one key attribute are rejected with ValidationException.";
    clause "28c", range_of_partition_keys_is_rejected:
        "A range on the partition key is rejected with ValidationException.";
    clause "28d", prefix_of_partition_keys_is_rejected:
        "begins_with on the partition key is rejected with ValidationException.";
    extra "key-condition-prefix-of-index-partition" of "28d",
        prefix_of_index_partition_keys_is_rejected:
        "begins_with on the partition key of an index is rejected with ValidationException.";
    clause "28e", other_attributes_are_rejected:
        "A key condition on an attribute that is no key is rejected with ValidationException.";
    extra "key-condition-without-sort-key" of "28e", table_without_sort_key_takes_equality_alone:
        "A table without a sort key accepts only equality on its partition key.";
    clause "28f", sort_key_accepts_every_range:
        "Every comparison except <>, BETWEEN and begins_with select ranges of the sort key.";
    extra "key-condition-strings" of "28f", string_ranges_are_in_utf8_order:
        "Ranges of string sort keys are in the order of their UTF-8 bytes.";
    extra "key-condition-binaries" of "28f", binary_ranges_are_in_byte_order:
        "Ranges of binary sort keys are in the order of their unsigned bytes.";
    extra "key-condition-numbers" of "28f", number_ranges_are_numeric:
        "Ranges of number sort keys are numeric, with 38 digits and either sign.";
    extra "key-condition-prefixes" of "28f", prefix_matches_exactly_its_keys:
        "A prefix matches exactly the sort keys that begin with it, whatever its last byte.";
    extra "key-condition-descending" of "28f", ranges_can_be_read_backwards:
        "Every range can be read in descending order.";
    extra "key-condition-bounds" of "17a", invalid_bounds_are_rejected:
        "BETWEEN in a key condition needs bounds of one type and in order.";
    clause "28g", operands_can_be_swapped:
        "The operands of a comparison can be swapped: `:v < sk`.";
    clause "28h", begins_with_is_case_sensitive: "begins_with on a sort key is case-sensitive.";
    clause "28i", nested_paths_are_rejected:
        "A nested path in a key condition is rejected with ValidationException.";
    extra "key-condition-operators" of "28f", other_operators_are_rejected:
        "OR, NOT, <>, IN and functions other than begins_with are rejected in key conditions.";
    extra "key-condition-operands" of "28g", operands_must_be_a_key_and_a_value:
        "A key condition compares one key attribute with one value.";
    extra "key-condition-syntax", syntax_errors_are_those_of_conditions:
        "Syntax errors in a key condition are reported as those of any condition.";
    extra "key-condition-parentheses" of "16b", parentheses_and_order_are_free:
        "Parentheses, letter case of keywords and order of the parts make no difference.";
    extra "key-condition-placeholders" of "14a", placeholders_follow_the_common_rules:
        "Placeholders in key conditions follow the rules of other expressions.";
    extra "key-condition-empty-values" of "28a", empty_values_are_rejected:
        "An empty string or binary in a key condition is rejected with ValidationException.";
    extra "key-condition-missing", missing_key_condition_is_reported_last:
        "A missing key condition is reported after errors of the other expressions.";
    extra "key-condition-key-types", partition_keys_of_every_type_are_found:
        "Partition keys of every type are found by value.";
    extra "key-condition-of-global-indexes", global_index_query_uses_index_keys:
        "The key condition of a query on a global secondary index uses the keys of the index.";
    extra "key-condition-of-local-indexes", local_index_query_uses_its_sort_key:
        "The key condition of a query on a local secondary index uses the table's partition key \
         and the sort key of the index.", needs [LocalIndexes];
    extra "key-condition-first-problem", errors_are_reported_in_a_fixed_order:
        "Errors of filter and projection are reported before those of the key condition, and \
         syntax errors before errors of meaning.";
    extra "key-condition-of-multi-attribute-keys", multi_attribute_keys_are_given_from_the_left:
        "A multi-attribute key needs equality on all partition attributes; sort attributes are \
         given from the left, and a range comes last.", needs [MultiAttributeIndexKeys];
}

const TYPE: &str = "One or more parameter values were invalid: Condition parameter type does not \
                    match schema type";
const NOT_SUPPORTED: &str = "Query key condition not supported";
const ONE_PER_KEY: &str = "KeyConditionExpressions must only contain one condition per key";

fn missed(attribute: &str) -> String {
    format!("Query condition missed key schema element: {attribute}")
}

fn scalars(key: &str) -> String {
    format!(
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not \
         allowed: Key: {key}"
    )
}

fn bad_operator(operator: &str) -> String {
    format!("Invalid operator used in KeyConditionExpression: {operator}")
}

/// Table or index that evaluates key conditions. It evaluates all of them before the case fails,
/// and the failure lists each unexpected result.
struct Keys {
    ctx: Ctx,
    table: Table,
    index: Option<&'static str>,
    sort: &'static str,
    wrong: Vec<String>,
}

impl Keys {
    fn new(ctx: &Ctx, table: Table) -> Self {
        Self { ctx: ctx.clone(), table, index: None, sort: "sk", wrong: Vec::new() }
    }

    /// Creates the partition `a` with the sort keys 1 to 5, and items that no query may return.
    async fn numbers(ctx: &Ctx) -> Self {
        let item = |pk: &str, sk: i32| item! { "pk" => pk, "sk" => sk, "x" => "x" };
        let mine = (1..=5).map(|sk| item("a", sk));
        let others = ["b", "ab", "A"].map(|pk| item(pk, 3));
        Self::new(ctx, ctx.table_with(TableSpec::s_n(), mine.chain(others)).await)
    }

    /// Creates the partition `a` with these sort keys, and an item with each of them in a
    /// neighboring partition.
    async fn with<V: Into<Value> + Clone>(ctx: &Ctx, shape: TableSpec, keys: Vec<V>) -> Self {
        let items = ["a", "b"].into_iter().flat_map(|pk| {
            let keys = keys.clone();
            keys.into_iter().map(move |sk| item! { "pk" => pk, "sk" => sk })
        });
        let items: Vec<Item> = items.collect();
        Self::new(ctx, ctx.table_with(shape, items).await)
    }

    fn query(&self, text: &str) -> Query {
        let mut query = Query::new(&self.table, text);
        query.index = self.index.map(str::to_owned);
        (query.names, query.values) = (names(&[text]), values(&[text]));
        query
    }

    async fn ask(&self, query: Query) -> Result<Vec<Value>> {
        let page = self.ctx.store().query(query).await?;
        let sort = |item: &Item| item.get(self.sort).map_or(Value::Null, |value| value.to_value());
        Ok(page.items.iter().map(sort).collect())
    }

    /// Expects the condition to return these sort keys of the partition `a`, in this order.
    async fn finds<V: Into<Value>>(&mut self, text: &str, expected: impl IntoIterator<Item = V>) {
        self.finds_by(text, self.query(text), expected).await;
    }

    async fn finds_by<V: Into<Value>>(
        &mut self,
        text: &str,
        query: Query,
        expected: impl IntoIterator<Item = V>,
    ) {
        let expected: Vec<Value> = expected.into_iter().map(Into::into).collect();
        let read = || async {
            let result = self.ask(query.clone()).await;
            matches!(&result, Ok(found) if *found == expected).then_some(result)
        };
        // Only an index can lag behind.
        let lags = self.index.is_some() && self.ctx.capabilities().index_reads_lag;
        let found = if lags { self.ctx.poll(read).await } else { read().await };
        if found.is_none() {
            let result = self.ask(query).await;
            self.wrong.push(format!("{text:?}: expected {expected:?}\n    got {result:?}"));
        }
    }

    /// Expects the condition to be rejected with this message.
    async fn refuses(&mut self, text: &str, message: &str) {
        self.refuses_by(text, self.query(text), message).await;
    }

    async fn refuses_by(&mut self, text: &str, query: Query, message: &str) {
        let result = self.ask(query).await;
        if !matches!(&result, Err(error) if texts::says(&self.ctx, error, message)) {
            self.wrong.push(format!("{text:?}: expected {message}\n    got {result:?}"));
        }
    }

    async fn refuses_all(&mut self, message: &str, texts: &[&str]) {
        for text in texts {
            self.refuses(text, message).await;
        }
    }

    #[track_caller]
    fn done(self) {
        assert!(self.wrong.is_empty(), "unexpected results:\n  {}", self.wrong.join("\n  "));
    }
}
