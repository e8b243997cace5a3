//! Runs each pattern on the sample data, and checks its answer.

use tabla::entity::{Id, Outcome};
use tabla::{Error, Result};
use tabla_kit::Answer;

use super::id;
use super::seed::*;
use crate::entities::*;
use crate::operations::{Completed, Confirmed, Created, Gamificacion};
use crate::patterns::PAGE;

/// Id of the user that the writes create and change. It sorts after the users of the seed, so that
/// the answers of the reads stay the same.
fn fresh() -> Result<Id> {
    id("user-fresh")
}

pub(super) async fn run(app: &Gamificacion, pattern: &str) -> Result<Answer> {
    if let Some(answer) = of_a_user(app, pattern).await? {
        return Ok(answer);
    }
    if let Some(answer) = of_networks(app, pattern).await? {
        return Ok(answer);
    }
    if let Some(answer) = of_media(app, pattern).await? {
        return Ok(answer);
    }
    if let Some(answer) = of_a_panel(app, pattern).await? {
        return Ok(answer);
    }
    match write(app, pattern).await? {
        Some(answer) => Ok(answer),
        None => Err(Error::validation(format!("there is no pattern {pattern:?}"))),
    }
}

/// Answer with the number of entities, which must be sorted by id and all be right.
fn listed<E>(
    entities: &[E],
    number: u32,
    order: impl Fn(&E) -> Vec<&Id>,
    is_right: impl Fn(&E) -> bool,
    what: &str,
) -> Result<Answer> {
    let is_sorted = entities.is_sorted_by_key(order);
    let all = entities.len() == number as usize && entities.iter().all(is_right);
    Answer::new(entities.len(), what)
        .expect(is_sorted && all, &format!("{number} of them, in order: {what}"))
}

async fn of_a_user(app: &Gamificacion, pattern: &str) -> Result<Option<Answer>> {
    let (large, user) = (user(0)?, user(1)?);
    Ok(Some(match pattern {
        "panel" => {
            let panel = app.panel(&large).await?;
            let is_right = panel.network.len() == LARGE_NETWORK as usize
                && panel.profile.is_some()
                && panel.dashboard.as_ref().is_some_and(|figures| {
                    (figures.network_size, figures.completed_goals, figures.points)
                        == (u64::from(LARGE_NETWORK), 1, 250)
                })
                && (panel.goals.len(), panel.products.len(), panel.featured.len())
                    == (GOALS as usize, PRODUCTS as usize, FEATURED as usize)
                && panel.assets.len() == 2
                && panel.unknown.is_empty();
            let items = 2 + panel.goals.len() + panel.products.len() + panel.featured.len();
            let items = items + panel.network.len() + panel.assets.len();
            Answer::new(items, format!("a network of {}", panel.network.len()))
                .expect(is_right, "all of the user, over all pages")?
        }
        "profile" => {
            let profile = app.profile(&user).await?;
            let is_right = profile.as_ref().is_some_and(|p| p.user_id == user);
            Answer::new(profile.iter().len(), user.to_string()).expect(is_right, "the user")?
        }
        "dashboard" => {
            let figures = app.dashboard(&user).await?;
            let size = figures.as_ref().map_or(0, |figures| figures.network_size);
            Answer::new(figures.iter().len(), format!("a network of {size}"))
                .expect(size == u64::from(MEMBERS), "as many as were added")?
        }
        "user_by_code" => {
            let found = app.user_by_code(&code(1)?).await?;
            let is_right = found.as_ref().is_some_and(|profile| profile.user_id == user);
            Answer::new(found.iter().len(), user.to_string()).expect(is_right, "the user")?
        }
        "panel_by_code" => {
            let panel = app.panel_by_code(&code(1)?).await?.unwrap_or_default();
            let is_right = panel.profile.is_some_and(|profile| profile.user_id == user);
            Answer::new(panel.network.len() + 1, user.to_string())
                .expect(is_right && panel.network.len() == MEMBERS as usize, "all of the user")?
        }
        _ => return Ok(None),
    }))
}

async fn of_networks(app: &Gamificacion, pattern: &str) -> Result<Option<Answer>> {
    let user = user(1)?;
    let (level, status) = (id(LEVELS[2])?, id(STATUSES[0])?);
    let whose = |member: &NetworkMember| member.user_id == user;
    let of_level = |member: &NetworkMember| member.level == level;
    let of_status = |member: &NetworkMember| member.status == status;
    fn order(member: &NetworkMember) -> Vec<&Id> {
        vec![&member.user_id, &member.member_id]
    }
    Ok(Some(match pattern {
        "network" => {
            let found = app.network(&user, None).await?.items;
            listed(&found, MEMBERS, order, whose, "members of a user")?
        }
        "members_by_level" => {
            let found = app.members_by_level(None, &level, None).await?.items;
            listed(&found, PAGE, order, of_level, "a page of ORO")?
        }
        "members_of_user_by_level" => {
            let found = app.members_by_level(Some(&user), &level, None).await?.items;
            listed(&found, MEMBERS / 3, order, |m| whose(m) && of_level(m), "ORO of a user")?
        }
        "members_by_status" => {
            let found = app.members_by_status(None, &status, None).await?.items;
            listed(&found, PAGE, order, of_status, "a page of ACTIVO")?
        }
        "members_of_user_by_status" => {
            let found = app.members_by_status(Some(&user), &status, None).await?.items;
            listed(&found, MEMBERS / 2, order, |m| whose(m) && of_status(m), "ACTIVO of a user")?
        }
        "members_by_level_and_status" => {
            // Of a page of those who are ACTIVO, every third is left.
            let found = app.members_by_level_and_status(None, &level, &status, None).await?.items;
            let both = |m: &NetworkMember| of_level(m) && of_status(m);
            listed(&found, PAGE.div_ceil(3), order, both, "a page of ORO, ACTIVO")?
        }
        "members_of_user_by_level_and_status" => {
            let found = app.members_by_level_and_status(Some(&user), &level, &status, None).await?;
            let all = |m: &NetworkMember| whose(m) && of_level(m) && of_status(m);
            listed(&found.items, MEMBERS / 6, order, all, "ORO, ACTIVO of a user")?
        }
        _ => return Ok(None),
    }))
}

async fn of_media(app: &Gamificacion, pattern: &str) -> Result<Option<Answer>> {
    let user = user(1)?;
    let first = product(&user, 0)?.product_id;
    fn order(link: &AssetLink) -> Vec<&Id> {
        vec![&link.asset_id]
    }
    Ok(Some(match pattern {
        "asset" => {
            let asset = app.asset(&upload(&user, "photo", None)?.asset_id).await?;
            let is_right = asset.as_ref().is_some_and(|asset| {
                asset.status == AssetStatus::Ready && asset.product_id.as_ref() == Some(&first)
            });
            Answer::new(asset.iter().len(), "a photo of a product")
                .expect(is_right, "a photo that has arrived")?
        }
        "assets" => {
            let found = app.assets(&user, None).await?.items;
            listed(&found, 2, order, |link| link.user_id == user, "those that have arrived")?
        }
        "assets_of_product" => {
            let found = app.assets_of_product(&user, &first, None).await?.items;
            listed(&found, 1, order, |link| link.product_id.as_ref() == Some(&first), "the photo")?
        }
        "assets_of_featured" => {
            let offer = featured(&user, 0)?.featured_id;
            let found = app.assets_of_featured(&user, &offer, None).await?.items;
            let is_right = |link: &AssetLink| link.featured_id.as_ref() == Some(&offer);
            listed(&found, 1, order, is_right, "the banner")?
        }
        _ => return Ok(None),
    }))
}

async fn of_a_panel(app: &Gamificacion, pattern: &str) -> Result<Option<Answer>> {
    let user = user(1)?;
    Ok(Some(match pattern {
        "goals" => {
            let found = app.goals(&user, None).await?.items;
            let done = found.iter().filter(|goal| goal.done).count();
            listed(&found, GOALS, |g| vec![&g.goal_id], |g| g.user_id == user, "goals of a user")?
                .expect(done == 1, "one of which is done")?
        }
        "products" => {
            let found = app.products(&user, None).await?.items;
            let whose = |product: &Product| product.user_id == user;
            listed(&found, PRODUCTS, |p| vec![&p.product_id], whose, "products of a user")?
        }
        "featured" => {
            let found = app.featured(&user, None).await?.items;
            let whose = |featured: &Featured| featured.user_id == user;
            listed(&found, FEATURED, |f| vec![&f.featured_id], whose, "offers of a user")?
        }
        "products_by_badge" => {
            let badge = id(BADGES[0])?;
            let found = app.products_by_badge(&badge, None).await?.items;
            let number = found.len() as u32;
            let order = |product: &'_ Product| product.user_id.clone();
            let is_right = found.is_sorted_by_key(order)
                && found.iter().all(|product| product.badge.as_ref() == Some(&badge));
            Answer::new(found.len(), "one of each user, NUEVO")
                .expect(is_right && number > 1 && number <= PAGE, "NUEVO, one of each user")?
        }
        _ => return Ok(None),
    }))
}

/// Answer of a write, whose result must be right.
fn written<E>(outcome: Outcome<E>, is_right: impl Fn(&E) -> bool, what: &str) -> Result<Answer> {
    let entity = outcome.done();
    Answer::new(entity.iter().len(), what).expect(entity.as_ref().is_some_and(is_right), what)
}

async fn write(app: &Gamificacion, pattern: &str) -> Result<Option<Answer>> {
    let user = fresh()?;
    let now = Default::default();
    let goal_id = goal(&user, 0, 5)?.goal_id;
    let member_id = member(&user, 0, now)?.member_id;
    let photo = upload(&user, "photo", None)?;
    let asset_id = photo.asset_id.clone();
    Ok(Some(match pattern {
        "create_user" => {
            let created = app.create_user(profile(&user, &id("FRESH")?, 0)?).await?;
            Answer::new(3, format!("{created:?}: profile, dashboard and code"))
                .expect(created == Created::Done, "a new user")?
        }
        "change_code" => {
            let read = profile(&user, &id("FRESH")?, 0)?;
            let code = id("FRESHER")?;
            let changed = app.change_code(&read, &code).await?;
            written(changed, |profile| profile.user_code == code, "another code")?
        }
        "add_goal" => {
            let added = app.add_goal(goal(&user, 0, 5)?).await?;
            Answer::new(1, "a goal").expect(added.is_done(), "a new goal")?
        }
        "advance_goal" => {
            let advanced = app.advance_goal(&user, &goal_id, 5).await?;
            written(advanced, |goal| goal.progress == 5, "5 of 5")?
        }
        "complete_goal" => {
            let completed = app.complete_goal(&user, &goal_id).await?;
            Answer::new(2, format!("{completed:?}"))
                .expect(completed == Completed::Done, "a goal that is done")?
        }
        "award_points" => {
            let awarded = app.award_points(&user, 100).await?;
            let is_right = |figures: &Dashboard| (figures.points, figures.completed_goals);
            written(awarded, |figures| is_right(figures) == (100, 1), "100 points")?
        }
        "add_product" => {
            let added = app.add_product(product(&user, PRODUCTS)?).await?;
            Answer::new(1, "a product").expect(added.is_done(), "a new product")?
        }
        "set_badge" => {
            let badge = id("EXCLUSIVO")?;
            let plain = product(&user, PRODUCTS)?.product_id;
            let changed = app.set_badge(&user, &plain, Some(&badge)).await?;
            written(changed, |product| product.badge.as_ref() == Some(&badge), "EXCLUSIVO")?
        }
        "add_featured" => {
            let added = app.add_featured(featured(&user, 0)?).await?;
            Answer::new(1, "an offer").expect(added.is_done(), "a new offer")?
        }
        "add_member" => {
            let added = app.add_member(member(&user, 0, now)?).await?;
            Answer::new(2, "a member").expect(added.is_done(), "a new member")?
        }
        "change_level" => {
            let (from, to) = (id(LEVELS[0])?, id(LEVELS[1])?);
            let changed = app.change_level(&user, &member_id, &from, &to).await?;
            written(changed, |member| member.level == to, "BRONCE to PLATA")?
        }
        "change_status" => {
            let (from, to) = (id(STATUSES[0])?, id(STATUSES[1])?);
            let changed = app.change_status(&user, &member_id, &from, &to).await?;
            written(changed, |member| member.status == to, "ACTIVO to INACTIVO")?
        }
        "remove_member" => {
            let removed = app.remove_member(&user, &member_id).await?;
            Answer::new(2, "a member less").expect(removed, "a member who was there")?
        }
        "begin_upload" => {
            let begun = app.begin_upload(photo).await?;
            Answer::new(1, "a pending file").expect(begun.is_done(), "a new file")?
        }
        "confirm_upload" => {
            let confirmed = app.confirm_upload(&asset_id).await?;
            Answer::new(2, format!("{confirmed:?}"))
                .expect(confirmed == Confirmed::Done, "a file and its link")?
        }
        "delete_asset" => {
            let deleted = app.delete_asset(&asset_id).await?;
            Answer::new(2, "a file and its link").expect(deleted, "a file that was there")?
        }
        "delete_user" => {
            let deleted = app.delete_user(&leaving()?).await?;
            Answer::new(3, "profile, dashboard and code").expect(deleted, "a user who was there")?
        }
        _ => return Ok(None),
    }))
}
