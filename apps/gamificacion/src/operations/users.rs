//! Users and their codes.

use tabla::Result;
use tabla::entity::{Change, Entity, Id, Outcome, Transacted};

use super::{Gamificacion, profile_key};
use crate::entities::*;
use crate::patterns;

/// What became of creating a user.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Created {
    /// The user is there, with an empty dashboard.
    Done,
    /// There is such a user already, and nothing has changed: here they are.
    Exists(Option<Profile>),
    /// The code is another user's, and nothing has changed.
    CodeTaken,
}

impl Gamificacion {
    /// Pattern 1: everything about a user, however many pages that takes.
    pub async fn panel(&self, user: &Id) -> Result<Panel> {
        self.db.collect(patterns::panel(user)).await
    }

    /// Pattern 1, seeing every write answered before.
    pub async fn panel_now(&self, user: &Id) -> Result<Panel> {
        self.db.collect(patterns::panel(user).consistent()).await
    }

    /// Pattern 1a: who a user is.
    pub async fn profile(&self, user: &Id) -> Result<Option<Profile>> {
        self.db.get(&profile_key(user)).await
    }

    /// Pattern 1b: the figures of a user.
    pub async fn dashboard(&self, user: &Id) -> Result<Option<Dashboard>> {
        self.db.get(&DashboardKey { user_id: user.clone() }).await
    }

    /// Pattern 2: the user with a code.
    pub async fn user_by_code(&self, code: &Id) -> Result<Option<Profile>> {
        Ok(self.db.page(patterns::user_by_code(code)).await?.items.pop())
    }

    /// Pattern 2b: everything about the user with a code.
    pub async fn panel_by_code(&self, code: &Id) -> Result<Option<Panel>> {
        match self.user_by_code(code).await? {
            Some(profile) => Ok(Some(self.panel(&profile.user_id).await?)),
            None => Ok(None),
        }
    }

    /// Writes a user who is not there, with a code that nobody has, and an empty dashboard: all of
    /// it or nothing.
    pub async fn create_user(&self, profile: Profile) -> Result<Created> {
        let dashboard = Dashboard {
            user_id: profile.user_id.clone(),
            points: 0,
            completed_goals: 0,
            network_size: 0,
            created_at: Default::default(),
            updated_at: Default::default(),
        };
        let transaction =
            self.db.transaction().create("profile", profile)?.create("dashboard", dashboard)?;
        match transaction.run().await? {
            Transacted::Done => Ok(Created::Done),
            // A user who is there counts before a code that is taken: it may be their own.
            Transacted::Lost(lost) if lost.is_lost("profile") || lost.is_lost("dashboard") => {
                Ok(Created::Exists(lost.current("profile")?))
            }
            Transacted::Lost(_) => Ok(Created::CodeTaken),
        }
    }

    /// Gives a user who was read another code. The old one is anybody's from then on.
    /// [`Outcome::Taken`]: the new one is another user's. [`Outcome::Lost`]: the user has another
    /// code than when they were read, or is gone.
    pub async fn change_code(&self, read: &Profile, code: &Id) -> Result<Outcome<Profile>> {
        let change = Change::of(read).set(Profile::USER_CODE, code);
        self.db.update(change).await
    }

    /// Deletes a user and gives up their code, in one transaction; then whatever else is in their
    /// partition, and their files. Says whether there was such a user.
    ///
    /// If it is interrupted, calling it again finishes it: nothing can be added to a user who is
    /// not there. Items of no known kind stay.
    pub async fn delete_user(&self, user: &Id) -> Result<bool> {
        let was_there = self.delete_profile(user).await?;
        let left = self.panel_now(user).await?;
        self.delete_each(left.goals).await?;
        self.delete_each(left.products).await?;
        self.delete_each(left.featured).await?;
        self.delete_each(left.network).await?;
        for link in left.assets {
            self.delete_asset(&link.asset_id).await?;
        }
        Ok(was_there)
    }

    async fn delete_profile(&self, user: &Id) -> Result<bool> {
        loop {
            let Some(profile) = self.profile(user).await? else { return Ok(false) };
            let transaction = self
                .db
                .transaction()
                .delete_read("profile", &profile, None)?
                .delete("dashboard", &DashboardKey { user_id: user.clone() }, None)?;
            match transaction.run().await? {
                Transacted::Done => return Ok(true),
                // Somebody else has deleted the user, or given them another code: look again.
                Transacted::Lost(lost) if lost.is_lost("profile") => {}
                Transacted::Lost(_) => {
                    return Err(tabla::Error::corrupt(format!(
                        "the user {user} has no dashboard, or a code that is not theirs"
                    )));
                }
            }
        }
    }

    async fn delete_each<E: Entity>(&self, entities: Vec<E>) -> Result<()> {
        for entity in entities {
            // That one is gone already is as good.
            let _ = self.db.delete(&entity.key()).await?;
        }
        Ok(())
    }
}
