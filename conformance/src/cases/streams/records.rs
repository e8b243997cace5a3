//! Stream records: their existence, order and content (56b-k, 57).

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use EventName::{Insert, Modify, Remove};

pub(super) async fn each_change_has_one_record(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewAndOldImages)).await;
    let (one, two) = (numbered("a", 1), numbered("a", 2));
    ctx.put(&table, one.clone()).await;
    let update = Update::new().set("n", 2);
    ctx.update(UpdateItem::new(&table, key("a")).update(update)).await;
    ctx.put(&table, one.clone()).await;
    ctx.delete(&table, key("a")).await;
    ctx.expect_table(&table, &[]).await;
    let expected = [
        change(Insert, "a", None, Some(&one)),
        change(Modify, "a", Some(&one), Some(&two)),
        change(Modify, "a", Some(&two), Some(&one)),
        change(Remove, "a", Some(&one), None),
    ];
    let records = ctx.records(&table, 4).await;
    assert_eq!(shown(&records), expected);
    assert!(records.iter().all(|record| record.user_identity.is_none()), "{records:?}");
    // Reading removes no records.
    assert_eq!(ctx.records(&table, 4).await, records);
}

pub(super) async fn batches_have_one_record_per_item(ctx: Ctx) {
    let shape = TableSpec::s().stream(StreamViewType::NewAndOldImages);
    let (old, gone, same) = (numbered("old", 1), numbered("gone", 1), numbered("same", 1));
    let table = ctx.table_with(shape, [old.clone(), gone.clone(), same.clone()]).await;
    let (new, changed) = (numbered("new", 1), numbered("old", 2));
    let request = BatchWriteItem::new()
        .put(&table, new.clone())
        .put(&table, changed.clone())
        .put(&table, same)
        .delete(&table, key("gone"))
        .delete(&table, key("missing"));
    let answer = ctx.ok(ctx.store().batch_write(request).await);
    assert!(answer.unprocessed_items.is_empty(), "{answer:?}");
    // The writes of a batch are unordered.
    let mut records = shown(&ctx.records(&table, 6).await.split_off(3));
    records.sort_by_key(|record| format!("{:?}", record.keys));
    let expected = [
        change(Remove, "gone", Some(&gone), None),
        change(Insert, "new", None, Some(&new)),
        change(Modify, "old", Some(&old), Some(&changed)),
    ];
    assert_eq!(records, expected);
}

pub(super) async fn indexes_add_no_records(ctx: Ctx) {
    let shape = TableSpec::s().gsi().stream(StreamViewType::NewAndOldImages);
    let table = ctx.table(shape).await;
    let entry = |gpk: &str| key("a").with("gpk", gpk).with("gsk", "s");
    let (first, second) = (entry("one"), entry("two"));
    ctx.put(&table, first.clone()).await;
    ctx.put(&table, second.clone()).await;
    let update = Update::new().remove("gpk");
    ctx.update(UpdateItem::new(&table, key("a")).update(update)).await;
    ctx.expect_index(&table, "gsi", &[]).await;
    let third = key("a").with("gsk", "s");
    ctx.expect_table(&table, std::slice::from_ref(&third)).await;
    let expected = [
        change(Insert, "a", None, Some(&first)),
        change(Modify, "a", Some(&first), Some(&second)),
        change(Modify, "a", Some(&second), Some(&third)),
    ];
    assert_eq!(shown(&ctx.records(&table, 3).await), expected);
}

pub(super) async fn failed_writes_have_no_record(ctx: Ctx) {
    let shape = TableSpec::s().gsi().stream(StreamViewType::NewAndOldImages);
    let before = numbered("a", 1);
    let table = ctx.table_with(shape, [before.clone()]).await;
    let store = ctx.store();
    let missing = || attr("pk").not_exists();
    let put = PutItem::new(&table, numbered("a", 2)).condition(missing());
    ctx.expect_condition_failed(store.put(put).await);
    let update = UpdateItem::new(&table, key("a")).update(Update::new().set("n", 2));
    ctx.expect_condition_failed(store.update(update.condition(missing())).await);
    let delete = DeleteItem::new(&table, key("a")).condition(missing());
    ctx.expect_condition_failed(store.delete(delete).await);
    let update = UpdateItem::new(&table, key("b")).update(Update::new().set("n", 2));
    ctx.expect_condition_failed(store.update(update.condition(attr("pk").exists())).await);
    let update = Update::new().set("n", attr("missing").plus(1));
    ctx.expect_error(store.update(UpdateItem::new(&table, key("a")).update(update)).await);
    ctx.expect_error(store.put(PutItem::new(&table, key("a").with("gpk", 1))).await);
    ctx.expect_error(store.put(PutItem::new(&table, item! { "pk" => "" })).await);
    let batch = BatchWriteItem::new().put(&table, key("b")).put(&table, key("b"));
    ctx.expect_error(store.batch_write(batch).await);
    ctx.expect_table(&table, std::slice::from_ref(&before)).await;

    let last = numbered("z", 0);
    ctx.put(&table, last.clone()).await;
    let expected =
        [change(Insert, "a", None, Some(&before)), change(Insert, "z", None, Some(&last))];
    assert_eq!(shown(&ctx.records(&table, 2).await), expected);
}

pub(super) async fn records_of_an_item_are_in_order(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n().stream(StreamViewType::NewAndOldImages)).await;
    let item = |pk: &str, sk: i32, n: i32| item! { "pk" => pk, "sk" => sk, "n" => n };
    for n in 0..10 {
        for (pk, sk) in [("a", 1), ("b", 1), ("a", 2)] {
            ctx.put(&table, item(pk, sk, n)).await;
        }
    }
    let records = ctx.records(&table, 30).await;
    assert_eq!(records.len(), 30);
    for (pk, sk) in [("a", 1), ("b", 1), ("a", 2)] {
        let key = item! { "pk" => pk, "sk" => sk };
        let of_item: Vec<&Record> = records.iter().filter(|record| record.keys == key).collect();
        assert_eq!(of_item.len(), 10, "{key:?}");
        for (n, record) in (0..).zip(of_item) {
            let old = (n > 0).then(|| item(pk, sk, n - 1));
            assert_eq!(record.old_image, old, "{key:?}");
            assert_eq!(record.new_image, Some(item(pk, sk, n)), "{key:?}");
        }
    }
}

/// Returns the records of an item that is created, changed and deleted, with this view type.
async fn life_of_an_item(ctx: &Ctx, view_type: StreamViewType) -> Vec<Record> {
    let table = ctx.table(TableSpec::s_n().stream(view_type)).await;
    let item = |n: i32| item! { "pk" => "a", "sk" => 7, "n" => n, "m" => map! { "x" => list![n] } };
    ctx.put(&table, item(1)).await;
    ctx.put(&table, item(2)).await;
    ctx.delete(&table, item! { "pk" => "a", "sk" => 7 }).await;
    let records = ctx.records(&table, 3).await;
    for record in &records {
        assert_eq!(record.keys, item! { "pk" => "a", "sk" => 7 });
        assert_eq!(record.view_type, view_type);
    }
    let events: Vec<EventName> = records.iter().map(|record| record.event_name).collect();
    assert_eq!(events, [Insert, Modify, Remove]);
    // The four view types differ in the images.
    let images: Vec<(Option<Item>, Option<Item>)> =
        records.iter().map(|record| (record.old_image.clone(), record.new_image.clone())).collect();
    let (old, new) = match view_type {
        StreamViewType::KeysOnly => (false, false),
        StreamViewType::NewImage => (false, true),
        StreamViewType::OldImage => (true, false),
        StreamViewType::NewAndOldImages => (true, true),
    };
    let image = |wanted: bool, n: i32| wanted.then(|| item(n));
    let expected = [(None, image(new, 1)), (image(old, 1), image(new, 2)), (image(old, 2), None)];
    assert_eq!(images, expected);
    records
}

pub(super) async fn keys_only_records_have_the_keys(ctx: Ctx) {
    life_of_an_item(&ctx, StreamViewType::KeysOnly).await;
}

pub(super) async fn new_image_records_have_the_new_item(ctx: Ctx) {
    life_of_an_item(&ctx, StreamViewType::NewImage).await;
}

pub(super) async fn old_image_records_have_the_old_item(ctx: Ctx) {
    life_of_an_item(&ctx, StreamViewType::OldImage).await;
}

pub(super) async fn new_and_old_images_records_have_both(ctx: Ctx) {
    life_of_an_item(&ctx, StreamViewType::NewAndOldImages).await;
}

/// Uses the example event of AWS Lambda's guide (with-ddb-example), with its sizes.
pub(super) async fn record_size_is_that_of_keys_and_images(ctx: Ctx) {
    let shape = TableSpec::n().with(|mut request| {
        request.key_schema.clear();
        request.attribute_definitions.clear();
        request.partition_key("Id", KeyType::N).stream(StreamViewType::NewAndOldImages)
    });
    let table = ctx.table(shape).await;
    let key = item! { "Id" => 101 };
    ctx.put(&table, key.clone().with("Message", "New item!")).await;
    ctx.put(&table, key.clone().with("Message", "This item has changed")).await;
    ctx.delete(&table, key).await;
    let records = ctx.records(&table, 3).await;
    let sizes: Vec<u64> = records.iter().map(|record| record.size_bytes).collect();
    assert_eq!(sizes, [26, 59, 38]);
}

pub(super) async fn record_time_is_rounded_down_to_seconds(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    ctx.clock().advance(Duration::from_millis(1900));
    let (first, second) = (ctx.now(), ctx.now() + Duration::from_millis(200));
    ctx.put(&table, key("a")).await;
    ctx.clock().advance(Duration::from_millis(200));
    ctx.put(&table, key("b")).await;
    let times: Vec<u64> =
        ctx.records(&table, 2).await.iter().map(|record| record.created_at.as_millis()).collect();
    assert_eq!(times, [first.as_secs() * 1000, second.as_secs() * 1000]);
    assert_ne!(times[0], times[1]);
}

pub(super) async fn unchanged_item_has_no_record(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewAndOldImages)).await;
    let json = |n: &str, members: [&str; 2]| {
        serde_json::json!({
            "pk": { "S": "a" }, "n": { "N": n }, "set": { "SS": members },
            "m": { "M": { "x": { "S": "y" } } },
        })
    };
    ctx.ok(ctx.put_json(&table, json("1", ["b", "c"])).await);
    let item = ctx.get(&table, key("a")).await.expect("the item was written");
    // These puts write the same item in another notation.
    ctx.put(&table, item.clone()).await;
    ctx.ok(ctx.put_json(&table, json("1.0", ["b", "c"])).await);
    ctx.ok(ctx.put_json(&table, json("1", ["c", "b"])).await);
    let member = Set::new(["x".to_owned()]).expect("non-empty set");
    let known = Set::new(["b".to_owned()]).expect("non-empty set");
    for update in [
        Update::new(),
        Update::new().set("n", 1),
        Update::new().set("n", attr("n")),
        Update::new().set("n", attr("n").plus(0)),
        Update::new().set(attr("m").field("x"), "y"),
        Update::new().set("n", attr("n").if_not_exists(5)),
        Update::new().remove("missing"),
        Update::new().add("n", 0),
        Update::new().add("set", known),
        Update::new().delete("set", member),
    ] {
        let request = UpdateItem::new(&table, key("a"));
        let request = if update.is_empty() { request } else { request.update(update) };
        ctx.update(request).await;
    }
    ctx.delete(&table, key("missing")).await;
    ctx.expect_table(&table, std::slice::from_ref(&item)).await;

    let last = numbered("z", 0);
    ctx.put(&table, last.clone()).await;
    let expected = [change(Insert, "a", None, Some(&item)), change(Insert, "z", None, Some(&last))];
    assert_eq!(shown(&ctx.records(&table, 2).await), expected);
}

pub(super) async fn event_name_depends_on_old_and_new_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    let update = |n: i32| UpdateItem::new(&table, key("a")).update(Update::new().set("n", n));
    ctx.put(&table, numbered("a", 1)).await;
    ctx.put(&table, numbered("a", 2)).await;
    ctx.delete(&table, key("a")).await;
    ctx.update(update(1)).await;
    ctx.update(update(2)).await;
    ctx.delete(&table, key("a")).await;
    ctx.update(UpdateItem::new(&table, key("a"))).await;
    ctx.put(&table, numbered("a", 3)).await;
    let records = ctx.records(&table, 8).await;
    let events: Vec<EventName> = records.iter().map(|record| record.event_name).collect();
    assert_eq!(events, [Insert, Modify, Remove, Insert, Modify, Remove, Insert, Modify]);
}

pub(super) async fn sequence_numbers_increase(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    write_numbers(&ctx, &table, 1..=12).await;
    let records = ctx.records(&table, 12).await;
    assert_eq!(records.len(), 12);
    let value = |record: &Record| {
        let text = &record.sequence_number.0;
        assert!((21..=40).contains(&text.len()), "{text}");
        assert!(text.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
        // 40 digits exceed a u128; as texts of equal length, the numbers compare correctly.
        format!("{text:0>40}")
    };
    let values: Vec<String> = records.iter().map(value).collect();
    assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
    let (_, shard) = written_shard(&ctx, &table).await;
    assert!(format!("{:0>40}", shard.starting_sequence_number.0) <= values[0], "{shard:?}");
}

pub(super) async fn event_ids_are_unique(ctx: Ctx) {
    let mut ids = BTreeSet::new();
    for _ in 0..2 {
        let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
        for _ in 0..2 {
            write_numbers(&ctx, &table, 1..=5).await;
            for record in ctx.records(&table, 5).await {
                assert!(ids.insert(record.event_id.clone()), "duplicate event id: {record:?}");
                assert!(!record.event_id.is_empty(), "{record:?}");
            }
            // The records of the next stream have other ids, although the changes are the same.
            set_stream(&ctx, &table, None).await;
            set_stream(&ctx, &table, Some(StreamViewType::KeysOnly)).await;
        }
    }
    assert_eq!(ids.len(), 20);
}

pub(super) async fn transaction_has_one_record_per_item(ctx: Ctx) {
    let shape = || TableSpec::s().stream(StreamViewType::NewAndOldImages);
    let (old, gone, same) = (numbered("old", 1), numbered("gone", 1), numbered("same", 1));
    let first = ctx.table_with(shape(), [old.clone(), gone.clone(), same.clone()]).await;
    let second = ctx.table(shape()).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&first, numbered("new", 1)))
        .item(UpdateItem::new(&first, key("old")).update(Update::new().set("n", 2)))
        .item(PutItem::new(&second, numbered("other", 1)))
        .item(DeleteItem::new(&first, key("gone")))
        .item(ConditionCheck::new(&second, key("none"), attr("pk").not_exists()))
        .item(PutItem::new(&first, same))
        .item(DeleteItem::new(&second, key("missing")));
    ctx.ok(ctx.store().transact_write(request).await);
    let mut records = shown(&ctx.records(&first, 6).await.split_off(3));
    records.sort_by_key(|record| format!("{:?}", record.keys));
    let expected = [
        change(Remove, "gone", Some(&gone), None),
        change(Insert, "new", None, Some(&numbered("new", 1))),
        change(Modify, "old", Some(&old), Some(&numbered("old", 2))),
    ];
    assert_eq!(records, expected);
    let expected = [change(Insert, "other", None, Some(&numbered("other", 1)))];
    let records = ctx.records(&second, 1).await;
    assert_eq!(shown(&records), expected);
    assert_eq!(records[0].user_identity, None);
}

pub(super) async fn canceled_transaction_has_no_record(ctx: Ctx) {
    let before = numbered("a", 1);
    let shape = TableSpec::s().stream(StreamViewType::NewAndOldImages);
    let table = ctx.table_with(shape, [before.clone()]).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, numbered("new", 1)))
        .item(DeleteItem::new(&table, key("a")))
        .item(PutItem::new(&table, numbered("b", 1)).condition(attr("pk").exists()));
    let reasons = ["None", "None", "ConditionalCheckFailed"];
    ctx.expect_canceled(ctx.store().transact_write(request).await, &reasons);
    ctx.expect_table(&table, std::slice::from_ref(&before)).await;
    let last = numbered("z", 0);
    ctx.put(&table, last.clone()).await;
    let expected =
        [change(Insert, "a", None, Some(&before)), change(Insert, "z", None, Some(&last))];
    assert_eq!(shown(&ctx.records(&table, 2).await), expected);
}
