//! What moderators do.

use tabla::entity::{Change, Day, Id, Outcome, Transacted};
use tabla::{Map, Result, RetryMode, Value};

use super::EsenciaFest;
use crate::entities::*;
use crate::patterns::{self, Order};
use crate::range::{self, RangeCursor, RangePage, Span};

/// What became of a decision about a post.
#[derive(Clone, Debug, PartialEq)]
pub enum ModeratedPost {
    /// It was carried out, and logged; the post as it was read, with the decision. Others may have
    /// liked it meanwhile.
    Done(Box<Post>, ModerationLog),
    /// The post is not of a status from which this can be done, or another moderator was ahead.
    /// Nothing was changed, and nothing logged; the post as it is, if there is one.
    Lost(Option<Box<Post>>),
}

/// What became of a decision about a comment.
#[derive(Clone, Debug, PartialEq)]
pub enum ModeratedComment {
    /// It was carried out, and logged; the comment as it is now.
    Done(Box<Comment>, ModerationLog),
    /// The same as for a post.
    Lost(Option<Box<Comment>>),
}

impl EsenciaFest {
    /// Pattern 13, `UpdatePostStatus`: bans, deletes or restores a post, and logs it. The post
    /// moves to the partitions of its status in the same transaction.
    pub async fn update_post_status(
        &self,
        post: &Id,
        status: Status,
        reason: &str,
        admin: &Id,
    ) -> Result<ModeratedPost> {
        let action = Action::towards(status);
        let Some(read) = self.get_post(post).await? else {
            return Ok(ModeratedPost::Lost(None));
        };
        let from = read.status;
        if !action.is_possible(from) {
            return Ok(ModeratedPost::Lost(Some(Box::new(read))));
        }
        let log = ModerationLog {
            original_content: Some(read.content.clone()),
            metadata: metadata([("userId", read.user_id.as_str()), ("postId", post.as_str())]),
            ..self.entry(admin, action, (TargetType::Post, post), reason)?
        };
        let mut tries = self.db.start_attempts(RetryMode::OnlyIfNotApplied, "to moderate a post");
        loop {
            let change = Change::of(&read).set(Post::STATUS, status).when(Post::STATUS.eq(from));
            let change = match action {
                Action::Ban => change
                    .set(Post::BANNED_AT, log.timestamp)
                    .set(Post::BANNED_BY, admin)
                    .set(Post::BAN_REASON, reason),
                Action::Restore => {
                    change.clear(Post::BANNED_AT).clear(Post::BANNED_BY).clear(Post::BAN_REASON)
                }
                Action::Delete => change,
            };
            let transaction =
                self.db.transaction().create("log", log.clone())?.update("post", change)?;
            match tries.check(transaction.run().await)? {
                Some(Transacted::Done) => {
                    let is_banned = action == Action::Ban;
                    let moderated = match action {
                        Action::Delete => Post { status, ..read },
                        _ => Post {
                            status,
                            banned_at: is_banned.then_some(log.timestamp),
                            banned_by: is_banned.then(|| admin.clone()),
                            ban_reason: is_banned.then(|| reason.to_owned()),
                            ..read
                        },
                    };
                    return Ok(ModeratedPost::Done(Box::new(moderated), log));
                }
                // Nothing but its status counts: the counts are in the other halves of its keys.
                Some(Transacted::Lost(lost)) => {
                    return Ok(ModeratedPost::Lost(lost.current("post")?.map(Box::new)));
                }
                None => tries.next_attempt().await?,
            }
        }
    }

    /// The same for a comment: the post counts its active comments, so that its count follows.
    pub async fn update_comment_status(
        &self,
        post: &Id,
        comment: &Id,
        status: Status,
        reason: &str,
        admin: &Id,
    ) -> Result<ModeratedComment> {
        let action = Action::towards(status);
        let Some(read) = self.get_comment(post, comment).await? else {
            return Ok(ModeratedComment::Lost(None));
        };
        let from = read.status;
        if !action.is_possible(from) {
            return Ok(ModeratedComment::Lost(Some(Box::new(read))));
        }
        let log = ModerationLog {
            original_content: Some(read.content.clone()),
            metadata: metadata([("userId", read.user_id.as_str()), ("postId", post.as_str())]),
            ..self.entry(admin, action, (TargetType::Comment, comment), reason)?
        };
        let mut commented = self.get_post(post).await?;
        let mut tries =
            self.db.start_attempts(RetryMode::OnlyIfNotApplied, "to moderate a comment");
        loop {
            let change =
                Change::of(&read).set(Comment::STATUS, status).when(Comment::STATUS.eq(from));
            let change = match action {
                Action::Ban => change
                    .set(Comment::BANNED_AT, log.timestamp)
                    .set(Comment::BANNED_BY, admin)
                    .set(Comment::BAN_REASON, reason),
                Action::Restore => change
                    .clear(Comment::BANNED_AT)
                    .clear(Comment::BANNED_BY)
                    .clear(Comment::BAN_REASON),
                Action::Delete => change,
            };
            let mut transaction =
                self.db.transaction().create("log", log.clone())?.update("comment", change)?;
            if let Some(present) = &commented
                && let Some(count) = recount(present.comments_count, from, status)
            {
                let counted = Change::of(present)
                    .set(Post::COMMENTS_COUNT, count)
                    .when(Post::COMMENTS_COUNT.eq(present.comments_count));
                transaction = transaction.update("post", counted)?;
            }
            match tries.check(transaction.run().await)? {
                Some(Transacted::Done) => {
                    let is_banned = action == Action::Ban;
                    let moderated = match action {
                        Action::Delete => Comment { status, ..read },
                        _ => Comment {
                            status,
                            banned_at: is_banned.then_some(log.timestamp),
                            banned_by: is_banned.then(|| admin.clone()),
                            ban_reason: is_banned.then(|| reason.to_owned()),
                            ..read
                        },
                    };
                    return Ok(ModeratedComment::Done(Box::new(moderated), log));
                }
                Some(Transacted::Lost(lost)) if lost.is_lost("comment") => {
                    return Ok(ModeratedComment::Lost(lost.current("comment")?.map(Box::new)));
                }
                Some(Transacted::Lost(lost)) => commented = lost.current("post")?,
                None => commented = self.get_post(post).await?,
            }
            tries.next_attempt().await?;
        }
    }

    /// Pattern 20, `LogModerationAction`: an entry of its own, for what was done elsewhere. What
    /// this app does to posts and comments is logged where it is done.
    pub async fn log_moderation_action(
        &self,
        admin: &Id,
        action: Action,
        target: (TargetType, &Id),
        reason: &str,
    ) -> Result<Outcome<ModerationLog>> {
        self.db.create(self.entry(admin, action, target, reason)?).await
    }

    /// Pattern 14, `GetModerationLogs`: a page of what moderators did in a span of time, oldest
    /// first, of one kind or all.
    pub async fn get_moderation_logs(
        &self,
        span: Span,
        action: Option<Action>,
        limit: u32,
        after: Option<&RangeCursor>,
    ) -> Result<RangePage<ModerationLog>> {
        let find = |day: Day| patterns::moderation_logs(day, span, action);
        range::page(span, Order::Ascending, limit, after, find, |_| self.db.clone()).await
    }

    /// An entry of the log at this moment.
    fn entry(
        &self,
        admin: &Id,
        action: Action,
        (target_type, target_id): (TargetType, &Id),
        reason: &str,
    ) -> Result<ModerationLog> {
        let timestamp = self.now();
        Ok(ModerationLog {
            date: timestamp.day(),
            timestamp,
            admin_id: admin.clone(),
            action_id: self.new_id()?,
            action,
            target_type,
            target_id: target_id.clone(),
            reason: reason.to_owned(),
            original_content: None,
            metadata: Map::new(),
        })
    }
}

/// The count of active comments after one of them has gone from one status to another; `None` if
/// it stays.
fn recount(count: u32, from: Status, to: Status) -> Option<u32> {
    match (from, to) {
        (Status::Active, Status::Active) => None,
        (Status::Active, _) => Some(count.saturating_sub(1)),
        (_, Status::Active) => Some(count + 1),
        _ => None,
    }
}

fn metadata<const N: usize>(entries: [(&str, &str); N]) -> Map {
    entries.map(|(name, value)| (name.to_owned(), Value::from(value))).into()
}
