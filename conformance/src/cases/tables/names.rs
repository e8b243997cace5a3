//! Names of tables.

use super::super::prelude::*;
use super::{constraint, describe, refused_name};

const PATTERN: &str = "satisfy regular expression pattern: [a-zA-Z0-9_.-]+";

pub(super) async fn table_names_have_3_to_255_characters(ctx: Ctx) {
    let store = ctx.store();
    let shortest = ctx.ok(store.create_table(TableSpec::s().request("abc")).await);
    assert_eq!(shortest.table, "abc");
    // A store can add a prefix to table names, which counts on a service.
    let (_, full_name) = shortest.arn.split_once(":table/").expect("the table has an ARN");
    let prefix = full_name.len() - "abc".len();
    let longest = "x".repeat(255 - prefix);
    let request = TableSpec::s().request(&longest);
    assert_eq!(ctx.ok(store.create_table(request.clone()).await).table, longest);
    let table = Table::new(&request);
    ctx.put(&table, item! { "pk" => "a" }).await;
    ctx.expect_table(&table, &[item! { "pk" => "a" }]).await;
    for (name, rule) in [
        ("", "have length greater than or equal to 1"),
        ("a", "have length greater than or equal to 3"),
        ("ab", "have length greater than or equal to 3"),
        (&"x".repeat(256 - prefix), "have length less than or equal to 255"),
    ] {
        refused_name(&ctx, name, &constraint(name, "tableName", rule)).await;
    }
}

pub(super) async fn table_names_have_letters_digits_and_marks(ctx: Ctx) {
    let name = "A.b-c_9";
    let answer = ctx.ok(ctx.store().create_table(TableSpec::s().request(name)).await);
    assert_eq!(answer.table, name);
    for name in ["a b", "a!b", "año", "a/b", "a:b", "a#b"] {
        refused_name(&ctx, name, &constraint(name, "tableName", PATTERN)).await;
    }
}

pub(super) async fn every_operation_checks_table_names(ctx: Ctx) {
    let store = ctx.store();
    let text = constraint("a!b", "tableName", PATTERN);
    let key = item! { "pk" => "a" };
    let table = "a!b";
    ctx.expect_validation(store.describe_table(DescribeTable::new(table)).await, &text);
    ctx.expect_validation(store.delete_table(DeleteTable::new(table)).await, &text);
    let update = UpdateTable::new(table).deletion_protection(Some(false));
    ctx.expect_validation(store.update_table(update).await, &text);
    ctx.expect_validation(store.get(GetItem::new(table, key.clone())).await, &text);
    ctx.expect_validation(store.put(PutItem::new(table, key.clone())).await, &text);
    ctx.expect_validation(store.update(UpdateItem::new(table, key.clone())).await, &text);
    ctx.expect_validation(store.delete(DeleteItem::new(table, key)).await, &text);
    ctx.expect_validation(store.query(Query::new(table, attr("pk").eq("a"))).await, &text);
    ctx.expect_validation(store.scan(Scan::new(table)).await, &text);
}

pub(super) async fn table_can_be_named_by_arn(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi_hash()).await;
    let store = ctx.store();
    let arn = describe(&ctx, &table).await.arn;
    assert!(arn.starts_with("arn:aws"), "{arn}");
    let described = ctx.ok(store.describe_table(DescribeTable::new(&arn)).await);
    assert_eq!(described.table, table.name());
    let (key, item) = (item! { "pk" => "a" }, item! { "pk" => "a", "gpk" => "g" });
    ctx.ok(store.put(PutItem::new(&arn, item.clone())).await);
    ctx.expect_table(&table, std::slice::from_ref(&item)).await;
    let read = ctx.ok(store.get(GetItem::new(&arn, key.clone()).consistent_read(true)).await);
    assert_eq!(read.item.as_ref(), Some(&item));
    let query = Query::new(&arn, attr("pk").eq("a")).consistent_read(true);
    assert_eq!(ctx.query_all(query).await, std::slice::from_ref(&item));
    let query = Query::new(&arn, attr("gpk").eq("g")).index("gsi");
    ctx.expect_query(query, std::slice::from_ref(&item)).await;
    ctx.ok(store.delete(DeleteItem::new(&arn, key)).await);
    ctx.expect_table(&table, &[]).await;
    ctx.ok(store.delete_table(DeleteTable::new(&arn)).await);
    let listed = ctx.ok(store.list_tables(ListTables::default()).await);
    assert_eq!(listed.table_names, Vec::<String>::new());
}

pub(super) async fn table_names_are_case_sensitive(ctx: Ctx) {
    let item = item! { "pk" => "a" };
    let lower = ctx.table_with(TableSpec::s(), [item.clone()]).await;
    let request = TableSpec::s().request(lower.name().to_ascii_uppercase());
    ctx.ok(ctx.store().create_table(request.clone()).await);
    ctx.expect_table(&Table::new(&request), &[]).await;
    ctx.expect_table(&lower, &[item]).await;
}
