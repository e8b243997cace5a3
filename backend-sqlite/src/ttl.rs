//! Deleting the items whose time has passed.

use std::sync::Arc;

use tabla::Result;
use tabla::engine::{Applicable, Effect, Position, TableRef, WriteRows, ttl};
use tabla::env::Timestamp;
use tabla::ops::UserIdentity;

use crate::catalogue::StoredTable;
use crate::error::from_sqlite;
use crate::rows::{self, StoredItem};
use crate::session::Session;

/// Items that one step looks at, and so the most that it deletes.
pub(crate) const LOOKED_AT: usize = 500;

/// What one step of a sweep has found.
pub(crate) struct Swept {
    pub(crate) deleted: usize,
    /// Where the next step begins; `None` at the end of the table.
    pub(crate) through: Option<i64>,
}

impl Session<'_> {
    /// Deletes the expired items among the next rows of a table.
    pub(crate) fn sweep(
        &mut self,
        table: &Arc<StoredTable>,
        through: i64,
        now: Timestamp,
    ) -> Result<Swept> {
        let attribute = table.table.time_to_live.attribute.clone();
        let Some(attribute) = attribute else { return Ok(Swept { deleted: 0, through: None }) };
        let mut looked_at = 0;
        let mut last = None;
        let mut expired: Vec<StoredItem> = Vec::new();
        {
            let select = format!(
                "SELECT id, sum, item FROM items_{} WHERE id > ?1 ORDER BY id LIMIT {LOOKED_AT}",
                table.number
            );
            let mut statement = self.connection.prepare_cached(&select).map_err(from_sqlite)?;
            let mut rows = statement.query([through]).map_err(from_sqlite)?;
            while let Some(row) = rows.next().map_err(from_sqlite)? {
                let found = rows::read(row)?;
                looked_at += 1;
                last = Some(found.id);
                if ttl::is_expired(&found.item, &attribute, now) {
                    expired.push(found);
                }
            }
        }
        self.by = Some(UserIdentity::time_to_live());
        for StoredItem { id, item } in &expired {
            let position = Position::of_stored(table.schema(), item);
            let effect = Effect { old: Some(item.clone()), new: None };
            let changes = effect.index_changes(table.schema());
            let (position, effect, changes) = (&position, &effect, &changes[..]);
            self.apply(table, &Applicable { position, place: Some(*id), effect, changes })?;
        }
        Ok(Swept { deleted: expired.len(), through: last.filter(|_| looked_at == LOOKED_AT) })
    }
}
