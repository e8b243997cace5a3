//! The app as the command line, the demo and the tests know it.

mod race;
mod run;
mod seed;

use async_trait::async_trait;
use tabla::entity::AppDesign;
use tabla::entity::lint::{Accepted, Rule};
use tabla::entity::{Db, Entity, Pattern, TableDesign, UtcTime};
use tabla::{Error, ErrorKind, Result};
use tabla_kit::{Answer, App, Documented, Progress, Race};

use crate::entities::*;
use crate::patterns::patterns;

/// The app.
#[derive(Clone, Copy, Debug, Default)]
pub struct EsenciaFestApp;

#[async_trait]
impl App for EsenciaFestApp {
    fn design(&self) -> AppDesign {
        AppDesign::new(
            "esencia-fest",
            "a virtual festival: rooms, a moderated forum, and a log of what visitors do",
        )
        .tables(vec![&MAIN, &ACTIVITY_LOGS])
        .entities(vec![
            User::design(),
            RoomStatus::design(),
            RoomContent::design(),
            Post::design(),
            Comment::design(),
            Like::design(),
            ConfigDomains::design(),
            ConfigSchedule::design(),
            ConfigProfanity::design(),
            ModerationLog::design(),
            ActivityLog::design(),
        ])
        .patterns(patterns().into_iter().map(Pattern::from).collect())
        .accepted(accepted())
    }

    fn documented(&self) -> Vec<Documented> {
        patterns()
    }

    /// The months of the activity log: of what was seeded, of this one and of the next.
    fn periods(&self, _: &TableDesign, now: UtcTime) -> Vec<String> {
        let months = seed::first_day(now).month().through(now.month().next());
        months.map(|month| month.to_string()).collect()
    }

    async fn seed(&self, db: &Db, scale: u32, progress: Progress<'_>) -> Result<()> {
        seed::seed(db, scale, progress).await
    }

    async fn run(&self, db: &Db, pattern: &str) -> Result<Answer> {
        run::run(db, pattern).await
    }

    async fn race(&self, db: &Db) -> Result<Vec<Race>> {
        race::race(db).await
    }
}

/// Why posts of a status are in one partition.
const FEEDS: &str = "one shard, which leaves the keys as the document has them, fits what it expects: \
                     7 000 users, 500 at a time; more are a number in the template";

/// What the checks warn of, and why it stays.
fn accepted() -> Vec<Accepted> {
    vec![
        Accepted::new(
            Rule::HotPartition,
            "RoomStatus",
            "the document puts all rooms in one partition: a handful of small items, written by \
             administrators, read with one query for the dashboard",
        ),
        Accepted::new(
            Rule::HotPartition,
            "RoomContent in GSI1",
            "one item for each room, written by administrators; a visitor reads one of them",
        ),
        Accepted::new(Rule::HotPartition, "Post in GSI2", FEEDS),
        Accepted::new(Rule::HotPartition, "Post in GSI3", FEEDS),
        Accepted::new(Rule::HotPartition, "Post in GSI4", FEEDS),
        Accepted::new(
            Rule::UnboundedCollection,
            "RoomStatus",
            "a festival has a handful of rooms; a schedule has at most 99",
        ),
        Accepted::new(
            Rule::UnboundedCollection,
            "RoomContent",
            "the versions of a room are written by hand, and none is read but by its number or \
             through GSI1",
        ),
        Accepted::new(
            Rule::UnboundedCollection,
            "Comment",
            "comments are read in pages; the whole of a post is read over as many as it takes",
        ),
        Accepted::new(
            Rule::UnboundedCollection,
            "Like",
            "at most one for each user, small, and found by its key; 7 000 users are expected",
        ),
        Accepted::new(
            Rule::LogWithoutTtl,
            "ModerationLog",
            "it is an audit trail: what moderators did is kept, and the document gives it no end",
        ),
    ]
}

fn check(holds: bool, otherwise: &str) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(wrong(otherwise)),
    }
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Unexpected, what)
}
