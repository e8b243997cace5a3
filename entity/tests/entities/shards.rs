//! Reads over shards: all of them, in order, each item once.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tabla_core::Cursor;
use tabla_core::ops::PutItem;
use tabla_entity::{Day, Entity, Id, Sharded, UtcTime};

use crate::design::*;

fn of_ana() -> EventOf {
    Event::of(id("ana"))
}

/// A job, in one of three queues by when it is due: many are due at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "JOB#{job}",
    sk = "JOB",
    index(GSI1, query = by_due, pk = "JOBS{job:shard 3}", sk = "{due:02}")
)]
struct Job {
    #[entity(key_only)]
    job: Id,
    due: u8,
    done: bool,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_sorts_the_same_is_found_once(
        dues in prop::collection::vec((0..4_u8, any::<bool>()), 0..40),
        limits in prop::collection::vec(1..7_u32, 1..4),
        descending in any::<bool>(),
        filtered in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (db, _) = db().await;
            let mut expected = Vec::new();
            for (number, (due, done)) in dues.iter().enumerate() {
                let job = Job { job: id(&format!("j{number:03}")), due: *due, done: *done };
                db.create(job.clone()).await.unwrap().done().unwrap();
                if !filtered || *done {
                    expected.push(job);
                }
            }
            let (mut found, mut cursor, mut pages): (Vec<Job>, Option<Cursor>, usize) =
                (Vec::new(), None, 0);
            loop {
                // The limit may change from page to page.
                let limit = limits[pages % limits.len()];
                let mut find = Job::by_due().limit(limit).after(cursor);
                if descending {
                    find = find.descending();
                }
                if filtered {
                    find = find.filter(Job::DONE.eq(true));
                }
                let page = db.page(find).await.unwrap();
                assert!(page.items.len() <= limit as usize);
                assert!(page.next.is_none() || page.items.len() == limit as usize);
                found.extend(page.items);
                (cursor, pages) = (page.next, pages + 1);
                if cursor.is_none() {
                    break;
                }
            }
            let order = |one: &Job, other: &Job| match descending {
                true => other.due.cmp(&one.due),
                false => one.due.cmp(&other.due),
            };
            assert!(found.is_sorted_by(|one, other| order(one, other).is_le()));
            found.sort_by(|one, other| one.job.cmp(&other.job));
            assert_eq!(found, expected);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pages_of_shards_are_those_of_one_sorted_list(
        times in prop::collection::vec(0..50_u64, 0..60),
        limit in 1..20_u32,
        descending in any::<bool>(),
        filtered in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (db, _) = db().await;
            let mut expected = Vec::new();
            for (number, time) in times.iter().enumerate() {
                let kind = if number % 4 == 0 { "rare" } else { "often" };
                let event = Event {
                    user: id("ana"),
                    event: id(&format!("e{number:03}")),
                    at: UtcTime::from_secs(*time),
                    kind: kind.to_owned(),
                };
                db.store().put(PutItem::new("shop", event.to_item().unwrap())).await.unwrap();
                if !filtered || kind == "rare" {
                    expected.push((event.at, event.event.to_string()));
                }
            }
            expected.sort();
            if descending {
                expected.reverse();
            }
            let mut found = Vec::new();
            let mut cursor: Option<Cursor> = None;
            loop {
                let mut find = of_ana().limit(limit).after(cursor);
                if descending {
                    find = find.descending();
                }
                if filtered {
                    find = find.filter(Event::KIND.eq("rare"));
                }
                let page = db.page(find).await.unwrap();
                assert!(page.items.len() <= limit as usize);
                found.extend(page.items.iter().map(|event| (event.at, event.event.to_string())));
                cursor = page.next.map(|next| next.to_string().parse().unwrap());
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected);
        });
    }
}

#[tokio::test]
async fn a_cursor_of_shards_belongs_to_its_query() {
    let (db, _) = db().await;
    for number in 0..30 {
        let event = Event {
            user: id("ana"),
            event: id(&format!("e{number}")),
            at: UtcTime::from_secs(number),
            kind: "open".into(),
        };
        db.create(event).await.unwrap().done().unwrap();
    }
    let page = db.page(of_ana().limit(5)).await.unwrap();
    let next = page.next.unwrap();
    let other = Event::of(id("eva")).after(Some(next.clone()));
    assert!(db.page(other).await.unwrap_err().message().contains("another query"));
    let plain = Order::of(id("ana")).after(Some(next));
    assert!(db.page(plain).await.unwrap_err().message().contains("another query"));
    let range = of_ana().at(UtcTime::from_secs(10)..=UtcTime::from_secs(12));
    let events = db.all(range).await.unwrap();
    assert_eq!(events.iter().map(|event| event.at.as_secs()).collect::<Vec<_>>(), [10, 11, 12]);
}

#[tokio::test]
async fn random_shards_are_all_read() {
    let (db, _) = db().await;
    for _ in 0..40 {
        let shard = Sharded::random(&*db.env().random);
        let count = Count { name: id("likes"), shard, count: 1 };
        let change = count.to_key().change().increment(Count::COUNT, 1);
        if db.create(count).await.unwrap().done().is_none() {
            db.update(change).await.unwrap().done().unwrap();
        }
    }
    let counts = db.all(Count::of(id("likes"))).await.unwrap();
    assert!(counts.len() > 10, "they are spread over {} shards", counts.len());
    assert_eq!(counts.iter().map(|count| count.count).sum::<u64>(), 40);
}

/// A visit, by day in four shards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "VISIT#{visit}",
    sk = "VISIT",
    index(GSI1, query = by_day, pk = "DAY#{at:as Day}{at:shard 4}", sk = "{at}"),
    index(GSI2, query = by_visit, pk = "V#{visit}{visit:shard 4}", sk = "{at}")
)]
struct Visit {
    #[entity(key_only)]
    visit: Id,
    at: UtcTime,
}

#[tokio::test]
async fn field_that_chooses_the_shard_can_also_be_an_argument() {
    let (db, _) = db().await;
    let mut visits = Vec::new();
    for hour in 0..30 {
        let at = UtcTime::from_secs(1_755_475_200 + hour * 3600);
        let visit = Visit { visit: id(&format!("v{hour}")), at };
        visits.push(db.create(visit).await.unwrap().done().unwrap());
    }
    // A day does not tell the shard of a moment: all four are read.
    let day: Day = "2025-08-18".parse().unwrap();
    assert_eq!(db.all(Visit::by_day(day)).await.unwrap(), visits[..24]);
    assert_eq!(db.all(Visit::by_day(visits[24].at)).await.unwrap(), visits[24..]);
    assert_eq!(db.all(Visit::by_day(day).at(visits[3].at)).await.unwrap(), visits[3..4]);
    // The value of the field tells its shard: one is read.
    assert_eq!(Visit::by_day(day).describe().unwrap().queries, 4);
    assert_eq!(Visit::by_visit(id("v7")).describe().unwrap().queries, 1);
    assert_eq!(db.all(Visit::by_visit(id("v7"))).await.unwrap(), visits[7..8]);
}
