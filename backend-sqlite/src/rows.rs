//! Rows on a connection: how positions become keys, and how items are stored.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use rusqlite::types::ValueRef as SqlValue;
use rusqlite::{Connection, Row};
use tabla::engine::{Flow, Position, ReadPlan, Rows, Source, Span};
use tabla::key::encoding;
use tabla::{Item, Result};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::catalogue::{RangeSql, StoredTable};
use crate::error::{damaged, from_sqlite};

/// The rows that a connection sees.
pub(crate) struct Reading<'c>(pub(crate) &'c Connection);

/// An item as it is stored, with the row that it is in.
pub(crate) struct StoredItem {
    pub(crate) id: i64,
    pub(crate) item: Item,
}

/// The key of a row: the hash of the partition key, the partition key, the sort key. Each part
/// says where it ends, so that the bytes are in the order of the positions.
pub(crate) fn key_of(position: &Position) -> Vec<u8> {
    let mut key = Vec::with_capacity(8 + position.partition.len() + position.sort.len());
    key.extend_from_slice(&position.hash.to_be_bytes());
    key.extend_from_slice(&position.partition);
    key.extend_from_slice(&position.sort);
    key
}

/// What an item's bytes must add up to. The row's id takes part, so that an item in the wrong row
/// is noticed.
pub(crate) fn sum_of(id: i64, item: &[u8]) -> i64 {
    xxh3_64_with_seed(item, id as u64) as i64
}

/// The item of a table at a position.
pub(crate) fn find(
    connection: &Connection,
    table: &StoredTable,
    position: &Position,
) -> Result<Option<StoredItem>> {
    let key = key_of(position);
    let mut statement = connection.prepare_cached(&table.sql.get).map_err(from_sqlite)?;
    let mut rows = statement.query([&key]).map_err(from_sqlite)?;
    let Some(row) = rows.next().map_err(from_sqlite)? else { return Ok(None) };
    let found = read(row)?;
    // The key leads to the row by a number alone: this is where a wrong number is noticed.
    if Position::of_stored(&table.table.schema, &found.item) != *position {
        return Err(damaged(format_args!(
            "a key of table {} leads to another item",
            table.table.name
        )));
    }
    Ok(Some(found))
}

/// The item of a row of a table's items.
fn find_row(connection: &Connection, table: &StoredTable, id: i64) -> Result<Item> {
    let mut statement = connection.prepare_cached(&table.sql.get_row).map_err(from_sqlite)?;
    let mut rows = statement.query([id]).map_err(from_sqlite)?;
    let Some(row) = rows.next().map_err(from_sqlite)? else { return Err(missing(id)) };
    Ok(read(row)?.item)
}

/// Reads the id, the sum and the item.
pub(crate) fn read(row: &Row<'_>) -> Result<StoredItem> {
    let id: i64 = row.get(0).map_err(from_sqlite)?;
    let bytes = match row.get_ref(2).map_err(from_sqlite)? {
        SqlValue::Blob(bytes) => bytes,
        // A key whose item is gone.
        SqlValue::Null => return Err(missing(id)),
        _ => return Err(damaged(format_args!("the item of row {id} is no blob"))),
    };
    let sum: i64 = row.get(1).map_err(from_sqlite)?;
    if sum != sum_of(id, bytes) {
        return Err(damaged(format_args!("the item of row {id} is not what was stored")));
    }
    let item = Item::decode_trusted(Bytes::copy_from_slice(bytes))?;
    Ok(StoredItem { id, item })
}

fn missing(id: i64) -> tabla::Error {
    damaged(format_args!("a key leads to row {id}, which is not there"))
}

impl Rows for Reading<'_> {
    type Table = Arc<StoredTable>;

    fn get(&mut self, table: &Arc<StoredTable>, position: &Position) -> Result<Option<Item>> {
        Ok(find(self.0, table, position)?.map(|found| found.item))
    }

    fn visit(
        &mut self,
        table: &Arc<StoredTable>,
        plan: &ReadPlan,
        take: &mut dyn FnMut(Item, Option<Item>) -> Flow,
    ) -> Result<bool> {
        let sql = match plan.source {
            Source::Table => &table.sql.range,
            Source::Index(number) => &table.indexes[number].sql.range,
        };
        let (lower, upper) = key_range(&plan.span);
        let mut statement =
            self.0.prepare_cached(select(sql, plan, &upper)).map_err(from_sqlite)?;
        let mut rows = match &upper {
            Some(upper) => statement.query([&lower, upper]),
            None => statement.query([&lower]),
        }
        .map_err(from_sqlite)?;
        while let Some(row) = rows.next().map_err(from_sqlite)? {
            let StoredItem { id, item } = read(row)?;
            let fetched = match plan.fetch {
                true => Some(find_row(self.0, table, id)?),
                false => None,
            };
            match take(item, fetched) {
                Flow::Next => {}
                Flow::Last => return Ok(false),
                Flow::Enough => return Ok(true),
            }
        }
        Ok(false)
    }
}

fn select<'a>(sql: &'a RangeSql, plan: &ReadPlan, upper: &Option<Vec<u8>>) -> &'a str {
    match (upper, plan.reverse) {
        (Some(_), false) => &sql.forward,
        (Some(_), true) => &sql.backward,
        // Only a scan has no end, and scans go forward.
        (None, _) => &sql.open,
    }
}

/// The keys of a span: from the first, up to the second, which does not belong to it.
pub(crate) fn key_range(span: &Span) -> (Vec<u8>, Option<Vec<u8>>) {
    match span {
        Span::Partition { hash, partition, lower, upper } => {
            let prefix = |sort: &[u8]| {
                let mut key = Vec::with_capacity(8 + partition.len() + sort.len() + 1);
                key.extend_from_slice(&hash.to_be_bytes());
                key.extend_from_slice(partition);
                key.extend_from_slice(sort);
                key
            };
            // The next bytes that could be a key: the same, and a zero.
            let after = |sort: &[u8]| {
                let mut key = prefix(sort);
                key.push(0);
                key
            };
            let lower = match lower {
                Bound::Unbounded => prefix(&[]),
                Bound::Included(sort) => prefix(sort),
                Bound::Excluded(sort) => after(sort),
            };
            let upper = match upper {
                Bound::Unbounded => {
                    let mut end = prefix(&[]);
                    encoding::prefix_successor(&mut end).then_some(end)
                }
                Bound::Included(sort) => Some(after(sort)),
                Bound::Excluded(sort) => Some(prefix(sort)),
            };
            (lower, upper)
        }
        Span::Hashes { first, last, after } => {
            let lower = match after {
                Some(position) => {
                    let mut key = key_of(position);
                    key.push(0);
                    key
                }
                None => first.to_be_bytes().to_vec(),
            };
            let upper = last.checked_add(1).map(|end| end.to_be_bytes().to_vec());
            (lower, upper)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabla::{KeyType, Value, item};

    use super::*;

    fn position(partition: &str, sort: &[u8]) -> Position {
        let schema = tabla::schema::TableSchema {
            partition: tabla::schema::KeyAttribute { name: "p".into(), kind: KeyType::S },
            sort: Some(tabla::schema::KeyAttribute { name: "s".into(), kind: KeyType::B }),
            indexes: Vec::new(),
        };
        let sort = Value::B(Bytes::copy_from_slice(sort));
        Position::of_stored(&schema, &item! { "p" => partition, "s" => sort })
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(0xFF), any::<u8>()], 1..4)
    }

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_their_positions(
            a in ("[\0a\u{ff}]{1,3}", bytes()), b in ("[\0a\u{ff}]{1,3}", bytes()),
        ) {
            let (a, b) = (position(&a.0, &a.1), position(&b.0, &b.1));
            prop_assert_eq!(key_of(&a).cmp(&key_of(&b)), a.cmp(&b));
        }

        #[test]
        fn a_range_of_keys_has_what_the_span_has(
            partition in "[ab]", sorts in prop::collection::vec(bytes(), 3), kinds in (0..3, 0..3),
            other in "[ab]",
        ) {
            let at = |sort: &[u8]| position(&partition, sort).sort;
            let bound = |kind, sort: &[u8]| match kind {
                0 => Bound::Unbounded,
                1 => Bound::Included(at(sort)),
                _ => Bound::Excluded(at(sort)),
            };
            let whole = position(&partition, &sorts[0]);
            let span = Span::Partition {
                hash: whole.hash,
                partition: whole.partition,
                lower: bound(kinds.0, &sorts[0]),
                upper: bound(kinds.1, &sorts[1]),
            };
            let row = position(&other, &sorts[2]);
            let (lower, upper) = key_range(&span);
            let key = key_of(&row);
            let found = key >= lower && upper.is_none_or(|upper| key < upper);
            let (low, high) = span.bounds();
            let above = match low {
                Bound::Unbounded => true,
                Bound::Included(low) => row >= low,
                Bound::Excluded(low) => row > low,
            };
            // A row of the same partition never lies past its end.
            let below = match high {
                Bound::Unbounded => true,
                Bound::Included(high) => row <= high,
                Bound::Excluded(high) => row < high,
            };
            prop_assert_eq!(found, above && below);
        }
    }
}
