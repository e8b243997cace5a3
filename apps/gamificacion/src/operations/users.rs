//! Users and their codes.

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{Entity, Id, Outcome, UtcTime};
use tabla::{Error, Result};

use super::{Gamificacion, leaves};
use crate::entities::*;
use crate::patterns;

/// Outcome of creating a user.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Created {
    /// The user exists, with an empty dashboard.
    Done,
    /// A user with this id exists, and may be leaving. Nothing was written.
    Exists(Option<Profile>),
    /// Another user has the code. Nothing was written.
    CodeTaken,
}

impl Gamificacion {
    /// Pattern 1: the whole panel of a user, over all its pages.
    pub async fn panel(&self, user: &Id) -> Result<Panel> {
        self.db.collect(patterns::panel(user)).await
    }

    /// Pattern 1a: profile of a user.
    pub async fn profile(&self, user: &Id) -> Result<Option<Profile>> {
        self.db.get(&Profile::key(user)).await
    }

    /// Pattern 1b: totals of a user.
    pub async fn dashboard(&self, user: &Id) -> Result<Option<Dashboard>> {
        self.db.get(&Dashboard::key(user)).await
    }

    /// Pattern 2: the user with a code.
    pub async fn user_by_code(&self, code: &Id) -> Result<Option<Profile>> {
        Ok(self.db.page(patterns::user_by_code(code)).await?.whole()?.items.pop())
    }

    /// Pattern 2b: the whole panel of the user with a code.
    pub async fn panel_by_code(&self, code: &Id) -> Result<Option<Panel>> {
        match self.user_by_code(code).await? {
            Some(profile) => Ok(Some(self.panel(&profile.user_id).await?)),
            None => Ok(None),
        }
    }

    /// Creates a user and an empty dashboard. The id and the code must be free.
    pub async fn create_user(&self, profile: Profile) -> Result<Created> {
        let dashboard = Dashboard {
            user_id: profile.user_id.clone(),
            points: 0,
            completed_goals: 0,
            network_size: 0,
            created_at: UtcTime::default(),
            updated_at: UtcTime::default(),
        };
        let mut tx = self.db.transaction();
        let profile = tx.create(Profile { leaving: None, ..profile });
        let dashboard = tx.create(dashboard);
        match tx.commit().await? {
            Committed => Ok(Created::Done),
            // An existing user is reported before a taken code, which may be the user's own.
            Canceled(c) if c.failed(&profile) || c.failed(&dashboard) => {
                Ok(Created::Exists(c.current(&profile)?))
            }
            Canceled(_) => Ok(Created::CodeTaken),
        }
    }

    /// Changes the code of a user who was read, and releases the old code. [`Outcome::Taken`]:
    /// another user has the new code. [`Outcome::Lost`]: the user is deleted, or has another code
    /// than the one that was read.
    pub async fn change_code(&self, read: &Profile, code: &Id) -> Result<Outcome<Profile>> {
        self.db.update(read.change().set(Profile::USER_CODE, code)).await
    }

    /// Deletes a user and the item collection of the user. `false`: a concurrent caller has deleted
    /// the user, or there is none.
    ///
    /// The steps are: mark the profile as leaving, so that nothing can be added; delete each item
    /// and each file; delete profile, code and dashboard in one transaction. A second call finishes
    /// an interrupted deletion. The user's id stays taken until then. Items of unknown kinds stay,
    /// and pending uploads expire.
    pub async fn delete_user(&self, user: &Id) -> Result<bool> {
        let mark = Profile::key(user).change().set(Profile::LEAVING, self.db.now().second());
        if !self.db.update(mark).await?.is_done() {
            return Ok(false);
        }
        let mut left = self.panel(user).await?;
        // An item that cannot be read would stay without its user.
        if let Some(unreadable) = left.unreadable.pop() {
            return Err(unreadable.into_error());
        }
        self.delete_each(user, left.goals).await?;
        self.delete_each(user, left.products).await?;
        self.delete_each(user, left.featured).await?;
        self.delete_each(user, left.network).await?;
        for link in left.assets {
            self.delete_asset_of(user, &link.asset_id).await?;
        }
        self.delete_profile(user).await
    }

    /// Deletes profile, code and dashboard of a user who is leaving.
    async fn delete_profile(&self, user: &Id) -> Result<bool> {
        let mut attempts = self.db.optimistic("delete a user");
        loop {
            let mut tx = attempts.begin().await?;
            let read = tx.get(&Profile::key(user)).await?;
            // A profile without the mark is that of a new user under the same id.
            let Some(read) = read.filter(|read| read.leaving.is_some()) else { return Ok(false) };
            let profile = tx.delete_read_if(&read, leaves());
            tx.delete(&Dashboard::key(user));
            match tx.commit().await? {
                Committed => return Ok(true),
                Canceled(c) if c.failed(&profile) => {}
                Canceled(_) => {
                    return Err(Error::corrupt(format!(
                        "cannot delete user {user}: the dashboard or the guard item of the code is \
                         missing"
                    )));
                }
            }
        }
    }

    /// Deletes entities of a user who is leaving.
    async fn delete_each<E: Entity>(&self, user: &Id, entities: Vec<E>) -> Result<()> {
        for entity in entities {
            // One attempt is enough: if a condition fails, a concurrent caller has deleted the
            // entity, and perhaps the user, too.
            let mut attempts = self.db.optimistic("delete an entity of a user");
            let mut tx = attempts.begin().await?;
            tx.delete(&entity.to_key());
            tx.check(&Profile::key(user), leaves());
            let _ = tx.commit().await?;
        }
        Ok(())
    }
}
