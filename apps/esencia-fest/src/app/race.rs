//! Races: concurrent callers for each operation that only some of them can win.

use futures::future::try_join_all;
use tabla::Result;
use tabla::entity::{Db, Id, Outcome};
use tabla_kit::Race;

use super::seed::{self, id, room, user};
use super::{check, wrong};
use crate::entities::*;
use crate::operations::*;
use crate::patterns::{Order, Sort};

/// Users who like one post, twice each.
const USERS: u32 = 40;
const TAPS: u32 = 2;
/// Callers of every other race.
const CALLERS: u32 = 50;

pub(super) async fn race(db: &Db) -> Result<Vec<Race>> {
    let fest = EsenciaFest::new(db.clone());
    Ok(vec![
        registering(&fest).await?,
        completing(&fest).await?,
        content(&fest).await?,
        likes_and_comments(&fest).await?,
        moderators(&fest).await?,
        comment_moderators(&fest).await?,
        scheduling(&fest).await?,
        events(&fest).await?,
    ])
}

/// All callers register one address.
async fn registering(fest: &EsenciaFest) -> Result<Race> {
    let email = Email::new(format!("{}@sura.com.co", fest.new_id()?))?;
    let attempts = try_join_all((0..CALLERS).map(|number| {
        let email = email.clone();
        async move {
            let name = format!("Caller {number}");
            fest.register(Newcomer { email, name, ..seed::newcomer(number)? }).await
        }
    }))
    .await?;
    let won: Vec<&User> = attempts
        .iter()
        .filter_map(|attempt| match attempt {
            Registered::Done(user) => Some(user),
            _ => None,
        })
        .collect();
    check(won.len() == 1, "an address is registered once")?;
    let present = fest.get_user(&email).await?;
    check(present.as_ref() == won.first().copied(), "the winner is registered")?;
    let seen = attempts.iter().filter(
        |attempt| matches!(attempt, Registered::Already(user) if Some(user) == present.as_ref()),
    );
    check(seen.count() + 1 == attempts.len(), "every loser gets the winner")?;
    Ok(Race {
        name: "registering an address",
        contenders: attempts.len(),
        winners: won.len(),
        left: format!("one user, {:?}", won[0].name),
    })
}

/// A user completes rooms on many devices.
async fn completing(fest: &EsenciaFest) -> Result<Race> {
    let email = Email::new(format!("{}@sura.com.co", fest.new_id()?))?;
    fest.register(Newcomer { email: email.clone(), ..seed::newcomer(1)? }).await?;
    let rooms: Vec<RoomId> = (1..=5).map(room).collect::<Result<_>>()?;
    let attempts = try_join_all(
        (0..CALLERS as usize).map(|number| fest.update_user_progress(&email, &rooms[number % 5])),
    )
    .await?;
    let winners = attempts.iter().filter(|attempt| attempt.is_done()).count();
    let mut progress = fest.get_user_progress(&email).await?.unwrap_or_default();
    progress.sort();
    check(winners == 5 && progress == rooms, "every room is completed once")?;
    let left = format!("{} rooms, each once", progress.len());
    Ok(Race { name: "completing rooms", contenders: attempts.len(), winners, left })
}

/// Administrators update the content of a room, in rounds.
async fn content(fest: &EsenciaFest) -> Result<Race> {
    const ROUNDS: u32 = 3;
    let room = RoomId::new(format!("sala-{}", fest.new_id()?))?;
    let opens = [(room.clone(), fest.now())].into();
    fest.set_schedule(ConfigSchedule { sala_open_times: opens }).await?;
    let mut winners = 0;
    for round in 0..ROUNDS {
        let seen = (round > 0).then_some(round);
        let attempts = try_join_all((0..CALLERS).map(|number| {
            let room = &room;
            async move { fest.update_room_content(room, seen, seed::content(number)).await }
        }))
        .await?;
        let won = attempts.iter().filter(|one| matches!(one, ContentUpdated::Done(_))).count();
        check(won == 1, "exactly one administrator wins a round")?;
        winners += won;
    }
    let mut shown = 0;
    for version in 1..=ROUNDS {
        let content = fest.get_content_version(&room, version).await?;
        let content = content.ok_or_else(|| wrong("a version is missing"))?;
        let is_shown = content.active_since.is_some();
        check(is_shown == (version == ROUNDS), "only the last version is shown")?;
        shown += u32::from(is_shown);
    }
    let contenders = (ROUNDS * CALLERS) as usize;
    let left = format!("versions 1 to {ROUNDS}, {shown} of them shown");
    Ok(Race { name: "content of a room", contenders, winners, left })
}

async fn new_post(fest: &EsenciaFest) -> Result<Id> {
    let post = fest.create_post(&user(0)?, "Una carrera", Vec::new()).await?.done();
    post.map(|post| post.post_id).ok_or_else(|| wrong("a new post is not new"))
}

/// Checks that the counts of a post are those of its likes and comments, in the post and in every index.
async fn counts(fest: &EsenciaFest, post: &Id) -> Result<(u32, u32)> {
    let Thread { post: read, comments, likes, unknown, unreadable } =
        fest.get_post_thread(post).await?;
    let active = comments.iter().filter(|comment| comment.status == Status::Active).count();
    let read = read.ok_or_else(|| wrong("the post is missing"))?;
    check(unknown.is_empty(), "the partition of the post has an unknown item")?;
    check(unreadable.is_empty(), "an item of the post cannot be read")?;
    check(
        read.likes as usize == likes.len(),
        "the count of likes differs from the number of likes",
    )?;
    check(
        read.comments_count as usize == active,
        "the count of comments differs from the number of active comments",
    )?;
    for sort in [Sort::Date, Sort::Likes, Sort::Comments] {
        for status in [Status::Active, Status::Banned, Status::Deleted] {
            let (mut found, mut after) = (0, None);
            loop {
                let order = Order::Descending;
                let page = fest.get_posts_by_status(status, sort, order, after).await?;
                let here = page.items.iter().filter(|other| other.post_id == *post);
                for other in here {
                    check(*other == read, "a post in an index differs from the one in the table")?;
                    found += 1;
                }
                let in_order = page.items.is_sorted_by(|one, other| match sort {
                    Sort::Date => one.created_at >= other.created_at,
                    Sort::Likes => one.likes >= other.likes,
                    Sort::Comments => one.comments_count >= other.comments_count,
                });
                check(in_order, "a feed is not sorted by its counts")?;
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            let expected = usize::from(status == read.status);
            check(found == expected, "a post is not exactly once in the index of its status")?;
        }
    }
    Ok((read.likes, read.comments_count))
}

/// Users like a post, twice each, and comment on it.
async fn likes_and_comments(fest: &EsenciaFest) -> Result<Race> {
    let post = new_post(fest).await?;
    let taps = (0..USERS * TAPS).map(|tap| {
        let post = &post;
        async move {
            let user = user(tap % USERS)?;
            if tap % 4 == 0 {
                fest.create_comment(post, &user, "Yo también").await?;
            }
            fest.like_post(post, &user).await
        }
    });
    let taps = try_join_all(taps).await?;
    let winners = taps.iter().filter(|liked| matches!(liked, Liked::Done(_))).count();
    let again = taps.iter().filter(|liked| **liked == Liked::Already).count();
    check(winners == USERS as usize && winners + again == taps.len(), "one like for each user")?;
    let (likes, comments) = counts(fest, &post).await?;
    check(likes == USERS && comments == USERS * TAPS / 4, "a like or a comment is not counted")?;
    let left = format!("{likes} likes and {comments} comments, counted and in order");
    Ok(Race { name: "likes and comments", contenders: taps.len(), winners, left })
}

/// Moderators ban one post while users like it.
async fn moderators(fest: &EsenciaFest) -> Result<Race> {
    let post = new_post(fest).await?;
    let bans = try_join_all((0..CALLERS).map(|number| {
        let post = &post;
        async move {
            fest.like_post(post, &user(number)?).await?;
            let admin = id(format!("admin{number}"))?;
            fest.update_post_status(post, Status::Banned, "spam", &admin).await
        }
    }))
    .await?;
    let won: Vec<_> = bans
        .iter()
        .filter_map(|ban| match ban {
            Moderated::Done(_, log) => Some(log),
            Moderated::Refused(_) => None,
        })
        .collect();
    check(won.len() == 1, "a post is banned once")?;
    let seen = bans.iter().filter(|ban| {
        matches!(ban, Moderated::Refused(Some(post))
            if post.banned_by.as_ref() == Some(&won[0].admin_id))
    });
    check(seen.count() + 1 == bans.len(), "every loser gets the post as the winner banned it")?;
    counts(fest, &post).await?;
    let left = format!("banned by {}", won[0].admin_id);
    Ok(Race { name: "banning a post", contenders: bans.len(), winners: won.len(), left })
}

/// Moderators ban comments while users write others.
async fn comment_moderators(fest: &EsenciaFest) -> Result<Race> {
    const COMMENTS: u32 = 10;
    let post = new_post(fest).await?;
    let mut comments = Vec::new();
    for number in 0..COMMENTS {
        let comment = id(format!("c{number}"))?;
        fest.create_comment_as(comment.clone(), &post, &user(number)?, "¿Qué tal?").await?;
        comments.push(comment);
    }
    let decisions = try_join_all((0..CALLERS).map(|number| {
        let (post, comment) = (&post, &comments[number as usize % comments.len()]);
        async move {
            fest.create_comment(post, &user(number)?, "Bien").await?;
            let admin = id(format!("admin{number}"))?;
            fest.update_comment_status(post, comment, Status::Banned, "spam", &admin).await
        }
    }))
    .await?;
    let done = |one: &&Moderated<Comment>| matches!(one, Moderated::Done(..));
    let winners = decisions.iter().filter(done).count();
    check(winners == comments.len(), "every comment is banned once")?;
    let (_, count) = counts(fest, &post).await?;
    check(count == CALLERS, "the count differs from the number of active comments")?;
    let left = format!("{count} comments, counted");
    Ok(Race { name: "banning comments", contenders: decisions.len(), winners, left })
}

/// Administrators set different schedules; the rooms end with all times of one of them.
async fn scheduling(fest: &EsenciaFest) -> Result<Race> {
    let now = fest.now();
    let rooms: Vec<RoomId> =
        (0..4).map(|number| RoomId::new(format!("raced-{number}"))).collect::<Result<_>>()?;
    let attempts = try_join_all((0..CALLERS).map(|number| {
        let later = now.plus(std::time::Duration::from_secs(u64::from(number)));
        let sala_open_times = rooms.iter().map(|room| (room.clone(), later)).collect();
        fest.set_schedule(ConfigSchedule { sala_open_times })
    }))
    .await?;
    let schedule = fest.get_schedule().await?.unwrap_or_default().sala_open_times;
    let present = fest.get_all_rooms_status().await?;
    let agree = rooms.iter().all(|room| {
        let status = present.iter().find(|status| status.room_id == *room);
        status.map(|status| status.open_at) == schedule.get(room).copied()
    });
    check(agree, "the opening times of the rooms differ from the schedule")?;
    let winners = attempts.len();
    let left = "one schedule, and its rooms with the same times".to_owned();
    Ok(Race { name: "schedules", contenders: winners, winners, left })
}

/// All callers log one event.
async fn events(fest: &EsenciaFest) -> Result<Race> {
    let (visitor, event) = (user(0)?, fest.new_id()?);
    let then = fest.at(fest.now());
    let attempts = try_join_all((0..CALLERS).map(|_| {
        let new = NewEvent { action: "visit".to_owned(), ..NewEvent::default() };
        then.log_activity_as(event.clone(), &visitor, new)
    }))
    .await?;
    let winners = attempts.iter().filter(|one| one.is_done()).count();
    let seen = attempts.iter().filter(|one| matches!(one, Outcome::Lost(Some(_)))).count();
    check(winners == 1 && winners + seen == attempts.len(), "an event is logged once")?;
    let left = "one event".to_owned();
    Ok(Race { name: "logging an event", contenders: attempts.len(), winners, left })
}
