//! Goals, points, products and featured entries.

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{Id, Outcome, Page};
use tabla::{Cursor, Error, Result};

use super::{Added, Gamificacion};
use crate::entities::*;
use crate::patterns;

/// Outcome of completing a goal.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Completed {
    /// The goal is done, and the dashboard counts it.
    Done,
    /// The goal was done before. It is not counted again.
    AlreadyDone(Goal),
    /// The progress is below the target.
    NotReached(Goal),
    /// There is no such goal.
    Missing,
}

impl Gamificacion {
    /// Pattern 1c: page of the goals of a user.
    pub async fn goals(&self, user: &Id, after: Option<Cursor>) -> Result<Page<Goal>> {
        self.db.page(patterns::goals(user).after(after)).await
    }

    /// Pattern 1d: page of the products of a user.
    pub async fn products(&self, user: &Id, after: Option<Cursor>) -> Result<Page<Product>> {
        self.db.page(patterns::products(user).after(after)).await
    }

    /// Pattern 1e: page of the featured entries of a user.
    pub async fn featured(&self, user: &Id, after: Option<Cursor>) -> Result<Page<Featured>> {
        self.db.page(patterns::featured(user).after(after)).await
    }

    /// Page of the products with a badge, of all users.
    pub async fn products_by_badge(
        &self,
        badge: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<Product>> {
        self.db.page(patterns::products_by_badge(badge).after(after)).await
    }

    /// Creates a goal of an existing user.
    pub async fn add_goal(&self, goal: Goal) -> Result<Added<Goal>> {
        self.add(&goal.user_id.clone(), goal).await
    }

    /// Creates a product of an existing user.
    pub async fn add_product(&self, product: Product) -> Result<Added<Product>> {
        self.add(&product.user_id.clone(), product).await
    }

    /// Creates a featured entry of an existing user.
    pub async fn add_featured(&self, featured: Featured) -> Result<Added<Featured>> {
        self.add(&featured.user_id.clone(), featured).await
    }

    /// Adds to the progress of a goal that is not done. Concurrent calls all count.
    pub async fn advance_goal(&self, user: &Id, goal: &Id, by: u32) -> Result<Outcome<Goal>> {
        let change = Goal::key(user, goal).change().increment(Goal::PROGRESS, by);
        self.db.update(change.when(Goal::DONE.eq(false))).await
    }

    /// Completes a goal whose target is reached, and counts it once on the dashboard.
    pub async fn complete_goal(&self, user: &Id, goal: &Id) -> Result<Completed> {
        let mut attempts = self.db.optimistic("complete a goal");
        loop {
            let mut tx = attempts.begin().await?;
            let Some(goal) = tx.get(&Goal::key(user, goal)).await? else {
                return Ok(Completed::Missing);
            };
            if goal.done {
                return Ok(Completed::AlreadyDone(goal));
            }
            if goal.progress < goal.target {
                return Ok(Completed::NotReached(goal));
            }
            let is_reached = Goal::DONE.eq(false).and(Goal::PROGRESS.ge(goal.target));
            tx.update(goal.change().set(Goal::DONE, true).when(is_reached));
            let dashboard =
                tx.update(Dashboard::key(user).change().increment(Dashboard::COMPLETED_GOALS, 1));
            match tx.commit().await? {
                Committed => return Ok(Completed::Done),
                Canceled(c) if c.only(&dashboard) => {
                    return Err(Error::corrupt(format!("user {user} has no dashboard")));
                }
                Canceled(_) => {}
            }
        }
    }

    /// Adds points to a user's dashboard. Concurrent calls all count.
    pub async fn award_points(&self, user: &Id, points: u32) -> Result<Outcome<Dashboard>> {
        self.db.update(Dashboard::key(user).change().increment(Dashboard::POINTS, points)).await
    }

    /// Sets the badge of a product, or clears it.
    pub async fn set_badge(
        &self,
        user: &Id,
        product: &Id,
        badge: Option<&Id>,
    ) -> Result<Outcome<Product>> {
        let change = Product::key(user, product).change();
        let change = match badge {
            Some(badge) => change.set(Product::BADGE, badge),
            None => change.clear(Product::BADGE),
        };
        self.db.update(change).await
    }
}
