//! Checks that a store rejects requests for a capability that it lacks.

use tabla_core::ops::{
    CreateTable, DescribeTable, GetItem, IndexProjection, ListStreams, ListTableTags, PutItem,
    ReturnItemCollectionMetrics, SecondaryIndex, StreamViewType, TagTable, Tags, TransactGetItems,
    TransactWriteItems, UpdateTimeToLive,
};
use tabla_core::{ErrorKind, KeyType, Requirement, Result, item};

use crate::ctx::Ctx;
use crate::table_spec::TableSpec;

/// Checks that a store without this capability rejects requests for it as unsupported, and that a
/// rejected request changes nothing.
pub(crate) async fn check(ctx: Ctx, missing: Requirement) {
    match missing {
        Requirement::Transactions => transactions(&ctx).await,
        Requirement::IndexProjections => {
            let keys_only = IndexProjection::keys_only();
            no_table(&ctx, TableSpec::s().gsi_projecting(keys_only)).await;
        }
        Requirement::LocalIndexes => no_table(&ctx, TableSpec::s_s().lsi()).await,
        Requirement::MultiAttributeIndexKeys => {
            no_table(&ctx, TableSpec::s().with(two_partition_attributes)).await;
        }
        Requirement::TimeToLive => {
            let table = ctx.table(TableSpec::s()).await;
            let request = UpdateTimeToLive::new(&table, "expires", true);
            refused(ctx.store().update_time_to_live(request).await);
        }
        Requirement::Streams => {
            no_table(&ctx, TableSpec::s().stream(StreamViewType::KeysOnly)).await;
            refused(ctx.store().list_streams(ListStreams::default()).await);
        }
        Requirement::Tags => tags(&ctx).await,
        Requirement::ItemCollectionMetrics => metrics(&ctx).await,
        other => panic!("no check that the store rejects {other}: add one in refusal.rs"),
    }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T>) {
    match result {
        Ok(answer) => {
            panic!("the store lacks the capability, but the request succeeded: {answer:?}")
        }
        Err(error) => assert!(
            matches!(error.kind(), ErrorKind::Unsupported),
            "the store lacks the capability, but its error is not of kind Unsupported: {error:?}"
        ),
    }
}

async fn no_table(ctx: &Ctx, shape: TableSpec) {
    let name = ctx.unused_table_name();
    refused(ctx.store().create_table(shape.request(&name)).await);
    let described = ctx.store().describe_table(DescribeTable::new(&name)).await;
    assert!(
        described.as_ref().is_err_and(tabla_core::Error::is_not_found),
        "the table exists although its creation was rejected: {described:?}"
    );
}

fn two_partition_attributes(request: CreateTable) -> CreateTable {
    let index = SecondaryIndex::new("gsi").partition_key("a").partition_key("b");
    request.attribute("a", KeyType::S).attribute("b", KeyType::S).global_index(index)
}

async fn transactions(ctx: &Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let put = PutItem::new(&table, item! { "pk" => "a" });
    refused(ctx.store().transact_write(TransactWriteItems::new().item(put)).await);
    let get = GetItem::new(&table, item! { "pk" => "a" });
    refused(ctx.store().transact_get(TransactGetItems::new([get])).await);
    ctx.expect_table(&table, &[]).await;
}

async fn tags(ctx: &Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let tags = Tags::from([("team".to_owned(), "a".to_owned())]);
    refused(ctx.store().tag_table(TagTable::new(&table, tags)).await);
    refused(ctx.store().list_table_tags(ListTableTags::new(&table)).await);
}

async fn metrics(ctx: &Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let put = PutItem::new(&table, item! { "pk" => "a" })
        .return_item_collection_metrics(ReturnItemCollectionMetrics::Size);
    refused(ctx.store().put(put).await);
    ctx.expect_table(&table, &[]).await;
}
