//! The networks of users.

use tabla::entity::{Change, Id, Outcome, Page, Transacted};
use tabla::{Cursor, Error, Result};

use super::{Added, Gamificacion, not_added, profile_key, stays};
use crate::entities::*;
use crate::patterns;

impl Gamificacion {
    /// Pattern 1f: a page of the network of a user.
    pub async fn network(&self, user: &Id, after: Option<Cursor>) -> Result<Page<NetworkMember>> {
        self.db.page(patterns::network(user).after(after)).await
    }

    /// Patterns 3a and 3b: a page of the members of a level, overall or of a user.
    pub async fn members_by_level(
        &self,
        user: Option<&Id>,
        level: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<NetworkMember>> {
        let find = match user {
            Some(user) => patterns::members_of_user_by_level(user, level),
            None => patterns::members_by_level(level),
        };
        self.db.page(find.after(after)).await
    }

    /// Patterns 3c and 3d: a page of the members with a status, overall or of a user.
    pub async fn members_by_status(
        &self,
        user: Option<&Id>,
        status: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<NetworkMember>> {
        let find = match user {
            Some(user) => patterns::members_of_user_by_status(user, status),
            None => patterns::members_by_status(status),
        };
        self.db.page(find.after(after)).await
    }

    /// Patterns 3e and 3f: a page of the members of a level and with a status, overall or of a
    /// user. The level is filtered out of a page of those with the status: a page may have few, or
    /// none, and still not be the last.
    pub async fn members_by_level_and_status(
        &self,
        user: Option<&Id>,
        level: &Id,
        status: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<NetworkMember>> {
        let find = match user {
            Some(user) => patterns::members_of_user_by_level_and_status(user, level, status),
            None => patterns::members_by_level_and_status(level, status),
        };
        self.db.page(find.after(after)).await
    }

    /// Adds a member to the network of a user, whose dashboard counts it.
    pub async fn add_member(&self, member: NetworkMember) -> Result<Added<NetworkMember>> {
        let (user, dashboard) = (profile_key(&member.user_id), counted(&member.user_id, 1));
        let transaction = self
            .db
            .transaction()
            .create("entity", member)?
            .update("dashboard", dashboard)?
            .check("user", &user, Some(stays()))?;
        match transaction.run().await? {
            Transacted::Done => Ok(Added::Done),
            Transacted::Lost(lost) => not_added(&lost),
        }
    }

    /// Takes a member out of the network of a user, whose dashboard counts it. Says whether there
    /// was such a member of such a user.
    pub async fn remove_member(&self, user: &Id, member: &Id) -> Result<bool> {
        let transaction = self
            .db
            .transaction()
            .delete("member", &member_key(user, member), None)?
            .update("user", counted(user, -1))?;
        match transaction.run().await? {
            Transacted::Done => Ok(true),
            Transacted::Lost(lost) => match lost.current::<Dashboard>("user")? {
                Some(_) if !lost.is_lost("member") => Err(Error::corrupt(format!(
                    "the dashboard of {user} counts fewer members than the network has"
                ))),
                _ => Ok(false),
            },
        }
    }

    /// Takes a member from a level to another, if the member is still at the first.
    pub async fn change_level(
        &self,
        user: &Id,
        member: &Id,
        from: &Id,
        to: &Id,
    ) -> Result<Outcome<NetworkMember>> {
        let change = Change::at(member_key(user, member))
            .set(NetworkMember::LEVEL, to)
            .when(NetworkMember::LEVEL.eq(from));
        self.db.update(change).await
    }

    /// Takes a member from a status to another, if the member still has the first.
    pub async fn change_status(
        &self,
        user: &Id,
        member: &Id,
        from: &Id,
        to: &Id,
    ) -> Result<Outcome<NetworkMember>> {
        let change = Change::at(member_key(user, member))
            .set(NetworkMember::STATUS, to)
            .when(NetworkMember::STATUS.eq(from));
        self.db.update(change).await
    }
}

fn member_key(user: &Id, member: &Id) -> NetworkMemberKey {
    NetworkMemberKey { user_id: user.clone(), member_id: member.clone() }
}

/// So many members more, or fewer.
fn counted(user: &Id, members: i32) -> Change<Dashboard> {
    Change::at(DashboardKey { user_id: user.clone() }).add(Dashboard::NETWORK_SIZE, members)
}
