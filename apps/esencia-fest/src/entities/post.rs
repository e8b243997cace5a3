//! Forum: posts, with their comments and likes in the same partition.

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, Id, KeyPart, SEPARATOR, UtcTime};
use tabla::{Error, Number, Result};

use super::{Email, MAIN};

/// Status of a post or comment; only active ones are shown to visitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, KeyPart)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Active,
    /// By a moderator or by the filter.
    Banned,
    Deleted,
}

/// End of the partition keys of feeds: nothing for active posts, `#` and the status for others, so
/// that every order exists for every status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shelf(Status);

impl From<Status> for Shelf {
    fn from(status: Status) -> Self {
        Self(status)
    }
}

impl KeyPart for Shelf {
    // It begins with a separator of its own.
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
            _ => Err(Error::validation(format!(
                "{text:?} does not end the partition key of a feed: expected nothing, #banned or \
                 #deleted"
            ))),
        }
    }

    fn example(_: &str) -> Self {
        Self(Status::Active)
    }
}

/// Post: in `GSI1` by author, in `GSI2` by status and date, in `GSI3` by likes and in `GSI4` by
/// comments. The last three have one shard, which is enough for the documented volume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = MAIN,
    pk = "POST#{post_id}",
    sk = "POST#{post_id}",
    index(GSI1, query = by_author, pk = "USER#{user_id}#POSTS", sk = "{created_at}"),
    index(GSI2, query = by_status, pk = "POSTS#{status}{post_id:shard 1}", sk = "{created_at}"),
    index(
        GSI3,
        query = by_likes,
        pk = "POSTS#SORTED{post_id:shard 1}{status:as Shelf}",
        sk = "{likes:010}#{created_at}"
    ),
    index(
        GSI4,
        query = by_comments,
        pk = "POSTS#COMMENTS{post_id:shard 1}{status:as Shelf}",
        sk = "{comments_count:010}#{created_at}"
    )
)]
pub struct Post {
    #[entity(key_only)]
    pub post_id: Id,
    #[entity(immutable)]
    pub user_id: Email,
    pub content: String,
    /// Names of uploads in the assets bucket.
    pub images: Vec<String>,
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// Number of its [`Like`]s.
    pub likes: u32,
    /// Number of its active [`Comment`]s.
    pub comments_count: u32,
    pub status: Status,
    pub banned_at: Option<UtcTime>,
    pub banned_by: Option<Id>,
    pub ban_reason: Option<String>,
    /// Score that the filter gave it, from 0 to 1.
    pub profanity_score: Number,
}

/// Comment on a post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "POST#{post_id}", sk = "COMMENT#{comment_id}")]
pub struct Comment {
    #[entity(key_only)]
    pub post_id: Id,
    /// Ids that the app generates sort by time.
    #[entity(key_only)]
    pub comment_id: Id,
    #[entity(immutable)]
    pub user_id: Email,
    pub content: String,
    #[entity(immutable)]
    pub created_at: UtcTime,
    pub status: Status,
    pub banned_at: Option<UtcTime>,
    pub banned_by: Option<Id>,
    pub ban_reason: Option<String>,
    /// Score that the filter gave it, from 0 to 1.
    pub profanity_score: Number,
}

/// Like of a user for a post; at most one per user and post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "POST#{post_id}", sk = "LIKE#{user_id}")]
pub struct Like {
    #[entity(key_only)]
    pub post_id: Id,
    #[entity(key_only)]
    pub user_id: Email,
    #[entity(immutable)]
    pub created_at: UtcTime,
}

tabla::collection! {
    /// Post with its comments and likes.
    pub struct Thread {
        /// `None` if the post does not exist.
        pub post: Option<Post>,
        /// Comments of every status.
        pub comments: Vec<Comment>,
        pub likes: Vec<Like>,
    }
}
