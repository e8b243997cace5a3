//! Tables and their entities.

#![allow(missing_docs)]

mod activity;
mod config;
mod moderation;
mod post;
mod room;
mod text;
mod user;

use std::sync::LazyLock;

use tabla::entity::TableDesign;
use tabla::ops::StreamViewType;

pub use activity::*;
pub use config::*;
pub use moderation::*;
pub use post::*;
pub use room::*;
pub use text::{Email, RoomId};
pub use user::*;

/// Main table: everything but the activity log.
pub static MAIN: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("EsenciaFest-Main-2025")
        .key("PK", "SK")
        .index("GSI1", "GSI1PK", "GSI1SK")
        .index("GSI2", "GSI2PK", "GSI2SK")
        .index("GSI3", "GSI3PK", "GSI3SK")
        .index("GSI4", "GSI4PK", "GSI4SK")
        .recovery()
});

/// Tables of the activity log, one for each month, with the month after the name. The stream carries
/// new images only, because events never change.
pub static ACTIVITY_LOGS: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("EsenciaFest-ActivityLogs")
        .key("PK", "SK")
        .index("GSI1", "GSI1PK", "GSI1SK")
        .ttl("ttl")
        .stream(StreamViewType::NewImage)
        .recovery()
        .by_period()
});
