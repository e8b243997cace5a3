//! Many callers meet on one item: exactly one wins, or every one counts.

use futures::future::try_join_all;
use tabla::entity::{Id, Outcome};
use tabla::{Error, ErrorKind, Result};
use tabla_kit::Race;

use super::id;
use super::seed::{code, goal, made, member, profile, upload};
use crate::entities::*;
use crate::operations::{Added, Completed, Confirmed, Created, Gamificacion};

/// How many meet.
const CONTENDERS: u32 = 50;
/// How far the goal is that all go towards.
const TARGET: u64 = CONTENDERS as u64;

pub(super) async fn race(app: &Gamificacion) -> Result<Vec<Race>> {
    // Behind the users of the seed, so that their patterns answer the same afterwards.
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

fn check(holds: bool, otherwise: &str) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Unexpected, otherwise)),
    }
}

/// A race that exactly one has won.
fn won(name: &'static str, winners: usize, left: String) -> Result<Race> {
    check(winners == 1, &format!("{name}: {winners} have won, and not one"))?;
    Ok(Race { name, contenders: CONTENDERS as usize, winners, left })
}

/// Everybody creates the same user, each with a code of their own.
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
        "a loser does not see the user who is there",
    )?;
    // The codes of the losers are anybody's.
    let loser = (0..CONTENDERS).map(|number| id(format!("WANTED{number}")));
    let loser =
        loser.collect::<Result<Vec<_>>>()?.into_iter().find(|one| Some(one) != code.as_ref());
    if let Some(loser) = loser {
        let other = app.create_user(profile(&id("wanted-too")?, &loser, 0)?).await?;
        check(other == Created::Done, "a loser has kept a code")?;
    }
    let winners = attempts.iter().filter(|created| **created == Created::Done).count();
    won("creating one user", winners, format!("the code is {}", shown(code.as_ref())))
}

fn shown(id: Option<&Id>) -> &str {
    id.map_or("none", Id::as_str)
}

/// Everybody creates a user of their own, all with the same code.
async fn codes(app: &Gamificacion) -> Result<Race> {
    let wanted = id("WANTED")?;
    let attempts = try_join_all((0..CONTENDERS).map(|number| {
        let profile = racer(number).and_then(|user| profile(&user, &wanted, number));
        async { app.create_user(profile?).await }
    }))
    .await?;
    let winners = attempts.iter().filter(|created| **created == Created::Done).count();
    let taken = attempts.iter().filter(|created| **created == Created::CodeTaken).count();
    check(winners + taken == attempts.len(), "a loser does not hear that the code is taken")?;
    let mut there = Vec::new();
    for number in 0..CONTENDERS {
        let user = racer(number)?;
        let (profile, dashboard) = (app.profile(&user).await?, app.dashboard(&user).await?);
        check(profile.is_some() == dashboard.is_some(), "half a user is there")?;
        there.extend(profile);
    }
    check(there.len() == 1, "a loser has left a profile")?;
    let owner = there.first().map(|profile| &profile.user_id);
    won("one code for new users", winners, format!("it is {}'s", shown(owner)))
}

fn racer(number: u32) -> Result<Id> {
    id(format!("racer-{number}"))
}

/// Users who are there all want the same new code.
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
                check(after.as_ref() == Some(before), "a loser has changed")?;
            }
            other => check(false, &format!("changing a code ended with {other:?}"))?,
        }
    }
    won("one code for users who have another", winners, "the others keep theirs".to_owned())
}

/// Everybody adds a member, and half of them one that another adds, too.
async fn members(app: &Gamificacion, user: &Id) -> Result<Race> {
    let attempts = try_join_all((0..CONTENDERS).map(|number| {
        let member = member(user, number / 2, Default::default());
        async { app.add_member(member?).await }
    }))
    .await?;
    let winners = attempts.iter().filter(|added| **added == Added::Done).count();
    check(winners == CONTENDERS as usize / 2, "each member is added once")?;
    let size = counted(app, user).await?;
    let left = format!("a network of {size}");
    check(size as usize == winners, "the dashboard counts other members than there are")?;
    Ok(Race { name: "adding members", contenders: attempts.len(), winners, left })
}

/// The members that the dashboard counts, if that is how many there are.
async fn counted(app: &Gamificacion, user: &Id) -> Result<u64> {
    let panel = app.panel_now(user).await?;
    let size = panel.dashboard.map(|dashboard| dashboard.network_size).unwrap_or_default();
    check(size == panel.network.len() as u64, "the dashboard counts wrongly")?;
    Ok(size)
}

/// Everybody takes a member from one level to one of their own.
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

/// Everybody takes a member from one status to one of their own.
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

/// Those who have won; every loser has seen what the winner has written.
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
    check(is_agreed, "a loser sees something else than the winner's")?;
    Ok(winners)
}

/// Everybody removes the same member.
async fn leaving(app: &Gamificacion, user: &Id) -> Result<Race> {
    let member = member(user, 0, Default::default())?.member_id;
    let before = counted(app, user).await?;
    let attempts = try_join_all((0..CONTENDERS).map(|_| app.remove_member(user, &member))).await?;
    let after = counted(app, user).await?;
    check(after + 1 == before, "a member who left once is counted otherwise")?;
    let winners = attempts.iter().filter(|removed| **removed).count();
    won("removing one member", winners, format!("a network of {after}"))
}

/// Everybody takes a step towards a goal, gets points, and completes it.
async fn goals(app: &Gamificacion, user: &Id) -> Result<Race> {
    let goal = goal(user, 0, TARGET)?;
    let goal_id = goal.goal_id.clone();
    made(app.add_goal(goal).await?.is_done(), "a goal")?;
    let steps = (0..CONTENDERS).map(|_| app.advance_goal(user, &goal_id, 1));
    let steps = try_join_all(steps).await?;
    check(steps.iter().all(Outcome::is_done), "a step was lost")?;
    try_join_all((0..CONTENDERS).map(|number| app.award_points(user, number))).await?;
    let attempts = try_join_all((0..CONTENDERS).map(|_| app.complete_goal(user, &goal_id))).await?;
    let winners = attempts.iter().filter(|done| **done == Completed::Done).count();
    let seen = attempts.iter().filter(
        |done| matches!(done, Completed::AlreadyDone(goal) if goal.done && goal.progress == TARGET),
    );
    check(seen.count() + winners == attempts.len(), "a loser does not see the goal that is done")?;
    let figures = app.dashboard(user).await?;
    let figures = figures.map(|figures| (figures.completed_goals, figures.points));
    let points = u64::from(CONTENDERS * (CONTENDERS - 1) / 2);
    check(figures == Some((1, points)), "a goal is not counted once, or points are lost")?;
    won("completing a goal", winners, format!("{TARGET} steps, {points} points, 1 goal"))
}

/// Everybody begins an upload under the same identifier.
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
        return Err(Error::new(ErrorKind::Unexpected, "nobody has begun the upload"));
    };
    let winners = attempts.iter().filter(|added| **added == Added::Done).count();
    let size = asset.size;
    let seen = Added::Exists(asset);
    let losers = attempts.iter().filter(|added| **added == seen).count();
    check(losers + winners == attempts.len(), "a loser does not see the upload that is there")?;
    won("beginning an upload", winners, format!("a file of {size} bytes is awaited"))
}

/// Everybody confirms the same upload.
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
    check(seen.count() + winners == attempts.len(), "a loser does not see the file that is ready")?;
    let links = app.panel_now(user).await?.assets.len();
    check(links == 1, "a file is not linked once")?;
    won("confirming an upload", winners, "one file, one link".to_owned())
}

/// Everybody deletes the same file.
async fn deletions(app: &Gamificacion, user: &Id) -> Result<Race> {
    let asset = upload(user, "raced", None)?.asset_id;
    let attempts = try_join_all((0..CONTENDERS).map(|_| app.delete_asset(&asset))).await?;
    let winners = attempts.iter().filter(|deleted| **deleted).count();
    let is_gone = app.asset(&asset).await?.is_none();
    let links = app.panel_now(user).await?.assets.len();
    check(is_gone && links == 0, "something is left of a file")?;
    won("deleting a file", winners, "nothing is left".to_owned())
}
