//! Comments.

use tabla::entity::{Change, Id, Page, Transacted};
use tabla::{Cursor, Result, RetryMode};

use super::EsenciaFest;
use super::profanity::{FILTER, REASON, judge};
use crate::entities::*;
use crate::patterns;

/// What became of a comment.
#[derive(Clone, Debug, PartialEq)]
pub enum Commented {
    /// It is there: active and counted, or banned by the filter and not.
    Done(Comment),
    /// Another one has its id: here it is.
    Taken(Comment),
    /// The post is not shown: here it is.
    NotActive(Box<Post>),
    /// There is no such post.
    NoPost,
}

impl EsenciaFest {
    /// A comment.
    pub async fn get_comment(&self, post: &Id, comment: &Id) -> Result<Option<Comment>> {
        self.db.get(&CommentKey { post_id: post.clone(), comment_id: comment.clone() }).await
    }

    /// Pattern 8, `GetPostComments`: a page of the active comments on a post, oldest first.
    pub async fn get_post_comments(
        &self,
        post: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<Comment>> {
        self.db.page(patterns::post_comments(post).after(after)).await
    }

    /// Pattern 10, `CreateComment`: a comment under a new id, which sorts after those that are
    /// there. The comment, the count and the post's place among the discussed ones are written
    /// together.
    pub async fn create_comment(
        &self,
        post: &Id,
        user: &Email,
        content: &str,
    ) -> Result<Commented> {
        self.create_comment_as(self.new_id()?, post, user, content).await
    }

    /// The same under an id of the caller's: however often it is called, there is one comment, and
    /// it is counted once.
    pub async fn create_comment_as(
        &self,
        comment_id: Id,
        post: &Id,
        user: &Email,
        content: &str,
    ) -> Result<Commented> {
        let judgement = judge(self.get_profanity().await?.as_ref(), content)?;
        let now = self.now();
        let banned = judgement.is_banned.then_some(now);
        let comment = Comment {
            post_id: post.clone(),
            comment_id,
            user_id: user.clone(),
            content: content.to_owned(),
            created_at: now,
            status: if judgement.is_banned { Status::Banned } else { Status::Active },
            banned_at: banned,
            banned_by: banned.map(|_| Id::new(FILTER)).transpose()?,
            ban_reason: banned.map(|_| REASON.to_owned()),
            profanity_score: judgement.score,
        };
        let mut read = self.get_post(post).await?;
        let mut tries = self.db.start_attempts(RetryMode::OnlyIfNotApplied, "to comment on a post");
        loop {
            let Some(present) = read else { return Ok(Commented::NoPost) };
            if present.status != Status::Active {
                return Ok(Commented::NotActive(Box::new(present)));
            }
            let transaction = self.db.transaction().create("comment", comment.clone())?;
            let active = Post::STATUS.eq(Status::Active);
            let transaction = if judgement.is_banned {
                // What nobody sees is not counted.
                transaction.check("post", &PostKey { post_id: post.clone() }, Some(active))?
            } else {
                let count = present.comments_count;
                let counted = Change::of(&present)
                    .set(Post::COMMENTS_COUNT, count + 1)
                    .when(Post::COMMENTS_COUNT.eq(count).and(active));
                transaction.update("post", counted)?
            };
            match tries.check(transaction.run().await)? {
                Some(Transacted::Done) => return Ok(Commented::Done(comment)),
                Some(Transacted::Lost(lost)) if lost.is_lost("comment") => {
                    return Ok(match lost.current::<Comment>("comment")? {
                        Some(other) if !is_same(&other, &comment) => Commented::Taken(other),
                        other => Commented::Done(other.unwrap_or(comment)),
                    });
                }
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

/// Whether a comment is the one that was to be written, written before.
fn is_same(one: &Comment, other: &Comment) -> bool {
    one.user_id == other.user_id && one.content == other.content
}
