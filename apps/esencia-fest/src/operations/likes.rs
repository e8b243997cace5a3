//! Likes.

use tabla::entity::{Change, Id, Transacted};
use tabla::{Result, RetryMode};

use super::EsenciaFest;
use crate::entities::*;

/// What became of a like.
#[derive(Clone, Debug, PartialEq)]
pub enum Liked {
    /// It was counted; so many there are now.
    Done(u32),
    /// The user has liked the post before, and still does.
    Already,
    /// The post is not shown: here it is.
    NotActive(Box<Post>),
    /// There is no such post.
    NoPost,
}

impl EsenciaFest {
    /// A user likes a post: once. The like, the count and the post's place among the popular ones
    /// are written together, however many others like it at the same time.
    pub async fn like_post(&self, post: &Id, user: &Email) -> Result<Liked> {
        let mut read = self.get_post(post).await?;
        let mut tries = self.db.start_attempts(RetryMode::OnlyIfNotApplied, "to like a post");
        loop {
            let Some(present) = read else { return Ok(Liked::NoPost) };
            if present.status != Status::Active {
                return Ok(Liked::NotActive(Box::new(present)));
            }
            let like =
                Like { post_id: post.clone(), user_id: user.clone(), created_at: self.now() };
            let count = Change::of(&present)
                .set(Post::LIKES, present.likes + 1)
                .when(Post::LIKES.eq(present.likes).and(Post::STATUS.eq(Status::Active)));
            let transaction = self.db.transaction().create("like", like)?.update("post", count)?;
            match tries.check(transaction.run().await)? {
                Some(Transacted::Done) => return Ok(Liked::Done(present.likes + 1)),
                Some(Transacted::Lost(lost)) if lost.is_lost("like") => return Ok(Liked::Already),
                // Somebody else was counted: who has lost sees the count that has won.
                Some(Transacted::Lost(lost)) => {
                    read = lost.current("post")?;
                    tries.next_attempt().await?;
                }
                None => {
                    tries.next_attempt().await?;
                    read = self.get_post(post).await?;
                }
            }
        }
    }
}
