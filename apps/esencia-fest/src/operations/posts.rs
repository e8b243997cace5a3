//! Posts.

use tabla::entity::{Id, Outcome, Page};
use tabla::{Cursor, Result};

use super::EsenciaFest;
use super::profanity::{FILTER, REASON, judge};
use crate::entities::*;
use crate::patterns::{self, Order, Sort};

impl EsenciaFest {
    /// A post.
    pub async fn get_post(&self, post: &Id) -> Result<Option<Post>> {
        self.db.get(&PostKey { post_id: post.clone() }).await
    }

    /// Pattern 7, `GetAllPosts`: a page of the posts of a status, the newest or the most first.
    pub async fn get_all_posts(
        &self,
        limit: u32,
        after: Option<Cursor>,
        sort: Sort,
        status: Status,
    ) -> Result<Page<Post>> {
        let find = patterns::posts(status, sort, Order::Descending);
        self.db.page(find.limit(limit).after(after)).await
    }

    /// Pattern 12, `GetPostsByStatus`: the same for moderators, in either direction.
    pub async fn get_posts_by_status(
        &self,
        status: Status,
        sort: Sort,
        order: Order,
        after: Option<Cursor>,
    ) -> Result<Page<Post>> {
        self.db.page(patterns::posts(status, sort, order).after(after)).await
    }

    /// Pattern 15, `GetPostsSortedByLikes`: a page of active posts, the most liked first.
    pub async fn get_posts_sorted_by_likes(&self, after: Option<Cursor>) -> Result<Page<Post>> {
        self.get_posts_by_status(Status::Active, Sort::Likes, Order::Descending, after).await
    }

    /// Pattern 16, `GetPostsSortedByComments`: a page of active posts, the most discussed first.
    pub async fn get_posts_sorted_by_comments(&self, after: Option<Cursor>) -> Result<Page<Post>> {
        self.get_posts_by_status(Status::Active, Sort::Comments, Order::Descending, after).await
    }

    /// Pattern 11, `GetUserPosts`: a page of the posts of a user, newest first; of one status, if
    /// one is given.
    pub async fn get_user_posts(
        &self,
        user: &Email,
        status: Option<Status>,
        after: Option<Cursor>,
    ) -> Result<Page<Post>> {
        self.db.page(patterns::user_posts(user, status).after(after)).await
    }

    /// A post with all its comments and likes, however many pages they fill.
    pub async fn get_post_thread(&self, post: &Id) -> Result<Thread> {
        self.db.collect(patterns::post_thread(post)).await
    }

    /// Pattern 9, `CreatePost`: a post under a new id. What the filter finds too bad is stored and
    /// banned, so that moderators see it.
    pub async fn create_post(
        &self,
        user: &Email,
        content: &str,
        images: Vec<String>,
    ) -> Result<Outcome<Post>> {
        self.create_post_as(self.new_id()?, user, content, images).await
    }

    /// The same under an id of the caller's. Lost with the post that is there, if one is: it may
    /// be this very one, whose answer was lost.
    pub async fn create_post_as(
        &self,
        post_id: Id,
        user: &Email,
        content: &str,
        images: Vec<String>,
    ) -> Result<Outcome<Post>> {
        let judgement = judge(self.get_profanity().await?.as_ref(), content)?;
        let now = self.now();
        let banned = judgement.is_banned.then_some(now);
        let post = Post {
            post_id,
            user_id: user.clone(),
            content: content.to_owned(),
            images,
            created_at: now,
            likes: 0,
            comments_count: 0,
            status: if judgement.is_banned { Status::Banned } else { Status::Active },
            banned_at: banned,
            banned_by: banned.map(|_| Id::new(FILTER)).transpose()?,
            ban_reason: banned.map(|_| REASON.to_owned()),
            profanity_score: judgement.score,
        };
        self.db.create(post).await
    }
}
