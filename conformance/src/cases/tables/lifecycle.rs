//! Creation, listing and deletion of tables.

use super::super::prelude::*;
use super::{constraint, describe, expect_missing, invalid};

const PROTECTED: &str = "Resource cannot be deleted as it is currently protected against deletion. \
                         Disable deletion protection first.";

pub(super) async fn protected_table_cannot_be_deleted(ctx: Ctx) {
    let shape = TableSpec::s().with(|request| request.deletion_protection(true));
    let item = item! { "pk" => "a" };
    let table = ctx.table_with(shape, [item.clone()]).await;
    ctx.expect_validation(ctx.store().delete_table(DeleteTable::new(&table)).await, PROTECTED);
    ctx.expect_table(&table, &[item]).await;
    assert!(describe(&ctx, &table).await.deletion_protection);
    let unprotect = UpdateTable::new(&table).deletion_protection(Some(false));
    ctx.ok(ctx.store().update_table(unprotect).await);
    ctx.ok(ctx.store().delete_table(DeleteTable::new(&table)).await);
    expect_missing(
        &ctx,
        ctx.store().describe_table(DescribeTable::new(&table)).await,
        table.name(),
    );
}

pub(super) async fn protection_can_be_changed(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    // Setting the current state again is no error.
    for protected in [false, true, true] {
        let request = UpdateTable::new(&table).deletion_protection(Some(protected));
        let answer = ctx.ok(ctx.store().update_table(request).await);
        assert_eq!(answer.deletion_protection, protected);
    }
    ctx.put(&table, item! { "pk" => "a" }).await;
    ctx.delete(&table, item! { "pk" => "a" }).await;
    ctx.expect_validation(ctx.store().delete_table(DeleteTable::new(&table)).await, PROTECTED);
}

pub(super) async fn create_of_existing_table_fails(ctx: Ctx) {
    let item = item! { "pk" => "a", "gpk" => "g", "gsk" => "h" };
    let table = ctx.table_with(TableSpec::s().gsi(), [item.clone()]).await;
    for shape in [TableSpec::s().gsi(), TableSpec::n()] {
        ctx.expect_code(
            ctx.store().create_table(shape.request(table.name())).await,
            "ResourceInUseException",
            &format!("Table already exists: {table}"),
        );
    }
    ctx.expect_table(&table, std::slice::from_ref(&item)).await;
    ctx.expect_index(&table, "gsi", &[item]).await;
}

pub(super) async fn invalid_create_of_existing_table_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let shape = TableSpec::s().with(|request| request.attribute("extra", KeyType::S));
    let text = "Number of attributes in KeySchema does not exactly match number of attributes \
                defined in AttributeDefinitions";
    ctx.expect_validation(
        ctx.store().create_table(shape.request(table.name())).await,
        &invalid(text),
    );
}

pub(super) async fn one_of_concurrent_creates_succeeds(ctx: Ctx) {
    let name = ctx.unused_table_name();
    let create = |shape: TableSpec| {
        let (store, request) = (ctx.store(), shape.request(&name));
        async move { (request.key_schema.len(), store.create_table(request).await) }
    };
    let answers = ctx
        .at_once([TableSpec::s(), TableSpec::s_s(), TableSpec::s(), TableSpec::s_s()].map(create))
        .await;
    let mut created = Vec::new();
    for (keys, answer) in answers {
        match answer {
            Ok(_) => created.push(keys),
            Err(error) => assert_eq!(error.code(), "ResourceInUseException", "{error}"),
        }
    }
    let table = ctx.ok(ctx.store().describe_table(DescribeTable::new(&name)).await);
    assert_eq!(
        created,
        [table.key_schema.len()],
        "exactly one create must succeed, and its table must exist"
    );
}

pub(super) async fn deleted_table_is_removed_with_items_and_indexes(ctx: Ctx) {
    let items = [item! { "pk" => "a", "gpk" => "g", "gsk" => "h" }, item! { "pk" => "b" }];
    let table = ctx.table_with(TableSpec::s().gsi(), items).await;
    let kept = ctx.table_with(TableSpec::s(), [item! { "pk" => "a" }]).await;
    let last = ctx.ok(ctx.store().delete_table(DeleteTable::new(&table)).await);
    assert_eq!(last.table, table.name());
    let name = table.name();
    expect_missing(&ctx, ctx.store().describe_table(DescribeTable::new(&table)).await, name);
    expect_missing(&ctx, ctx.store().delete_table(DeleteTable::new(&table)).await, name);
    let key = item! { "pk" => "a" };
    ctx.expect_table_missing(ctx.store().get(GetItem::new(&table, key.clone())).await);
    ctx.expect_table_missing(ctx.store().put(PutItem::new(&table, key.clone())).await);
    ctx.expect_table_missing(ctx.store().scan(Scan::new(&table).index("gsi")).await);
    let listed = ctx.ok(ctx.store().list_tables(ListTables::default()).await);
    assert_eq!(listed.table_names, [kept.name()]);
    ctx.expect_table(&kept, &[key]).await;
}

pub(super) async fn recreated_table_is_empty(ctx: Ctx) {
    let item = item! { "pk" => "a", "gpk" => "g", "gsk" => "h" };
    let table = ctx.table_with(TableSpec::s().gsi(), [item]).await;
    ctx.ok(ctx.store().delete_table(DeleteTable::new(&table)).await);
    // The new table has another key, so that leftovers of the old one would be found.
    let request = TableSpec::n().gsi().request(table.name());
    ctx.ok(ctx.store().create_table(request).await);
    ctx.expect_table(&table, &[]).await;
    ctx.expect_index(&table, "gsi", &[]).await;
    let item = item! { "pk" => 1, "gpk" => "g", "gsk" => "h" };
    ctx.put(&table, item.clone()).await;
    ctx.expect_index(&table, "gsi", &[item]).await;
}

pub(super) async fn operations_on_missing_table_fail(ctx: Ctx) {
    let name = ctx.unused_table_name();
    let store = ctx.store();
    expect_missing(&ctx, store.describe_table(DescribeTable::new(&name)).await, &name);
    expect_missing(&ctx, store.delete_table(DeleteTable::new(&name)).await, &name);
    let update = UpdateTable::new(&name).deletion_protection(Some(true));
    expect_missing(&ctx, store.update_table(update).await, &name);
    let update = UpdateTable::new(&name).delete_index("gsi");
    expect_missing(&ctx, store.update_table(update).await, &name);
    let listed = ctx.ok(store.list_tables(ListTables::default()).await);
    assert_eq!(listed.table_names, Vec::<String>::new());
}

/// Returns all pages of table names, each started at the last name of the previous page.
async fn pages(ctx: &Ctx, start: Option<&str>, limit: i32) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut request = ListTables::new().limit(limit);
    request.exclusive_start_table_name = start.map(str::to_owned);
    for _ in 0..100 {
        let page = ctx.ok(ctx.store().list_tables(request.clone()).await);
        assert!(page.table_names.len() <= limit as usize, "{page:?}");
        pages.push(page.table_names);
        request.exclusive_start_table_name = page.last_evaluated_table_name;
        if request.exclusive_start_table_name.is_none() {
            return pages;
        }
    }
    panic!("the list of tables does not end: {pages:?}")
}

pub(super) async fn tables_are_listed_by_name_in_pages(ctx: Ctx) {
    // Names are in byte order: capital letters first, the dot before digits.
    let names = ["Zeta", "alfa.b", "alfa1", "beta", "beta-2"];
    for name in ["beta", "alfa1", "Zeta", "beta-2", "alfa.b"] {
        ctx.ok(ctx.store().create_table(TableSpec::s().request(name)).await);
    }
    let all = ctx.ok(ctx.store().list_tables(ListTables::default()).await);
    assert_eq!(all.table_names, names);
    assert_eq!(all.last_evaluated_table_name, None);
    for limit in [1, 2, 5, 100] {
        assert_eq!(pages(&ctx, None, limit).await.concat(), names, "pages of {limit}");
    }
    // A page can begin after a name that no table has.
    assert_eq!(pages(&ctx, Some("alfa1"), 2).await.concat(), names[3..]);
    assert_eq!(pages(&ctx, Some("alfa9"), 1).await.concat(), names[3..]);
    assert_eq!(pages(&ctx, Some("zzz"), 1).await.concat(), names[5..]);
}

pub(super) async fn page_of_tables_is_limited_to_100(ctx: Ctx) {
    for (limit, rule) in [
        (0, "have value greater than or equal to 1"),
        (-1, "have value greater than or equal to 1"),
        (101, "have value less than or equal to 100"),
    ] {
        let request = ListTables::new().limit(limit);
        ctx.expect_validation(
            ctx.store().list_tables(request).await,
            &constraint(&limit.to_string(), "limit", rule),
        );
    }
    for (name, rule) in [
        ("ab", "have length greater than or equal to 3"),
        ("a!c", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
    ] {
        let request = ListTables::new().exclusive_start_table_name(name);
        ctx.expect_validation(
            ctx.store().list_tables(request).await,
            &constraint(name, "exclusiveStartTableName", rule),
        );
    }
}

pub(super) async fn description_counts_items_and_bytes(ctx: Ctx) {
    let shape = TableSpec::s().gsi_projecting(IndexProjection::keys_only());
    let entry = item! { "pk" => "a", "gpk" => "g", "gsk" => "h", "x" => "carried by the table" };
    let plain = item! { "pk" => "b" };
    let table = ctx.table_with(shape, [entry.clone(), plain.clone()]).await;
    let counts = |it: TableDescription| {
        let index = &it.global_secondary_indexes[0];
        [it.item_count, it.size_bytes, index.item_count, index.size_bytes]
    };
    let bytes = (entry.size() + plain.size()) as u64;
    // The entry has the key attributes alone: 3 + 4 + 4 bytes of names and values.
    let expected = [2, bytes, 1, 11];
    // DynamoDB updates its counts every six hours, so a service returns an earlier count.
    if ctx.is_service() {
        return;
    }
    assert_eq!(counts(describe(&ctx, &table).await), expected);
    ctx.delete(&table, item! { "pk" => "a" }).await;
    assert_eq!(counts(describe(&ctx, &table).await), [1, plain.size() as u64, 0, 0]);
}
