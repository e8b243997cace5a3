//! Batch reads and writes (35).

use super::prelude::*;

cases! {
    Batches;
    clause "35a", batch_write_of_25:
        "BatchWriteItem accepts 25 writes and rejects 26 with ValidationException.";
    extra "batch-write-26-over-tables" of "35a", writes_are_counted_over_tables:
        "The limit of 25 writes applies to all tables of a BatchWriteItem together.";
    clause "35b", batch_write_of_largest_items_is_complete_or_reports_the_rest:
        "A batch of 25 items of the largest size is written, or the rest is returned as \
         unprocessed items.";
    clause "35c", two_puts_of_one_key_are_rejected:
        "Two puts of one key in a batch are rejected with ValidationException, and nothing is \
         written.";
    clause "35d", put_and_delete_of_one_key_are_rejected:
        "A put and a delete of one key in a batch are rejected with ValidationException, and \
         nothing is written.";
    extra "batch-write-two-deletes" of "35d", two_deletes_of_one_key_are_rejected:
        "Two deletes of one key in a batch are rejected with ValidationException.";
    extra "batch-write-one-key-two-tables" of "35c", same_key_in_two_tables_is_no_duplicate:
        "The same key in two tables, or the same partition key with two sort keys, is no \
         duplicate.";
    clause "35e", batch_put_replaces_item:
        "A put in a batch has no condition and replaces an existing item.";
    clause "35f", written_batch_has_no_unprocessed_items:
        "A batch that was written completely returns no unprocessed items.";
    extra "batch-write-mixed" of "35f", batch_puts_and_deletes_in_several_tables:
        "A batch puts and deletes items in several tables, and their indexes follow.";
    extra "batch-write-delete-missing" of "35f", batch_delete_of_missing_items_succeeds:
        "Deleting missing items in a batch succeeds.";
    extra "batch-write-one-invalid" of "35f", one_invalid_write_rejects_the_batch:
        "A batch with one invalid write is rejected with ValidationException, and nothing is \
         written.";
    extra "batch-write-missing-table" of "35f", missing_table_fails_the_batch:
        "A batch write to a missing table fails with ResourceNotFoundException, and nothing is \
         written.";
    extra "batch-write-empty" of "35a", empty_batch_write_is_rejected:
        "A batch write without writes, or with a table without writes, is rejected with \
         ValidationException.";
    clause "35g", batch_get_of_100:
        "BatchGetItem accepts 100 keys and rejects 101 with ValidationException.";
    extra "batch-get-101-over-tables" of "35g", keys_are_counted_over_tables:
        "The limit of 100 keys applies to all tables of a BatchGetItem together.";
    clause "35h", batch_get_of_duplicate_key_is_rejected:
        "A batch get with a duplicate key is rejected with ValidationException.";
    clause "35i", batch_get_over_16_mb_returns_unprocessed_keys:
        "A batch get of more than 16 MB returns the remaining keys as unprocessed keys.";
    extra "batch-get-unprocessed-keys-as-requested" of "35i",
        unprocessed_keys_can_be_requested_again:
        "Unprocessed keys carry the projection and the consistency of the request, so that they \
         can be sent again.";
    extra "batch-get-missing-items" of "35g", missing_items_are_left_out:
        "Missing items are absent from the response of a batch get, and are no unprocessed keys.";
    extra "batch-get-several-tables" of "35g", batch_get_reads_several_tables:
        "A batch get reads several tables, with keys of every type.";
    extra "batch-get-projection" of "35g", each_table_has_its_projection:
        "Each table of a batch get has its own projection.";
    extra "batch-get-invalid-key" of "35h", key_of_wrong_schema_is_rejected:
        "A batch get with a key that does not match the key schema is rejected with \
         ValidationException.";
    extra "batch-get-missing-table" of "35g", batch_get_from_a_missing_table_fails:
        "A batch get from a missing table fails with ResourceNotFoundException.";
    extra "batch-get-empty" of "35g", empty_batch_get_is_rejected:
        "A batch get without keys, or with a table without keys, is rejected with \
         ValidationException.";
    extra "batch-get-invalid-projection" of "35g", invalid_projection_is_rejected:
        "A batch get with an invalid projection is rejected with ValidationException.";
    clause "59a", batch_delete_of_missing_item_costs_one_unit:
        "A delete of a missing item in a batch consumes 1 write capacity unit.";
}

const DUPLICATES: &str = "Provided list of item keys contains duplicates";

/// Size of the largest item, in bytes.
const LARGEST: usize = 409_600;

/// Returns `count` small items.
fn items(count: usize) -> Vec<Item> {
    (0..count).map(|number| item! { "pk" => format!("k{number:03}"), "n" => number }).collect()
}

/// Returns a batch that puts `items`.
fn puts(table: &Table, items: impl IntoIterator<Item = Item>) -> BatchWriteItem {
    items.into_iter().fold(BatchWriteItem::new(), |batch, item| batch.put(table, item))
}

/// Writes a batch and repeats its unprocessed items until all are written.
async fn write_to_the_end(ctx: &Ctx, mut batch: BatchWriteItem) {
    let rounds = 100;
    for _ in 0..rounds {
        let answer = ctx.ok(ctx.store().batch_write(batch.clone()).await);
        if answer.unprocessed_items.is_empty() {
            return;
        }
        batch.requests = answer.unprocessed_items;
    }
    panic!("the batch is not written after {rounds} rounds");
}

/// Returns an item of the largest size.
fn largest(number: usize) -> Item {
    let item = item! { "pk" => format!("k{number:03}"), "v" => "" };
    let rest = LARGEST - item.size();
    let item = item.with("v", "x".repeat(rest));
    assert_eq!(item.size(), LARGEST);
    item
}

async fn batch_write_of_25(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    ctx.expect_validation(
        ctx.store().batch_write(puts(&table, items(26))).await,
        "1 validation error detected: Value at 'requestItems' failed to satisfy constraint: Map \
         value must satisfy constraint: [Member must have length less than or equal to 25, Member \
         must have length greater than or equal to 1]",
    );
    ctx.expect_table(&table, &[]).await;
    write_to_the_end(&ctx, puts(&table, items(25))).await;
    ctx.expect_table(&table, &items(25)).await;
}

async fn writes_are_counted_over_tables(ctx: Ctx) {
    let (one, two) = (ctx.table(TableSpec::s()).await, ctx.table(TableSpec::s()).await);
    let batch = |first: usize, second: usize| {
        items(second).into_iter().fold(puts(&one, items(first)), |all, item| all.put(&two, item))
    };
    ctx.expect_validation(
        ctx.store().batch_write(batch(13, 13)).await,
        "Too many items requested for the BatchWriteItem call",
    );
    ctx.expect_table(&one, &[]).await;
    ctx.expect_table(&two, &[]).await;
    write_to_the_end(&ctx, batch(13, 12)).await;
    ctx.expect_table(&one, &items(13)).await;
    ctx.expect_table(&two, &items(12)).await;
}

async fn batch_write_of_largest_items_is_complete_or_reports_the_rest(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let all: Vec<Item> = (0..25).map(largest).collect();
    let answer = ctx.ok(ctx.store().batch_write(puts(&table, all.clone())).await);
    let left = answer.unprocessed_items.get(table.name()).cloned().unwrap_or_default();
    let is_left = |item: &Item| left.contains(&WriteRequest::Put(item.clone()));
    let written: Vec<Item> = all.iter().filter(|item| !is_left(item)).cloned().collect();
    assert_eq!(
        written.len() + left.len(),
        all.len(),
        "unprocessed items must be items of the request"
    );
    ctx.expect_table(&table, &written).await;
}

async fn two_puts_of_one_key_are_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n()).await;
    let item = |sort: i32, mark: i32| item! { "pk" => "a", "sk" => sort, "mark" => mark };
    for twice in [item(1, 1), item(1, 2)] {
        let batch = puts(&table, [item(1, 1), item(2, 1), twice]);
        ctx.expect_validation(ctx.store().batch_write(batch).await, DUPLICATES);
        ctx.expect_table(&table, &[]).await;
    }
}

async fn put_and_delete_of_one_key_are_rejected(ctx: Ctx) {
    let old = item! { "pk" => "a", "mark" => "old" };
    let table = ctx.table_with(TableSpec::s(), [old.clone()]).await;
    let put = item! { "pk" => "a", "mark" => "new" };
    let other = item! { "pk" => "b" };
    for batch in [
        puts(&table, [other.clone(), put.clone()]).delete(&table, table.key_of(&put)),
        puts(&table, [other.clone()]).delete(&table, table.key_of(&put)).put(&table, put.clone()),
    ] {
        ctx.expect_validation(ctx.store().batch_write(batch).await, DUPLICATES);
        ctx.expect_table(&table, std::slice::from_ref(&old)).await;
    }
}

async fn two_deletes_of_one_key_are_rejected(ctx: Ctx) {
    let item = item! { "pk" => "a" };
    let table = ctx.table_with(TableSpec::s(), [item.clone()]).await;
    let batch = BatchWriteItem::new().delete(&table, item.clone()).delete(&table, item.clone());
    ctx.expect_validation(ctx.store().batch_write(batch).await, DUPLICATES);
    ctx.expect_table(&table, &[item]).await;
}

async fn same_key_in_two_tables_is_no_duplicate(ctx: Ctx) {
    let (one, two) = (ctx.table(TableSpec::s_s()).await, ctx.table(TableSpec::s_s()).await);
    let item = |partition: &str, sort: &str| item! { "pk" => partition, "sk" => sort };
    let all = [item("a", "a"), item("a", "b"), item("b", "a"), item("ab", "c"), item("a", "bc")];
    let batch = all.iter().fold(BatchWriteItem::new(), |batch, item| {
        batch.put(&one, item.clone()).put(&two, item.clone())
    });
    write_to_the_end(&ctx, batch).await;
    ctx.expect_table(&one, &all).await;
    ctx.expect_table(&two, &all).await;
    let get = BatchGetItem::new().keys(&one, all.clone()).keys(&two, all.clone());
    let answer = ctx.ok(ctx.store().batch_get(get).await);
    for table in [&one, &two] {
        ctx.expect_items(&answer.responses[table.name()], &all);
    }
}

async fn batch_put_replaces_item(ctx: Ctx) {
    let old = item! { "pk" => "a", "gpk" => "g", "gsk" => "h", "only" => "old" };
    let table = ctx.table_with(TableSpec::s().gsi(), [old]).await;
    let new = item! { "pk" => "a", "gpk" => "i", "gsk" => "j" };
    write_to_the_end(&ctx, puts(&table, [new.clone()])).await;
    ctx.expect_table(&table, std::slice::from_ref(&new)).await;
    ctx.expect_index(&table, "gsi", &[new]).await;
}

async fn written_batch_has_no_unprocessed_items(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [item! { "pk" => "old" }]).await;
    let batch = puts(&table, items(3)).delete(&table, item! { "pk" => "old" });
    let answer = ctx.ok(ctx.store().batch_write(batch).await);
    assert!(answer.unprocessed_items.is_empty(), "{:?}", answer.unprocessed_items);
    assert!(answer.consumed_capacity.is_empty(), "capacity was not requested");
    assert!(answer.item_collection_metrics.is_empty(), "metrics were not requested");
    ctx.expect_table(&table, &items(3)).await;
}

async fn batch_puts_and_deletes_in_several_tables(ctx: Ctx) {
    let entry =
        |pk: &str, group: &str| item! { "pk" => pk, "gpk" => group, "gsk" => "x", "n" => 1 };
    let one = ctx.table_with(TableSpec::s().gsi(), [entry("a", "g"), entry("b", "g")]).await;
    let two = ctx.table_with(TableSpec::n(), [item! { "pk" => 1 }, item! { "pk" => 2 }]).await;
    let batch = BatchWriteItem::new()
        .put(&one, entry("a", "h"))
        .delete(&one, item! { "pk" => "b" })
        .put(&one, entry("c", "g"))
        .put(&one, item! { "pk" => "d" })
        .delete(&two, item! { "pk" => 1 })
        .put(&two, item! { "pk" => 3, "n" => 3 });
    write_to_the_end(&ctx, batch).await;
    let entries = [entry("a", "h"), entry("c", "g")];
    ctx.expect_table(&one, &[entry("a", "h"), entry("c", "g"), item! { "pk" => "d" }]).await;
    ctx.expect_index(&one, "gsi", &entries).await;
    ctx.expect_table(&two, &[item! { "pk" => 2 }, item! { "pk" => 3, "n" => 3 }]).await;
}

async fn batch_delete_of_missing_items_succeeds(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [item! { "pk" => "a" }]).await;
    let batch = BatchWriteItem::new()
        .delete(&table, item! { "pk" => "x" })
        .delete(&table, item! { "pk" => "a" })
        .delete(&table, item! { "pk" => "y" });
    write_to_the_end(&ctx, batch).await;
    ctx.expect_table(&table, &[]).await;
}

async fn one_invalid_write_rejects_the_batch(ctx: Ctx) {
    let old = item! { "pk" => "old", "sk" => 1 };
    let shape =
        TableSpec::s_n().gsi_on("gsi", ("gpk", KeyType::S), None, IndexProjection::keys_only());
    let table = ctx.table_with(shape, [old.clone()]).await;
    let good = || puts(&table, [item! { "pk" => "a", "sk" => 1 }]).delete(&table, old.clone());
    let key = || item! { "pk" => "b", "sk" => 1 };
    let missing = "One or more parameter values were invalid: Missing the key sk in the item";
    let mismatch = "One or more parameter values were invalid: Type mismatch for key sk expected: \
                    N actual: S";
    let empty = "One or more parameter values are not valid. The AttributeValue for a key \
                 attribute cannot contain an empty string value. Key: pk";
    let index = "One or more parameter values were invalid: Type mismatch for Index Key gpk \
                 Expected: S Actual: N IndexName: gsi";
    let no_match = "The provided key element does not match the schema";
    let before = ctx.snapshot(&table).await;
    for (batch, message) in [
        (good().put(&table, item! { "pk" => "b" }), missing),
        (good().put(&table, item! { "pk" => "b", "sk" => "1" }), mismatch),
        (good().put(&table, item! { "pk" => "", "sk" => 1 }), empty),
        (good().put(&table, key().with("gpk", 1)), index),
        (good().put(&table, key().with("v", "x".repeat(LARGEST))), {
            "Item size has exceeded the maximum allowed size"
        }),
        (good().delete(&table, item! { "pk" => "b" }), no_match),
        (good().delete(&table, item! { "pk" => "b", "sk" => "1" }), no_match),
        (good().delete(&table, key().with("w", 1)), no_match),
    ] {
        let result = ctx.store().batch_write(batch).await;
        ctx.expect_validation(result.map(|answer| (message, answer)), message);
    }
    ctx.expect_unchanged(&before).await;
}

async fn missing_table_fails_the_batch(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let missing = ctx.unused_table_name();
    let batch = puts(&table, items(2)).put(missing, item! { "pk" => "a" });
    ctx.expect_table_missing(ctx.store().batch_write(batch).await);
    ctx.expect_table(&table, &[]).await;
}

async fn empty_batch_write_is_rejected(ctx: Ctx) {
    ctx.expect_validation(
        ctx.store().batch_write(BatchWriteItem::new()).await,
        "1 validation error detected: Value at 'requestItems' failed to satisfy constraint: \
         Member must have length greater than or equal to 1",
    );
    let (one, two) = (ctx.table(TableSpec::s()).await, ctx.table(TableSpec::s()).await);
    let mut batch = puts(&one, items(1));
    batch.requests.insert((&two).into(), Vec::new());
    ctx.expect_validation(
        ctx.store().batch_write(batch).await,
        "1 validation error detected: Value at 'requestItems' failed to satisfy constraint: Map \
         value must satisfy constraint: [Member must have length less than or equal to 25, Member \
         must have length greater than or equal to 1]",
    );
    ctx.expect_table(&one, &[]).await;
}

async fn batch_get_of_100(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for chunk in items(101).chunks(25) {
        write_to_the_end(&ctx, puts(&table, chunk.to_vec())).await;
    }
    let get = |count: usize| {
        BatchGetItem::new().keys(&table, items(count).iter().map(|item| table.key_of(item)))
    };
    let answer = ctx.ok(ctx.store().batch_get(get(100)).await);
    assert!(answer.unprocessed_keys.is_empty(), "{:?}", answer.unprocessed_keys);
    ctx.expect_items(&answer.responses[table.name()], &items(100));
    ctx.expect_validation(
        ctx.store().batch_get(get(101)).await,
        &format!(
            "1 validation error detected: Value at 'requestItems.{table}.member.keys' failed to \
             satisfy constraint: Member must have length less than or equal to 100"
        ),
    );
}

async fn keys_are_counted_over_tables(ctx: Ctx) {
    let (one, two) = (ctx.table(TableSpec::s()).await, ctx.table(TableSpec::s()).await);
    let get = |first: usize, second: usize| {
        let keys = |count: usize| {
            items(count).into_iter().map(|item| one.key_of(&item)).collect::<Vec<Item>>()
        };
        BatchGetItem::new().keys(&one, keys(first)).keys(&two, keys(second))
    };
    ctx.expect_validation(
        ctx.store().batch_get(get(51, 50)).await,
        "Too many items requested for the BatchGetItem call",
    );
    let answer = ctx.ok(ctx.store().batch_get(get(50, 50)).await);
    assert!(answer.unprocessed_keys.is_empty(), "{:?}", answer.unprocessed_keys);
}

async fn batch_get_of_duplicate_key_is_rejected(ctx: Ctx) {
    let item = item! { "pk" => "a", "sk" => 1 };
    let table = ctx.table_with(TableSpec::s_n(), [item.clone()]).await;
    let other = item! { "pk" => "a", "sk" => 2 };
    for keys in [
        [item.clone(), other.clone(), item.clone()],
        // Duplicates are rejected for existing and for missing items.
        [item.clone(), other.clone(), other],
    ] {
        let get = BatchGetItem::new().keys(&table, keys);
        ctx.expect_validation(ctx.store().batch_get(get).await, DUPLICATES);
    }
}

async fn batch_get_over_16_mb_returns_unprocessed_keys(ctx: Ctx) {
    const LIMIT: usize = 16 * 1024 * 1024;
    let table = ctx.table(TableSpec::s()).await;
    // 41 of the largest items are just more than 16 MB.
    let all: Vec<Item> = (0..43).map(largest).collect();
    for chunk in all.chunks(20) {
        write_to_the_end(&ctx, puts(&table, chunk.to_vec())).await;
    }
    let mut get = BatchGetItem::new().keys(&table, all.iter().map(|item| table.key_of(item)));
    let mut found = Vec::new();
    let mut rounds = 0;
    loop {
        let answer = ctx.ok(ctx.store().batch_get(get.clone()).await);
        let items = answer.responses.get(table.name()).cloned().unwrap_or_default();
        let size: usize = items.iter().map(Item::size).sum();
        assert!(size <= LIMIT, "{size} bytes in one response");
        assert!(!items.is_empty(), "the response has no items");
        let asked = get.requests[table.name()].keys.len();
        let left = answer.unprocessed_keys.get(table.name()).map_or(0, |left| left.keys.len());
        assert_eq!(items.len() + left, asked, "every key must be read or unprocessed");
        found.extend(items);
        rounds += 1;
        if answer.unprocessed_keys.is_empty() {
            break;
        }
        get.requests = answer.unprocessed_keys;
    }
    assert!(rounds > 1, "one response has more than 16 MB");
    ctx.expect_items(&found, &all);
}

async fn unprocessed_keys_can_be_requested_again(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let all: Vec<Item> = (0..43).map(largest).collect();
    for chunk in all.chunks(20) {
        write_to_the_end(&ctx, puts(&table, chunk.to_vec())).await;
    }
    // The size of an item counts before the projection.
    let request = KeysAndAttributes::new(all.iter().map(|item| table.key_of(item)))
        .projection("#k")
        .name("#k", "pk")
        .consistent_read(true);
    let get = BatchGetItem::new().request(&table, request.clone());
    let answer = ctx.ok(ctx.store().batch_get(get).await);
    let mut found = answer.responses[table.name()].clone();
    let left =
        answer.unprocessed_keys.get(table.name()).expect("the request reads more than 16 MB");
    assert_eq!(found.len() + left.keys.len(), all.len());
    assert_eq!(*left, assign!(request, { keys: left.keys.clone() }));
    let again = assign!(BatchGetItem::new(), { requests: answer.unprocessed_keys });
    let answer = ctx.ok(ctx.store().batch_get(again).await);
    assert!(answer.unprocessed_keys.is_empty(), "less than 16 MB remain, but keys are unprocessed");
    found.extend(answer.responses[table.name()].clone());
    let keys: Vec<Item> = all.iter().map(|item| table.key_of(item)).collect();
    ctx.expect_items(&found, &keys);
}

async fn missing_items_are_left_out(ctx: Ctx) {
    let item = item! { "pk" => "a", "n" => 1 };
    let (one, two) =
        (ctx.table_with(TableSpec::s(), [item.clone()]).await, ctx.table(TableSpec::s()).await);
    let keys = [item! { "pk" => "x" }, item! { "pk" => "a" }, item! { "pk" => "y" }];
    let get = BatchGetItem::new().keys(&one, keys.clone()).keys(&two, keys);
    let answer = ctx.ok(ctx.store().batch_get(get).await);
    assert!(answer.unprocessed_keys.is_empty(), "{:?}", answer.unprocessed_keys);
    ctx.expect_items(&answer.responses[one.name()], &[item]);
    // A table without found items is in the response, with an empty list.
    ctx.expect_items(&answer.responses[two.name()], &[]);
}

async fn batch_get_reads_several_tables(ctx: Ctx) {
    let mut get = BatchGetItem::new();
    let mut expected = Vec::new();
    for (shape, all) in [
        (TableSpec::n(), [item! { "pk" => -1, "v" => 1 }, item! { "pk" => 10, "v" => 2 }]),
        (
            TableSpec::b(),
            [item! { "pk" => b"\x00", "v" => 1 }, item! { "pk" => b"\xff", "v" => 2 }],
        ),
        (
            TableSpec::s_b(),
            [item! { "pk" => "a", "sk" => b"\x00" }, item! { "pk" => "a", "sk" => b"\x00\x00" }],
        ),
        (TableSpec::s_n(), [item! { "pk" => "a", "sk" => 9 }, item! { "pk" => "a", "sk" => 10 }]),
    ] {
        let table = ctx.table_with(shape, all.clone()).await;
        let keys = KeysAndAttributes::new(all.iter().map(|item| table.key_of(item)));
        get = get.request(&table, keys.consistent_read(true));
        expected.push((table, all));
    }
    let answer = ctx.ok(ctx.store().batch_get(get).await);
    for (table, all) in expected {
        ctx.expect_items(&answer.responses[table.name()], &all);
    }
}

async fn each_table_has_its_projection(ctx: Ctx) {
    let item = item! { "pk" => "a", "n" => 1, "m" => map! { "x" => 1, "y" => 2 } };
    let one = ctx.table_with(TableSpec::s(), [item.clone()]).await;
    let two = ctx.table_with(TableSpec::s(), [item.clone()]).await;
    let three = ctx.table_with(TableSpec::s(), [item.clone()]).await;
    let request = |projection: &str| {
        let keys = KeysAndAttributes::new([item! { "pk" => "a" }]);
        keys.projection(projection).consistent_read(true)
    };
    let get = BatchGetItem::new()
        .request(&one, request("m.y, #n").name("#n", "n"))
        .request(&two, request("z"))
        .keys(&three, [item! { "pk" => "a" }]);
    let answer = ctx.ok(ctx.store().batch_get(get).await);
    let part = item! { "n" => 1, "m" => map! { "y" => 2 } };
    ctx.expect_items(&answer.responses[one.name()], &[part]);
    ctx.expect_items(&answer.responses[two.name()], &[Item::new()]);
    ctx.expect_items(&answer.responses[three.name()], &[item]);
}

async fn key_of_wrong_schema_is_rejected(ctx: Ctx) {
    let item = item! { "pk" => "a", "sk" => 1 };
    let table = ctx.table_with(TableSpec::s_n(), [item.clone()]).await;
    for key in [
        item! {},
        item! { "pk" => "a" },
        item! { "pk" => "a", "w" => 1 },
        item! { "pk" => "a", "sk" => 1, "w" => 1 },
        item! { "pk" => "a", "sk" => "1" },
        item! { "pk" => list![], "sk" => 1 },
    ] {
        let get = BatchGetItem::new().keys(&table, [item! { "pk" => "a", "sk" => 2 }, key.clone()]);
        let result = ctx.store().batch_get(get).await;
        ctx.expect_validation(
            result.map(|answer| (key, answer)),
            "The provided key element does not match the schema",
        );
    }
}

async fn batch_get_from_a_missing_table_fails(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), items(1)).await;
    let get = BatchGetItem::new()
        .keys(&table, [item! { "pk" => "k000" }])
        .keys(ctx.unused_table_name(), [item! { "pk" => "a" }]);
    ctx.expect_table_missing(ctx.store().batch_get(get).await);
}

async fn empty_batch_get_is_rejected(ctx: Ctx) {
    ctx.expect_validation(
        ctx.store().batch_get(BatchGetItem::new()).await,
        "1 validation error detected: Value at 'requestItems' failed to satisfy constraint: \
         Member must have length greater than or equal to 1",
    );
    let table = ctx.table(TableSpec::s()).await;
    ctx.expect_validation(
        ctx.store().batch_get(BatchGetItem::new().keys(&table, Vec::<Item>::new())).await,
        &format!(
            "1 validation error detected: Value at 'requestItems.{table}.member.keys' failed to \
             satisfy constraint: Member must have length greater than or equal to 1"
        ),
    );
}

async fn invalid_projection_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), items(1)).await;
    let names = |names: &[(&str, &str)]| {
        names.iter().map(|(key, name)| ((*key).to_owned(), (*name).to_owned())).collect()
    };
    for (projection, names, message) in [
        (Some("n,, m"), names(&[]), {
            "Invalid ProjectionExpression: Syntax error; token: \",\", near: \",, m\""
        }),
        (Some(""), names(&[]), "Invalid ProjectionExpression: The expression can not be empty;"),
        (Some("n, n"), names(&[]), {
            "Invalid ProjectionExpression: Two document paths overlap with each other; must \
             remove or rewrite one of these paths; path one: [n], path two: [n]"
        }),
        (Some("n"), names(&[("#z", "z")]), {
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#z}"
        }),
        (None, names(&[("#z", "z")]), {
            "ExpressionAttributeNames can only be specified when using expressions"
        }),
    ] {
        let request = assign!(KeysAndAttributes::new([item! { "pk" => "k000" }]), {
            projection: projection.map(Into::into),
            names,
        });
        let get = BatchGetItem::new().request(&table, request);
        let result = ctx.store().batch_get(get).await;
        ctx.expect_validation(result.map(|answer| (projection, answer)), message);
    }
}

async fn batch_delete_of_missing_item_costs_one_unit(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [item! { "pk" => "a" }]).await;
    for count in [1, 2] {
        let batch = BatchWriteItem::new().return_consumed_capacity(ReturnConsumedCapacity::Total);
        let batch = (0..count).fold(batch, |batch, number| {
            batch.delete(&table, item! { "pk" => format!("x{number}") })
        });
        let answer = ctx.ok(ctx.store().batch_write(batch).await);
        assert_eq!(answer.consumed_capacity.len(), 1, "one table must have one row");
        assert_eq!(answer.consumed_capacity[0].table_name, table.name());
        let units = answer.consumed_capacity[0].capacity_units;
        assert_eq!(units, f64::from(count), "{count} deletes of missing items");
    }
    ctx.expect_table(&table, &[item! { "pk" => "a" }]).await;
}
