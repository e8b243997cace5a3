//! Key conditions (21b, 28).

mod ranges;
mod refusals;

use tabla_core::Result;

use self::ranges::*;
use self::refusals::*;
use super::prelude::*;
use super::texts::{self, names, values};

cases! {
    KeyConditions;
    clause "21b", values_have_the_type_of_the_key:
        "A key condition with a value of another type is an error.";
    clause "28a", the_partition_needs_equality:
        "A query without equality on the partition key is refused.";
    clause "28b", one_condition_per_attribute:
        "Two conditions on one key attribute are refused.";
    clause "28c", no_range_of_partitions: "A range on the partition key is refused.";
    clause "28d", no_prefix_of_partitions: "begins_with on the partition key is refused.";
    extra "key-condition-prefix-of-index-partition" of "28d", no_prefix_of_index_partitions:
        "So is begins_with on an index's partition key.";
    clause "28e", other_attributes_are_refused:
        "A condition on an attribute that is no key is refused.";
    extra "key-condition-without-sort-key" of "28e", tables_without_sort_key:
        "A table without a sort key takes equality on its partition key and nothing else.";
    clause "28f", every_range_of_sort_keys:
        "Every comparison, BETWEEN and begins_with work on the sort key.";
    extra "key-condition-strings" of "28f", ranges_of_strings:
        "Ranges of string sort keys are in the order of their UTF-8 bytes.";
    extra "key-condition-binaries" of "28f", ranges_of_binaries:
        "Ranges of binary sort keys are in the order of their unsigned bytes.";
    extra "key-condition-numbers" of "28f", ranges_of_numbers:
        "Ranges of number sort keys are by value, at 38 digits and of either sign.";
    extra "key-condition-prefixes" of "28f", prefixes_end_where_they_should:
        "A prefix matches exactly the keys that begin with it, whatever its last byte.";
    extra "key-condition-descending" of "28f", ranges_read_backwards:
        "Every range can be read backwards.";
    extra "key-condition-bounds" of "17a", bounds_that_are_refused:
        "BETWEEN has its bounds of one type and in order, in key conditions too.";
    clause "28g", operands_the_other_way_round:
        "Operands may be the other way round: :v < sk.";
    clause "28h", begins_with_is_case_sensitive: "begins_with is case-sensitive.";
    clause "28i", nested_paths_are_refused: "A nested path is refused.";
    extra "key-condition-operators" of "28f", operators_that_are_refused:
        "OR, NOT, <>, IN and the functions but begins_with are no key conditions.";
    extra "key-condition-operands" of "28g", operands_that_are_refused:
        "A key condition compares one key attribute with a value.";
    extra "key-condition-syntax", syntax_errors:
        "The text of a key condition is judged as that of any condition.";
    extra "key-condition-parentheses" of "16b", parentheses:
        "Parentheses, letter case and the order of the parts make no difference.";
    extra "key-condition-placeholders" of "14a", placeholders:
        "Placeholders of key conditions are judged as elsewhere.";
    extra "key-condition-empty-values" of "28a", empty_values:
        "An empty string or binary is no key, in a condition neither.";
    extra "key-condition-missing", a_query_needs_a_key_condition:
        "A query without a key condition is refused.";
    extra "key-condition-key-types", partitions_of_every_type:
        "Partition keys of every type are found by value.";
    extra "key-condition-of-global-indexes", global_indexes:
        "A query of a global index has conditions on the index's keys.";
    extra "key-condition-of-local-indexes", local_indexes:
        "A query of a local index has conditions on the table's partition and its own sort key.",
        needs [LocalIndexes];
    extra "key-condition-first-problem", the_first_problem_is_reported:
        "Filter and projection are judged before the key condition, texts before their meaning.";
    extra "key-condition-of-multi-attribute-keys", multi_attribute_keys:
        "All partition attributes need equality, sort attributes from the left, a range comes last.",
        needs [MultiAttributeIndexKeys];
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

/// A table or index whose key conditions are asked. All are asked before the case fails, and the
/// failure names each that has another answer.
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

    /// The partition `a` with the sort keys 1 to 5, and others that no query here may show.
    async fn numbers(ctx: &Ctx) -> Self {
        let item = |pk: &str, sk: i32| item! { "pk" => pk, "sk" => sk, "x" => "x" };
        let mine = (1..=5).map(|sk| item("a", sk));
        let others = ["b", "ab", "A"].map(|pk| item(pk, 3));
        Self::new(ctx, ctx.table_with(TableSpec::s_n(), mine.chain(others)).await)
    }

    /// The partition `a` with these sort keys, and one of each in a partition next to it.
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

    /// The condition must find these sort keys of the partition `a`, in this order.
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
        // Only an index may lag.
        let lags = self.index.is_some() && self.ctx.capabilities().index_reads_lag;
        let found = if lags { self.ctx.poll(read).await } else { read().await };
        if found.is_none() {
            let result = self.ask(query).await;
            self.wrong.push(format!("{text:?}: expected {expected:?}\n    got {result:?}"));
        }
    }

    /// The condition must be refused with this message.
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
        assert!(self.wrong.is_empty(), "other answers:\n  {}", self.wrong.join("\n  "));
    }
}
