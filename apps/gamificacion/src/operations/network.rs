//! Networks of users.

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{Id, Outcome, Page};
use tabla::{Cursor, Error, Result};

use super::{Added, Gamificacion, stays};
use crate::entities::*;
use crate::patterns;

impl Gamificacion {
    /// Pattern 1f: page of the network of a user.
    pub async fn network(&self, user: &Id, after: Option<Cursor>) -> Result<Page<NetworkMember>> {
        self.db.page(patterns::network(user).after(after)).await
    }

    /// Patterns 3a and 3b: page of the members of a level, of one user or of all.
    pub async fn members_by_level(
        &self,
        user: Option<&Id>,
        level: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<NetworkMember>> {
        let query = match user {
            Some(user) => patterns::members_of_user_by_level(user, level),
            None => patterns::members_by_level(level),
        };
        self.db.page(query.after(after)).await
    }

    /// Patterns 3c and 3d: page of the members with a status, of one user or of all.
    pub async fn members_by_status(
        &self,
        user: Option<&Id>,
        status: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<NetworkMember>> {
        let query = match user {
            Some(user) => patterns::members_of_user_by_status(user, status),
            None => patterns::members_by_status(status),
        };
        self.db.page(query.after(after)).await
    }

    /// Patterns 3e and 3f: page of the members of a level with a status, of one user or of all. The
    /// level is a filter, so that a page with few members, or none, need not be the last.
    pub async fn members_by_level_and_status(
        &self,
        user: Option<&Id>,
        level: &Id,
        status: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<NetworkMember>> {
        let query = match user {
            Some(user) => patterns::members_of_user_by_level_and_status(user, level, status),
            None => patterns::members_by_level_and_status(level, status),
        };
        self.db.page(query.after(after)).await
    }

    /// Adds a member to the network of a user, and counts it on the dashboard.
    pub async fn add_member(&self, member: NetworkMember) -> Result<Added<NetworkMember>> {
        let user = member.user_id.clone();
        let mut tx = self.db.transaction();
        let member = tx.create(member);
        tx.update(Dashboard::key(&user).change().increment(Dashboard::NETWORK_SIZE, 1));
        let user = tx.check(&Profile::key(&user), stays());
        Added::of(tx.commit().await?, &member, &user)
    }

    /// Removes a member from the network of a user, and subtracts it on the dashboard. `false`: no
    /// such member or user.
    pub async fn remove_member(&self, user: &Id, member: &Id) -> Result<bool> {
        let mut tx = self.db.transaction();
        tx.delete(&NetworkMember::key(user, member));
        let dashboard =
            tx.update(Dashboard::key(user).change().increment(Dashboard::NETWORK_SIZE, -1));
        match tx.commit().await? {
            Committed => Ok(true),
            Canceled(c) if c.only(&dashboard) && c.current(&dashboard)?.is_some() => {
                Err(Error::corrupt(format!(
                    "cannot remove member {member}: the dashboard of {user} counts fewer members \
                     than the network has"
                )))
            }
            Canceled(_) => Ok(false),
        }
    }

    /// Moves a member to another level, if the level is still `from`.
    pub async fn change_level(
        &self,
        user: &Id,
        member: &Id,
        from: &Id,
        to: &Id,
    ) -> Result<Outcome<NetworkMember>> {
        let change = NetworkMember::key(user, member).change().set(NetworkMember::LEVEL, to);
        self.db.update(change.when(NetworkMember::LEVEL.eq(from))).await
    }

    /// Changes the status of a member, if the status is still `from`.
    pub async fn change_status(
        &self,
        user: &Id,
        member: &Id,
        from: &Id,
        to: &Id,
    ) -> Result<Outcome<NetworkMember>> {
        let change = NetworkMember::key(user, member).change().set(NetworkMember::STATUS, to);
        self.db.update(change.when(NetworkMember::STATUS.eq(from))).await
    }
}
