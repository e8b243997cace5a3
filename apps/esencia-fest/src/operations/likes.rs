//! Likes.

use tabla::Result;
use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::Id;

use super::EsenciaFest;
use crate::entities::*;

/// Outcome of a like.
#[derive(Clone, Debug, PartialEq)]
pub enum Liked {
    /// Like recorded; the new number of likes.
    Done(u32),
    /// The user likes the post already.
    Already,
    /// The post is banned or deleted.
    NotActive(Box<Post>),
    /// The post does not exist.
    NoPost,
}

impl EsenciaFest {
    /// Records that a user likes a post, at most once. The same transaction writes the like, the
    /// count, and the key of the post in the feed by likes.
    pub async fn like_post(&self, id: &Id, user: &Email) -> Result<Liked> {
        let mut attempts = self.db.optimistic("like a post");
        loop {
            let mut tx = attempts.begin().await?;
            let Some(post) = tx.get(&Post::key(id)).await? else { return Ok(Liked::NoPost) };
            if post.status != Status::Active {
                return Ok(Liked::NotActive(Box::new(post)));
            }
            let (post_id, user_id) = (id.clone(), user.clone());
            let like = tx.create(Like { post_id, user_id, created_at: self.now() });
            let is_active = Post::STATUS.eq(Status::Active);
            tx.update(post.change().increment(Post::LIKES, 1).when(is_active));
            match tx.commit().await? {
                Committed => return Ok(Liked::Done(post.likes + 1)),
                Canceled(c) if c.failed(&like) => return Ok(Liked::Already),
                Canceled(_) => {}
            }
        }
    }
}
