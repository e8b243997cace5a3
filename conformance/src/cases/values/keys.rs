//! Sizes of key values and attribute names (9b, 9c, 12).

use super::super::prelude::*;

fn empty(attribute: &str, kind: &str) -> String {
    format!(
        "One or more parameter values are not valid. The AttributeValue for a key attribute \
         cannot contain an empty {kind} value. Key: {attribute}"
    )
}

pub(super) async fn empty_key_is_rejected(ctx: Ctx) {
    let strings = ctx.table(TableSpec::s_s()).await;
    for (attribute, item) in
        [("pk", item! { "pk" => "", "sk" => "b" }), ("sk", item! { "pk" => "a", "sk" => "" })]
    {
        let result = ctx.store().put(PutItem::new(&strings, item)).await;
        ctx.expect_validation(result, &empty(attribute, "string"));
    }
    ctx.expect_table(&strings, &[]).await;
    let binaries = ctx.table(TableSpec::b()).await;
    let result = ctx.store().put(PutItem::new(&binaries, item! { "pk" => b"" })).await;
    ctx.expect_validation(result, &empty("pk", "binary"));
    ctx.expect_table(&binaries, &[]).await;
}

pub(super) async fn empty_key_is_rejected_by_every_operation(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_s(), [item! { "pk" => "a", "sk" => "b" }]).await;
    let before = ctx.snapshot(&table).await;
    let store = ctx.store();
    for (attribute, key) in
        [("pk", item! { "pk" => "", "sk" => "b" }), ("sk", item! { "pk" => "a", "sk" => "" })]
    {
        let message = empty(attribute, "string");
        ctx.expect_validation(store.get(GetItem::new(&table, key.clone())).await, &message);
        ctx.expect_validation(store.delete(DeleteItem::new(&table, key.clone())).await, &message);
        let update = Update::new().set("v", 1);
        let request = UpdateItem::new(&table, key.clone()).update(update);
        ctx.expect_validation(store.update(request).await, &message);
        let other = item! { "pk" => "c", "sk" => "d" };
        let request = BatchWriteItem::new().put(&table, other.clone()).put(&table, key.clone());
        ctx.expect_validation(store.batch_write(request).await, &message);
        let request = BatchWriteItem::new().put(&table, other.clone()).delete(&table, key.clone());
        ctx.expect_validation(store.batch_write(request).await, &message);
        let request = BatchGetItem::new().keys(&table, [other, key]);
        ctx.expect_validation(store.batch_get(request).await, &message);
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn empty_index_key_is_rejected(ctx: Ctx) {
    let projection = IndexProjection::all();
    let shape = TableSpec::s_s().gsi().lsi().gsi_on("bin", ("bpk", KeyType::B), None, projection);
    let item = item! { "pk" => "a", "sk" => "b", "gpk" => "g", "gsk" => "h", "lsk" => "l" };
    let table = ctx.table_with(shape, [item.clone()]).await;
    let before = ctx.snapshot(&table).await;
    for (index, attribute, value, kind) in [
        ("gsi", "gpk", Value::from(""), "string"),
        ("gsi", "gsk", Value::from(""), "string"),
        ("lsi", "lsk", Value::from(""), "string"),
        ("bin", "bpk", Value::from(b""), "binary"),
    ] {
        let put = PutItem::new(&table, item.clone().with(attribute, &value));
        let message = format!(
            "One or more parameter values are not valid. A value specified for a secondary index \
             key is not supported. The AttributeValue for a key attribute cannot contain an empty \
             {kind} value. IndexName: {index}, IndexKey: {attribute}"
        );
        ctx.expect_validation(ctx.store().put(put).await, &message);
        let update = Update::new().set(attribute, &value);
        let key = item! { "pk" => "a", "sk" => "b" };
        let request = UpdateItem::new(&table, key).update(update);
        let message = format!(
            "One or more parameter values are not valid. The update expression attempted to \
             update a secondary index key to a value that is not supported. The AttributeValue \
             for a key attribute cannot contain an empty {kind} value."
        );
        ctx.expect_validation(ctx.store().update(request).await, &message);
    }
    ctx.expect_unchanged(&before).await;
}

const LONG_PARTITION: &str = "One or more parameter values were invalid: Size of hashkey has \
                              exceeded the maximum size limit of2048 bytes";
const LONG_SORT: &str = "One or more parameter values were invalid: Aggregated size of all range \
                         keys has exceeded the size limit of 1024 bytes";

pub(super) async fn partition_keys_are_limited_to_2048_bytes(ctx: Ctx) {
    let strings = ctx.table(TableSpec::s()).await;
    let binaries = ctx.table(TableSpec::b()).await;
    for (table, longest, too_long) in [
        (&strings, Value::from("k".repeat(2048)), Value::from("k".repeat(2049))),
        // The size is in bytes, not characters.
        (&strings, Value::from("é".repeat(1024)), Value::from("é".repeat(1025))),
        (&binaries, Value::from(vec![7; 2048]), Value::from(vec![7; 2049])),
    ] {
        let longest = item! { "pk" => longest };
        let too_long = item! { "pk" => too_long };
        ctx.put(table, longest.clone()).await;
        let refused = ctx.store().put(PutItem::new(table, too_long.clone())).await;
        ctx.expect_validation(refused, LONG_PARTITION);
        let update = UpdateItem::new(table, too_long.clone()).update(Update::new().set("v", 1));
        ctx.expect_validation(ctx.store().update(update).await, LONG_PARTITION);
        let delete = DeleteItem::new(table, too_long.clone());
        ctx.expect_validation(ctx.store().delete(delete).await, LONG_PARTITION);
        let batch = BatchWriteItem::new().put(table, too_long);
        ctx.expect_validation(ctx.store().batch_write(batch).await, LONG_PARTITION);
        ctx.expect_table(table, std::slice::from_ref(&longest)).await;
        ctx.delete(table, longest).await;
    }
}

pub(super) async fn sort_keys_are_limited_to_1024_bytes(ctx: Ctx) {
    let strings = ctx.table(TableSpec::s_s()).await;
    let binaries = ctx.table(TableSpec::s_b()).await;
    for (table, longest, too_long) in [
        (&strings, Value::from("k".repeat(1024)), Value::from("k".repeat(1025))),
        (&strings, Value::from("é".repeat(512)), Value::from("é".repeat(513))),
        (&binaries, Value::from(vec![7; 1024]), Value::from(vec![7; 1025])),
    ] {
        let longest = item! { "pk" => "a", "sk" => longest };
        let too_long = item! { "pk" => "a", "sk" => too_long };
        ctx.put(table, longest.clone()).await;
        let refused = ctx.store().put(PutItem::new(table, too_long.clone())).await;
        ctx.expect_validation(refused, LONG_SORT);
        let update = UpdateItem::new(table, too_long.clone()).update(Update::new().set("v", 1));
        ctx.expect_validation(ctx.store().update(update).await, LONG_SORT);
        let delete = DeleteItem::new(table, too_long.clone());
        ctx.expect_validation(ctx.store().delete(delete).await, LONG_SORT);
        let batch = BatchWriteItem::new().put(table, too_long);
        ctx.expect_validation(ctx.store().batch_write(batch).await, LONG_SORT);
        ctx.expect_table(table, std::slice::from_ref(&longest)).await;
        ctx.delete(table, longest).await;
    }
}

pub(super) async fn key_sizes_are_checked_on_reads(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_s()).await;
    for (key, message) in [
        (item! { "pk" => "k".repeat(2049), "sk" => "b" }, LONG_PARTITION),
        (item! { "pk" => "a", "sk" => "k".repeat(1025) }, LONG_SORT),
    ] {
        let get = GetItem::new(&table, key.clone());
        ctx.expect_validation(ctx.store().get(get).await, message);
        let batch = BatchGetItem::new().keys(&table, [key]);
        ctx.expect_validation(ctx.store().batch_get(batch).await, message);
    }
    let longest = item! { "pk" => "k".repeat(2048), "sk" => "k".repeat(1024) };
    assert_eq!(ctx.get(&table, longest.clone()).await, None);
    let batch = BatchGetItem::new().keys(&table, [longest]);
    let answer = ctx.ok(ctx.store().batch_get(batch).await);
    assert!(answer.responses.values().all(Vec::is_empty), "{:?}", answer.responses);
}

pub(super) async fn sort_key_size_is_checked_in_queries(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_s().gsi()).await;
    let of = |length: usize| "k".repeat(length);
    let conditions = |length: usize| {
        let sk = || attr("sk");
        [
            sk().eq(of(length)),
            sk().gt(of(length)),
            sk().begins_with(of(length)),
            sk().between("a", of(length)),
        ]
    };
    for condition in conditions(1025) {
        let query = Query::new(&table, attr("pk").eq("a").and(condition));
        ctx.expect_validation(ctx.store().query(query).await, LONG_SORT);
    }
    let condition = attr("gpk").eq("a").and(attr("gsk").eq(of(1025)));
    let query = Query::new(&table, condition).index("gsi");
    ctx.expect_validation(ctx.store().query(query).await, LONG_SORT);
    for condition in conditions(1024) {
        let query = Query::new(&table, attr("pk").eq("a").and(condition));
        ctx.expect_query(query, &[]).await;
    }
}

pub(super) async fn partition_key_size_is_checked_in_queries(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_s()).await;
    ctx.expect_query(Query::new(&table, attr("pk").eq("k".repeat(2048))), &[]).await;
    let query = Query::new(&table, attr("pk").eq("k".repeat(2049)));
    ctx.expect_validation(ctx.store().query(query).await, LONG_PARTITION);
}

pub(super) async fn index_key_size_is_checked_on_put(ctx: Ctx) {
    let item = item! {
        "pk" => "a", "sk" => "b", "gpk" => "k".repeat(2048), "gsk" => "k".repeat(1024),
        "lsk" => "k".repeat(1024),
    };
    let table = ctx.table_with(TableSpec::s_s().gsi().lsi(), [item.clone()]).await;
    let before = ctx.snapshot(&table).await;
    for (attribute, length) in [("gpk", 2049), ("gsk", 1025), ("lsk", 1025)] {
        let put = PutItem::new(&table, item.clone().with(attribute, "k".repeat(length)));
        let (index, limit) = (if attribute == "lsk" { "lsi" } else { "gsi" }, length - 1);
        let message = format!(
            "One or more parameter values were invalid: Size limit exceeded for Index Key \
             {attribute} Actual Size: {length} bytes Max Size: {limit} bytes IndexName: {index}"
        );
        ctx.expect_validation(ctx.store().put(put).await, &message);
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn empty_attribute_name_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let message = "Empty attribute name";
    for item in [
        item! { "pk" => "a", "" => 1 },
        item! { "pk" => "a", "map" => map! { "" => 1 } },
        item! { "pk" => "a", "list" => list![map! { "" => 1 }] },
    ] {
        ctx.expect_validation(ctx.store().put(PutItem::new(&table, item)).await, message);
        ctx.expect_table(&table, &[]).await;
    }
}

pub(super) async fn attribute_names_are_limited_to_65_535_bytes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let (longest, too_long) = ("n".repeat(65_535), "n".repeat(65_536));
    for item in [
        item! { "pk" => "a", &longest => 1 },
        item! { "pk" => "a", "map" => map! { &longest => 1 } },
    ] {
        ctx.put(&table, item.clone()).await;
        ctx.expect_table(&table, &[item]).await;
    }
    let before = ctx.snapshot(&table).await;
    for item in [
        item! { "pk" => "a", &too_long => 1 },
        item! { "pk" => "a", "map" => map! { &too_long => 1 } },
    ] {
        ctx.expect_validation(
            ctx.store().put(PutItem::new(&table, item)).await,
            "Attribute name is too large, must be less than 65536 bytes",
        );
    }
    ctx.expect_unchanged(&before).await;
}
