//! Users and their codes.

use tabla::entity::{Change, Entity, Id, Outcome, Transacted};
use tabla::{Result, RetryMode};

use super::{Gamificacion, leaves, profile_key};
use crate::entities::*;
use crate::patterns;

/// What became of creating a user.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Created {
    /// The user is there, with an empty dashboard.
    Done,
    /// There is such a user already, who may be leaving, and nothing has changed: here they are.
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
        Ok(self.db.page(patterns::user_by_code(code)).await?.whole()?.items.pop())
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
        let profile = Profile { leaving: None, ..profile };
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

    /// Deletes a user with everything that they have: first a mark says that they are leaving, and
    /// nothing can be added any more; then goes what hangs on them, with their files; and at last
    /// profile, code and dashboard, in one transaction. Says whether it was this call that deleted
    /// the user.
    ///
    /// If it is interrupted, the user is there and leaving, and calling it again finishes it. Until
    /// then nobody can be created in their place, so that nobody meets what is left. Items of no
    /// known kind stay, and an upload that is pending expires.
    pub async fn delete_user(&self, user: &Id) -> Result<bool> {
        let mark = Change::at(profile_key(user)).set(Profile::LEAVING, self.now());
        if !self.db.update(mark).await?.is_done() {
            return Ok(false);
        }
        let mut left = self.panel_now(user).await?;
        // Nothing may be left behind without its owner.
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

    /// Deletes a user who is leaving and has nothing any more.
    async fn delete_profile(&self, user: &Id) -> Result<bool> {
        let mut tries = self.db.start_attempts(RetryMode::OnlyIfNotApplied, "to delete a user");
        loop {
            let profile = self.profile(user).await?.filter(|profile| profile.leaving.is_some());
            // Somebody else has deleted the user; one who is there again stays.
            let Some(profile) = profile else { return Ok(false) };
            let transaction = self
                .db
                .transaction()
                .delete_read("profile", &profile, Some(Profile::LEAVING.exists().build()?))?
                .delete("dashboard", &DashboardKey { user_id: user.clone() }, None)?;
            match tries.check(transaction.run().await)? {
                Some(Transacted::Done) => return Ok(true),
                // Somebody else has deleted the user, or given them another code: look again.
                Some(Transacted::Lost(lost)) if lost.is_lost("profile") => {}
                Some(Transacted::Lost(_)) => {
                    return Err(tabla::Error::corrupt(format!(
                        "the user {user} has no dashboard, or a code that is not theirs"
                    )));
                }
                None => {}
            }
            tries.next_attempt().await?;
        }
    }

    /// Deletes what a user who is leaving has.
    async fn delete_each<E: Entity>(&self, user: &Id, entities: Vec<E>) -> Result<()> {
        let owner = profile_key(user);
        for entity in entities {
            let mut tries =
                self.db.start_attempts(RetryMode::Idempotent, "to delete what a user has");
            loop {
                let transaction = self
                    .db
                    .transaction()
                    .delete("entity", &entity.key(), None)?
                    .check("user", &owner, Some(leaves()))?;
                // That it is gone already is as good. So is that the user is: whoever has deleted
                // them has deleted this before, and if it is there, then somebody new has it.
                if tries.check(transaction.run().await)?.is_some() {
                    break;
                }
                tries.next_attempt().await?;
            }
        }
        Ok(())
    }
}
