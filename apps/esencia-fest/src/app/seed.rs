//! Sample data. What the patterns check depends neither on the scale nor on the time since. All ids
//! are fixed, so that a second run changes nothing.

use std::time::Duration;

use futures::future::try_join_all;
use tabla::entity::{Day, Db, Id, UtcTime};
use tabla::{Number, Result, Value};
use tabla_kit::Progress;

use crate::entities::*;
use crate::operations::{EsenciaFest, NewContent, NewEvent, Newcomer};

/// Numbers at scale 1.
const USERS: u32 = 100;
const POSTS: u32 = 60;
const EVENTS_A_DAY: u32 = 40;
/// Numbers at every scale.
pub(super) const ROOMS: u32 = 6;
pub(super) const AUTHORS: u32 = 20;
pub(super) const DAYS: u32 = 35;
/// Every tenth post is banned, on a day of its own.
const BANNED: u32 = 10;
/// Number of posts that are written at once.
const AT_ONCE: u32 = 20;

pub(super) const COUNTRIES: [&str; 4] = ["Colombia", "México", "Perú", "Chile"];
const DAY: Duration = Duration::from_secs(86_400);
const HOUR: Duration = Duration::from_secs(3_600);

pub(super) fn id(text: impl Into<String>) -> Result<Id> {
    Id::new(text)
}

pub(super) fn room(number: u32) -> Result<RoomId> {
    RoomId::new(format!("sala{number}"))
}

pub(super) fn user(number: u32) -> Result<Email> {
    Email::new(format!("user{number:05}@sura.com.co"))
}

pub(super) fn country(number: u32) -> Result<Id> {
    id(COUNTRIES[number as usize % COUNTRIES.len()])
}

pub(super) fn post(number: u32) -> Result<Id> {
    id(format!("post-{number:05}"))
}

/// Number of likes of a post, from 0 to 12.
pub(super) const fn likes(post: u32) -> u32 {
    post * 7 % 13
}

/// Number of comments on a post, from 1 to 8.
pub(super) const fn comments(post: u32) -> u32 {
    1 + post * 3 % 8
}

pub(super) fn newcomer(number: u32) -> Result<Newcomer> {
    Ok(Newcomer {
        email: user(number)?,
        name: format!("User {number}"),
        country: country(number)?,
        role: id(if number == 0 { "admin" } else { "visitor" })?,
    })
}

pub(super) fn content(number: u32) -> NewContent {
    NewContent {
        kind: "video".to_owned(),
        title: format!("Sala {number}"),
        vimeo_url: format!("https://vimeo.com/{}", 900_000_000 + number),
    }
}

/// Forbidden words of the document.
pub(super) fn profanity() -> Result<ConfigProfanity> {
    let severities = [("palabra1", Severity::High), ("palabra2", Severity::Medium)];
    Ok(ConfigProfanity {
        blacklist: severities.iter().map(|(word, _)| (*word).to_owned()).collect(),
        severity: severities.map(|(word, severity)| (word.to_owned(), severity)).into(),
        auto_moderation_threshold: Number::parse("0.8")?,
    })
}

/// First day with events.
pub(super) fn first_day(now: UtcTime) -> Day {
    now.minus(DAY * DAYS).day()
}

/// Schedule whose rooms are all open, an hour apart.
pub(super) fn schedule(now: UtcTime) -> Result<ConfigSchedule> {
    let start = first_day(now).start();
    let times = (1..=ROOMS).map(|number| Ok((room(number)?, start.plus(HOUR * number))));
    Ok(ConfigSchedule { sala_open_times: times.collect::<Result<_>>()? })
}

pub(super) async fn seed(db: &Db, scale: u32, progress: Progress<'_>) -> Result<()> {
    let fest = EsenciaFest::new(db.clone());
    let now = db.now().second();
    let posts = POSTS * scale;
    let total = u64::from(posts + DAYS + 1);
    configure(&fest, now).await?;
    let start = first_day(now).start();
    let registered = fest.at(start);
    for chunk in (0..USERS * scale).collect::<Vec<_>>().chunks(50) {
        let users = chunk.iter().map(|number| register(&registered, *number));
        try_join_all(users).await?;
    }
    progress(1, total);
    for first in (0..posts).step_by(AT_ONCE as usize) {
        let last = posts.min(first + AT_ONCE);
        try_join_all((first..last).map(|number| write_post(&fest, start, number))).await?;
        progress(u64::from(last) + 1, total);
    }
    for day in 0..DAYS {
        let start = start.plus(DAY * day);
        let events = EVENTS_A_DAY * scale;
        try_join_all((0..events).map(|number| log_event(&fest, start, number, events))).await?;
        progress(u64::from(posts + day) + 2, total);
    }
    Ok(())
}

async fn configure(fest: &EsenciaFest, now: UtcTime) -> Result<()> {
    let whitelist = ["@sura.com.co", "@bancoldex.com"].map(str::to_owned).into();
    fest.set_domains(ConfigDomains { whitelist }).await?;
    fest.set_profanity(profanity()?).await?;
    fest.set_schedule(schedule(now)?).await?;
    for number in 1..=ROOMS {
        fest.update_room_content(&room(number)?, None, content(number)).await?;
    }
    Ok(())
}

async fn register(fest: &EsenciaFest, number: u32) -> Result<()> {
    let newcomer = newcomer(number)?;
    let email = newcomer.email.clone();
    fest.register(newcomer).await?;
    // Every user has completed the first room, every second user the third one too.
    fest.update_user_progress(&email, &room(1)?).await?.done();
    if number.is_multiple_of(2) {
        fest.update_user_progress(&email, &room(3)?).await?.done();
    }
    Ok(())
}

/// Writes a post of the last ten days, an hour after the one before, with its comments and likes.
async fn write_post(fest: &EsenciaFest, start: UtcTime, number: u32) -> Result<()> {
    let written = start.plus(DAY * (DAYS - 10)).plus(HOUR * (number % 200));
    let (author, post) = (user(number % AUTHORS)?, post(number)?);
    let text = format!("Lo mejor de la sala {} 🎉", 1 + number % ROOMS);
    let images = vec![format!("uploads/{post}.jpg")];
    fest.at(written).create_post_as(post.clone(), &author, &text, images).await?.done();
    for comment in 0..comments(number) {
        let then = fest.at(written.plus(Duration::from_secs(60) * (comment + 1)));
        let (by, comment) = (user(comment)?, id(format!("comment-{comment:03}"))?);
        then.create_comment_as(comment, &post, &by, "Muy de acuerdo").await?;
    }
    for liked in 0..likes(number) {
        fest.at(written).like_post(&post, &user(liked)?).await?;
    }
    if is_banned(number) {
        let day = fest.at(start.plus(DAY * (DAYS - 10 + number / BANNED % 10)));
        day.update_post_status(&post, Status::Banned, "spam", &id("admin1")?).await?;
    }
    Ok(())
}

pub(super) const fn is_banned(post: u32) -> bool {
    post % BANNED == BANNED - 1
}

/// Logs the event of user `number`; the `events` of a day are spread over it.
async fn log_event(fest: &EsenciaFest, start: UtcTime, number: u32, events: u32) -> Result<()> {
    let then = start.plus(Duration::from_secs(u64::from(number) * 80_000 / u64::from(events)));
    let event = NewEvent {
        action: ["visit", "play", "finish"][number as usize % 3].to_owned(),
        sala_id: Some(room(1 + number % ROOMS)?),
        country: Some(country(number)?),
        metadata: [("seconds".to_owned(), Value::from(number % 600))].into(),
    };
    fest.at(then)
        .log_activity_as(id(format!("event-{number:06}"))?, &user(number)?, event)
        .await?
        .done();
    Ok(())
}
