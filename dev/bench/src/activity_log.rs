//! The activity log of Esencia Fest at full size: thousands of visitors write for ten days, in ten
//! partitions each. The log is written, consumed from its stream, read, and swept after its 90
//! days, on a manual clock.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tabla_consumer::{Consumer, Handler};
use tabla_core::env::{Clock, Env, ManualClock, Timestamp};
use tabla_core::ops::{DescribeTable, EventName, Record, TableDescription, UserIdentity};
use tabla_core::{Map, Store, Value};
use tabla_entity::{Db, Id, RecordExt, UtcTime};
use tabla_esencia_fest::{
    ACTIVITY_LOGS, ActivityLog, Email, EsenciaFest, KEPT, NewEvent, Order, RoomId, Span,
};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore, check};
use xxhash_rust::xxh3::xxh3_64;

use crate::embedded::tabla::expect;
use crate::embedded::{Failure, Folder};
use crate::median::{Durations, Stopwatch};

const DAYS: u64 = 10;
const DAY: Duration = Duration::from_secs(86_400);
/// First day of the festival, 2025-08-11: all ten days are in one month, and so in one table.
const FIRST_DAY: u64 = 1_754_870_400;
const WRITERS: u64 = 64;
const COUNTRIES: [&str; 4] = ["Colombia", "México", "Perú", "Chile"];
const ACTIONS: [&str; 5] = ["enter", "leave", "watch", "comment", "like"];
const ROOMS: u64 = 6;
/// Number of visitors whose whole log is read and compared.
const COMPARED: u64 = 20;
/// Number of pages whose reading is timed.
const PAGES: u64 = 500;
const PAGE: u32 = 50;

struct Size {
    events: u64,
    users: u64,
    durability: Durability,
    folder: PathBuf,
}

impl Size {
    fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let mut size = Self {
            events: 1_000_000,
            users: 7_000,
            durability: Durability::Durable,
            folder: std::env::temp_dir(),
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let value =
                arguments.next().ok_or_else(|| format!("{argument}: the value is missing"))?;
            let number = || match value.parse() {
                Ok(number) if number > 0 => Ok(number),
                _ => Err(format!("{argument}: `{value}` is not a number above 0")),
            };
            match argument.as_str() {
                "--events" => size.events = number()?,
                "--users" => size.users = number()?,
                "--durability" => {
                    size.durability = match value.as_str() {
                        "durable" => Durability::Durable,
                        "relaxed" => Durability::Relaxed,
                        _ => {
                            return Err(format!(
                                "--durability: `{value}` is neither full nor normal"
                            )
                            .into());
                        }
                    }
                }
                "--folder" => size.folder = value.into(),
                _ => {
                    return Err(
                        format!("unknown option {argument}; see `cargo xtask bench help`").into()
                    );
                }
            }
        }
        Ok(size)
    }

    /// Numbers of the events of a day.
    fn events_of(&self, day: u64) -> std::ops::Range<u64> {
        self.events * day / DAYS..self.events * (day + 1) / DAYS
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let size = Size::parse(arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = Folder::make(&size.folder)?;
    let path = folder.path().join("log.db");
    runtime.block_on(async {
        let clock = ManualClock::new(Timestamp::from_secs(FIRST_DAY));
        let env = Env::test(clock.clone(), 7);
        // The program sweeps explicitly, so that the sweep can be timed.
        let config =
            SqliteConfig::file(&path).with_durability(size.durability).with_sweep_every(None);
        let store = SqliteStore::open_with(&config, env.clone()).await?;
        let shared = Arc::new(store.clone());
        let fest = EsenciaFest::new(Db::with_env(shared.clone(), env.clone()));
        let analytics = Consumer::new(shared, "analytics", table_name()).env(env).batch_size(1000);
        let log = Log { size, clock, store, fest, analytics, seen: Seen::default() };
        log.write().await?;
        log.read().await?;
        log.sweep().await?;
        let watch = Stopwatch::start();
        let report = check(&path, |_| {}).await?;
        println!("check: {} problems, {:.1} s", report.problems.len(), watch.seconds());
        if !report.is_sound() {
            return Err(report.problems.join("\n").into());
        }
        Ok(())
    })
}

struct Log {
    size: Size,
    clock: ManualClock,
    store: SqliteStore,
    fest: EsenciaFest,
    /// Consumer of the log's stream, in the role of the analysis in the app's design document.
    analytics: Consumer,
    seen: Seen,
}

/// Records that the consumer has handled.
#[derive(Default)]
struct Seen {
    /// Logged events by country, in the order of [`COUNTRIES`].
    logged: [AtomicU64; COUNTRIES.len()],
    /// Expired events.
    expired: AtomicU64,
}

#[async_trait]
impl Handler for Seen {
    async fn handle(&self, record: &Record) -> Result<(), tabla_consumer::Failure> {
        if record.event_name == EventName::Remove {
            let is_expiry =
                record.user_identity.as_ref().is_some_and(UserIdentity::is_time_to_live);
            expect(is_expiry, "every deletion is an expiry")?;
            self.expired.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        let event = record.new_entity::<ActivityLog>()?.ok_or("a record has no event")?;
        let country = event.country.ok_or("an event has no country")?;
        let number = COUNTRIES.iter().position(|name| *name == country.as_str());
        self.logged[number.ok_or("an unknown country")?].fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Number drawn for an event, for one purpose; the same in every run.
fn drawn(event: u64, purpose: u64) -> u64 {
    xxh3_64(&[event.to_be_bytes(), purpose.to_be_bytes()].concat())
}

impl Log {
    fn user_of(&self, event: u64) -> u64 {
        drawn(event, 0) % self.size.users
    }

    /// Time of an event: a second of its day.
    fn moment_of(&self, day: u64, event: u64) -> UtcTime {
        UtcTime::from_secs(FIRST_DAY + day * DAY.as_secs() + drawn(event, 1) % DAY.as_secs())
    }

    /// Writes the events of each day, through the app.
    async fn write(&self) -> Result<(), Failure> {
        let (mut writing, mut following) = (0.0, 0.0);
        for day in 0..DAYS {
            self.pass(Timestamp::from_secs(FIRST_DAY + day * DAY.as_secs())).await?;
            let watch = Stopwatch::start();
            let events = self.size.events_of(day);
            let next = AtomicU64::new(events.start);
            let writers = (0..WRITERS).map(|_| async {
                loop {
                    let event = next.fetch_add(1, Ordering::Relaxed);
                    if event >= events.end {
                        return Ok::<(), Failure>(());
                    }
                    self.log(day, event).await?;
                }
            });
            futures::future::try_join_all(writers).await?;
            writing += watch.seconds();
            following += self.follow().await?;
        }
        let table = self.describe().await?;
        expect(table.item_count == self.size.events, "the table has an item per event")?;
        println!(
            "write: {} events of {} visitors on {DAYS} days, {}, {WRITERS} callers",
            self.size.events,
            self.size.users,
            self.rate(writing),
        );
        let logged = self.seen.logged.iter().map(|count| count.load(Ordering::Relaxed));
        expect(
            logged.sum::<u64>() == self.size.events,
            "the consumer has handled each event once",
        )?;
        println!("consume: one record per event, {}", self.rate(following));
        Ok(())
    }

    /// Runs the consumer to the end of the stream; returns the seconds.
    async fn follow(&self) -> Result<f64, Failure> {
        let watch = Stopwatch::start();
        let drained = self.analytics.drain(&self.seen).await?;
        expect(drained.set_aside == 0, "no record is set aside")?;
        Ok(watch.seconds())
    }

    fn rate(&self, seconds: f64) -> String {
        format!("{seconds:.1} s, {:.0} events/s", self.size.events as f64 / seconds)
    }

    async fn log(&self, day: u64, event: u64) -> Result<(), Failure> {
        let metadata = Map::from([
            ("device".to_owned(), Value::from(format!("device-{:016x}", drawn(event, 2)))),
            ("session".to_owned(), Value::from(format!("{:032x}", drawn(event, 3)))),
            ("seconds".to_owned(), Value::from(drawn(event, 4) % 3_600)),
        ]);
        let one_of = |names: &[&str], purpose| -> String {
            names[drawn(event, purpose) as usize % names.len()].to_owned()
        };
        let new = NewEvent {
            action: one_of(&ACTIONS, 5),
            sala_id: Some(RoomId::new(format!("sala{}", 1 + drawn(event, 6) % ROOMS))?),
            country: Some(country(self.user_of(event))?),
            metadata,
        };
        let fest = self.fest.at(self.moment_of(day, event));
        let id = Id::new(format!("{event:016x}"))?;
        let logged = fest.log_activity_as(id, &user(self.user_of(event))?, new).await?;
        expect(logged.is_done(), "the event is new")
    }

    /// Reads the logs of visitors, over all their shards, and the activity of a country on a day.
    async fn read(&self) -> Result<(), Failure> {
        let first = UtcTime::from_secs(FIRST_DAY);
        let span = Span::new(first, first.plus(DAY * DAYS as u32))?;
        let mut expected = vec![0; COMPARED as usize];
        for event in 0..self.size.events {
            if let Some(count) = expected.get_mut(self.user_of(event) as usize) {
                *count += 1;
            }
        }
        for (number, expected) in expected.into_iter().enumerate() {
            let (mut found, mut after) = (0, None);
            loop {
                let page = self
                    .fest
                    .get_user_logs(
                        &user(number as u64)?,
                        span,
                        Order::Ascending,
                        PAGE,
                        after.as_ref(),
                    )
                    .await?;
                found += page.items.len();
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            expect(found == expected, "the log of a visitor is complete")?;
        }
        let mut pages = Durations::default();
        for step in 0..PAGES {
            let who = user(drawn(step, 7) % self.size.users)?;
            pages.time(self.fest.get_user_logs(&who, span, Order::Descending, PAGE, None)).await?;
        }
        println!("read: a page of {PAGE} of a visitor's log, {:?} (median)", pages.median());
        let mut pages = Durations::default();
        for step in 0..PAGES {
            let day = UtcTime::from_secs(FIRST_DAY + drawn(step, 8) % DAYS * DAY.as_secs()).day();
            let where_from = country(drawn(step, 9))?;
            pages.time(self.fest.get_activity_by_country(&where_from, day, None)).await?;
        }
        println!("read: a page of a country's activity on a day, {:?} (median)", pages.median());
        Ok(())
    }

    /// Advances the clock to the end of each day's 90 days, and sweeps.
    async fn sweep(&self) -> Result<(), Failure> {
        let (mut sweeping, mut following) = (0.0, 0.0);
        let mut left = self.size.events;
        for day in 0..DAYS {
            let end_of_day = Timestamp::from_secs(FIRST_DAY + (day + 1) * DAY.as_secs());
            self.pass(end_of_day + KEPT).await?;
            let watch = Stopwatch::start();
            let swept = self.store.sweep_expired().await? as u64;
            sweeping += watch.seconds();
            let events = self.size.events_of(day);
            expect(swept == events.end - events.start, "a sweep deletes all events of a day")?;
            left -= swept;
            expect(self.describe().await?.item_count == left, "other events are not deleted")?;
            following += self.follow().await?;
        }
        println!(
            "sweep: {} events after {} days, {}",
            self.size.events,
            KEPT.as_secs() / 86_400,
            self.rate(sweeping)
        );
        let expired = self.seen.expired.load(Ordering::Relaxed);
        expect(expired == self.size.events, "the consumer has handled each deletion once")?;
        println!("consume: one record per deletion, {}", self.rate(following));
        Ok(())
    }

    /// Advances the clock to a moment. The consumer runs every half day meanwhile, because records
    /// are deleted after a day.
    async fn pass(&self, moment: Timestamp) -> Result<(), Failure> {
        while self.clock.now() < moment {
            self.clock.advance(moment.since(self.clock.now()).min(DAY / 2));
            self.follow().await?;
        }
        Ok(())
    }

    async fn describe(&self) -> Result<TableDescription, Failure> {
        Ok(self.store.describe_table(DescribeTable::new(table_name())).await?)
    }
}

/// Name of the table of the month.
fn table_name() -> String {
    format!("{}-2025-08", ACTIVITY_LOGS.name)
}

fn user(number: u64) -> Result<Email, Failure> {
    Ok(Email::new(format!("user{number:05}@sura.com.co"))?)
}

/// Country of a visitor, the same for all their events.
fn country(user: u64) -> Result<Id, Failure> {
    Ok(Id::new(COUNTRIES[user as usize % COUNTRIES.len()])?)
}
