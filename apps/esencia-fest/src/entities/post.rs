//! The forum: posts, with their comments and likes in the same partition.

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, Id, KeyPart, SEPARATOR, UtcTime};
use tabla::{Error, Number, Result};

use super::{Email, MAIN};

/// Whether a post or a comment is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, KeyPart)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is.
    Active,
    /// A moderator, or the filter, has taken it away.
    Banned,
    /// It was deleted.
    Deleted,
}

/// The end of the partitions that posts are sorted in: active ones have the bare name, the others
/// their status after it, so that every order works with every status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shelf(Status);

impl From<Status> for Shelf {
    fn from(status: Status) -> Self {
        Self(status)
    }
}

impl KeyPart for Shelf {
    // It brings its own separator.
    const SAFE: bool = false;
    const ORDERED: bool = true;
    const VALUES: Option<u32> = Status::VALUES;

    fn write_key(&self, out: &mut String) -> Result<()> {
        if self.0 == Status::Active {
            return Ok(());
        }
        out.push(SEPARATOR);
        self.0.write_key(out)
    }

    fn read_key(text: &str) -> Result<Self> {
        match text.strip_prefix(SEPARATOR).map(Status::read_key) {
            None if text.is_empty() => Ok(Self(Status::Active)),
            Some(Ok(status)) if status != Status::Active => Ok(Self(status)),
            _ => Err(Error::validation(format!("{text:?} is not the end of a partition of posts"))),
        }
    }

    fn example(_: &str) -> Self {
        Self(Status::Active)
    }
}

/// A post: in `GSI1` by its author, in `GSI2` by status and date, in `GSI3` by likes and in `GSI4`
/// by comments. The last three have one shard, which the documented volume fits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = MAIN,
    pk = "POST#{post_id}",
    sk = "POST#{post_id}",
    index(GSI1, pk = "USER#{user_id}#POSTS", sk = "{created_at}"),
    index(GSI2, pk = "POSTS#{status}{post_id:shard 1}", sk = "{created_at}"),
    index(
        GSI3,
        pk = "POSTS#SORTED{post_id:shard 1}{status:as Shelf}",
        sk = "{likes:010}#{created_at}"
    ),
    index(
        GSI4,
        pk = "POSTS#COMMENTS{post_id:shard 1}{status:as Shelf}",
        sk = "{comments_count:010}#{created_at}"
    )
)]
pub struct Post {
    /// Which.
    #[entity(key_only)]
    pub post_id: Id,
    /// Whose.
    #[entity(immutable)]
    pub user_id: Email,
    /// What it says.
    pub content: String,
    /// What is shown with it: names in the assets bucket.
    pub images: Vec<String>,
    /// When it was written.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// How many users like it: as many as it has [`Like`]s.
    pub likes: u32,
    /// How many comments it has that are active.
    pub comments_count: u32,
    /// Whether it is shown.
    pub status: Status,
    /// When it was banned, while it is.
    pub banned_at: Option<UtcTime>,
    /// By whom.
    pub banned_by: Option<Id>,
    /// Why.
    pub ban_reason: Option<String>,
    /// What the filter thinks of it, from 0 to 1.
    pub profanity_score: Number,
}

/// A comment on a post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "POST#{post_id}", sk = "COMMENT#{comment_id}")]
pub struct Comment {
    /// On what.
    #[entity(key_only)]
    pub post_id: Id,
    /// Which: those that the app makes sort by time.
    #[entity(key_only)]
    pub comment_id: Id,
    /// Whose.
    #[entity(immutable)]
    pub user_id: Email,
    /// What it says.
    pub content: String,
    /// When it was written.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// Whether it is shown.
    pub status: Status,
    /// When it was banned, while it is.
    pub banned_at: Option<UtcTime>,
    /// By whom.
    pub banned_by: Option<Id>,
    /// Why.
    pub ban_reason: Option<String>,
    /// What the filter thinks of it, from 0 to 1.
    pub profanity_score: Number,
}

/// That a user likes a post: once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "POST#{post_id}", sk = "LIKE#{user_id}")]
pub struct Like {
    /// What.
    #[entity(key_only)]
    pub post_id: Id,
    /// Who.
    #[entity(key_only)]
    pub user_id: Email,
    /// Since when.
    #[entity(immutable)]
    pub created_at: UtcTime,
}

tabla::collection! {
    /// A post with everything that belongs to it.
    pub struct Thread {
        /// The post.
        pub post: Option<Post>,
        /// Its comments, of every status.
        pub comments: Vec<Comment>,
        /// Who likes it.
        pub likes: Vec<Like>,
    }
}
