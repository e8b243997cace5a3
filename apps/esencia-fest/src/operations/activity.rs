//! Activity log.

use tabla::entity::{Day, Id, Month, Outcome, Page};
use tabla::ops::DeleteTable;
use tabla::{Cursor, Map, Result, RetryMode, RetryPolicy};

use super::EsenciaFest;
use crate::entities::*;
use crate::patterns::{self, Order};
use crate::range::{self, RangeCursor, RangePage, Span};

/// Event of a visitor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewEvent {
    /// Action, such as `visit`.
    pub action: String,
    /// Room in which the visitor acted.
    pub sala_id: Option<RoomId>,
    /// Country of the visitor, if known.
    pub country: Option<Id>,
    /// Further data, such as a duration.
    pub metadata: Map,
}

impl EsenciaFest {
    /// Pattern 17, `LogActivity`: logs an event under a new id, in the table of its month.
    pub async fn log_activity(
        &self,
        user: &Email,
        event: NewEvent,
    ) -> Result<Outcome<ActivityLog>> {
        self.log_activity_as(self.new_id()?, user, event).await
    }

    /// [`log_activity`](Self::log_activity) under the caller's id: repeated calls at one moment log
    /// one event. A missing table of the month is created.
    pub async fn log_activity_as(
        &self,
        event_id: Id,
        user: &Email,
        event: NewEvent,
    ) -> Result<Outcome<ActivityLog>> {
        let (timestamp, user_id) = (self.now(), user.clone());
        let NewEvent { action, sala_id, country, metadata } = event;
        let ttl = timestamp.plus(KEPT).as_secs();
        let log =
            ActivityLog { user_id, timestamp, event_id, action, sala_id, country, metadata, ttl };
        let db = self.db.period(timestamp.month());
        match db.create(log.clone()).await {
            Err(error) if error.is_not_found() => {
                self.ensure_month(timestamp.month()).await?;
                db.create(log).await
            }
            outcome => outcome,
        }
    }

    /// Pattern 18, `GetUserLogs`: page of the events of a visitor in a span of time, over all shards
    /// of all months.
    pub async fn get_user_logs(
        &self,
        user: &Email,
        span: Span,
        order: Order,
        limit: u32,
        after: Option<&RangeCursor>,
    ) -> Result<RangePage<ActivityLog>> {
        let query = |_: Month| patterns::user_logs(user, span, order);
        range::page(span, order, limit, after, query, |month| self.db.period(month)).await
    }

    /// Pattern 19, `GetActivityByCountry`: page of the events from a country on a day.
    pub async fn get_activity_by_country(
        &self,
        country: &Id,
        day: Day,
        after: Option<Cursor>,
    ) -> Result<Page<ActivityLog>> {
        let query = patterns::activity_by_country(country, day).after(after);
        match self.db.period(day.month()).page(query).await {
            Err(error) if error.is_not_found() => Ok(Page::empty()),
            page => page,
        }
    }

    /// Creates the table of a month, unless it exists, and waits until it is active. Called before
    /// the month begins, it spares the first event that wait.
    pub async fn ensure_month(&self, month: Month) -> Result<()> {
        let db = self.db.period(month);
        // After a lost response too: without its time to live, a table would keep its events.
        let retries = RetryPolicy::contended(db.env().clone());
        retries.run(RetryMode::Idempotent, || db.create_table(&ACTIVITY_LOGS)).await
    }

    /// Deletes the tables, from the month `since` on, all of whose events have expired. Returns the
    /// months of these tables.
    pub async fn drop_expired_months(&self, since: Month) -> Result<Vec<Month>> {
        let now = self.now();
        let mut dropped = Vec::new();
        let is_over = |month: &Month| month.end().plus(KEPT) < now;
        for month in since.through(now.month()).take_while(is_over) {
            let table = self.db.period(month).table_name(&ACTIVITY_LOGS)?;
            match self.db.store().delete_table(DeleteTable::new(table)).await {
                Ok(_) => dropped.push(month),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(dropped)
    }
}
