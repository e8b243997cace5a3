//! The access patterns of the document, and those that its operations need.

use tabla::entity::{Day, Entity, Find, Id, KeyPart, Pattern, UtcTime};
use tabla_kit::{AtLine, Documented};

use crate::entities::*;
use crate::range::Span;

/// What posts are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// By when they were written.
    #[default]
    Date,
    /// By likes; ties by date.
    Likes,
    /// By active comments; ties by date.
    Comments,
}

/// In which direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The oldest, or the least, first.
    Ascending,
    /// The newest, or the most, first.
    #[default]
    Descending,
}

impl Order {
    pub(crate) fn apply<E: Entity>(self, find: Find<E>) -> Find<E> {
        match self {
            Self::Ascending => find,
            Self::Descending => find.descending(),
        }
    }
}

/// Pattern 4: the states of all rooms.
pub fn rooms_status() -> Find<RoomStatus> {
    RoomStatus::find()
}

/// Pattern 5: what a room shows.
pub fn room_content(room: &RoomId) -> Find<RoomContent> {
    RoomContent::find_by("GSI1").with(RoomContent::ROOM_ID, room).limit(1)
}

/// Patterns 7, 12, 15 and 16: posts of a status, sorted.
pub fn posts(status: Status, sort: Sort, order: Order) -> Find<Post> {
    let index = match sort {
        Sort::Date => "GSI2",
        Sort::Likes => "GSI3",
        Sort::Comments => "GSI4",
    };
    order.apply(Post::find_by(index).with(Post::STATUS, status))
}

/// Pattern 8: the active comments on a post, oldest first.
pub fn post_comments(post: &Id) -> Find<Comment> {
    Comment::find().with(Comment::POST_ID, post).filter(Comment::STATUS.eq(Status::Active))
}

/// A post with its comments and likes.
pub fn post_thread(post: &Id) -> Find<Post> {
    Post::find().with(Post::POST_ID, post).whole_partition()
}

/// Pattern 11: the posts of a user, newest first; of one status, if one is given.
pub fn user_posts(user: &Email, status: Option<Status>) -> Find<Post> {
    let find = Post::find_by("GSI1").with(Post::USER_ID, user).descending();
    match status {
        Some(status) => find.filter(Post::STATUS.eq(status)),
        None => find,
    }
}

/// The users of a country, those who came first first; those who came in these days, if days are
/// given.
pub fn users_by_country(country: &Id, days: Option<Span>) -> Find<User> {
    let find = User::find_by("GSI1").with(User::COUNTRY, country);
    match days {
        Some(days) => find.between(User::CREATED_AT, days.from(), days.to()),
        None => find,
    }
}

/// Pattern 14, on one of its days: what moderators did, all of it or one kind of action.
pub fn moderation_logs(day: Day, span: Span, action: Option<Action>) -> Find<ModerationLog> {
    let find = ModerationLog::find().with(ModerationLog::DATE, day).between(
        ModerationLog::TIMESTAMP,
        span.from(),
        span.to(),
    );
    match action {
        Some(action) => find.filter(ModerationLog::ACTION.eq(action)),
        None => find,
    }
}

/// Pattern 18, in one of its months: what a visitor did, over all shards.
pub fn user_logs(user: &Email, span: Span, order: Order) -> Find<ActivityLog> {
    let find = ActivityLog::find().with(ActivityLog::USER_ID, user).between(
        ActivityLog::TIMESTAMP,
        span.from(),
        span.to(),
    );
    order.apply(find).unexpired()
}

/// Pattern 19: what visitors from a country did on a day, over all shards.
pub fn activity_by_country(country: &Id, day: Day) -> Find<ActivityLog> {
    ActivityLog::find_by("GSI1")
        .with(ActivityLog::COUNTRY, country)
        // The partition has the day of it; the whole of the partition is that day.
        .with(ActivityLog::TIMESTAMP, day.start())
        .whole_partition()
        .unexpired()
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

/// All of them: those of the document in its order, then those that it implies.
pub(crate) fn patterns() -> Vec<Documented> {
    [visitors(), feeds(), moderation(), logs(), implied()].concat()
}

fn visitors() -> Vec<Documented> {
    vec![
        Pattern::new("GetUser", "a user, who logs in").number("1").get::<User>().at_line(16),
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
        Pattern::new("UpdateRoomContent", "the next version takes the place of the last")
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
        Pattern::new("CreatePost", "a post, judged by the filter")
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
        Pattern::new("GetModerationLogs", "what moderators did, day after day")
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
        Pattern::new("LogModerationAction", "an entry of its own in the moderators' log")
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
        Pattern::new("GetDomains", "who may register").get::<ConfigDomains>().at_line(96),
        Pattern::new("SetDomains", "say who may")
            .write(|write| write.put::<ConfigDomains>())
            .at_line(96),
        Pattern::new("GetSchedule", "when rooms open").get::<ConfigSchedule>().at_line(100),
        Pattern::new("SetSchedule", "say when, to the rooms too")
            .find(|| rooms_status().consistent().describe())
            .transaction(|writes| writes.put::<ConfigSchedule>().update::<RoomStatus>().each())
            .at_line(100),
        Pattern::new("GetProfanity", "what must not be said").get::<ConfigProfanity>().at_line(104),
        Pattern::new("SetProfanity", "say what must not")
            .write(|write| write.put::<ConfigProfanity>())
            .at_line(104),
    ]
}
