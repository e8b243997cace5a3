//! Moderation of posts and comments, and its log.

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{Change, Day, Id, Outcome};
use tabla::{Map, Result, Value};

use super::EsenciaFest;
use crate::entities::*;
use crate::patterns::{self, Order};
use crate::range::{self, RangeCursor, RangePage, Span};

/// Outcome of a moderator's action on a post or comment.
#[derive(Clone, Debug, PartialEq)]
pub enum Moderated<E> {
    /// Applied and logged; the entity as it was read, with the action. A post may have other counts
    /// by now.
    Done(Box<E>, ModerationLog),
    /// The status does not allow the action, or a concurrent moderator changed it. Nothing was
    /// written; the current entity, if it exists.
    Refused(Option<Box<E>>),
}

impl EsenciaFest {
    /// Pattern 13, `UpdatePostStatus`: bans, deletes or restores a post, and logs the action. The
    /// same transaction moves the post to the feeds of its status.
    pub async fn update_post_status(
        &self,
        id: &Id,
        status: Status,
        reason: &str,
        admin: &Id,
    ) -> Result<Moderated<Post>> {
        let action = Action::towards(status);
        let mut attempts = self.db.optimistic("moderate a post");
        let mut tx = attempts.begin().await?;
        let post = match tx.get(&Post::key(id)).await? {
            Some(post) if action.is_possible(post.status) => post,
            other => return Ok(Moderated::Refused(other.map(Box::new))),
        };
        let entry = self.entry(admin, action, (TargetType::Post, id), reason)?;
        let (log, change, moderated) = post.moderated(entry);
        tx.create(log.clone());
        let updated = tx.update(change);
        Ok(match tx.commit().await? {
            Committed => Moderated::Done(Box::new(moderated), log),
            Canceled(c) => Moderated::Refused(c.current(&updated)?.map(Box::new)),
        })
    }

    /// [`update_post_status`](Self::update_post_status) for a comment. The same transaction changes
    /// the number of active comments of the post.
    pub async fn update_comment_status(
        &self,
        post: &Id,
        id: &Id,
        status: Status,
        reason: &str,
        admin: &Id,
    ) -> Result<Moderated<Comment>> {
        let action = Action::towards(status);
        let mut attempts = self.db.optimistic("moderate a comment");
        loop {
            let mut tx = attempts.begin().await?;
            let comment = match tx.get(&Comment::key(post, id)).await? {
                Some(comment) if action.is_possible(comment.status) => comment,
                other => return Ok(Moderated::Refused(other.map(Box::new))),
            };
            let entry = self.entry(admin, action, (TargetType::Comment, id), reason)?;
            let (log, change, moderated) = comment.moderated(entry);
            tx.create(log.clone());
            let updated = tx.update(change);
            let is_active = |status| i64::from(status == Status::Active);
            let difference = is_active(status) - is_active(comment.status);
            if let Some(post) = tx.get(&Post::key(post)).await?
                && difference != 0
            {
                // The count of an imported post can be too low.
                let difference = difference.max(-i64::from(post.comments_count));
                tx.update(post.change().increment(Post::COMMENTS_COUNT, difference));
            }
            match tx.commit().await? {
                Committed => return Ok(Moderated::Done(Box::new(moderated), log)),
                Canceled(c) if c.failed(&updated) => {
                    return Ok(Moderated::Refused(c.current(&updated)?.map(Box::new)));
                }
                Canceled(_) => {}
            }
        }
    }

    /// Pattern 20, `LogModerationAction`: writes an entry for an action outside of this app. Actions
    /// on posts and comments write their own.
    pub async fn log_moderation_action(
        &self,
        admin: &Id,
        action: Action,
        target: (TargetType, &Id),
        reason: &str,
    ) -> Result<Outcome<ModerationLog>> {
        self.db.create(self.entry(admin, action, target, reason)?).await
    }

    /// Pattern 14, `GetModerationLogs`: page of the log in a span of time, oldest first; with
    /// `action`, only entries of that action.
    pub async fn get_moderation_logs(
        &self,
        span: Span,
        action: Option<Action>,
        limit: u32,
        after: Option<&RangeCursor>,
    ) -> Result<RangePage<ModerationLog>> {
        let query = |day: Day| patterns::moderation_logs(day, span, action);
        range::page(span, Order::Ascending, limit, after, query, |_| self.db.clone()).await
    }

    /// Entry of the log at this moment.
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

macro_rules! moderated {
    ($($entity:ident)*) => {$(
        impl $entity {
            /// The entry with the present content, the change that its action makes if the status is
            /// still the one that was read, and the entity after it.
            fn moderated(&self, entry: ModerationLog) -> (ModerationLog, Change<Self>, Self) {
                let text = |name: &str, value: &str| (name.to_owned(), Value::from(value));
                let log = ModerationLog {
                    original_content: Some(self.content.clone()),
                    metadata: Map::from([
                        text("userId", self.user_id.as_str()),
                        text("postId", self.post_id.as_str()),
                    ]),
                    ..entry
                };
                let status = log.action.result();
                let change = self.change().set(Self::STATUS, status);
                let change = change.when(Self::STATUS.eq(self.status));
                let mut after = Self { status, ..self.clone() };
                let change = match log.action {
                    Action::Ban => {
                        after.banned_at = Some(log.timestamp);
                        after.banned_by = Some(log.admin_id.clone());
                        after.ban_reason = Some(log.reason.clone());
                        change
                            .set(Self::BANNED_AT, log.timestamp)
                            .set(Self::BANNED_BY, &log.admin_id)
                            .set(Self::BAN_REASON, &log.reason)
                    }
                    Action::Restore => {
                        (after.banned_at, after.banned_by, after.ban_reason) = (None, None, None);
                        change
                            .clear(Self::BANNED_AT)
                            .clear(Self::BANNED_BY)
                            .clear(Self::BAN_REASON)
                    }
                    Action::Delete => change,
                };
                (log, change, after)
            }
        }
    )*};
}

moderated! { Post Comment }
