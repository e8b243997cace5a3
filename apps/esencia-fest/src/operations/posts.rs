//! Posts.

use tabla::entity::{Id, Outcome, Page};
use tabla::{Cursor, Result};

use super::EsenciaFest;
use super::profanity::Verdict;
use crate::entities::*;
use crate::patterns::{self, Order, Sort};

impl EsenciaFest {
    /// Post by its id.
    pub async fn get_post(&self, post: &Id) -> Result<Option<Post>> {
        self.db.get(&Post::key(post)).await
    }

    /// Pattern 7, `GetAllPosts`: page of the posts of a status, the newest or the most liked or
    /// discussed first.
    pub async fn get_all_posts(
        &self,
        limit: u32,
        after: Option<Cursor>,
        sort: Sort,
        status: Status,
    ) -> Result<Page<Post>> {
        let query = patterns::posts(status, sort, Order::Descending);
        self.db.page(query.limit(limit).after(after)).await
    }

    /// Pattern 12, `GetPostsByStatus`: page of the posts of a status, in either direction.
    pub async fn get_posts_by_status(
        &self,
        status: Status,
        sort: Sort,
        order: Order,
        after: Option<Cursor>,
    ) -> Result<Page<Post>> {
        self.db.page(patterns::posts(status, sort, order).after(after)).await
    }

    /// Pattern 15, `GetPostsSortedByLikes`: page of active posts, the most liked first.
    pub async fn get_posts_sorted_by_likes(&self, after: Option<Cursor>) -> Result<Page<Post>> {
        self.get_posts_by_status(Status::Active, Sort::Likes, Order::Descending, after).await
    }

    /// Pattern 16, `GetPostsSortedByComments`: page of active posts, the most discussed first.
    pub async fn get_posts_sorted_by_comments(&self, after: Option<Cursor>) -> Result<Page<Post>> {
        self.get_posts_by_status(Status::Active, Sort::Comments, Order::Descending, after).await
    }

    /// Pattern 11, `GetUserPosts`: page of the posts of a user, newest first; with `status`, only
    /// those of that status.
    pub async fn get_user_posts(
        &self,
        user: &Email,
        status: Option<Status>,
        after: Option<Cursor>,
    ) -> Result<Page<Post>> {
        self.db.page(patterns::user_posts(user, status).after(after)).await
    }

    /// Post with all its comments and likes, from as many pages as they fill.
    pub async fn get_post_thread(&self, post: &Id) -> Result<Thread> {
        self.db.collect(patterns::post_thread(post)).await
    }

    /// Pattern 9, `CreatePost`: writes a post under a new id. A post that the filter bans is stored,
    /// so that moderators see it.
    pub async fn create_post(
        &self,
        user: &Email,
        content: &str,
        images: Vec<String>,
    ) -> Result<Outcome<Post>> {
        self.create_post_as(self.new_id()?, user, content, images).await
    }

    /// [`create_post`](Self::create_post) under the caller's id. If the id is taken, the outcome has
    /// the present post, which may be this one from an earlier call whose response was lost.
    pub async fn create_post_as(
        &self,
        post_id: Id,
        user: &Email,
        content: &str,
        images: Vec<String>,
    ) -> Result<Outcome<Post>> {
        let (user_id, content, created_at) = (user.clone(), content.to_owned(), self.now());
        let Verdict { status, banned_at, banned_by, ban_reason, profanity_score } =
            self.get_profanity().await?.unwrap_or_default().evaluate(&content, created_at)?;
        let post = Post {
            post_id,
            user_id,
            content,
            images,
            created_at,
            likes: 0,
            comments_count: 0,
            status,
            banned_at,
            banned_by,
            ban_reason,
            profanity_score,
        };
        self.db.create(post).await
    }
}
