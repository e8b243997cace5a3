//! Virtual festival: rooms that open on schedule, a moderated forum, and an activity log.
//!
//! Users, rooms, posts and their configuration share one table; events of visitors are in a table of
//! their month. The keys by which posts are sorted contain the counts of likes and comments. A like, a
//! comment or an action of a moderator writes count and keys in one transaction, so that counts are
//! exact and feeds are sorted by them.

mod app;
mod entities;
mod operations;
mod patterns;
mod range;

pub use app::EsenciaFestApp;
pub use entities::*;
pub use operations::{
    Commented, ContentUpdated, EsenciaFest, Liked, Moderated, NewContent, NewEvent, Newcomer,
    Registered, Scheduled,
};
pub use patterns::{
    Order, Sort, activity_by_country, moderation_logs, post_comments, post_thread, posts,
    room_content, rooms_status, user_logs, user_posts, users_by_country,
};
pub use range::{RangeCursor, RangePage, Span};
