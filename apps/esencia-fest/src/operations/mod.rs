//! What can be done at the festival.

mod activity;
mod comments;
mod config;
mod likes;
mod moderation;
mod posts;
mod profanity;
mod rooms;
mod users;

use std::time::Duration;

use tabla::entity::{Db, Id, Transacted, Transaction, UtcMillis, UtcTime};
use tabla::{Applied, CancellationCode, Error, ErrorKind, Result, Retry};

pub use activity::NewEvent;
pub use comments::Commented;
pub use config::Scheduled;
pub use likes::Liked;
pub use moderation::{ModeratedComment, ModeratedPost};
pub use rooms::{ContentUpdated, NewContent};
pub use users::{Newcomer, Registered};

/// How often something that others want at the same time is tried for.
const ATTEMPTS: u32 = 60;

/// The festival on a database.
#[derive(Clone, Debug)]
pub struct EsenciaFest {
    db: Db,
    moment: Option<UtcTime>,
}

impl EsenciaFest {
    /// The festival on this database.
    pub fn new(db: Db) -> Self {
        Self { db, moment: None }
    }

    /// The same as if it were this moment: what is brought in from elsewhere keeps its date.
    #[must_use]
    pub fn at(&self, moment: UtcTime) -> Self {
        Self { moment: Some(moment), ..self.clone() }
    }

    pub(crate) fn now(&self) -> UtcTime {
        self.moment.unwrap_or_else(|| self.db.now().second())
    }

    /// An identifier that nobody else has, and that sorts by time.
    ///
    /// # Errors
    /// None that happen.
    pub fn new_id(&self) -> Result<Id> {
        let now = match self.moment {
            Some(moment) => UtcMillis::from_millis(moment.as_secs() * 1000),
            None => self.db.now(),
        };
        let random = &self.db.env().random;
        let (high, low) = (random.next_u64() & 0xffff, random.next_u64());
        Id::new(format!("{:012x}{high:04x}{low:016x}", now.as_millis()))
    }

    /// Waits a little, and unevenly, before the next try.
    async fn pause(&self, attempt: u32) {
        let most = 1 << attempt.min(6);
        let millis = self.db.env().random.next_u64() % (most + 1);
        self.db.env().clock.sleep(Duration::from_millis(millis)).await;
    }
}

/// Carries a transaction out; `None` if another one was in its way, so that it is worth another
/// try.
async fn attempt(transaction: Transaction<'_>) -> Result<Option<Transacted>> {
    match transaction.run().await {
        Ok(transacted) => Ok(Some(transacted)),
        Err(error) if is_contention(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_contention(error: &Error) -> bool {
    let is_conflict = |code| code == CancellationCode::TransactionConflict;
    let conflicts = error.cancellation_reasons().iter().any(|reason| is_conflict(reason.code));
    error.applied() == Applied::No
        && (conflicts || matches!(error.kind(), ErrorKind::TransactionConflict))
}

/// The error of somebody whom others were always ahead of.
fn overrun(what: &str) -> Error {
    let message = format!("others were ahead at every try: {what}");
    Error::new(ErrorKind::TransactionConflict, message).with_retry(Retry::Later)
}
