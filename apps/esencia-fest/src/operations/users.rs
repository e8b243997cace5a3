//! Users.

use tabla::entity::{Id, Outcome, Page};
use tabla::{Cursor, Result};

use super::EsenciaFest;
use crate::entities::*;
use crate::patterns;
use crate::range::Span;

/// Registration of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Newcomer {
    /// Address, which identifies the user.
    pub email: Email,
    /// Name for other visitors.
    pub name: String,
    /// Country of origin.
    pub country: Id,
    /// Role, such as `visitor` or `admin`.
    pub role: Id,
}

/// Outcome of a registration.
#[derive(Clone, Debug, PartialEq)]
pub enum Registered {
    /// The user is new.
    Done(User),
    /// The address is registered; the present user, unchanged.
    Already(User),
    /// The domain of the address is not admitted.
    NotAdmitted,
}

impl EsenciaFest {
    /// Pattern 1, `GetUser`: user at login.
    pub async fn get_user(&self, email: &Email) -> Result<Option<User>> {
        self.db.get(&User::key(email)).await
    }

    /// Pattern 1, registration: creates a user of an admitted domain.
    pub async fn register(&self, newcomer: Newcomer) -> Result<Registered> {
        let domains = self.get_domains().await?.unwrap_or_default().whitelist;
        let domain = newcomer.email.domain();
        if !domains.iter().any(|admitted| admitted.to_lowercase() == domain) {
            return Ok(Registered::NotAdmitted);
        }
        let Newcomer { email, name, country, role } = newcomer;
        let created_at = self.now();
        let user = User { email, name, country, role, created_at, progress: Vec::new() };
        Ok(match self.db.create(user.clone()).await? {
            Outcome::Done(user) => Registered::Done(user),
            Outcome::Lost(Some(present)) => Registered::Already(present),
            Outcome::Lost(None) | Outcome::Taken { .. } => Registered::Already(user),
        })
    }

    /// Pattern 2, `GetUserProgress`: rooms that a user has completed; `None` without such a user.
    pub async fn get_user_progress(&self, email: &Email) -> Result<Option<Vec<RoomId>>> {
        Ok(self.get_user(email).await?.map(|user| user.progress))
    }

    /// Pattern 3, `UpdateUserProgress`: records that a user has completed a room. If the room was
    /// completed before, the outcome has the user; if the user does not exist, nothing.
    pub async fn update_user_progress(
        &self,
        email: &Email,
        room: &RoomId,
    ) -> Result<Outcome<User>> {
        let change = User::key(email).change().append(User::PROGRESS, [room.clone()]);
        self.db.update(change.when(!User::PROGRESS.contains(room))).await
    }

    /// Page of the users of a country, by day of registration.
    pub async fn get_users_by_country(
        &self,
        country: &Id,
        days: Option<Span>,
        after: Option<Cursor>,
    ) -> Result<Page<User>> {
        self.db.page(patterns::users_by_country(country, days).after(after)).await
    }
}
