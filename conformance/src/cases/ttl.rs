//! Expiry of items by TTL (55).

use std::time::Duration;

use tabla_core::StoreExt;

use super::prelude::*;

cases! {
    Ttl;

    clause "55a", only_top_level_numbers_expire:
        "Only a top-level number attribute expires an item.", needs [Sweep];
    clause "55b", expiry_time_is_in_seconds:
        "The expiry time is in seconds since the Unix epoch.", needs [Sweep];
    extra "ttl-to-the-second" of "55b", item_expires_after_its_second:
        "An item expires when the second of its expiry time has passed, and not before.",
        needs [Sweep, Clock];
    clause "55c", items_expired_over_five_years_ago_are_kept:
        "An item whose expiry time is more than five years in the past is kept.", needs [Sweep];
    clause "55d", expired_item_exists_until_it_is_deleted:
        "An expired item is read, written and counted until it is deleted.", needs [Sweep, Clock];
    extra "ttl-changed-in-time" of "55d", expiry_can_be_postponed:
        "An expired item whose expiry time is changed or removed before its deletion is kept.",
        needs [Sweep, Clock];
    extra "ttl-filter" of "55d", filter_leaves_out_expired_items:
        "A filter on the expiry time leaves out the expired items and no others.";
    clause "55e", expired_items_are_deleted_from_table_and_indexes:
        "Expired items are deleted in the background, from the table and its indexes.",
        needs [Sweep];
    clause "55f", expiry_is_recorded_as_remove_by_the_service:
        "The stream records an expiry as a REMOVE by the DynamoDB service.", needs [Sweep, Streams];
    extra "ttl-removed-once" of "55f", expiry_has_one_record:
        "An expiry has one stream record, even after several sweeps.",
        needs [Sweep, Streams, Clock];
    clause "55g", change_of_ttl_attribute_needs_disabling:
        "The TTL attribute can be changed only after TTL is disabled.";
    clause "55h", second_change_within_an_hour_is_rejected:
        "The TTL settings can be changed only once per hour.";
    extra "ttl-after-an-hour" of "55h", change_after_an_hour_is_accepted:
        "The TTL settings can be changed again after an hour, also to another attribute.",
        needs [Sweep, Clock];
    extra "ttl-disabled" of "55g", disabled_ttl_deletes_nothing:
        "No item expires while TTL is disabled.", needs [Sweep, Clock];
    extra "ttl-described" of "55g", ttl_settings_are_described:
        "The TTL settings are described as requested, and a change to the current settings is \
         rejected.";
    extra "ttl-attribute-name", ttl_attribute_name_has_1_to_255_bytes:
        "The name of the TTL attribute must have 1 to 255 bytes.";
    extra "ttl-missing-table", ttl_of_missing_table_fails:
        "Reading or changing the TTL settings of a missing table fails with \
         ResourceNotFoundException.";
}

const DAY: i64 = 24 * 60 * 60;
const YEAR: i64 = 365 * DAY;

/// Returns the time `from_now` seconds after the store's clock, in seconds since the epoch.
fn seconds(ctx: &Ctx, from_now: i64) -> i64 {
    i64::try_from(ctx.now().as_secs()).expect("the time is in range") + from_now
}

/// Creates a table whose TTL attribute is `expires`.
async fn expiring(ctx: &Ctx, shape: TableSpec) -> Table {
    let table = ctx.table(shape).await;
    let request = UpdateTimeToLive::new(&table, "expires", true);
    let answer = ctx.ok(ctx.store().update_time_to_live(request.clone()).await);
    assert_eq!(answer, request);
    table
}

fn item(pk: &str, expires: impl Into<Value>) -> Item {
    item! { "pk" => pk, "expires" => expires.into() }
}

/// Writes these items, sweeps, and asserts which of them remain.
async fn expect_kept(ctx: &Ctx, table: &Table, gone: &[Item], kept: &[Item]) {
    ctx.put_all(table, gone.iter().chain(kept).cloned()).await;
    ctx.sweep().await;
    ctx.expect_table(table, kept).await;
}

async fn only_top_level_numbers_expire(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s()).await;
    let past = seconds(&ctx, -100);
    let set = Set::new([Number::from(past)]).expect("non-empty set");
    let kept = [
        item("string", past.to_string()),
        item("binary", past.to_string().into_bytes()),
        item("bool", true),
        item("null", Value::Null),
        item("list", list![past]),
        item("map", map! { "expires" => past }),
        item("set", set),
        item! { "pk" => "none" },
        item! { "pk" => "other", "Expires" => past, "expire" => past },
        item! { "pk" => "nested", "m" => map! { "expires" => past } },
    ];
    expect_kept(&ctx, &table, &[item("number", past)], &kept).await;
}

async fn expiry_time_is_in_seconds(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s()).await;
    let past = seconds(&ctx, -100);
    let fraction = Number::parse(&format!("{past}.5")).expect("valid number");
    let gone = [item("past", past), item("fraction", fraction), item("day", past - DAY)];
    let kept = [
        item("future", seconds(&ctx, DAY)),
        item("milliseconds", past * 1000),
        item("largest", Number::parse("9E125").expect("valid number")),
    ];
    expect_kept(&ctx, &table, &gone, &kept).await;
}

async fn item_expires_after_its_second(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s()).await;
    let item = item("a", seconds(&ctx, 60));
    ctx.put(&table, item.clone()).await;
    for advance in [0, 59, 1] {
        ctx.clock().advance(Duration::from_secs(advance));
        ctx.sweep().await;
        ctx.expect_table(&table, std::slice::from_ref(&item)).await;
    }
    ctx.clock().advance(Duration::from_secs(1));
    ctx.sweep().await;
    ctx.expect_table(&table, &[]).await;
}

async fn items_expired_over_five_years_ago_are_kept(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s()).await;
    let gone = [item("four-years", seconds(&ctx, -4 * YEAR))];
    let kept = [
        item("six-years", seconds(&ctx, -6 * YEAR)),
        item("epoch", 0),
        item("before", -5),
        item("smallest", Number::parse("-9E125").expect("valid number")),
    ];
    expect_kept(&ctx, &table, &gone, &kept).await;
}

async fn expired_item_exists_until_it_is_deleted(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s().gsi()).await;
    let expires = seconds(&ctx, 10);
    let item = item("a", expires).with("gpk", "g").with("gsk", "h").with("n", 1);
    ctx.put(&table, item.clone()).await;
    ctx.clock().advance(Duration::from_secs(1000));
    let key = item! { "pk" => "a" };
    let expected = std::slice::from_ref(&item);
    assert_eq!(ctx.get(&table, key.clone()).await.as_ref(), Some(&item));
    ctx.expect_table(&table, expected).await;
    ctx.expect_query(Query::new(&table, attr("pk").eq("a")), expected).await;
    ctx.expect_query(Query::new(&table, attr("gpk").eq("g")).index("gsi"), expected).await;
    let count = Scan::new(&table).select(Select::Count).consistent_read(true);
    assert_eq!(ctx.ok(ctx.store().scan(count).await).count, 1);
    let described = ctx.ok(ctx.store().describe_table(DescribeTable::new(&table)).await);
    assert_eq!(described.item_count, 1);
    // Conditions see the expired item, and writes change it.
    let put = PutItem::new(&table, key.clone()).condition(attr("pk").not_exists());
    ctx.expect_condition_failed(ctx.store().put(put).await);
    let update = UpdateItem::new(&table, key).update(Update::new().add("n", 1));
    ctx.update(update.condition(attr("expires").eq(expires))).await;
    ctx.expect_table(&table, &[item.with("n", 2)]).await;
    // A filter hides the expired item from callers.
    let live = tabla_core::not_expired("expires", ctx.now());
    ctx.expect_query(Query::new(&table, attr("pk").eq("a")).filter(live), &[]).await;
    ctx.sweep().await;
    ctx.expect_table(&table, &[]).await;
}

/// Nothing is deleted meanwhile: only the filter leaves out expired items.
async fn filter_leaves_out_expired_items(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let now = ctx.now();
    let (past, future) = (seconds(&ctx, -100), seconds(&ctx, 100));
    let number = |text: String| Number::parse(&text).expect("valid number");
    let shown = [
        item! { "pk" => "none" },
        item! { "pk" => "other", "Expires" => past },
        item("future", future),
        item("next-second", seconds(&ctx, 1)),
        item("part-of-a-second", number(format!("{}.5", seconds(&ctx, 0)))),
        item("milliseconds", past * 1000),
        item("largest", number("9E125".to_owned())),
        item("string", past.to_string()),
        item("binary", past.to_string().into_bytes()),
        item("bool", true),
        item("null", Value::Null),
        item("list", list![past]),
        item("map", map! { "expires" => past }),
        item("set", Set::new([Number::from(past)]).expect("non-empty set")),
    ];
    let hidden = [
        item("past", past),
        item("fraction", number(format!("{past}.5"))),
        // The second of this expiry time is current; the item is deleted after it has passed.
        item("this-second", seconds(&ctx, 0)),
        // Items that expired more than five years ago are never deleted.
        item("six-years", seconds(&ctx, -6 * YEAR)),
        item("epoch", 0),
        item("negative", -5),
        item("smallest", number("-9E125".to_owned())),
    ];
    ctx.put_all(&table, shown.iter().chain(&hidden).cloned()).await;
    let live = || tabla_core::not_expired("expires", now);
    let scan = Scan::new(&table).filter(live()).consistent_read(true);
    ctx.expect_items(&ctx.ok(ctx.store().scan(scan).await).items, &shown);
    for item in shown.iter().chain(&hidden) {
        let pk = item.get("pk").expect("a key").to_value();
        let expected = if shown.contains(item) { std::slice::from_ref(item) } else { &[] };
        let query = Query::new(&table, attr("pk").eq(pk.clone())).filter(live());
        ctx.expect_query(query, expected).await;
        let key = item! { "pk" => pk };
        let found = ctx.store().get_unexpired(&table.to_string(), key, "expires", now).await;
        assert_eq!(ctx.ok(found).as_ref(), expected.first());
    }
}

async fn expiry_can_be_postponed(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s()).await;
    let soon = seconds(&ctx, 10);
    ctx.put_all(&table, ["later", "never", "replaced", "left"].map(|pk| item(pk, soon))).await;
    ctx.clock().advance(Duration::from_secs(20));
    let later = seconds(&ctx, 100);
    let change = |pk: &str, update| UpdateItem::new(&table, item! { "pk" => pk }).update(update);
    ctx.update(change("later", Update::new().set("expires", later))).await;
    ctx.update(change("never", Update::new().remove("expires"))).await;
    ctx.put(&table, item("replaced", "no number")).await;
    let replaced = item("replaced", "no number");
    let never = item! { "pk" => "never" };
    ctx.sweep().await;
    ctx.expect_table(&table, &[item("later", later), never.clone(), replaced.clone()]).await;
    ctx.clock().advance(Duration::from_secs(101));
    ctx.sweep().await;
    ctx.expect_table(&table, &[never, replaced]).await;
}

async fn expired_items_are_deleted_from_table_and_indexes(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s().gsi()).await;
    let other = ctx.table(TableSpec::s()).await;
    let entry = |pk: &str, expires: i64| item(pk, expires).with("gpk", "g").with("gsk", pk);
    let gone = ["a", "b", "c"].map(|pk| entry(pk, seconds(&ctx, -100)));
    let kept = [entry("d", seconds(&ctx, DAY)), item! { "pk" => "e", "gpk" => "g", "gsk" => "e" }];
    // The same items remain in a table without TTL.
    ctx.put_all(&other, gone.iter().cloned()).await;
    expect_kept(&ctx, &table, &gone, &kept).await;
    ctx.expect_index(&table, "gsi", &kept).await;
    ctx.expect_query(Query::new(&table, attr("gpk").eq("g")).index("gsi"), &kept).await;
    ctx.expect_table(&other, &gone).await;
}

async fn expiry_is_recorded_as_remove_by_the_service(ctx: Ctx) {
    let shape = TableSpec::s().stream(StreamViewType::NewAndOldImages);
    let table = expiring(&ctx, shape).await;
    let expired = item("expired", seconds(&ctx, -100));
    let deleted = item! { "pk" => "deleted" };
    ctx.put(&table, deleted.clone()).await;
    ctx.delete(&table, deleted.clone()).await;
    expect_kept(&ctx, &table, std::slice::from_ref(&expired), &[]).await;
    let records = ctx.records(&table, 4).await;
    let shown: Vec<(EventName, Item, Option<Item>)> = records
        .iter()
        .map(|record| (record.event_name, record.keys.clone(), record.old_image.clone()))
        .collect();
    let key = item! { "pk" => "expired" };
    let expected = [
        (EventName::Insert, deleted.clone(), None),
        (EventName::Remove, deleted.clone(), Some(deleted)),
        (EventName::Insert, key.clone(), None),
        (EventName::Remove, key, Some(expired)),
    ];
    assert_eq!(shown, expected);
    let (by_service, by_callers) = records.split_last().expect("four records");
    assert_eq!(by_service.new_image, None);
    let identity = by_service.user_identity.as_ref().expect("the service's record has an identity");
    assert_eq!(identity.kind, "Service");
    assert_eq!(identity.principal_id, "dynamodb.amazonaws.com");
    assert!(by_callers.iter().all(|record| record.user_identity.is_none()), "{by_callers:?}");
}

async fn expiry_has_one_record(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    ctx.put(&table, item("a", seconds(&ctx, 10))).await;
    for advance in [0, 20, 20] {
        ctx.clock().advance(Duration::from_secs(advance));
        ctx.sweep().await;
    }
    // A second expiry of the same key is another change.
    ctx.put(&table, item("a", seconds(&ctx, -1))).await;
    ctx.sweep().await;
    ctx.expect_table(&table, &[]).await;
    let records = ctx.records(&table, 4).await;
    let events: Vec<(EventName, bool)> =
        records.iter().map(|record| (record.event_name, record.user_identity.is_some())).collect();
    let (insert, remove) = ((EventName::Insert, false), (EventName::Remove, true));
    assert_eq!(events, [insert, remove, insert, remove]);
}

async fn change_of_ttl_attribute_needs_disabling(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s()).await;
    for enabled in [true, false] {
        let request = UpdateTimeToLive::new(&table, "other", enabled);
        ctx.expect_validation(
            ctx.store().update_time_to_live(request).await,
            "TimeToLive is active on a different AttributeName: current AttributeName is expires",
        );
    }
    let described = describe(&ctx, &table).await;
    assert_eq!(described.attribute.as_deref(), Some("expires"));
}

async fn describe(ctx: &Ctx, table: &Table) -> TimeToLiveDescription {
    ctx.ok(ctx.store().describe_time_to_live(DescribeTimeToLive::new(table)).await)
}

const TOO_SOON: &str = "Time to live has been modified multiple times within a fixed interval";

async fn second_change_within_an_hour_is_rejected(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s()).await;
    let disable = UpdateTimeToLive::new(&table, "expires", false);
    ctx.expect_validation(ctx.store().update_time_to_live(disable).await, TOO_SOON);
    assert_eq!(describe(&ctx, &table).await.attribute.as_deref(), Some("expires"));
}

async fn change_after_an_hour_is_accepted(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s()).await;
    let set = |attribute: &str, enabled: bool| {
        let (store, request) = (ctx.store(), UpdateTimeToLive::new(&table, attribute, enabled));
        async move { store.update_time_to_live(request).await }
    };
    let minutes = |minutes: u64| ctx.clock().advance(Duration::from_secs(60 * minutes));
    minutes(59);
    ctx.expect_validation(set("expires", false).await, TOO_SOON);
    minutes(1);
    ctx.ok(set("expires", false).await);
    assert_eq!(describe(&ctx, &table).await.status, TimeToLiveStatus::Disabled);
    ctx.expect_validation(set("other", true).await, TOO_SOON);
    minutes(60);
    ctx.ok(set("other", true).await);
    assert_eq!(describe(&ctx, &table).await.attribute.as_deref(), Some("other"));
    let past = seconds(&ctx, -100);
    let gone = item! { "pk" => "gone", "other" => past };
    expect_kept(&ctx, &table, &[gone], &[item("kept", past)]).await;
}

async fn disabled_ttl_deletes_nothing(ctx: Ctx) {
    let table = expiring(&ctx, TableSpec::s()).await;
    ctx.clock().advance(Duration::from_secs(60 * 60));
    let disable = UpdateTimeToLive::new(&table, "expires", false);
    ctx.ok(ctx.store().update_time_to_live(disable).await);
    let kept = [item("a", seconds(&ctx, -100))];
    expect_kept(&ctx, &table, &[], &kept).await;
}

async fn ttl_settings_are_described(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let off = TimeToLiveDescription::disabled();
    assert_eq!(describe(&ctx, &table).await, off);
    let disable = UpdateTimeToLive::new(&table, "expires", false);
    ctx.expect_validation(
        ctx.store().update_time_to_live(disable).await,
        "TimeToLive is already disabled",
    );
    let enable = UpdateTimeToLive::new(&table, "expires", true);
    ctx.ok(ctx.store().update_time_to_live(enable.clone()).await);
    let described = describe(&ctx, &table).await;
    let on = [TimeToLiveStatus::Enabling, TimeToLiveStatus::Enabled];
    assert!(on.contains(&described.status), "{described:?}");
    assert_eq!(described.attribute.as_deref(), Some("expires"));
    ctx.expect_validation(
        ctx.store().update_time_to_live(enable).await,
        "TimeToLive is already enabled",
    );
    let other = ctx.table(TableSpec::s()).await;
    assert_eq!(describe(&ctx, &other).await, off);
}

async fn ttl_attribute_name_has_1_to_255_bytes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (name, constraint) in [
        (String::new(), "greater than or equal to 1"),
        ("x".repeat(256), "less than or equal to 255"),
    ] {
        let message = format!(
            "1 validation error detected: Value '{name}' at \
             'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must \
             have length {constraint}"
        );
        let request = UpdateTimeToLive::new(&table, name, true);
        ctx.expect_validation(ctx.store().update_time_to_live(request).await, &message);
    }
    assert_eq!(describe(&ctx, &table).await.status, TimeToLiveStatus::Disabled);
    let longest = "x".repeat(255);
    let request = UpdateTimeToLive::new(&table, &longest, true);
    ctx.ok(ctx.store().update_time_to_live(request).await);
    assert_eq!(describe(&ctx, &table).await.attribute, Some(longest));
}

async fn ttl_of_missing_table_fails(ctx: Ctx) {
    let name = ctx.unused_table_name();
    let not_found = |kind: &ErrorKind| matches!(kind, ErrorKind::NotFound);
    let request = UpdateTimeToLive::new(&name, "expires", true);
    let result = ctx.store().update_time_to_live(request).await;
    ctx.expect_kind(result, "NotFound", not_found);
    let result = ctx.store().describe_time_to_live(DescribeTimeToLive::new(&name)).await;
    ctx.expect_kind(result, "NotFound", not_found);
}
