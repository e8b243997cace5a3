//! Configuration by administrators.

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::UtcTime;
use tabla::{Error, Result};

use super::EsenciaFest;
use crate::entities::*;
use crate::patterns;

/// Largest number of rooms of a schedule: with it, they fill one transaction.
const ROOMS: usize = 99;

/// Schedule in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduled {
    /// Schedule as it was set.
    pub schedule: ConfigSchedule,
    /// Number of rooms that it created.
    pub new_rooms: usize,
}

impl EsenciaFest {
    /// Domains whose users can register.
    pub async fn get_domains(&self) -> Result<Option<ConfigDomains>> {
        self.db.get(&ConfigDomains::key()).await
    }

    /// Sets the domains whose users can register.
    pub async fn set_domains(&self, domains: ConfigDomains) -> Result<()> {
        self.db.put(domains).await.map(drop)
    }

    /// Opening times of rooms.
    pub async fn get_schedule(&self) -> Result<Option<ConfigSchedule>> {
        self.db.get(&ConfigSchedule::key()).await
    }

    /// Forbidden words.
    pub async fn get_profanity(&self) -> Result<Option<ConfigProfanity>> {
        self.db.get(&ConfigProfanity::key()).await
    }

    /// Sets the forbidden words.
    pub async fn set_profanity(&self, profanity: ConfigProfanity) -> Result<()> {
        self.db.put(profanity).await.map(drop)
    }

    /// Sets the opening times of rooms, in the schedule and in each of its rooms, in one transaction.
    /// Rooms that do not exist are created; rooms outside of the schedule stay as they are.
    ///
    /// # Errors
    /// Those of the store; the schedule has more than 99 rooms.
    pub async fn set_schedule(&self, schedule: ConfigSchedule) -> Result<Scheduled> {
        let opens = &schedule.sala_open_times;
        if opens.len() > ROOMS {
            return Err(Error::validation(format!(
                "a schedule has at most {ROOMS} rooms, and this one {}: set the others in another \
                 one",
                opens.len()
            )));
        }
        let mut attempts = self.db.optimistic("set the opening times of rooms");
        loop {
            let mut tx = attempts.begin().await?;
            let present = self.db.all(patterns::rooms_status()).await?;
            let mut new_rooms = 0;
            tx.put(schedule.clone());
            for (room, &open_at) in opens {
                if present.iter().any(|status| status.room_id == *room) {
                    tx.update(RoomStatus::key(room).change().set(RoomStatus::OPEN_AT, open_at));
                } else {
                    tx.create(RoomStatus::new(room.clone(), open_at));
                    new_rooms += 1;
                }
            }
            match tx.commit().await? {
                Committed => return Ok(Scheduled { schedule, new_rooms }),
                // A concurrent administrator created one of the rooms.
                Canceled(_) => {}
            }
        }
    }
}

impl RoomStatus {
    fn new(room_id: RoomId, open_at: UtcTime) -> Self {
        let (manual_override, created_at, updated_at) = Default::default();
        Self { room_id, open_at, manual_override, created_at, updated_at }
    }
}
