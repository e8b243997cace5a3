//! Traits of an embedded engine's storage: tables, and rows to read and write.

use std::sync::Arc;

use super::{Effect, IndexChange, ReadPlan, RowKey};
use crate::Item;
use crate::env::Timestamp;
use crate::error::Result;
use crate::schema::{Table, TableSchema};

/// Reference to a table: its definition, and whatever the engine needs to find its rows.
pub trait TableRef: Clone {
    /// Definition of the table.
    fn table(&self) -> &Table;

    /// Name of the table.
    fn name(&self) -> &str {
        &self.table().name
    }

    /// Key and indexes of the table.
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

/// Rows of an engine, for reading.
///
/// All calls of one operation see the same snapshot. An error is the engine's own, such as of a
/// disk that cannot be read; the operation returns it unchanged.
pub trait ReadRows {
    /// Reference to a table of the engine.
    type Table: TableRef;

    /// Reads the item with this row key; `None` if there is none.
    fn get(&mut self, table: &Self::Table, position: &RowKey) -> Result<Option<Item>>;

    /// Calls `take` with each row of the plan's source and range, in the plan's order, until `take`
    /// stops. The second argument is the item of the table if the plan fetches it. Returns whether
    /// `take` left a row ([`Visit::StopBefore`]).
    fn visit(
        &mut self,
        table: &Self::Table,
        plan: &ReadPlan,
        take: &mut dyn FnMut(Item, Option<Item>) -> Visit,
    ) -> Result<bool>;
}

/// Decision after each row of [`ReadRows::visit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Takes the row, and continues with the next one.
    Continue,
    /// Takes the row, and stops without a look for another one.
    StopAfter,
    /// Leaves the row, and stops.
    StopBefore,
}

/// Rows of an engine, for reading and writing, inside a transaction of the engine.
///
/// No other operation sees a write before the operation is complete. An operation reads everything
/// before it writes anything: if it fails, there is nothing to undo, unless the write
/// itself failed.
pub trait WriteRows: ReadRows {
    /// Handle of a row that was found, such as a row number.
    type RowHandle: Copy;

    /// Reads the item with this row key, and the handle of its row.
    fn find(
        &mut self,
        table: &Self::Table,
        position: &RowKey,
    ) -> Result<Option<(Item, Self::RowHandle)>>;

    /// Applies a write: changes the item and the index entries, and adds a record to the table's
    /// stream if it has one.
    fn apply(
        &mut self,
        table: &Self::Table,
        write: &EvaluatedWrite<'_, Self::RowHandle>,
    ) -> Result<()>;

    /// Estimates the size in bytes of the item collection of this row key, in the table and its
    /// local indexes. Outputs report it in whole gigabytes, so an engine need not read the
    /// collection while other writes wait: any estimate below 1 GB has the same result.
    fn collection_size(&mut self, table: &Self::Table, position: &RowKey) -> Result<u64>;

    /// Reads the record of a client request token; `None` if there is none.
    fn find_token(&mut self, token: &str) -> Result<Option<TokenRecord>>;

    /// Stores a token, and deletes expired ones.
    fn store_token(&mut self, token: &str, kept: TokenRecord) -> Result<()>;
}

/// Evaluated write, to be applied.
#[derive(Clone, Copy, Debug)]
pub struct EvaluatedWrite<'a, P> {
    /// Row key of the item in the table.
    pub row_key: &'a RowKey,
    /// Handle of the present row; `None` if the item is new.
    pub row: Option<P>,
    /// Item before and after the write.
    pub effect: &'a Effect,
    /// Changes of the indexes.
    pub changes: &'a [IndexChange],
}

/// Record of a transaction that was executed with a client request token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    /// Fingerprint of the operations.
    pub fingerprint: u128,
    /// Time at which the transaction was executed.
    pub completed_at: Timestamp,
}

impl TokenRecord {
    /// Whether the token is younger than 10 minutes, so that a request with it is a repetition.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        now.since(self.completed_at) < super::transact::TOKEN_LIFETIME
    }
}
