//! App for the command line, the demo and the tests.

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

/// Esencia Fest as an [`App`].
#[derive(Clone, Copy, Debug, Default)]
pub struct EsenciaFestApp;

#[async_trait]
impl App for EsenciaFestApp {
    fn design(&self) -> AppDesign {
        AppDesign::new(
            "esencia-fest",
            "a virtual festival: rooms, a moderated forum, and an activity log",
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

    /// Months of the activity log: those of the seeded events, the current one and the next.
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

/// Reason why posts of a status are in one partition.
const FEEDS: &str = "one shard keeps the keys of the document, and is enough for its 7 000 users, 500 \
                     at a time; the template sets the number of shards";

/// Accepted findings of the lint, with reasons.
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
            "the versions of a room are written by hand, and read only by number or through GSI1",
        ),
        Accepted::new(
            Rule::UnboundedCollection,
            "Comment",
            "comments are read in pages; a thread is read over all its pages",
        ),
        Accepted::new(
            Rule::UnboundedCollection,
            "Like",
            "at most one for each user, small, and read by its key; 7 000 users are expected",
        ),
        Accepted::new(
            Rule::LogWithoutTtl,
            "ModerationLog",
            "an audit trail: entries are kept, and the document has no expiry for them",
        ),
    ]
}

fn check(holds: bool, otherwise: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(wrong(otherwise)) }
}

fn wrong(finding: &str) -> Error {
    Error::new(ErrorKind::Unexpected, finding)
}
