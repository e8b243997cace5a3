//! Races: many callers write one item. Exactly one wins, or each write counts.

use futures::future::try_join_all;
use tabla::entity::{Id, Outcome};
use tabla::{Error, ErrorKind, Result};
use tabla_kit::Race;

use super::id;
use super::seed::{code, goal, made, member, profile, upload};
use crate::entities::*;
use crate::operations::{Added, Completed, Confirmed, Created, Gamificacion};

/// Callers of each race.
const CONTENDERS: u32 = 50;
/// Target of the raced goal.
const TARGET: u64 = CONTENDERS as u64;

pub(super) async fn race(app: &Gamificacion) -> Result<Vec<Race>> {
    // Sorts after the users of the seed, whose patterns must have the same answers afterwards.
    let user = id("user-raced")?;
    let created = app.create_user(profile(&user, &id("RACED")?, 0)?).await?;
    made(created == Created::Done, "a user")?;
    Ok(vec![
        users(app).await?,
        codes(app).await?,
        changed_codes(app).await?,
        members(app, &user).await?,
        levels(app, &user).await?,
        statuses(app, &user).await?,
        leaving(app, &user).await?,
        goals(app, &user).await?,
        uploads(app, &user).await?,
        confirmations(app, &user).await?,
        deletions(app, &user).await?,
    ])
}

fn check(holds: bool, error: &str) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Unexpected, error)),
    }
}

/// A race with exactly one winner.
fn won(name: &'static str, winners: usize, left: String) -> Result<Race> {
    check(winners == 1, &format!("{name}: {winners} callers won instead of 1"))?;
    Ok(Race { name, contenders: CONTENDERS as usize, winners, left })
}

/// All callers create the same user, each with another code.
async fn users(app: &Gamificacion) -> Result<Race> {
    let user = id("wanted")?;
    let attempts = try_join_all((0..CONTENDERS).map(|number| {
        let profile = id(format!("WANTED{number}")).and_then(|code| profile(&user, &code, number));
        async { app.create_user(profile?).await }
    }))
    .await?;
    let winner = app.profile(&user).await?;
    let code = winner.as_ref().map(|profile| profile.user_code.clone());
    let saw = |created: &&Created| **created == Created::Exists(winner.clone());
    check(
        attempts.iter().filter(saw).count() + 1 == attempts.len(),
        "a loser does not get the existing user",
    )?;
    // A loser's code stays free.
    let loser = (0..CONTENDERS).map(|number| id(format!("WANTED{number}")));
    let loser =
        loser.collect::<Result<Vec<_>>>()?.into_iter().find(|one| Some(one) != code.as_ref());
    if let Some(loser) = loser {
        let other = app.create_user(profile(&id("wanted-too")?, &loser, 0)?).await?;
        check(other == Created::Done, "a loser has claimed a code")?;
    }
    let winners = attempts.iter().filter(|created| **created == Created::Done).count();
    won("creating one user", winners, format!("the code is {}", shown(code.as_ref())))
}

fn shown(id: Option<&Id>) -> &str {
    id.map_or("none", Id::as_str)
}

/// Each caller creates another user, all with the same code.
async fn codes(app: &Gamificacion) -> Result<Race> {
    let wanted = id("WANTED")?;
    let attempts = try_join_all((0..CONTENDERS).map(|number| {
        let profile = racer(number).and_then(|user| profile(&user, &wanted, number));
        async { app.create_user(profile?).await }
    }))
    .await?;
    let winners = attempts.iter().filter(|created| **created == Created::Done).count();
    let taken = attempts.iter().filter(|created| **created == Created::CodeTaken).count();
    check(winners + taken == attempts.len(), "a loser does not get CodeTaken")?;
    let mut there = Vec::new();
    for number in 0..CONTENDERS {
        let user = racer(number)?;
        let (profile, dashboard) = (app.profile(&user).await?, app.dashboard(&user).await?);
        check(
            profile.is_some() == dashboard.is_some(),
            "a user has a profile or a dashboard, and not both",
        )?;
        there.extend(profile);
    }
    check(there.len() == 1, "a loser has written a profile")?;
    let owner = there.first().map(|profile| &profile.user_id);
    won("one code for new users", winners, format!("it is {}'s", shown(owner)))
}

fn racer(number: u32) -> Result<Id> {
    id(format!("racer-{number}"))
}

/// Existing users change to the same new code.
async fn changed_codes(app: &Gamificacion) -> Result<Race> {
    let (wanted, mut read) = (id("BETTER")?, Vec::new());
    for number in 0..CONTENDERS {
        let user = id(format!("changer-{number}"))?;
        let profile = profile(&user, &code(900_000 + number)?, number)?;
        made(app.create_user(profile).await? == Created::Done, "a user")?;
        read.extend(app.profile(&user).await?);
    }
    let attempts = try_join_all(read.iter().map(|read| app.change_code(read, &wanted))).await?;
    let mut winners = 0;
    for (before, attempt) in read.iter().zip(&attempts) {
        let after = app.profile(&before.user_id).await?;
        match attempt {
            Outcome::Done(_) => {
                winners += 1;
                let is_changed = after.is_some_and(|profile| profile.user_code == wanted);
                check(is_changed, "the winner does not have the code")?;
            }
            Outcome::Taken { field: "user_code" } => {
                check(after.as_ref() == Some(before), "the profile of a loser has changed")?;
            }
            other => check(false, &format!("changing a code ended with {other:?}"))?,
        }
    }
    won("one code for users who have another", winners, "the others keep theirs".to_owned())
}

/// Each member is added by two callers.
async fn members(app: &Gamificacion, user: &Id) -> Result<Race> {
    let attempts = try_join_all((0..CONTENDERS).map(|number| {
        let member = member(user, number / 2, Default::default());
        async { app.add_member(member?).await }
    }))
    .await?;
    let winners = attempts.iter().filter(|added| **added == Added::Done).count();
    check(winners == CONTENDERS as usize / 2, "a member was added twice, or never")?;
    let size = counted(app, user).await?;
    let left = format!("a network of {size}");
    check(size as usize == winners, "the dashboard does not count the members")?;
    Ok(Race { name: "adding members", contenders: attempts.len(), winners, left })
}

/// Number of members on the dashboard, which must be that of the network.
async fn counted(app: &Gamificacion, user: &Id) -> Result<u64> {
    let panel = app.panel(user).await?;
    let size = panel.dashboard.map(|dashboard| dashboard.network_size).unwrap_or_default();
    check(size == panel.network.len() as u64, "the dashboard does not count the members")?;
    Ok(size)
}

/// All callers move a member from one level, each to another.
async fn levels(app: &Gamificacion, user: &Id) -> Result<Race> {
    let (member, from) = (member(user, 0, Default::default())?.member_id, id("BRONCE")?);
    let attempts = try_join_all((0..CONTENDERS).map(|number| {
        let (member, from) = (&member, &from);
        async move { app.change_level(user, member, from, &id(format!("LEVEL{number}"))?).await }
    }))
    .await?;
    let winners = agreed(&attempts)?;
    let level = winners.first().map(|member| member.level.clone());
    won("the level of a member", winners.len(), format!("it is {}", shown(level.as_ref())))
}

/// All callers change a member from one status, each to another.
async fn statuses(app: &Gamificacion, user: &Id) -> Result<Race> {
    let (member, from) = (member(user, 0, Default::default())?.member_id, id("ACTIVO")?);
    let attempts =
        try_join_all(
            (0..CONTENDERS).map(|number| {
                let (member, from) = (&member, &from);
                async move {
                    app.change_status(user, member, from, &id(format!("STATUS{number}"))?).await
                }
            }),
        )
        .await?;
    let winners = agreed(&attempts)?;
    let status = winners.first().map(|member| member.status.clone());
    won("the status of a member", winners.len(), format!("it is {}", shown(status.as_ref())))
}

/// Winners. Every loser must have got what a winner wrote.
fn agreed(attempts: &[Outcome<NetworkMember>]) -> Result<Vec<&NetworkMember>> {
    let mut winners = Vec::new();
    let mut seen = Vec::new();
    for attempt in attempts {
        match attempt {
            Outcome::Done(member) => winners.push(member),
            Outcome::Lost(Some(member)) => seen.push(member),
            other => check(false, &format!("changing a member ended with {other:?}"))?,
        }
    }
    let is_agreed = seen.iter().all(|member| winners.contains(member));
    check(is_agreed, "a loser does not get what the winner wrote")?;
    Ok(winners)
}

/// All callers remove the same member.
async fn leaving(app: &Gamificacion, user: &Id) -> Result<Race> {
    let member = member(user, 0, Default::default())?.member_id;
    let before = counted(app, user).await?;
    let attempts = try_join_all((0..CONTENDERS).map(|_| app.remove_member(user, &member))).await?;
    let after = counted(app, user).await?;
    check(after + 1 == before, "one removal does not subtract 1 on the dashboard")?;
    let winners = attempts.iter().filter(|removed| **removed).count();
    won("removing one member", winners, format!("a network of {after}"))
}

/// All callers advance a goal, award points, and complete the goal.
async fn goals(app: &Gamificacion, user: &Id) -> Result<Race> {
    let goal = goal(user, 0, TARGET)?;
    let goal_id = goal.goal_id.clone();
    made(app.add_goal(goal).await?.is_done(), "a goal")?;
    let steps = (0..CONTENDERS).map(|_| app.advance_goal(user, &goal_id, 1));
    let steps = try_join_all(steps).await?;
    check(steps.iter().all(Outcome::is_done), "the goal was not advanced")?;
    try_join_all((0..CONTENDERS).map(|number| app.award_points(user, number))).await?;
    let attempts = try_join_all((0..CONTENDERS).map(|_| app.complete_goal(user, &goal_id))).await?;
    let winners = attempts.iter().filter(|done| **done == Completed::Done).count();
    let seen = attempts.iter().filter(
        |done| matches!(done, Completed::AlreadyDone(goal) if goal.done && goal.progress == TARGET),
    );
    check(seen.count() + winners == attempts.len(), "a loser does not get the completed goal")?;
    let figures = app.dashboard(user).await?;
    let figures = figures.map(|figures| (figures.completed_goals, figures.points));
    let points = u64::from(CONTENDERS * (CONTENDERS - 1) / 2);
    check(figures == Some((1, points)), "the dashboard does not have 1 goal and all points")?;
    won("completing a goal", winners, format!("{TARGET} steps, {points} points, 1 goal"))
}

/// All callers begin an upload under the same id.
async fn uploads(app: &Gamificacion, user: &Id) -> Result<Race> {
    let attempts = try_join_all((0..CONTENDERS).map(|number| {
        let upload = upload(user, "raced", None);
        async move {
            let mut upload = upload?;
            upload.size = u64::from(number);
            app.begin_upload(upload).await
        }
    }))
    .await?;
    let asset = app.asset(&upload(user, "raced", None)?.asset_id).await?;
    let Some(asset) = asset else {
        return Err(Error::new(ErrorKind::Unexpected, "there is no pending file"));
    };
    let winners = attempts.iter().filter(|added| **added == Added::Done).count();
    let size = asset.size;
    let seen = Added::Exists(asset);
    let losers = attempts.iter().filter(|added| **added == seen).count();
    check(losers + winners == attempts.len(), "a loser does not get the pending file")?;
    won("beginning an upload", winners, format!("a file of {size} bytes is awaited"))
}

/// All callers confirm the same upload.
async fn confirmations(app: &Gamificacion, user: &Id) -> Result<Race> {
    let asset = upload(user, "raced", None)?.asset_id;
    let attempts = try_join_all((0..CONTENDERS).map(|_| app.confirm_upload(&asset))).await?;
    let winners = attempts.iter().filter(|confirmed| **confirmed == Confirmed::Done).count();
    let ready = app.asset(&asset).await?;
    let is_ready = |asset: &Asset| (asset.status, asset.expires_at) == (AssetStatus::Ready, None);
    check(ready.as_ref().is_some_and(is_ready), "the file is not ready")?;
    let seen = attempts.iter().filter(|confirmed| match confirmed {
        Confirmed::Already(asset) => Some(asset) == ready.as_ref(),
        _ => false,
    });
    check(seen.count() + winners == attempts.len(), "a loser does not get the ready file")?;
    let links = app.panel(user).await?.assets.len();
    check(links == 1, "the user does not have exactly 1 link")?;
    won("confirming an upload", winners, "one file, one link".to_owned())
}

/// All callers delete the same file.
async fn deletions(app: &Gamificacion, user: &Id) -> Result<Race> {
    let asset = upload(user, "raced", None)?.asset_id;
    let attempts = try_join_all((0..CONTENDERS).map(|_| app.delete_asset(&asset))).await?;
    let winners = attempts.iter().filter(|deleted| **deleted).count();
    let is_gone = app.asset(&asset).await?.is_none();
    let links = app.panel(user).await?.assets.len();
    check(is_gone && links == 0, "the asset or its link is not deleted")?;
    won("deleting a file", winners, "nothing is left".to_owned())
}
