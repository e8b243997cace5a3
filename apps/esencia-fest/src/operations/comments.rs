//! Comments.

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{Id, Page};
use tabla::{Cursor, Result};

use super::EsenciaFest;
use super::profanity::Verdict;
use crate::entities::*;
use crate::patterns;

/// Outcome of a comment.
#[derive(Clone, Debug, PartialEq)]
pub enum Commented {
    /// Comment recorded: active and counted, or banned by the filter and not counted.
    Done(Comment),
    /// Another comment has this id.
    Taken(Comment),
    /// The post is banned or deleted.
    NotActive(Box<Post>),
    /// The post does not exist.
    NoPost,
}

impl EsenciaFest {
    /// Comment by its id.
    pub async fn get_comment(&self, post: &Id, comment: &Id) -> Result<Option<Comment>> {
        self.db.get(&Comment::key(post, comment)).await
    }

    /// Pattern 8, `GetPostComments`: page of the active comments on a post, oldest first.
    pub async fn get_post_comments(
        &self,
        post: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<Comment>> {
        self.db.page(patterns::post_comments(post).after(after)).await
    }

    /// Pattern 10, `CreateComment`: writes a comment under a new id, which sorts after those of
    /// existing comments. The same transaction writes the comment, the count, and the key of the post
    /// in the feed by comments.
    pub async fn create_comment(
        &self,
        post: &Id,
        user: &Email,
        content: &str,
    ) -> Result<Commented> {
        self.create_comment_as(self.new_id()?, post, user, content).await
    }

    /// [`create_comment`](Self::create_comment) under the caller's id: repeated calls write and count
    /// one comment.
    pub async fn create_comment_as(
        &self,
        comment_id: Id,
        post: &Id,
        user: &Email,
        content: &str,
    ) -> Result<Commented> {
        let (post_id, user_id, content) = (post.clone(), user.clone(), content.to_owned());
        let created_at = self.now();
        let Verdict { status, banned_at, banned_by, ban_reason, profanity_score } =
            self.get_profanity().await?.unwrap_or_default().evaluate(&content, created_at)?;
        let comment = Comment {
            post_id,
            comment_id,
            user_id,
            content,
            created_at,
            status,
            banned_at,
            banned_by,
            ban_reason,
            profanity_score,
        };
        let mut attempts = self.db.optimistic("comment on a post");
        loop {
            let mut tx = attempts.begin().await?;
            let Some(post) = tx.get(&Post::key(post)).await? else { return Ok(Commented::NoPost) };
            if post.status != Status::Active {
                return Ok(Commented::NotActive(Box::new(post)));
            }
            let created = tx.create(comment.clone());
            let is_active = Post::STATUS.eq(Status::Active);
            match status {
                Status::Active => {
                    tx.update(post.change().increment(Post::COMMENTS_COUNT, 1).when(is_active))
                }
                _ => tx.check(&Post::key(&post.post_id), is_active),
            };
            match tx.commit().await? {
                Committed => return Ok(Commented::Done(comment)),
                Canceled(c) if c.failed(&created) => {
                    return Ok(match c.current(&created)? {
                        Some(other) if !is_same(&other, &comment) => Commented::Taken(other),
                        same => Commented::Done(same.unwrap_or(comment)),
                    });
                }
                Canceled(_) => {}
            }
        }
    }
}

/// Whether two comments under one id are two calls with the same arguments.
fn is_same(one: &Comment, other: &Comment) -> bool {
    one.user_id == other.user_id && one.content == other.content
}
