//! What administrators set.

use tabla::entity::{Change, Transacted, UtcTime};
use tabla::{Error, Result, RetryMode};

use super::EsenciaFest;
use crate::entities::*;
use crate::patterns;

/// The most rooms of a schedule: with it, they fill one transaction.
const ROOMS: usize = 99;

/// A schedule that is in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduled {
    /// The schedule.
    pub schedule: ConfigSchedule,
    /// How many rooms were not there before.
    pub new_rooms: usize,
}

impl EsenciaFest {
    /// Who may register.
    pub async fn get_domains(&self) -> Result<Option<ConfigDomains>> {
        self.db.get(&ConfigDomainsKey {}).await
    }

    /// Says who may register.
    pub async fn set_domains(&self, domains: ConfigDomains) -> Result<()> {
        self.db.put(domains).await.map(drop)
    }

    /// When rooms open.
    pub async fn get_schedule(&self) -> Result<Option<ConfigSchedule>> {
        self.db.get(&ConfigScheduleKey {}).await
    }

    /// What must not be said.
    pub async fn get_profanity(&self) -> Result<Option<ConfigProfanity>> {
        self.db.get(&ConfigProfanityKey {}).await
    }

    /// Says what must not be said.
    pub async fn set_profanity(&self, profanity: ConfigProfanity) -> Result<()> {
        self.db.put(profanity).await.map(drop)
    }

    /// Says when rooms open: in the schedule and to every room of it, all at once. A room that is
    /// new is made; one that is not in it stays as it is.
    ///
    /// # Errors
    /// Those of the store; there are more than 99 rooms.
    pub async fn set_schedule(&self, schedule: ConfigSchedule) -> Result<Scheduled> {
        if schedule.sala_open_times.len() > ROOMS {
            return Err(Error::validation(format!("a schedule has at most {ROOMS} rooms")));
        }
        let mut tries =
            self.db.start_attempts(RetryMode::OnlyIfNotApplied, "to say when rooms open");
        loop {
            let present = self.db.all(patterns::rooms_status().consistent()).await?;
            let mut new_rooms = 0;
            let mut transaction = self.db.transaction().put("schedule", schedule.clone())?;
            for (room, open_at) in &schedule.sala_open_times {
                let name = format!("room {room}");
                if present.iter().any(|status| status.room_id == *room) {
                    let key = RoomStatusKey { room_id: room.clone() };
                    let change = Change::at(key).set(RoomStatus::OPEN_AT, *open_at);
                    transaction = transaction.update(name, change)?;
                } else {
                    transaction = transaction.create(name, new_room(room, *open_at))?;
                    new_rooms += 1;
                }
            }
            if let Some(Transacted::Done) = tries.check(transaction.run().await)? {
                return Ok(Scheduled { schedule, new_rooms });
            }
            // Somebody else has made one of the rooms.
            tries.next_attempt().await?;
        }
    }
}

fn new_room(room: &RoomId, open_at: UtcTime) -> RoomStatus {
    RoomStatus {
        room_id: room.clone(),
        open_at,
        manual_override: ManualOverride::Automatic,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    }
}
