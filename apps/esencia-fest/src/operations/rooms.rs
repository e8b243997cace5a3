//! Rooms.

use tabla::entity::{Change, Outcome, Transacted};
use tabla::{Result, RetryMode};

use super::EsenciaFest;
use crate::entities::*;
use crate::patterns;

/// What is to be in a room.
#[derive(Clone, Debug, PartialEq)]
pub struct NewContent {
    /// What kind of content it is.
    pub kind: String,
    /// What it is called.
    pub title: String,
    /// Where the film is.
    pub vimeo_url: String,
}

/// What became of new content.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentUpdated {
    /// It is shown.
    Done(RoomContent),
    /// The room does not show the version that it was believed to show, and nothing has changed.
    /// What stands in the way: the version that came after that one, or that one itself, which is
    /// shown no longer.
    Lost(Option<RoomContent>),
    /// There is no such room.
    NoRoom,
}

impl EsenciaFest {
    /// Pattern 4, `GetAllRoomsStatus`: the states of all rooms.
    pub async fn get_all_rooms_status(&self) -> Result<Vec<RoomStatus>> {
        self.db.all(patterns::rooms_status()).await
    }

    /// Pattern 5, `GetRoomContent`: what a room shows.
    pub async fn get_room_content(&self, room: &RoomId) -> Result<Option<RoomContent>> {
        Ok(self.db.page(patterns::room_content(room)).await?.whole()?.items.pop())
    }

    /// A version of what was in a room.
    pub async fn get_content_version(
        &self,
        room: &RoomId,
        version: u32,
    ) -> Result<Option<RoomContent>> {
        self.db.get(&RoomContentKey { room_id: room.clone(), version }).await
    }

    /// Pattern 6, `UpdateRoomContent`: shows something else in a room, if it still shows the
    /// version that the administrator has seen (nothing, if there is none yet). At most one version
    /// is shown at any time.
    pub async fn update_room_content(
        &self,
        room: &RoomId,
        seen: Option<u32>,
        content: NewContent,
    ) -> Result<ContentUpdated> {
        let key = RoomStatusKey { room_id: room.clone() };
        let Some(status) = self.db.get(&key).await? else { return Ok(ContentUpdated::NoRoom) };
        let NewContent { kind, title, vimeo_url } = content;
        let new = RoomContent {
            room_id: room.clone(),
            version: seen.unwrap_or(0) + 1,
            kind,
            title,
            vimeo_url,
            open_at: status.open_at,
            active_since: Some(self.now()),
        };
        let mut tries =
            self.db.start_attempts(RetryMode::OnlyIfNotApplied, "to show something else");
        loop {
            let mut transaction = self.db.transaction().create("new", new.clone())?;
            if let Some(version) = seen {
                let old = Change::at(RoomContentKey { room_id: room.clone(), version })
                    .clear(RoomContent::ACTIVE_SINCE)
                    .when(RoomContent::ACTIVE_SINCE.exists());
                transaction = transaction.update("old", old)?;
            }
            match tries.check(transaction.run().await)? {
                Some(Transacted::Done) => return Ok(ContentUpdated::Done(new)),
                Some(Transacted::Lost(lost)) => {
                    let way = if lost.is_lost("new") { "new" } else { "old" };
                    return Ok(ContentUpdated::Lost(lost.current(way)?));
                }
                None => tries.next_attempt().await?,
            }
        }
    }

    /// Opens or closes a room by hand, or lets it open by itself again. Lost if there is no such
    /// room.
    pub async fn set_manual_override(
        &self,
        room: &RoomId,
        manual_override: ManualOverride,
    ) -> Result<Outcome<RoomStatus>> {
        let change = Change::at(RoomStatusKey { room_id: room.clone() })
            .set(RoomStatus::MANUAL_OVERRIDE, manual_override);
        self.db.update(change).await
    }
}
