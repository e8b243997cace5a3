//! Operations on panels.

mod assets;
mod network;
mod panels;
mod users;

use std::time::Duration;

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{Check, Commit, Db, Entity, Id, Step};
use tabla::{Error, Result};

pub use self::assets::Confirmed;
pub use self::panels::Completed;
pub use self::users::Created;
use crate::entities::Profile;

/// Operations on the panels of a database.
#[derive(Clone, Debug)]
pub struct Gamificacion {
    db: Db,
    settings: Settings,
}

/// Settings of an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Time from the beginning of an upload to its expiry; one hour by default.
    pub upload_window: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { upload_window: Duration::from_secs(3600) }
    }
}

/// Outcome of adding an entity to a user.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Added<E> {
    /// The entity was created.
    Done,
    /// An entity with this key exists. Nothing was written.
    Exists(E),
    /// The user does not exist or is being deleted. Nothing was written.
    NoUser,
}

impl<E: Entity> Added<E> {
    /// Outcome of a transaction that creates an entity and checks its user.
    fn of(commit: Commit, entity: &Step<E>, user: &Step<Profile>) -> Result<Self> {
        match commit {
            Committed => Ok(Self::Done),
            Canceled(c) if c.failed(user) => Ok(Self::NoUser),
            Canceled(c) => c.current(entity)?.map(Self::Exists).ok_or_else(|| {
                let name = E::design().name;
                Error::corrupt(format!("cannot add a {name}: its user has no dashboard"))
            }),
        }
    }
}

impl<E> Added<E> {
    /// Whether the entity was created.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }
}

impl Gamificacion {
    /// Operations with the default settings.
    pub fn new(db: Db) -> Self {
        Self::with_settings(db, Settings::default())
    }

    /// Operations with these settings.
    pub fn with_settings(db: Db, settings: Settings) -> Self {
        Self { db, settings }
    }

    /// Creates an entity of a user who exists and is not being deleted.
    async fn add<E: Entity>(&self, user: &Id, entity: E) -> Result<Added<E>> {
        let mut tx = self.db.transaction();
        let (entity, user) = (tx.create(entity), tx.check(&Profile::key(user), stays()));
        Added::of(tx.commit().await?, &entity, &user)
    }
}

/// Holds for a user who is not being deleted. Every write that adds to a user checks it.
fn stays() -> Check<Profile> {
    Profile::LEAVING.not_exists()
}

/// Holds for a user who is being deleted. Every deletion of the user's items checks it: after a
/// concurrent caller has finished the deletion, another user can be created under the same key.
fn leaves() -> Check<Profile> {
    Profile::LEAVING.exists()
}
