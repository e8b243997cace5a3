//! What visitors do.

use tabla::entity::{Day, Id, Month, Outcome, Page};
use tabla::ops::DeleteTable;
use tabla::{Cursor, Map, Result, RetryMode};

use super::EsenciaFest;
use crate::entities::*;
use crate::patterns::{self, Order};
use crate::range::{self, RangeCursor, RangePage, Span};

/// What a visitor has done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewEvent {
    /// What.
    pub action: String,
    /// In which room, if in any.
    pub sala_id: Option<RoomId>,
    /// From where, if that is known.
    pub country: Option<Id>,
    /// Whatever else there is to say.
    pub metadata: Map,
}

impl EsenciaFest {
    /// Pattern 17, `LogActivity`: an event under a new id, in the table of its month.
    pub async fn log_activity(
        &self,
        user: &Email,
        event: NewEvent,
    ) -> Result<Outcome<ActivityLog>> {
        self.log_activity_as(self.new_id()?, user, event).await
    }

    /// The same under an id of the caller's: an event that is logged again at the same moment is
    /// logged once, and lost with what is there. The table of its month is made if it is missing.
    pub async fn log_activity_as(
        &self,
        event_id: Id,
        user: &Email,
        event: NewEvent,
    ) -> Result<Outcome<ActivityLog>> {
        let timestamp = self.now();
        let NewEvent { action, sala_id, country, metadata } = event;
        let log = ActivityLog {
            user_id: user.clone(),
            timestamp,
            event_id,
            action,
            sala_id,
            country,
            metadata,
            ttl: timestamp.plus(KEPT).as_secs(),
        };
        let month = timestamp.month();
        let db = self.db.period(month);
        match db.create(log.clone()).await {
            Err(error) if error.is_not_found() => {
                self.ensure_month(month).await?;
                db.create(log).await
            }
            answer => answer,
        }
    }

    /// Pattern 18, `GetUserLogs`: a page of what a visitor did in a span of time, over all shards
    /// of all months.
    pub async fn get_user_logs(
        &self,
        user: &Email,
        span: Span,
        order: Order,
        limit: u32,
        after: Option<&RangeCursor>,
    ) -> Result<RangePage<ActivityLog>> {
        let find = |_: Month| patterns::user_logs(user, span, order);
        range::page(span, order, limit, after, find, |month| self.db.period(month)).await
    }

    /// Pattern 19, `GetActivityByCountry`: a page of what visitors from a country did on a day.
    pub async fn get_activity_by_country(
        &self,
        country: &Id,
        day: Day,
        after: Option<Cursor>,
    ) -> Result<Page<ActivityLog>> {
        let find = patterns::activity_by_country(country, day).after(after);
        match self.db.period(day.month()).page(find).await {
            Err(error) if error.is_not_found() => Ok(Page::empty()),
            answer => answer,
        }
    }

    /// Makes the table of a month, unless it is there, and waits until it can be used: before the
    /// month begins, so that nobody has to wait. If an answer is lost, it is repeated: a table whose
    /// time to live is not set would keep its events.
    pub async fn ensure_month(&self, month: Month) -> Result<()> {
        let db = self.db.period(month);
        let mut tries = db.start_attempts(RetryMode::Idempotent, "to make the table of a month");
        while tries.check(db.create_table(&ACTIVITY_LOGS).await)?.is_none() {
            tries.next_attempt().await?;
        }
        Ok(())
    }

    /// Drops the tables, from this month on, all of whose events have expired: the months that it
    /// has dropped.
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
