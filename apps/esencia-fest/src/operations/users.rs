//! Users.

use tabla::entity::{Change, Id, Outcome, Page};
use tabla::{Cursor, Result};

use super::EsenciaFest;
use crate::entities::*;
use crate::patterns;
use crate::range::Span;

/// Somebody who registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Newcomer {
    /// Who.
    pub email: Email,
    /// What they are called.
    pub name: String,
    /// Where they are from.
    pub country: Id,
    /// What they may do.
    pub role: Id,
}

/// What became of registering.
#[derive(Clone, Debug, PartialEq)]
pub enum Registered {
    /// There is a new user.
    Done(User),
    /// There was one already, and is as before.
    Already(User),
    /// Nobody of this domain may register.
    NotAdmitted,
}

impl EsenciaFest {
    /// Pattern 1, `GetUser`: a user, who logs in.
    pub async fn get_user(&self, email: &Email) -> Result<Option<User>> {
        self.db.get(&UserKey { email: email.clone() }).await
    }

    /// Pattern 1, registering: a new user, if the list of domains admits them.
    pub async fn register(&self, newcomer: Newcomer) -> Result<Registered> {
        let domains = self.get_domains().await?.unwrap_or_default();
        let domain = newcomer.email.domain();
        if !domains.whitelist.iter().any(|admitted| admitted.to_lowercase() == domain) {
            return Ok(Registered::NotAdmitted);
        }
        let Newcomer { email, name, country, role } = newcomer;
        let created_at = self.now();
        let user = User { email, name, country, role, created_at, progress: Vec::new() };
        Ok(match self.db.create(user.clone()).await? {
            Outcome::Done(user) => Registered::Done(user),
            Outcome::Lost(present) => Registered::Already(present.unwrap_or(user)),
            Outcome::Taken { .. } => Registered::Already(user),
        })
    }

    /// Pattern 2, `GetUserProgress`: the rooms that a user has completed; `None` if there is no
    /// such user.
    pub async fn get_user_progress(&self, email: &Email) -> Result<Option<Vec<RoomId>>> {
        Ok(self.get_user(email).await?.map(|user| user.progress))
    }

    /// Pattern 3, `UpdateUserProgress`: a user has completed a room. Lost with the user if they
    /// had, and without if there is no such user.
    pub async fn update_user_progress(
        &self,
        email: &Email,
        room: &RoomId,
    ) -> Result<Outcome<User>> {
        let change = Change::at(UserKey { email: email.clone() })
            .append(User::PROGRESS, [room.clone()])
            .when(!User::PROGRESS.contains(room));
        self.db.update(change).await
    }

    /// A page of the users of a country, by the day on which they came.
    pub async fn get_users_by_country(
        &self,
        country: &Id,
        days: Option<Span>,
        after: Option<Cursor>,
    ) -> Result<Page<User>> {
        self.db.page(patterns::users_by_country(country, days).after(after)).await
    }
}
