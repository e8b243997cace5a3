//! Access patterns of the document, and those that its operations need.

use tabla::entity::{Day, Entity, EntityQuery, Id, KeyPart, Pattern, UtcTime};
use tabla_kit::{AtLine, Documented};

use crate::entities::*;
use crate::range::Span;

/// Order of posts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// By date.
    #[default]
    Date,
    /// By number of likes; ties by date.
    Likes,
    /// By number of active comments; ties by date.
    Comments,
}

/// Direction of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Oldest first, or least first.
    Ascending,
    /// Newest first, or most first.
    #[default]
    Descending,
}

impl Order {
    fn apply<E: Entity>(self, query: EntityQuery<E>) -> EntityQuery<E> {
        match self {
            Self::Ascending => query,
            Self::Descending => query.descending(),
        }
    }
}

/// Pattern 4: states of all rooms.
pub fn rooms_status() -> EntityQuery<RoomStatus> {
    RoomStatus::all().into_query()
}

/// Pattern 5: version that a room shows.
pub fn room_content(room: &RoomId) -> EntityQuery<RoomContent> {
    RoomContent::shown().room_id(room).limit(1)
}

/// Patterns 7, 12, 15 and 16: posts of a status, sorted.
pub fn posts(status: Status, sort: Sort, order: Order) -> EntityQuery<Post> {
    order.apply(match sort {
        Sort::Date => Post::by_status(status).into_query(),
        Sort::Likes => Post::by_likes(status).into_query(),
        Sort::Comments => Post::by_comments(status).into_query(),
    })
}

/// Pattern 8: active comments on a post, oldest first.
pub fn post_comments(post: &Id) -> EntityQuery<Comment> {
    Comment::of(post).filter(Comment::STATUS.eq(Status::Active))
}

/// Post with its comments and likes.
pub fn post_thread(post: &Id) -> EntityQuery<Post> {
    Post::of(post).whole_partition()
}

/// Pattern 11: posts of a user, newest first; with `status`, only those of that status.
pub fn user_posts(user: &Email, status: Option<Status>) -> EntityQuery<Post> {
    let query = Post::by_author(user).newest_first();
    match status {
        Some(status) => query.filter(Post::STATUS.eq(status)),
        None => query,
    }
}

/// Users of a country by day of registration, earliest first; with `days`, only those of these days.
pub fn users_by_country(country: &Id, days: Option<Span>) -> EntityQuery<User> {
    match days {
        Some(days) => User::by_country(country).created_at(days.from().day()..=days.to().day()),
        None => User::by_country(country).into_query(),
    }
}

/// Pattern 14, on one of its days: log of the moderators; with `action`, only entries of that action.
pub fn moderation_logs(day: Day, span: Span, action: Option<Action>) -> EntityQuery<ModerationLog> {
    let query = ModerationLog::of(day).timestamp(span.from()..=span.to());
    match action {
        Some(action) => query.filter(ModerationLog::ACTION.eq(action)),
        None => query,
    }
}

/// Pattern 18, in one of its months: events of a visitor, from all shards.
pub fn user_logs(user: &Email, span: Span, order: Order) -> EntityQuery<ActivityLog> {
    order.apply(ActivityLog::of(user).timestamp(span.from()..=span.to())).unexpired()
}

/// Pattern 19: events from a country on a day, from all shards.
pub fn activity_by_country(country: &Id, day: Day) -> EntityQuery<ActivityLog> {
    ActivityLog::by_country(country, day).unexpired()
}

fn post() -> Id {
    Id::example("postId")
}

fn user() -> Email {
    Email::example("email")
}

fn country() -> Id {
    Id::example("country")
}

fn day() -> Day {
    Day::example("date")
}

fn span() -> Span {
    Span::of(UtcTime::example("from").day())
}

/// All patterns: those of the document in its order, then those that it implies.
pub(crate) fn patterns() -> Vec<Documented> {
    [visitors(), feeds(), moderation(), logs(), implied()].concat()
}

fn visitors() -> Vec<Documented> {
    vec![
        Pattern::new("GetUser", "a user at login").number("1").get::<User>().at_line(16),
        Pattern::new("Register", "a new user of an admitted domain")
            .number("1b")
            .get::<ConfigDomains>()
            .write(|write| write.create::<User>())
            .at_line(16),
        Pattern::new("GetUserProgress", "the rooms that a user has completed")
            .number("2")
            .get::<User>()
            .at_line(17),
        Pattern::new("UpdateUserProgress", "a room is completed, once")
            .number("3")
            .write(|write| write.update::<User>())
            .at_line(18),
        Pattern::new("GetAllRoomsStatus", "the dashboard")
            .number("4")
            .find(|| rooms_status().describe())
            .at_line(19),
        Pattern::new("GetRoomContent", "what a room shows")
            .number("5")
            .find(|| room_content(&RoomId::example("roomId")).describe())
            .at_line(20),
        Pattern::new("UpdateRoomContent", "a new version instead of the one that is shown")
            .number("6")
            .get::<RoomStatus>()
            .transaction(|writes| {
                writes
                    .create::<RoomContent>()
                    .update::<RoomContent>()
                    .clearing(RoomContent::ACTIVE_SINCE)
            })
            .at_line(21),
    ]
}

fn feeds() -> Vec<Documented> {
    use Order::{Ascending, Descending};
    vec![
        Pattern::new("GetAllPosts", "pages of posts of a status, in each order")
            .number("7")
            .find(|| posts(Status::Active, Sort::Date, Descending).limit(20).describe())
            .find(|| posts(Status::Active, Sort::Likes, Descending).limit(20).describe())
            .find(|| posts(Status::Active, Sort::Comments, Descending).limit(20).describe())
            .at_line(22),
        Pattern::new("GetPostComments", "active comments on a post")
            .number("8")
            .find(|| post_comments(&post()).describe())
            .at_line(23),
        Pattern::new("CreatePost", "a post, evaluated by the filter")
            .number("9")
            .get::<ConfigProfanity>()
            .write(|write| write.create::<Post>())
            .at_line(24),
        Pattern::new("CreateComment", "a comment and its count")
            .number("10")
            .get::<ConfigProfanity>()
            .get::<Post>()
            .transaction(|writes| {
                writes.create::<Comment>().update::<Post>().changing(Post::COMMENTS_COUNT)
            })
            .at_line(25),
        Pattern::new("LikePost", "a like and its count, once for each user")
            .get::<Post>()
            .transaction(|writes| writes.create::<Like>().update::<Post>().changing(Post::LIKES))
            .at_line(79),
        Pattern::new("GetUserPosts", "posts of a user, newest first")
            .number("11")
            .find(|| user_posts(&user(), None).describe())
            .at_line(26),
        Pattern::new("GetPostsByStatus", "posts for moderators, in each order")
            .number("12")
            .find(|| posts(Status::Banned, Sort::Date, Ascending).describe())
            .find(|| posts(Status::Banned, Sort::Likes, Ascending).describe())
            .find(|| posts(Status::Banned, Sort::Comments, Ascending).describe())
            .at_line(27),
    ]
}

fn moderation() -> Vec<Documented> {
    use Order::Descending;
    vec![
        Pattern::new("UpdatePostStatus", "ban, delete or restore, and log it")
            .number("13")
            .get::<Post>()
            .transaction(|writes| {
                writes.create::<ModerationLog>().update::<Post>().changing(Post::STATUS)
            })
            .at_line(28),
        Pattern::new("UpdateCommentStatus", "the same for a comment, with its count")
            .get::<Comment>()
            .get::<Post>()
            .transaction(|writes| {
                writes
                    .create::<ModerationLog>()
                    .update::<Comment>()
                    .update::<Post>()
                    .changing(Post::COMMENTS_COUNT)
            })
            .at_line(116),
        Pattern::new("GetModerationLogs", "log of the moderators, day after day")
            .number("14")
            .find(|| moderation_logs(day(), span(), Some(Action::Ban)).limit(25).describe())
            .at_line(29),
        Pattern::new("GetPostsSortedByLikes", "the most popular")
            .number("15")
            .find(|| posts(Status::Active, Sort::Likes, Descending).describe())
            .at_line(30),
        Pattern::new("GetPostsSortedByComments", "the most discussed")
            .number("16")
            .find(|| posts(Status::Active, Sort::Comments, Descending).describe())
            .at_line(31),
    ]
}

fn logs() -> Vec<Documented> {
    vec![
        Pattern::new("LogActivity", "an event of a visitor")
            .number("17")
            .write(|write| write.create::<ActivityLog>())
            .at_line(34),
        Pattern::new("GetUserLogs", "events of a visitor, month after month")
            .number("18")
            .find(|| user_logs(&user(), span(), Order::Ascending).limit(25).describe())
            .at_line(35),
        Pattern::new("GetActivityByCountry", "events from a country on a day")
            .number("19")
            .find(|| activity_by_country(&country(), day()).describe())
            .at_line(36),
        Pattern::new("LogModerationAction", "a separate entry of the moderators' log")
            .number("20")
            .write(|write| write.create::<ModerationLog>())
            .at_line(37),
    ]
}

fn implied() -> Vec<Documented> {
    vec![
        Pattern::new("GetPostThread", "a post with comments and likes")
            .find(|| post_thread(&post()).describe())
            .at_line(75),
        Pattern::new("GetUsersByCountry", "users of a country by day")
            .find(|| users_by_country(&country(), Some(span())).describe())
            .at_line(132),
        Pattern::new("SetManualOverride", "open or close a room by hand")
            .write(|write| write.update::<RoomStatus>())
            .at_line(65),
        Pattern::new("GetDomains", "domains whose users can register")
            .get::<ConfigDomains>()
            .at_line(96),
        Pattern::new("SetDomains", "set these domains")
            .write(|write| write.put::<ConfigDomains>())
            .at_line(96),
        Pattern::new("GetSchedule", "opening times of rooms").get::<ConfigSchedule>().at_line(100),
        Pattern::new("SetSchedule", "set the opening times, also in the rooms")
            .find(|| rooms_status().describe())
            .transaction(|writes| writes.put::<ConfigSchedule>().update::<RoomStatus>().each())
            .at_line(100),
        Pattern::new("GetProfanity", "forbidden words").get::<ConfigProfanity>().at_line(104),
        Pattern::new("SetProfanity", "set the forbidden words")
            .write(|write| write.put::<ConfigProfanity>())
            .at_line(104),
    ]
}
