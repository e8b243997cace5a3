//! Goals, points, products and what is shown first.

use tabla::entity::{Change, Id, Outcome, Page, Transacted};
use tabla::{Cursor, Error, Result};

use super::{Added, Gamificacion};
use crate::entities::*;
use crate::patterns;

/// What became of completing a goal.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Completed {
    /// It is done, and counted.
    Done,
    /// It was done before, and is not counted again: here it is.
    AlreadyDone(Goal),
    /// There is some way to go: here it is.
    NotReached(Goal),
    /// There is no such goal.
    Missing,
}

impl Gamificacion {
    /// Pattern 1c: a page of the goals of a user.
    pub async fn goals(&self, user: &Id, after: Option<Cursor>) -> Result<Page<Goal>> {
        self.db.page(patterns::goals(user).after(after)).await
    }

    /// Pattern 1d: a page of the products of a user.
    pub async fn products(&self, user: &Id, after: Option<Cursor>) -> Result<Page<Product>> {
        self.db.page(patterns::products(user).after(after)).await
    }

    /// Pattern 1e: a page of what a user shows first.
    pub async fn featured(&self, user: &Id, after: Option<Cursor>) -> Result<Page<Featured>> {
        self.db.page(patterns::featured(user).after(after)).await
    }

    /// A page of the products with a badge, of all users.
    pub async fn products_by_badge(
        &self,
        badge: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<Product>> {
        self.db.page(patterns::products_by_badge(badge).after(after)).await
    }

    /// Adds a goal.
    pub async fn add_goal(&self, goal: Goal) -> Result<Added<Goal>> {
        let user = goal.user_id.clone();
        self.add(&user, goal).await
    }

    /// Adds a product.
    pub async fn add_product(&self, product: Product) -> Result<Added<Product>> {
        let user = product.user_id.clone();
        self.add(&user, product).await
    }

    /// Adds something that is shown first.
    pub async fn add_featured(&self, featured: Featured) -> Result<Added<Featured>> {
        let user = featured.user_id.clone();
        self.add(&user, featured).await
    }

    /// Goes on towards a goal that is not done. Steps that are taken at the same time all count.
    pub async fn advance_goal(&self, user: &Id, goal: &Id, by: u32) -> Result<Outcome<Goal>> {
        let change =
            Change::at(goal_key(user, goal)).add(Goal::PROGRESS, by).when(Goal::DONE.eq(false));
        self.db.update(change).await
    }

    /// Completes a goal that was reached: it is done, and the dashboard counts it, once.
    pub async fn complete_goal(&self, user: &Id, goal: &Id) -> Result<Completed> {
        let key = goal_key(user, goal);
        let Some(read) = self.db.get(&key).await? else { return Ok(Completed::Missing) };
        if let Some(why) = not_completed(read.clone()) {
            return Ok(why);
        }
        let goal = Change::at(key)
            .set(Goal::DONE, true)
            .when(Goal::DONE.eq(false).and(Goal::PROGRESS.ge(read.target)));
        let dashboard =
            Change::at(DashboardKey { user_id: user.clone() }).add(Dashboard::COMPLETED_GOALS, 1);
        let transaction =
            self.db.transaction().update("goal", goal)?.update("dashboard", dashboard)?;
        match transaction.run().await? {
            Transacted::Done => Ok(Completed::Done),
            Transacted::Lost(lost) if lost.is_lost("goal") => {
                Ok(match lost.current::<Goal>("goal")? {
                    Some(goal) if goal.done => Completed::AlreadyDone(goal),
                    Some(goal) => Completed::NotReached(goal),
                    None => Completed::Missing,
                })
            }
            Transacted::Lost(_) => Err(Error::corrupt(format!("the user {user} has no dashboard"))),
        }
    }

    /// Gives a user points. All that are given at the same time count.
    pub async fn award_points(&self, user: &Id, points: u32) -> Result<Outcome<Dashboard>> {
        let key = DashboardKey { user_id: user.clone() };
        self.db.update(Change::at(key).add(Dashboard::POINTS, points)).await
    }

    /// Marks a product with a badge, or takes it away.
    pub async fn set_badge(
        &self,
        user: &Id,
        product: &Id,
        badge: Option<&Id>,
    ) -> Result<Outcome<Product>> {
        let key = ProductKey { user_id: user.clone(), product_id: product.clone() };
        let change = match badge {
            Some(badge) => Change::at(key).set(Product::BADGE, badge),
            None => Change::at(key).clear(Product::BADGE),
        };
        self.db.update(change).await
    }
}

fn goal_key(user: &Id, goal: &Id) -> GoalKey {
    GoalKey { user_id: user.clone(), goal_id: goal.clone() }
}

/// Why a goal cannot be completed; `None` if it can.
fn not_completed(goal: Goal) -> Option<Completed> {
    match (goal.done, goal.progress < goal.target) {
        (true, _) => Some(Completed::AlreadyDone(goal)),
        (false, true) => Some(Completed::NotReached(goal)),
        (false, false) => None,
    }
}
