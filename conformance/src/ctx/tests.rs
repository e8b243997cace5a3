use tabla_core::ops::{Query, StreamViewType};
use tabla_core::{Error, ErrorKind, attr, item};

use super::*;
use crate::harness::Harness;
use crate::memory::MemoryHarness;

async fn ctx() -> Ctx {
    Ctx::new("fake", Wording::Exact, &MemoryHarness.case_store().await)
}

/// Text of the panic of a helper, which must fail.
async fn failure(helper: impl Future<Output = ()>) -> String {
    catch_panic(helper).await.expect_err("the helper must fail")
}

#[tokio::test]
async fn tables_of_a_case_have_distinct_names() {
    let ctx = ctx().await;
    let first = ctx.table_with(TableSpec::s(), [item! { "pk" => "a" }]).await;
    let second = ctx.table(TableSpec::s()).await;
    assert_ne!(first.name(), second.name());
    ctx.expect_table(&first, &[item! { "pk" => "a" }]).await;
    ctx.expect_table(&second, &[]).await;
}

#[tokio::test]
async fn failing_helper_names_line_of_its_caller() {
    let ctx = ctx().await;
    let table = ctx.table_with(TableSpec::s(), [item! { "pk" => "a" }]).await;
    let line = line!() + 1;
    let text = failure(ctx.expect_table(&table, &[])).await;
    assert!(text.contains("unexpected (1x)"), "{text}");
    assert!(text.contains(&format!("called at {}:{line}:", file!())), "{text}");
}

#[tokio::test]
async fn query_all_reads_all_pages() {
    let ctx = ctx().await;
    let items: Vec<Item> = (0..7).map(|sk| item! { "pk" => "a", "sk" => sk }).collect();
    let table = ctx.table_with(TableSpec::s_n(), items.clone()).await;
    let query = Query::new(&table, attr("pk").eq("a")).limit(2);
    assert!(ctx.query_pages(query.clone()).await.len() >= 4);
    ctx.expect_in_order(&ctx.query_all(query.clone()).await, &items);
    ctx.expect_query(query, &items).await;
    ctx.expect_items(&ctx.all_items(&table).await, &items);
}

#[tokio::test]
async fn snapshot_detects_changed_item_or_index_entry() {
    let ctx = ctx().await;
    let item = item! { "pk" => "a", "gpk" => "g", "gsk" => "1" };
    let table = ctx.table_with(TableSpec::s().gsi(), [item.clone()]).await;
    let before = ctx.snapshot(&table).await;
    ctx.expect_unchanged(&before).await;

    ctx.put(&table, item.clone().with("x", 1)).await;
    let text = failure(ctx.expect_unchanged(&before)).await;
    assert!(text.contains("the table"), "{text}");

    let mut without_entry = before.clone();
    ctx.put(&table, item).await;
    without_entry.indexes[0].1.clear();
    let text = failure(ctx.expect_unchanged(&without_entry)).await;
    assert!(text.contains("the index gsi"), "{text}");
}

#[tokio::test]
async fn records_reads_to_end_of_stream() {
    let ctx = ctx().await;
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    ctx.put_all(&table, (0..5).map(|n| item! { "pk" => n.to_string() })).await;
    assert_eq!(ctx.records(&table, 5).await.len(), 5);
}

#[tokio::test]
async fn at_once_returns_results_in_order_and_fails_case_on_panic() {
    let ctx = ctx().await;
    let answers = ctx.at_once((0..4).map(|n| async move { n })).await;
    assert_eq!(answers, [0, 1, 2, 3]);
    let calls = (0..2).map(|n| async move { assert_eq!(n, 0, "call {n}") });
    let text = failure(async { drop(ctx.at_once(calls).await) }).await;
    assert!(text.contains("call 1"), "{text}");
}

#[tokio::test]
async fn errors_are_compared_by_code_message_and_kind() {
    let ctx = ctx().await;
    let refused = || -> Result<()> { Err(Error::validation("no")) };
    ctx.expect_validation(refused(), "no");
    ctx.expect_validation_with(refused(), "n");
    ctx.expect_kind(refused(), "Validation", |kind| matches!(kind, ErrorKind::Validation));
    for text in [
        failure(async { ctx.expect_validation(refused(), "yes") }).await,
        failure(async { ctx.expect_validation(Ok(()), "no") }).await,
        failure(async { ctx.expect_table_missing(refused()) }).await,
        failure(async { drop(ctx.expect_condition_failed(refused())) }).await,
        // Right code and message, but a kind on which callers would act differently.
        failure(async {
            let error = Error::new(ErrorKind::Unsupported, "no");
            ctx.expect_validation(Result::<()>::Err(error), "no");
        })
        .await,
    ] {
        assert!(text.contains("expect") || text.contains("of kind"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn poll_ends_with_value_or_at_time_limit() {
    let ctx = ctx().await;
    let asked = AtomicUsize::new(0);
    let third = || async { (asked.fetch_add(1, Ordering::Relaxed) == 2).then_some("there") };
    assert_eq!(ctx.poll(third).await, Some("there"));
    assert_eq!(ctx.poll(|| async { None::<()> }).await, None);
}
