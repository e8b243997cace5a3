//! Operations of the festival.

mod activity;
mod comments;
mod config;
mod likes;
mod moderation;
mod posts;
mod profanity;
mod rooms;
mod users;

use tabla::Result;
use tabla::entity::{Db, Id, UtcMillis, UtcTime};

pub use activity::NewEvent;
pub use comments::Commented;
pub use config::Scheduled;
pub use likes::Liked;
pub use moderation::Moderated;
pub use rooms::{ContentUpdated, NewContent};
pub use users::{Newcomer, Registered};

/// Festival on a database.
#[derive(Clone, Debug)]
pub struct EsenciaFest {
    db: Db,
    moment: Option<UtcTime>,
}

impl EsenciaFest {
    /// Festival on this database.
    pub fn new(db: Db) -> Self {
        Self { db, moment: None }
    }

    /// Festival whose dates are this moment instead of the current time, for imported data.
    #[must_use]
    pub fn at(&self, moment: UtcTime) -> Self {
        Self { moment: Some(moment), ..self.clone() }
    }

    pub(crate) fn now(&self) -> UtcTime {
        self.moment.unwrap_or_else(|| self.db.now().second())
    }

    /// Random identifier that sorts by time.
    ///
    /// # Errors
    /// None in practice: the text is always an identifier.
    pub fn new_id(&self) -> Result<Id> {
        let now = match self.moment {
            Some(moment) => UtcMillis::from_millis(moment.as_secs() * 1000),
            None => self.db.now(),
        };
        let random = &self.db.env().random;
        let (high, low) = (random.next_u64() & 0xffff, random.next_u64());
        Id::new(format!("{:012x}{high:04x}{low:016x}", now.as_millis()))
    }
}
