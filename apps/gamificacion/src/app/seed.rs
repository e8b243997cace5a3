//! Sample data.

use std::time::Duration;

use tabla::entity::{Db, Id, UtcTime};
use tabla::{Error, ErrorKind, Result};
use tabla_kit::Progress;

use super::id;
use crate::entities::*;
use crate::operations::{Added, Confirmed, Created, Gamificacion, Settings};

/// Number of users at scale 1.
const USERS: u32 = 16;
/// Numbers of entities of each user.
pub(super) const GOALS: u32 = 3;
pub(super) const PRODUCTS: u32 = 4;
pub(super) const FEATURED: u32 = 2;
pub(super) const MEMBERS: u32 = 12;
/// Members of the first user's network, which does not fit a page of the store.
pub(super) const LARGE_NETWORK: u32 = 400;
/// Bytes of a bio in the large network.
const BIO: usize = 3000;

pub(super) const LEVELS: [&str; 3] = ["BRONCE", "PLATA", "ORO"];
pub(super) const STATUSES: [&str; 2] = ["ACTIVO", "INACTIVO"];
pub(super) const BADGES: [&str; 2] = ["NUEVO", "OFERTA"];
const NAMES: [&str; 6] = ["Ana", "Bruno", "Carla", "Diego", "Elena", "Fabio"];

pub(super) fn user(number: u32) -> Result<Id> {
    id(format!("user-{number:04}"))
}

/// Id of the user whom `delete_user` deletes.
pub(super) fn leaving() -> Result<Id> {
    id("leaving")
}

pub(super) fn code(number: u32) -> Result<Id> {
    id(format!("CODE{number:04}"))
}

fn name(number: u32) -> String {
    NAMES[number as usize % NAMES.len()].to_owned()
}

pub(super) fn profile(user: &Id, code: &Id, number: u32) -> Result<Profile> {
    Ok(Profile {
        user_id: user.clone(),
        user_code: code.clone(),
        name: name(number),
        level: id(LEVELS[number as usize % LEVELS.len()])?,
        email: Some(format!("{user}@example.com")),
        leaving: None,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    })
}

pub(super) fn goal(user: &Id, number: u32, target: u64) -> Result<Goal> {
    Ok(Goal {
        user_id: user.clone(),
        goal_id: id(format!("goal-{number}"))?,
        title: format!("{target} sales"),
        target,
        progress: 0,
        done: false,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    })
}

/// The first two products have a badge.
pub(super) fn product(user: &Id, number: u32) -> Result<Product> {
    let badge = BADGES.get(number as usize).copied();
    Ok(Product {
        user_id: user.clone(),
        product_id: id(format!("product-{number}"))?,
        name: format!("Plan {number}"),
        badge: badge.map(id).transpose()?,
        points: u64::from(number) * 50,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    })
}

pub(super) fn featured(user: &Id, number: u32) -> Result<Featured> {
    Ok(Featured {
        user_id: user.clone(),
        featured_id: id(format!("featured-{number}"))?,
        title: format!("Offer {number} of the week"),
        product_id: Some(id(format!("product-{number}"))?),
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    })
}

/// Levels and statuses in turn: of six members, one of each level has each status.
pub(super) fn member(user: &Id, number: u32, joined_at: UtcTime) -> Result<NetworkMember> {
    Ok(NetworkMember {
        user_id: user.clone(),
        member_id: id(format!("member-{number:05}"))?,
        name: name(number),
        level: id(LEVELS[number as usize % LEVELS.len()])?,
        status: id(STATUSES[number as usize % STATUSES.len()])?,
        bio: None,
        joined_at,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    })
}

/// Upload of a picture of a product, or of a featured entry.
pub(super) fn upload(user: &Id, kind: &str, of: Option<&Product>) -> Result<Upload> {
    let asset_id = id(format!("{kind}-{user}"))?;
    Ok(Upload {
        user_id: user.clone(),
        product_id: of.map(|product| product.product_id.clone()),
        featured_id: if of.is_none() { Some(id("featured-0")?) } else { None },
        object_key: format!("{user}/{kind}.png"),
        content_type: "image/png".to_owned(),
        size: 48_000,
        asset_id,
    })
}

/// Requires that a write was made: the seed has no concurrent writer.
pub(super) fn made(is_made: bool, what: &str) -> Result<()> {
    match is_made {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Unexpected, format!("cannot write {what}"))),
    }
}

pub(super) async fn seed(
    app: &Gamificacion,
    db: &Db,
    scale: u32,
    progress: Progress<'_>,
) -> Result<()> {
    let total = u64::from(USERS * scale);
    for number in 0..USERS * scale {
        let user = user(number)?;
        let created = app.create_user(profile(&user, &code(number)?, number)?).await?;
        made(created == Created::Done, "a user")?;
        fill(app, &user).await?;
        network(app, &user, if number == 0 { LARGE_NETWORK } else { MEMBERS }, db.now().second())
            .await?;
        uploads(app, db, &user).await?;
        progress(u64::from(number) + 1, total);
    }
    let created = app.create_user(profile(&leaving()?, &id("LEAVING")?, 0)?).await?;
    made(created == Created::Done, "a user")
}

/// Goals, the first of which is done, products and featured entries.
async fn fill(app: &Gamificacion, user: &Id) -> Result<()> {
    for number in 0..GOALS {
        let goal = goal(user, number, 10)?;
        let goal_id = goal.goal_id.clone();
        made(app.add_goal(goal).await?.is_done(), "a goal")?;
        let steps = if number == 0 { 10 } else { number };
        made(app.advance_goal(user, &goal_id, steps).await?.is_done(), "a step")?;
    }
    let _ = app.complete_goal(user, &id("goal-0")?).await?;
    for number in 0..PRODUCTS {
        made(app.add_product(product(user, number)?).await?.is_done(), "a product")?;
    }
    for number in 0..FEATURED {
        made(app.add_featured(featured(user, number)?).await?.is_done(), "an offer")?;
    }
    made(app.award_points(user, 250).await?.is_done(), "the points")
}

async fn network(app: &Gamificacion, user: &Id, members: u32, now: UtcTime) -> Result<()> {
    for number in 0..members {
        let joined = now.minus(Duration::from_secs(u64::from(number) * 86_400));
        let mut member = member(user, number, joined)?;
        if members == LARGE_NETWORK {
            member.bio = Some(format!("{} sells since {joined}. ", member.name).repeat(BIO / 35));
        }
        made(app.add_member(member).await?.is_done(), "a member")?;
    }
    Ok(())
}

/// Two ready files, a pending one, and one whose upload has expired.
async fn uploads(app: &Gamificacion, db: &Db, user: &Id) -> Result<()> {
    let of = product(user, 0)?;
    for (kind, product) in [("photo", Some(&of)), ("banner", None)] {
        let upload = upload(user, kind, product)?;
        let asset = upload.asset_id.clone();
        made(app.begin_upload(upload).await? == Added::Done, "a file")?;
        made(app.confirm_upload(&asset).await? == Confirmed::Done, "a file that has arrived")?;
    }
    made(app.begin_upload(upload(user, "awaited", None)?).await?.is_done(), "a file")?;
    let at_once = Settings { upload_window: Duration::ZERO };
    let late = Gamificacion::with_settings(db.clone(), at_once);
    made(late.begin_upload(upload(user, "late", None)?).await?.is_done(), "a file")
}
