//! A virtual festival: rooms that open on schedule, a moderated forum, and a log of what visitors
//! do.
//!
//! Users, rooms, posts and their configuration share one table; what visitors do goes to a table
//! of its month. Counts of likes and comments stand in the keys that posts are sorted by, so that a
//! like, a comment or a decision of a moderator rewrites those keys in the write that changes the
//! count: the counts are exact, and the order of a feed is that of the counts.

mod app;
mod entities;
mod operations;
mod patterns;
mod range;

pub use app::EsenciaFestApp;
pub use entities::*;
pub use operations::{
    Commented, ContentUpdated, EsenciaFest, Liked, ModeratedComment, ModeratedPost, NewContent,
    NewEvent, Newcomer, Registered, Scheduled,
};
pub use patterns::{
    Order, Sort, activity_by_country, moderation_logs, post_comments, post_thread, posts,
    room_content, rooms_status, user_logs, user_posts, users_by_country,
};
pub use range::{RangeCursor, RangePage, Span};
