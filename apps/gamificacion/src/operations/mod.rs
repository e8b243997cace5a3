//! What can be done with panels.

mod assets;
mod network;
mod panels;
mod users;

use std::time::Duration;

use tabla::entity::{Check, Db, Entity, Id, Lost, Transacted, UtcTime};
use tabla::{Error, Result};

pub use self::assets::{Confirmed, Upload};
pub use self::panels::Completed;
pub use self::users::Created;
use crate::entities::{Profile, ProfileKey};

/// Panels on a database.
#[derive(Clone, Debug)]
pub struct Gamificacion {
    db: Db,
    settings: Settings,
}

/// What an environment may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long a file may take to arrive.
    pub upload_window: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { upload_window: Duration::from_secs(3600) }
    }
}

/// What became of adding something of a user's.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Added<E> {
    /// It was added.
    Done,
    /// There is one with this identifier, and nothing has changed: here it is.
    Exists(E),
    /// There is no such user, or they are being deleted, and nothing has changed.
    NoUser,
}

impl<E> Added<E> {
    /// Whether it was added.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }
}

impl Gamificacion {
    /// Panels on this database.
    pub fn new(db: Db) -> Self {
        Self::with_settings(db, Settings::default())
    }

    /// Panels on this database, with these settings.
    pub fn with_settings(db: Db, settings: Settings) -> Self {
        Self { db, settings }
    }

    fn now(&self) -> UtcTime {
        self.db.now().second()
    }

    /// Adds something of a user's, if the user is there to stay and it is not.
    async fn add<E: Entity>(&self, user: &Id, entity: E) -> Result<Added<E>> {
        let owner = profile_key(user);
        let transaction =
            self.db.transaction().create("entity", entity)?.check("user", &owner, Some(stays()))?;
        match transaction.run().await? {
            Transacted::Done => Ok(Added::Done),
            Transacted::Lost(lost) => not_added(&lost),
        }
    }
}

fn profile_key(user: &Id) -> ProfileKey {
    ProfileKey { user_id: user.clone() }
}

/// Holds for a user who is not being deleted. Whatever adds to a user checks it.
fn stays() -> Check<Profile> {
    Profile::LEAVING.not_exists()
}

/// Holds for a user who is being deleted. Whatever deletes what they have checks it: they may be
/// gone, and be created again, while somebody else is still about to delete.
fn leaves() -> Check<Profile> {
    Profile::LEAVING.exists()
}

/// Why something was not added: without a user there is nothing to add to.
fn not_added<E: Entity>(lost: &Lost) -> Result<Added<E>> {
    if lost.is_lost("user") {
        return Ok(Added::NoUser);
    }
    match lost.current("entity")? {
        Some(present) => Ok(Added::Exists(present)),
        None => Err(Error::corrupt(format!(
            "a {} could not be added, and nothing stands in its place",
            E::design().name
        ))),
    }
}
