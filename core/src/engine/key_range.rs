//! Ranges of row keys: of a query, of a segment of a scan, of an item collection.

use std::ops::Bound;

use super::RowKey;
use super::row_key::{after, key_prefix};
use crate::Value;
use crate::error::{Error, Result};
use crate::expr::{KeyQuery, SortRange};
use crate::key::encoding;
use crate::limits;
use crate::ops::Scan;

/// Range of row keys, compared as bytes: lower bound included, upper bound excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    lower: Vec<u8>,
    upper: Option<Vec<u8>>,
}

impl KeyRange {
    /// Lower bound, included.
    pub fn lower(&self) -> &[u8] {
        &self.lower
    }

    /// Upper bound, excluded; `None` if the range extends to the last row.
    pub fn upper(&self) -> Option<&[u8]> {
        self.upper.as_deref()
    }

    /// Bounds for a range query of a `BTreeMap`.
    pub fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        (Bound::Included(self.lower()), self.upper().map_or(Bound::Unbounded, Bound::Excluded))
    }

    /// Range of the item collection of a row key, in the table or in a local index.
    pub fn of_collection(position: &RowKey) -> Self {
        let prefix = position.partition_key().to_vec();
        Self { upper: past(prefix.clone()), lower: prefix }
    }

    /// Range of the rows that fulfill a key condition.
    pub(super) fn of_query(query: &KeyQuery) -> Self {
        let mut prefix = partition_of(query);
        query.sort_prefix.iter().for_each(|value| encode(value, &mut prefix));
        let with = |value: &Value| {
            let mut bytes = prefix.clone();
            encode(value, &mut bytes);
            bytes
        };
        let (lower, upper) = match &query.sort_range {
            None => (prefix.clone(), past(prefix)),
            Some(SortRange::Less(value)) => (prefix.clone(), Some(with(value))),
            Some(SortRange::AtMost(value)) => (prefix.clone(), past(with(value))),
            // In an index, the table's key follows the value: skip all rows with this value.
            Some(SortRange::Greater(value)) => match past(with(value)) {
                Some(lower) => (lower, past(prefix)),
                None => (Vec::new(), Some(Vec::new())),
            },
            Some(SortRange::AtLeast(value)) => (with(value), past(prefix)),
            Some(SortRange::Between(low, high)) => (with(low), past(with(high))),
            Some(SortRange::BeginsWith(value)) => {
                let mut bytes = prefix;
                encoding::encode_prefix(value.as_ref(), &mut bytes)
                    .expect("key values have been checked");
                (bytes.clone(), past(bytes))
            }
        };
        Self { lower, upper }
    }

    /// Rest of a query's range after a start key.
    pub(super) fn resume(self, start: &RowKey, query: &KeyQuery, forward: bool) -> Result<Self> {
        let partition = partition_of(query);
        // DynamoDB checks the sort key separately, as if the partition key were the right one.
        let place = [&partition, start.sort_key()].concat();
        if !self.contains(&place) {
            return Err(Error::validation(
                "The provided starting key does not match the range key predicate",
            ));
        }
        if start.partition_key() != partition {
            let has_range = !query.sort_prefix.is_empty() || query.sort_range.is_some();
            return Err(Error::validation(if has_range {
                "The query can return at most one row and cannot be restarted"
            } else {
                "The provided starting key is outside query boundaries based on provided conditions"
            }));
        }
        Ok(match forward {
            true => Self { lower: after(start), ..self },
            false => Self { upper: Some(place), ..self },
        })
    }

    fn contains(&self, place: &[u8]) -> bool {
        place >= self.lower() && self.upper().is_none_or(|upper| place < upper)
    }

    /// Whether no row key can be in the range.
    pub(super) fn is_empty(&self) -> bool {
        self.upper().is_some_and(|upper| upper <= self.lower())
    }
}

fn partition_of(query: &KeyQuery) -> Vec<u8> {
    key_prefix(|out| query.partition.iter().for_each(|value| encode(value, out)))
}

fn encode(value: &Value, out: &mut Vec<u8>) {
    encoding::encode(value.as_ref(), out).expect("key values have been checked");
}

/// Computes the smallest bytes greater than all that have this prefix; `None` if there are none.
fn past(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    encoding::prefix_successor(&mut bytes).then_some(bytes)
}

/// Segment of a parallel scan: a range of hashes. A scan that is not parallel has one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    number: i32,
    total: i32,
    first: u64,
    last: u64,
}

impl Segment {
    /// Computes the segment that a request asks for.
    pub(super) fn of(request: &Scan) -> Result<Self> {
        let (segment, total) = match (request.segment, request.total_segments) {
            (None, None) => (0, 1),
            (Some(segment), Some(total)) => (segment, total),
            (Some(_), None) => {
                return Err(Error::validation(
                    "The TotalSegments parameter is required but was not present in the request \
                     when Segment parameter is present",
                ));
            }
            (None, Some(_)) => {
                return Err(Error::validation(
                    "The Segment parameter is required but was not present in the request when \
                     parameter TotalSegments is present",
                ));
            }
        };
        let out_of_range = |value: i32, name: &str, constraint: &str, bound: i32| {
            Err(Error::validation(format!(
                "1 validation error detected: Value '{value}' at '{name}' failed to satisfy \
                 constraint: Member must have value {constraint} than or equal to {bound}"
            )))
        };
        if total < 1 {
            return out_of_range(total, "totalSegments", "greater", 1);
        }
        if total > limits::SCAN_SEGMENTS {
            return out_of_range(total, "totalSegments", "less", limits::SCAN_SEGMENTS);
        }
        if segment < 0 {
            return out_of_range(segment, "segment", "greater", 0);
        }
        if segment >= limits::SCAN_SEGMENTS {
            return out_of_range(segment, "segment", "less", limits::SCAN_SEGMENTS - 1);
        }
        if segment >= total {
            return Err(Error::validation(format!(
                "The Segment parameter is zero-based and must be less than parameter TotalSegments: \
                 Segment: {segment} is not less than TotalSegments: {total}"
            )));
        }
        const HASHES: u128 = 1 << 64;
        let cut = |number: i32| (HASHES * number as u128).div_ceil(total as u128);
        let (first, last) = (cut(segment) as u64, (cut(segment + 1) - 1) as u64);
        Ok(Self { number: segment, total, first, last })
    }

    /// Range of the rows of the segment, after a start key if there is one.
    pub(super) fn span(&self, position: Option<&RowKey>) -> KeyRange {
        let lower = position.map_or_else(|| self.first.to_be_bytes().to_vec(), after);
        let upper = self.last.checked_add(1).map(|end| end.to_be_bytes().to_vec());
        KeyRange { lower, upper }
    }

    /// Refuses a start key of another segment.
    pub(super) fn check_start(&self, position: &RowKey) -> Result<()> {
        if (self.first..=self.last).contains(&position.hash()) {
            return Ok(());
        }
        Err(Error::validation(format!(
            "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use \
             ExclusiveStartKey with correct Segment. TotalSegments: {} Segment: {}",
            self.total, self.number
        )))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::ReadPlan;
    use crate::env::Timestamp;
    use crate::expr::{Condition, attr};
    use crate::ops::{CreateTable, Query, SecondaryIndex};
    use crate::schema::Table;
    use crate::value::arbitrary::number;
    use crate::{KeyType, item};

    #[test]
    fn segments_are_disjoint_and_complete() {
        for total in [1, 2, 3, 7, 1000, 999_983] {
            let mut next = 0_u128;
            for number in 0..total {
                let scan = Scan::new("t").segment(number, total);
                let Segment { first, last, .. } = Segment::of(&scan).expect("in range");
                assert_eq!(u128::from(first), next);
                next = u128::from(last) + 1;
            }
            assert_eq!(next, 1 << 64);
        }
    }

    /// Table with a sort key of this type, and an index on the same attributes.
    fn table(kind: KeyType) -> Table {
        let request = CreateTable::new("table")
            .partition_key("p", KeyType::S)
            .sort_key("s", kind)
            .global_index(SecondaryIndex::new("index").partition_key("p").sort_key("s"));
        Table::create(&request, Timestamp::from_secs(1), String::new()).expect("the table is valid")
    }

    fn sort_keys() -> impl Strategy<Value = (KeyType, Vec<Value>)> {
        let bytes = prop_oneof![Just(0_u8), Just(1), Just(0x7F), Just(0xFF)];
        let text = prop_oneof![Just('\0'), Just('a'), Just('\u{ff}')];
        let texts =
            prop::collection::vec(text, 1..4).prop_map(|text| Value::S(text.iter().collect()));
        let binaries = prop::collection::vec(bytes, 1..4).prop_map(|bytes| Value::B(bytes.into()));
        prop_oneof![
            prop::collection::vec(texts, 3).prop_map(|keys| (KeyType::S, keys)),
            prop::collection::vec(binaries, 3).prop_map(|keys| (KeyType::B, keys)),
            prop::collection::vec(number().prop_map(Value::N), 3)
                .prop_map(|keys| (KeyType::N, keys)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn range_of_a_query_has_the_rows_that_fulfill_its_key_condition(
            (kind, keys) in sort_keys(),
            operator in 0..8,
            (asked, actual) in ("[ab]", "[ab]"),
            by_index in any::<bool>(),
        ) {
            let table = table(kind);
            let [one, other, row] = &keys[..] else { unreachable!("three were made") };
            let sort = attr("s");
            let is_ordered = one.as_ref().compare(other.as_ref()).is_some_and(|order| order.is_le());
            let (low, high) = if is_ordered { (one, other) } else { (other, one) };
            let condition: Option<Condition> = match operator {
                0 => None,
                1 => Some(sort.eq(one.clone())),
                2 => Some(sort.lt(one.clone())),
                3 => Some(sort.le(one.clone())),
                4 => Some(sort.gt(one.clone())),
                5 => Some(sort.ge(one.clone())),
                6 => Some(sort.between(low.clone(), high.clone())),
                _ if kind == KeyType::N => None,
                _ => Some(sort.begins_with(one.clone())),
            };
            let partition = attr("p").eq(asked.as_str());
            let condition = match condition {
                Some(condition) => partition.and(condition),
                None => partition,
            };
            let item = item! { "p" => actual.as_str(), "s" => row.clone() };
            let mut query = Query::new("table", condition.clone());
            let position = match by_index {
                true => {
                    query = query.index("index");
                    RowKey::in_index(&table.schema, &table.schema.indexes[0], &item).unwrap()
                }
                false => RowKey::of_stored(&table.schema, &item),
            };
            let plan = ReadPlan::query(&query, &table).unwrap();
            let found = plan.range.contains(position.as_bytes());
            prop_assert_eq!(found, condition.evaluate(&item));
            prop_assert!(!found || !plan.is_empty());
        }

        #[test]
        fn row_keys_order_as_their_sort_keys((kind, keys) in sort_keys()) {
            let table = table(kind);
            let position = |key: &Value| {
                RowKey::of_stored(&table.schema, &item! { "p" => "a", "s" => key.clone() })
            };
            let [one, other, _] = &keys[..] else { unreachable!("three were made") };
            let order = one.as_ref().compare(other.as_ref()).expect("they are of one type");
            prop_assert_eq!(position(one).cmp(&position(other)), order);
            let item = item! { "p" => "a", "s" => one.clone() };
            prop_assert!(position(one).is_of(&table.schema, &item));
            prop_assert_eq!(position(other).is_of(&table.schema, &item), order.is_eq());
        }
    }
}
