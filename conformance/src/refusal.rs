//! The other direction of a capability: what a store does not have, it refuses.

use tabla_core::ops::{
    CreateTable, DescribeTable, GetItem, IndexProjection, ListStreams, ListTableTags, PutItem,
    ReturnItemCollectionMetrics, SecondaryIndex, StreamViewType, TagTable, Tags, TransactGetItems,
    TransactWriteItems, UpdateTimeToLive,
};
use tabla_core::{ErrorKind, KeyType, Requirement, Result, item};

use crate::ctx::Ctx;
use crate::table_spec::TableSpec;

/// Proves that a store which denies a capability refuses to be asked for it, and that the refused
/// call changes nothing.
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
        other => panic!("there is no check that the store refuses {other}"),
    }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T>) {
    match result {
        Ok(answer) => panic!("the store denies the capability, and yet answers {answer:?}"),
        Err(error) => assert!(
            matches!(error.kind(), ErrorKind::Unsupported),
            "the store denies the capability, and refuses otherwise than as unsupported: {error:?}"
        ),
    }
}

async fn no_table(ctx: &Ctx, shape: TableSpec) {
    let name = ctx.free_name();
    refused(ctx.store().create_table(shape.request(&name)).await);
    let described = ctx.store().describe_table(DescribeTable::new(&name)).await;
    assert!(
        described.as_ref().is_err_and(tabla_core::Error::is_not_found),
        "the refused table is there: {described:?}"
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
