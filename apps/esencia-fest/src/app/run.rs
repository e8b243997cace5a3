//! Runs of all patterns on the seeded data, with checks of their results.

use std::time::Duration;

use tabla::entity::{Db, Id, Outcome, UtcTime};
use tabla::{Error, Result};
use tabla_kit::Answer;

use super::seed::{self, DAYS, ROOMS, id, room, user};
use crate::entities::*;
use crate::operations::*;
use crate::patterns::{Order, Sort};
use crate::range::Span;

/// Span from before the first event until now.
fn lately(now: UtcTime) -> Result<Span> {
    Span::new(now.minus(Duration::from_secs(u64::from(DAYS + 5) * 86_400)), now)
}

pub(super) async fn run(db: &Db, pattern: &str) -> Result<Answer> {
    let fest = EsenciaFest::new(db.clone());
    let now = db.now().second();
    match pattern {
        "GetUser" | "GetUserProgress" | "GetUsersByCountry" | "Register" | "UpdateUserProgress" => {
            users(&fest, now, pattern).await
        }
        "GetAllRoomsStatus" | "GetRoomContent" | "UpdateRoomContent" | "SetManualOverride" => {
            rooms(&fest, now, pattern).await
        }
        "GetAllPosts"
        | "GetPostsByStatus"
        | "GetPostsSortedByLikes"
        | "GetPostsSortedByComments"
        | "GetUserPosts" => feeds(&fest, pattern).await,
        "CreatePost" | "GetPostThread" | "GetPostComments" | "CreateComment" | "LikePost" => {
            threads(&fest, pattern).await
        }
        "UpdatePostStatus"
        | "UpdateCommentStatus"
        | "LogModerationAction"
        | "GetModerationLogs" => moderation(&fest, now, pattern).await,
        "LogActivity" | "GetUserLogs" | "GetActivityByCountry" => {
            activity(&fest, now, pattern).await
        }
        _ => configuration(&fest, now, pattern).await,
    }
}

fn unknown(pattern: &str) -> Result<Answer> {
    Err(Error::validation(format!(
        "pattern {pattern:?} does not exist: `tabla app esencia-fest patterns` lists them"
    )))
}

/// User that patterns write to, so that the results of other patterns do not change.
fn guest() -> Result<Email> {
    Email::new("guest@bancoldex.com")
}

async fn users(fest: &EsenciaFest, now: UtcTime, pattern: &str) -> Result<Answer> {
    match pattern {
        "GetUser" => {
            let found = fest.get_user(&user(0)?).await?;
            let role = found.as_ref().map(|user| user.role.to_string());
            Answer::new(found.iter().len(), format!("role {role:?}"))
                .expect(role.as_deref() == Some("admin"), "the administrator")
        }
        "GetUserProgress" => {
            let progress = fest.get_user_progress(&user(0)?).await?.unwrap_or_default();
            Answer::new(1, format!("{} rooms", progress.len()))
                .expect(progress == [room(1)?, room(3)?], "sala1 and sala3")
        }
        "GetUsersByCountry" => {
            let country = seed::country(0)?;
            let found = fest.get_users_by_country(&country, Some(lately(now)?), None).await?.items;
            let is_right = !found.is_empty() && found.iter().all(|user| user.country == country);
            Answer::new(found.len(), format!("users of {country}"))
                .expect(is_right, "users of that country alone")
        }
        "Register" => {
            let newcomer = Newcomer { email: guest()?, ..seed::newcomer(1)? };
            let registered = fest.register(newcomer).await?;
            let is_right = matches!(registered, Registered::Done(_));
            Answer::new(1, "a guest").expect(is_right, "a new user")
        }
        "UpdateUserProgress" => {
            let outcome = fest.update_user_progress(&guest()?, &room(2)?).await?;
            let progress = outcome.done().map(|user| user.progress);
            Answer::new(1, "sala2 is completed")
                .expect(progress == Some(vec![room(2)?]), "sala2 alone")
        }
        other => unknown(other),
    }
}

async fn rooms(fest: &EsenciaFest, now: UtcTime, pattern: &str) -> Result<Answer> {
    match pattern {
        "GetAllRoomsStatus" => {
            let rooms = fest.get_all_rooms_status().await?;
            let open = rooms.iter().filter(|room| room.is_open(now)).count();
            Answer::new(rooms.len(), format!("{open} open"))
                .expect(rooms.len() == ROOMS as usize && open == rooms.len(), "all rooms, open")
        }
        "GetRoomContent" => {
            let content = fest.get_room_content(&room(2)?).await?;
            let title = content.as_ref().map(|content| content.title.clone());
            Answer::new(content.iter().len(), format!("{title:?}"))
                .expect(title == Some(seed::content(2).title), "the content of sala2")
        }
        "UpdateRoomContent" => {
            let updated =
                fest.update_room_content(&room(ROOMS)?, Some(1), seed::content(99)).await?;
            let is_right = matches!(&updated, ContentUpdated::Done(new) if new.version == 2);
            Answer::new(2, "version 2 is shown").expect(is_right, "the second version")
        }
        "SetManualOverride" => {
            let closed = fest.set_manual_override(&room(ROOMS)?, ManualOverride::Closed).await?;
            let is_right = closed.done().is_some_and(|room| !room.is_open(now));
            Answer::new(1, "closed by hand").expect(is_right, "a closed room")
        }
        other => unknown(other),
    }
}

/// Sort value of a post.
fn rank(post: &Post, sort: Sort) -> (u32, UtcTime) {
    match sort {
        Sort::Date => (0, post.created_at),
        Sort::Likes => (post.likes, post.created_at),
        Sort::Comments => (post.comments_count, post.created_at),
    }
}

fn is_sorted(posts: &[Post], sort: Sort, order: Order) -> bool {
    posts.is_sorted_by(|one, other| match order {
        Order::Ascending => rank(one, sort) <= rank(other, sort),
        Order::Descending => rank(one, sort) >= rank(other, sort),
    })
}

async fn feeds(fest: &EsenciaFest, pattern: &str) -> Result<Answer> {
    const SORTS: [Sort; 3] = [Sort::Date, Sort::Likes, Sort::Comments];
    match pattern {
        "GetAllPosts" => {
            let mut found = 0;
            let mut is_right = true;
            for sort in SORTS {
                let first = fest.get_all_posts(20, None, sort, Status::Active).await?;
                let next = fest.get_all_posts(20, first.next.clone(), sort, Status::Active).await?;
                let both = [first.items, next.items].concat();
                is_right &= both.len() == 40 && is_sorted(&both, sort, Order::Descending);
                is_right &= both.iter().all(|post| post.status == Status::Active);
                found += both.len();
            }
            Answer::new(found, "two pages by date, likes and comments")
                .expect(is_right, "two full pages of active posts in each order")
        }
        "GetPostsByStatus" => {
            let mut found = 0;
            let mut is_right = true;
            for sort in SORTS {
                let order = Order::Ascending;
                let page = fest.get_posts_by_status(Status::Banned, sort, order, None).await?;
                is_right &= !page.items.is_empty() && is_sorted(&page.items, sort, order);
                is_right &= page.items.iter().all(|post| post.status == Status::Banned);
                found += page.items.len();
            }
            Answer::new(found, "banned, by date, likes and comments")
                .expect(is_right, "banned posts in each order")
        }
        "GetPostsSortedByLikes" => {
            let posts = fest.get_posts_sorted_by_likes(None).await?.items;
            let most = posts.first().map_or(0, |post| post.likes);
            let is_right = most == 12 && is_sorted(&posts, Sort::Likes, Order::Descending);
            Answer::new(posts.len(), format!("the first has {most} likes"))
                .expect(is_right, "12 likes first, then descending")
        }
        "GetPostsSortedByComments" => {
            let posts = fest.get_posts_sorted_by_comments(None).await?.items;
            let most = posts.first().map_or(0, |post| post.comments_count);
            let is_right = most == 8 && is_sorted(&posts, Sort::Comments, Order::Descending);
            Answer::new(posts.len(), format!("the first has {most} comments"))
                .expect(is_right, "8 comments first, then descending")
        }
        "GetUserPosts" => {
            let author = user(3)?;
            let posts = fest.get_user_posts(&author, None, None).await?.items;
            let is_right = posts.len() >= 3
                && posts.iter().all(|post| post.user_id == author)
                && is_sorted(&posts, Sort::Date, Order::Descending);
            Answer::new(posts.len(), format!("posts of {author}"))
                .expect(is_right, "their posts, newest first")
        }
        other => unknown(other),
    }
}

/// Post that patterns write to.
fn fresh() -> Result<Id> {
    id("fresh")
}

async fn threads(fest: &EsenciaFest, pattern: &str) -> Result<Answer> {
    // Post 2, with 7 comments and 1 like, which no pattern changes.
    const QUIET: u32 = 2;
    match pattern {
        "GetPostComments" => {
            let comments = fest.get_post_comments(&seed::post(QUIET)?, None).await?.items;
            let is_right = comments.len() == seed::comments(QUIET) as usize
                && comments.is_sorted_by_key(|comment| comment.created_at);
            Answer::new(comments.len(), "oldest first").expect(is_right, "all of them, in order")
        }
        "GetPostThread" => {
            let Thread { post, comments, likes, unknown, unreadable } =
                fest.get_post_thread(&seed::post(QUIET)?).await?;
            let counts = post.as_ref().map(|post| (post.comments_count, post.likes));
            let is_right = unknown.is_empty()
                && unreadable.is_empty()
                && counts == Some((seed::comments(QUIET), seed::likes(QUIET)))
                && counts == Some((comments.len() as u32, likes.len() as u32));
            let items = 1 + comments.len() + likes.len();
            Answer::new(items, format!("{} comments, {} likes", comments.len(), likes.len()))
                .expect(is_right, "the counts of the post")
        }
        "CreatePost" => {
            let created =
                fest.create_post_as(fresh()?, &user(1)?, "¡Hola!", Vec::new()).await?.done();
            let is_right = created.is_some_and(|post| post.status == Status::Active);
            Answer::new(1, "active").expect(is_right, "a new post")
        }
        "CreateComment" => {
            let comment = id("c1")?;
            let commented =
                fest.create_comment_as(comment, &fresh()?, &user(2)?, "¡Bienvenida!").await?;
            let is_right = matches!(commented, Commented::Done(_));
            Answer::new(2, "a comment, counted").expect(is_right, "a comment")
        }
        "LikePost" => {
            let liked = fest.like_post(&fresh()?, &user(3)?).await?;
            Answer::new(2, format!("{liked:?}")).expect(liked == Liked::Done(1), "the first like")
        }
        other => unknown(other),
    }
}

async fn moderation(fest: &EsenciaFest, now: UtcTime, pattern: &str) -> Result<Answer> {
    let admin = id("admin1")?;
    match pattern {
        "UpdatePostStatus" => {
            let (post, status) = (fresh()?, Status::Banned);
            let moderated = fest.update_post_status(&post, status, "off topic", &admin).await?;
            let is_right = matches!(&moderated, Moderated::Done(post, log)
                if post.status == status && log.action == Action::Ban);
            Answer::new(2, "banned, and logged").expect(is_right, "a banned post and its log")
        }
        "UpdateCommentStatus" => {
            let (post, comment) = (fresh()?, id("c1")?);
            let deleted = Status::Deleted;
            let moderated =
                fest.update_comment_status(&post, &comment, deleted, "spam", &admin).await?;
            let is_right = matches!(moderated, Moderated::Done(comment, _)
                if comment.status == deleted);
            Answer::new(3, "deleted, logged, and not counted")
                .expect(is_right, "a deleted comment and its log")
        }
        "LogModerationAction" => {
            let target = (TargetType::Post, &seed::post(0)?);
            let logged =
                fest.log_moderation_action(&admin, Action::Restore, target, "appeal").await?;
            Answer::new(1, "logged").expect(logged.is_done(), "a new entry")
        }
        "GetModerationLogs" => {
            let span = lately(now)?;
            let (mut logs, mut pages, mut next) = (Vec::new(), 0, None);
            loop {
                let page =
                    fest.get_moderation_logs(span, Some(Action::Ban), 4, next.as_ref()).await?;
                logs.extend(page.items);
                pages += 1;
                next = page.next;
                if next.is_none() {
                    break;
                }
            }
            let is_right = logs.len() >= 6
                && logs.iter().all(|log| log.action == Action::Ban)
                && logs.is_sorted_by_key(|log| log.timestamp);
            Answer::new(logs.len(), format!("bans on {pages} pages"))
                .expect(is_right, "every ban, oldest first")
        }
        other => unknown(other),
    }
}

async fn activity(fest: &EsenciaFest, now: UtcTime, pattern: &str) -> Result<Answer> {
    match pattern {
        "LogActivity" => {
            let event = NewEvent { action: "visit".into(), ..NewEvent::default() };
            let logged = fest.log_activity(&guest()?, event).await?;
            let is_right = matches!(&logged, Outcome::Done(log)
                if log.ttl == log.timestamp.plus(KEPT).as_secs());
            Answer::new(1, "kept for 90 days").expect(is_right, "an event that expires")
        }
        "GetUserLogs" => {
            let visitor = user(0)?;
            let (mut logs, mut next) = (Vec::new(), None);
            loop {
                let (span, order) = (lately(now)?, Order::Ascending);
                let page = fest.get_user_logs(&visitor, span, order, 10, next.as_ref()).await?;
                logs.extend(page.items);
                next = page.next;
                if next.is_none() {
                    break;
                }
            }
            let mut months: Vec<_> = logs.iter().map(|log| log.timestamp.month()).collect();
            months.dedup();
            let is_right = logs.len() == DAYS as usize
                && months.len() >= 2
                && logs.is_sorted_by_key(|log| log.timestamp);
            Answer::new(logs.len(), format!("over {} months", months.len()))
                .expect(is_right, "one event for each day, oldest first")
        }
        "GetActivityByCountry" => {
            let day = now.minus(Duration::from_secs(10 * 86_400)).day();
            let country = seed::country(1)?;
            let logs = fest.get_activity_by_country(&country, day, None).await?.items;
            let is_right = logs.len() >= 10
                && logs.len().is_multiple_of(10)
                && logs.iter().all(|log| log.country.as_ref() == Some(&country))
                && logs.iter().all(|log| log.timestamp.day() == day)
                && logs.is_sorted_by_key(|log| log.timestamp);
            Answer::new(logs.len(), format!("{country}, {day}"))
                .expect(is_right, "all events of the day, in order")
        }
        other => unknown(other),
    }
}

async fn configuration(fest: &EsenciaFest, now: UtcTime, pattern: &str) -> Result<Answer> {
    match pattern {
        "GetDomains" => {
            let domains = fest.get_domains().await?.unwrap_or_default();
            Answer::new(1, format!("{} domains", domains.whitelist.len()))
                .expect(domains.whitelist.len() == 2, "two domains")
        }
        "SetDomains" => {
            let whitelist = vec!["@sura.com.co".to_owned(), "@bancoldex.com".to_owned()];
            fest.set_domains(ConfigDomains { whitelist }).await?;
            Ok(Answer::new(1, "two domains"))
        }
        "GetSchedule" => {
            let schedule = fest.get_schedule().await?.unwrap_or_default();
            let rooms = schedule.sala_open_times.len();
            Answer::new(1, format!("{rooms} rooms")).expect(rooms == ROOMS as usize, "every room")
        }
        "SetSchedule" => {
            let scheduled = fest.set_schedule(seed::schedule(now)?).await?;
            let items = 1 + scheduled.schedule.sala_open_times.len();
            Answer::new(items, "the schedule and its rooms")
                .expect(scheduled.new_rooms == 0, "no new room")
        }
        "GetProfanity" => {
            let profanity = fest.get_profanity().await?;
            let is_right = profanity == Some(seed::profanity()?);
            Answer::new(1, "threshold 0.8").expect(is_right, "the list of the document")
        }
        "SetProfanity" => {
            fest.set_profanity(seed::profanity()?).await?;
            Ok(Answer::new(1, "threshold 0.8"))
        }
        other => unknown(other),
    }
}
