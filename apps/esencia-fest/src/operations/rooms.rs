//! Rooms.

use tabla::Result;
use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::Outcome;

use super::EsenciaFest;
use crate::entities::*;
use crate::patterns;

/// New content of a room.
#[derive(Clone, Debug, PartialEq)]
pub struct NewContent {
    /// Kind of content, such as `video`.
    pub kind: String,
    /// Title for visitors.
    pub title: String,
    /// Address of the film.
    pub vimeo_url: String,
}

/// Outcome of new content.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentUpdated {
    /// The new version is shown.
    Done(RoomContent),
    /// The room does not show the version that the administrator has seen, and nothing was written.
    /// The version after that one, or that one if it is no longer shown and has no successor.
    Outdated(Option<RoomContent>),
    /// The room does not exist.
    NoRoom,
}

impl EsenciaFest {
    /// Pattern 4, `GetAllRoomsStatus`: states of all rooms.
    pub async fn get_all_rooms_status(&self) -> Result<Vec<RoomStatus>> {
        self.db.all(patterns::rooms_status()).await
    }

    /// Pattern 5, `GetRoomContent`: version that a room shows.
    pub async fn get_room_content(&self, room: &RoomId) -> Result<Option<RoomContent>> {
        Ok(self.db.page(patterns::room_content(room)).await?.whole()?.items.pop())
    }

    /// Version of the content of a room.
    pub async fn get_content_version(
        &self,
        room: &RoomId,
        version: u32,
    ) -> Result<Option<RoomContent>> {
        self.db.get(&RoomContent::key(room, version)).await
    }

    /// Pattern 6, `UpdateRoomContent`: shows a new version in a room, if the room still shows the
    /// version that the administrator has seen (`None`: no version yet). A room shows at most one
    /// version at any time.
    pub async fn update_room_content(
        &self,
        room: &RoomId,
        seen: Option<u32>,
        content: NewContent,
    ) -> Result<ContentUpdated> {
        let mut attempts = self.db.optimistic("update the content of a room");
        let mut tx = attempts.begin().await?;
        let Some(status) = tx.get(&RoomStatus::key(room)).await? else {
            return Ok(ContentUpdated::NoRoom);
        };
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
        let created = tx.create(new.clone());
        let hidden = seen.map(|version| {
            let old = RoomContent::key(room, version).change();
            tx.update(old.clear(RoomContent::ACTIVE_SINCE).when(RoomContent::ACTIVE_SINCE.exists()))
        });
        Ok(match tx.commit().await? {
            Committed => ContentUpdated::Done(new),
            Canceled(c) => {
                let failed = hidden.filter(|_| !c.failed(&created)).unwrap_or(created);
                ContentUpdated::Outdated(c.current(&failed)?)
            }
        })
    }

    /// Opens or closes a room by hand, or returns it to its schedule. The outcome has no entity if
    /// the room does not exist.
    pub async fn set_manual_override(
        &self,
        room: &RoomId,
        manual_override: ManualOverride,
    ) -> Result<Outcome<RoomStatus>> {
        let change = RoomStatus::key(room).change();
        self.db.update(change.set(RoomStatus::MANUAL_OVERRIDE, manual_override)).await
    }
}
