//! What an embedded engine keeps, as the operations see it.

use std::sync::Arc;

use super::{Effect, IndexChange, ReadPlan, RowKey};
use crate::Item;
use crate::env::Timestamp;
use crate::error::Result;
use crate::schema::{Table, TableSchema};

/// An engine's hold on a table: its definition, and whatever the engine needs to find its rows.
pub trait TableRef: Clone {
    /// The table's definition.
    fn table(&self) -> &Table;

    /// The table's name.
    fn name(&self) -> &str {
        &self.table().name
    }

    /// The table's key and indexes.
    fn schema(&self) -> &TableSchema {
        &self.table().schema
    }
}

impl<T: AsRef<Table>> TableRef for Arc<T> {
    fn table(&self) -> &Table {
        (**self).as_ref()
    }
}

impl AsRef<Table> for Table {
    fn as_ref(&self) -> &Table {
        self
    }
}

/// Rows that can be read.
///
/// All calls of one operation see the same state. An error is the engine's own, such as a disk
/// that cannot be read; it fails the operation as it is.
pub trait ReadRows {
    /// How the engine refers to a table.
    type Table: TableRef;

    /// The item at a position of the table.
    fn get(&mut self, table: &Self::Table, position: &RowKey) -> Result<Option<Item>>;

    /// Hands over the rows of a plan's source that lie in its span, in its order, each with the
    /// item of the table if the plan says to fetch it, until `take` wants no more. Answers whether
    /// a row was left.
    fn visit(
        &mut self,
        table: &Self::Table,
        plan: &ReadPlan,
        take: &mut dyn FnMut(Item, Option<Item>) -> Visit,
    ) -> Result<bool>;
}

/// Whether a visit goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// The row was taken, and the next one is wanted.
    Continue,
    /// The row was taken, and no other is wanted: not even to know whether there is one.
    StopAfter,
    /// The row was not taken, and no other is wanted.
    StopBefore,
}

/// Rows that can be written, too.
///
/// Nothing that one operation writes is seen by others before the operation is complete. All that
/// an operation reads, it reads before it writes anything: so it fails while there is nothing to
/// undo, unless writing itself fails.
pub trait WriteRows: ReadRows {
    /// Where the engine has found an item, as it likes to know it.
    type RowHandle: Copy;

    /// The item at a position of the table, and its place.
    fn find(
        &mut self,
        table: &Self::Table,
        position: &RowKey,
    ) -> Result<Option<(Item, Self::RowHandle)>>;

    /// Puts the effect of a write in the place of the item that was found, changes the index
    /// entries, and leaves a record in the table's stream if it has one.
    fn apply(
        &mut self,
        table: &Self::Table,
        write: &EvaluatedWrite<'_, Self::RowHandle>,
    ) -> Result<()>;

    /// Estimated size of the item collection that this position belongs to, in the table and its
    /// local indexes. Answers report it in whole gigabytes, so an engine need not read the
    /// collection while others wait to write: any size below 1 GB is as good as another.
    fn collection_size(&mut self, table: &Self::Table, position: &RowKey) -> Result<u64>;

    /// The transaction that was carried out under a client request token.
    fn find_token(&mut self, token: &str) -> Result<Option<TokenRecord>>;

    /// Keeps a token, and forgets those that protect no more.
    fn store_token(&mut self, token: &str, kept: TokenRecord) -> Result<()>;
}

/// A write that has been judged, and is to be carried out.
#[derive(Clone, Copy, Debug)]
pub struct EvaluatedWrite<'a, P> {
    /// The position of the item in the table.
    pub row_key: &'a RowKey,
    /// Where the item was found, if there was one.
    pub row: Option<P>,
    /// The item before and after.
    pub effect: &'a Effect,
    /// What that does to the indexes.
    pub changes: &'a [IndexChange],
}

/// A transaction that was carried out under a client request token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    /// What was carried out: [`transact::fingerprint`](super::transact::fingerprint).
    pub fingerprint: u128,
    /// When.
    pub completed_at: Timestamp,
}

impl TokenRecord {
    /// Whether the token still stands for its transaction.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        now.since(self.completed_at) < super::transact::TOKEN_LIFETIME
    }
}
