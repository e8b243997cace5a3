//! Reads over all shards: in order, each item once.

use tabla_core::Cursor;
use tabla_entity::{Db, IntoQuery, Page};

use super::super::prelude::*;
use super::design::*;

/// Returns thirty events of a user, one in five of them rare, in the order of their times and
/// names. Some have the same time.
pub(super) fn events(user: &str) -> Vec<Event> {
    let mut events: Vec<Event> = (0..30)
        .map(|number: u32| Event {
            user: id(user),
            event: id(&format!("e{number:02}")),
            at: number * 7 % 20,
            kind: if number.is_multiple_of(5) { "rare" } else { "often" }.to_owned(),
        })
        .collect();
    events.sort_by(|one, other| (one.at, &one.event).cmp(&(other.at, &other.event)));
    events
}

pub(super) fn of_ana() -> EventOf {
    Event::of(id("ana"))
}

/// Reads all pages of this limit, each with the cursor of the previous page after a round trip
/// through text.
pub(super) async fn pages<Q: IntoQuery>(
    ctx: &Ctx,
    db: &Db,
    find: impl Fn() -> Q,
    limit: u32,
) -> Vec<Vec<Q::View>> {
    let (mut pages, mut cursor): (Vec<Vec<Q::View>>, Option<Cursor>) = (Vec::new(), None);
    loop {
        let page: Page<Q::View> =
            ctx.ok(db.page(find().into_query().limit(limit).after(cursor)).await);
        assert!(
            page.items.len() <= limit as usize,
            "{} items on a page of {limit}",
            page.items.len()
        );
        let is_full = page.items.len() == limit as usize;
        assert!(page.next.is_none() || is_full, "a page before the last is not full");
        pages.push(page.items);
        cursor = page.next.map(|next| ctx.ok(next.to_string().parse()));
        assert!(pages.len() < 100, "the cursor repeats itself");
        if cursor.is_none() {
            return pages;
        }
    }
}

async fn written(ctx: &Ctx) -> (Db, Table, Vec<Event>) {
    let (db, table) = shop(ctx).await;
    let all = events("ana");
    // The events are written in another order than they are found, followed by those of another
    // user.
    for event in all.iter().rev().chain(&events("eva")) {
        ctx.put(&table, item_of(event)).await;
    }
    (db, table, all)
}

pub(super) async fn pages_over_shards_are_sorted(ctx: Ctx) {
    let (db, table, mut all) = written(&ctx).await;
    for limit in [1, 7, 30, 100] {
        let found = pages(&ctx, &db, of_ana, limit).await.concat();
        assert_eq!(found, all, "in pages of {limit}");
    }
    let range = || of_ana().at(5..=9);
    let within: Vec<Event> =
        all.iter().filter(|event| (5..=9).contains(&event.at)).cloned().collect();
    assert_eq!(pages(&ctx, &db, range, 4).await.concat(), within);
    let stored: Vec<Item> = all.iter().chain(&events("eva")).map(item_of).collect();
    ctx.expect_table(&table, &stored).await;
    all.reverse();
    for limit in [4, 30] {
        let found = pages(&ctx, &db, || of_ana().descending(), limit).await.concat();
        assert_eq!(found, all, "descending in pages of {limit}");
    }
    // A given shard is the only one that is read.
    let mut partitions: Vec<Value> =
        stored.iter().map(|item| item.get("PK").expect("a key").to_value()).collect();
    partitions.sort_by_key(|value| format!("{value:?}"));
    partitions.dedup();
    assert!(partitions.len() > 10, "the events are in only {} partitions", partitions.len());
    let one = &all[0];
    let alone = of_ana().at(one.at).event(&one.event);
    assert_eq!(ctx.ok(db.all(alone).await), std::slice::from_ref(one));
}

pub(super) async fn filtered_pages_over_shards_are_full(ctx: Ctx) {
    let (db, table, all) = written(&ctx).await;
    let rare: Vec<Event> = all.iter().filter(|event| event.kind == "rare").cloned().collect();
    assert_eq!(rare.len(), 6);
    for limit in [1, 2, 4, 6, 50] {
        let find = || of_ana().filter(Event::KIND.eq("rare"));
        let found = pages(&ctx, &db, find, limit).await.concat();
        assert_eq!(found, rare, "in pages of {limit}");
        let find = || of_ana().filter(Event::KIND.eq("rare")).descending();
        let mut found = pages(&ctx, &db, find, limit).await.concat();
        found.reverse();
        assert_eq!(found, rare, "descending in pages of {limit}");
    }
    let none = || of_ana().filter(Event::KIND.eq("never"));
    assert_eq!(pages(&ctx, &db, none, 3).await, [Vec::<Event>::new()]);
    let stored: Vec<Item> = all.iter().chain(&events("eva")).map(item_of).collect();
    ctx.expect_table(&table, &stored).await;
}

pub(super) async fn ties_over_shards_are_returned_once(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let mut all = Vec::new();
    for number in 0..24_u8 {
        let job = Job { job: id(&format!("j{number:02}")), due: number % 3 };
        all.push(created(&ctx, &db, job).await);
    }
    let stored: Vec<Item> = all.iter().map(item_of).collect();
    ctx.expect_index(&table, "GSI1", &stored).await;
    for limit in [1, 5, 24] {
        for is_descending in [false, true] {
            let find = || match is_descending {
                true => Job::by_due().descending(),
                false => Job::by_due().into_query(),
            };
            let mut found = pages(&ctx, &db, find, limit).await.concat();
            let dues: Vec<u8> = found.iter().map(|job| job.due).collect();
            assert!(
                dues.is_sorted_by(|one, other| match is_descending {
                    true => one >= other,
                    false => one <= other,
                }),
                "{dues:?} in pages of {limit}"
            );
            found.sort_by(|one, other| one.job.cmp(&other.job));
            assert_eq!(found, all, "in pages of {limit}, descending: {is_descending}");
        }
    }
    ctx.expect_table(&table, &stored).await;
}
