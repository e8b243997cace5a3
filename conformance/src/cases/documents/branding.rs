//! Single table of the branding module.

use serde_json::json;

use super::super::prelude::*;
use super::{create, from_json, pk_sk, single_table};

async fn table(ctx: &Ctx) -> Table {
    create(ctx, single_table("branding", &[])).await
}

fn marker_key() -> Item {
    pk_sk("BUS#123", "PUBLISHED")
}

/// Returns the marker as the first publication writes it.
fn marker(version: u32) -> Item {
    marker_key().with("type", "PUBLISHED_MARKER").with("version", version)
}

fn theme_key(version: u32) -> Item {
    pk_sk("BUS#123", &format!("THEME#{version:08}"))
}

fn theme(version: u32, status: &str) -> Item {
    theme_key(version).with("type", "THEME").with("version", version).with("status", status)
}

/// Returns the document's first publication, with the keys in the item as PutItem needs them.
fn first_publication(table: &Table, version: u32) -> PutItem {
    PutItem::new(table, marker(version)).condition("attribute_not_exists(PK)")
}

/// Returns the document's change of the published version, which is also its rollback.
fn publication(table: &Table, expected: u32, next: u32) -> UpdateItem {
    UpdateItem::new(table, marker_key())
        .update("SET #v = :next, #updatedAt = :now")
        .condition("#v = :expected")
        .name("#v", "version")
        .name("#updatedAt", "updatedAt")
        .value(":expected", expected)
        .value(":next", next)
        .value(":now", "2025-09-28T14:31:00Z")
}

fn moved_marker(version: u32) -> Item {
    marker(version).with("updatedAt", "2025-09-28T14:31:00Z")
}

pub(super) async fn first_publication_creates_the_marker(ctx: Ctx) {
    let table = table(&ctx).await;
    ctx.put(&table, theme(42, "draft")).await;
    ctx.ok(ctx.store().put(first_publication(&table, 42)).await);
    let after = [theme(42, "draft"), marker(42)];
    ctx.expect_table(&table, &after).await;
    let again = first_publication(&table, 43).return_item_on_failure();
    let standing = ctx.expect_condition_failed(ctx.store().put(again).await);
    assert_eq!(standing, Some(marker(42)));
    ctx.expect_table(&table, &after).await;
}

pub(super) async fn marker_moves_from_the_expected_version(ctx: Ctx) {
    let table = table(&ctx).await;
    ctx.put(&table, marker(42)).await;
    let request = publication(&table, 42, 43).return_values(ReturnValues::AllNew);
    let answer = ctx.update(request.clone()).await;
    assert_eq!(answer.attributes, Some(moved_marker(43)));
    let lost = ctx.store().update(request.return_item_on_failure()).await;
    assert_eq!(ctx.expect_condition_failed(lost), Some(moved_marker(43)));
    ctx.expect_table(&table, &[moved_marker(43)]).await;
}

pub(super) async fn rollback_publishes_an_earlier_version(ctx: Ctx) {
    let table = table(&ctx).await;
    ctx.put(&table, marker(43)).await;
    ctx.update(publication(&table, 43, 42)).await;
    ctx.expect_table(&table, &[moved_marker(42)]).await;
    // A publisher that expects version 43 fails.
    ctx.expect_condition_failed(ctx.store().update(publication(&table, 43, 44)).await);
    ctx.expect_table(&table, &[moved_marker(42)]).await;
}

pub(super) async fn moving_a_missing_marker_creates_none(ctx: Ctx) {
    let table = table(&ctx).await;
    let result = ctx.store().update(publication(&table, 42, 43)).await;
    assert_eq!(ctx.expect_condition_failed(result), None);
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn one_of_concurrent_publishers_wins(ctx: Ctx) {
    let table = table(&ctx).await;
    ctx.put(&table, marker(42)).await;
    let publishers = (43..49).map(|next| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            match ctx.store().update(publication(&table, 42, next)).await {
                Ok(_) => Some(next),
                lost => {
                    ctx.expect_condition_failed(lost);
                    None
                }
            }
        }
    });
    let published: Vec<u32> = ctx.at_once(publishers).await.into_iter().flatten().collect();
    let [winner] = published[..] else {
        panic!("not exactly one publisher succeeded: {published:?}")
    };
    ctx.expect_table(&table, &[moved_marker(winner)]).await;
}

pub(super) async fn version_is_created_once(ctx: Ctx) {
    let table = table(&ctx).await;
    let documented = from_json(json!({
        "PK": { "S": "BUS#123" },
        "SK": { "S": "THEME#00000042" },
        "type": { "S": "THEME" },
        "version": { "N": "42" },
        "status": { "S": "draft" },
        "metadata": { "M": {
            "primaryColor": { "S": "#0F172A" },
            "secondaryColor": { "S": "#22D3EE" },
            "typography": { "S": "intrale-regular" },
        } },
        "assets": { "L": [{ "S": "ASSET#logo-123" }, { "S": "ASSET#banner-123" }] },
        "updatedAt": { "S": "2025-09-21T10:00:00Z" },
    }));
    let creation = |item: Item| PutItem::new(&table, item).condition("attribute_not_exists(PK)");
    ctx.ok(ctx.store().put(creation(documented.clone())).await);
    ctx.expect_condition_failed(ctx.store().put(creation(theme(42, "published"))).await);
    ctx.expect_table(&table, std::slice::from_ref(&documented)).await;

    let recolour = |expected: u32| {
        UpdateItem::new(&table, theme_key(42))
            .update("SET metadata.primaryColor = :colour")
            .condition("version = :expected")
            .value(":colour", "#000000")
            .value(":expected", expected)
    };
    ctx.expect_condition_failed(ctx.store().update(recolour(41)).await);
    ctx.expect_table(&table, &[documented]).await;
    ctx.update(recolour(42)).await;
    let read = GetItem::new(&table, theme_key(42))
        .projection("metadata.primaryColor, assets[1]")
        .consistent_read(true);
    let answer = ctx.ok(ctx.store().get(read).await);
    let expected = item! {
        "metadata" => Value::M(map! { "primaryColor" => "#000000" }),
        "assets" => list!["ASSET#banner-123"],
    };
    assert_eq!(answer.item, Some(expected));
}

/// Creates a table with these themes of one business, between other items of its collection.
async fn with_themes(ctx: &Ctx, themes: &[Item]) -> Table {
    let table = table(ctx).await;
    let business = pk_sk("BUS#123", "META").with("type", "BUSINESS");
    let link = pk_sk("BUS#123", "ASSET#logo-123").with("type", "ASSET_LINK");
    let stranger = pk_sk("BUS#1234", "THEME#00000001").with("status", "draft");
    ctx.put_all(&table, [business, link, stranger, marker(9)]).await;
    ctx.put_all(&table, themes.iter().rev().cloned()).await;
    table
}

pub(super) async fn padded_versions_sort_by_number(ctx: Ctx) {
    let themes = [2, 9, 10, 42, 100, 99_999_999].map(|version| theme(version, "draft"));
    let table = with_themes(&ctx, &themes).await;
    let versions = Query::new(&table, "PK = :pk AND begins_with(SK, :prefix)")
        .value(":pk", "BUS#123")
        .value(":prefix", "THEME#");
    ctx.expect_in_order(&ctx.query_all(versions.clone()).await, &themes);
    let latest = ctx.ok(ctx.store().query(versions.descending().limit(1)).await);
    ctx.expect_in_order(&latest.items, &themes[5..]);
}

/// Returns the document's query for drafts.
fn drafts_query(table: &Table) -> Query {
    Query::new(table, "PK = :pk AND begins_with(SK, :prefix)")
        .filter("#status = :draft")
        .name("#status", "status")
        .value(":pk", "BUS#123")
        .value(":prefix", "THEME#")
        .value(":draft", "draft")
}

pub(super) async fn drafts_pass_the_filter(ctx: Ctx) {
    let themes = [
        theme(8, "published"),
        theme(9, "published"),
        theme(10, "draft"),
        theme(11, "published"),
        theme(12, "draft"),
    ];
    let table = with_themes(&ctx, &themes).await;
    let expected = [themes[2].clone(), themes[4].clone()];
    let page = ctx.ok(ctx.store().query(drafts_query(&table)).await);
    ctx.expect_in_order(&page.items, &expected);
    assert_eq!((page.count, page.scanned_count), (2, 5));
    // Limits count before the filter, so two of the three pages with two themes have one draft.
    let pages = ctx.query_pages(drafts_query(&table).limit(2)).await;
    let counts: Vec<usize> = pages.iter().map(|page| page.count).collect();
    assert_eq!(counts[..3], [0, 1, 1], "{pages:?}");
    let items: Vec<Item> = pages.into_iter().flat_map(|page| page.items).collect();
    ctx.expect_in_order(&items, &expected);
}

pub(super) async fn status_needs_a_placeholder(ctx: Ctx) {
    let table = with_themes(&ctx, &[theme(1, "draft")]).await;
    let mut query = drafts_query(&table).filter("status = :draft");
    query.names.clear();
    ctx.expect_validation(
        ctx.store().query(query).await,
        "Invalid FilterExpression: Attribute name is a reserved keyword; reserved keyword: status",
    );
}

pub(super) async fn marker_leads_to_the_published_theme(ctx: Ctx) {
    let table = with_themes(&ctx, &[theme(8, "draft"), theme(9, "published")]).await;
    let marker = ctx.get(&table, marker_key()).await.expect("the marker exists");
    let version = marker.get("version").and_then(|version| version.as_number());
    let version: u32 =
        version.expect("valid number").to_string().parse().expect("the item has a version");
    assert_eq!(ctx.get(&table, theme_key(version)).await, Some(theme(9, "published")));
    assert_eq!(ctx.get(&table, theme_key(7)).await, None);
}

/// Returns a transaction that publishes a draft and moves the marker to it.
fn publish(table: &Table, expected: u32, next: u32) -> TransactWriteItems {
    let theme = UpdateItem::new(table, theme_key(next))
        .update("SET #status = :published")
        .condition("#status = :draft")
        .name("#status", "status")
        .value(":published", "published")
        .value(":draft", "draft");
    TransactWriteItems::new().item(theme).item(publication(table, expected, next))
}

pub(super) async fn theme_and_marker_are_published_together(ctx: Ctx) {
    let table = table(&ctx).await;
    let themes = [theme(42, "published"), theme(43, "draft"), theme(44, "draft")];
    ctx.put_all(&table, themes.clone()).await;
    ctx.put(&table, marker(42)).await;
    let before = ctx.snapshot(&table).await;

    let result = ctx.store().transact_write(publish(&table, 41, 43)).await;
    ctx.expect_canceled(result, &["None", "ConditionalCheckFailed"]);
    ctx.expect_unchanged(&before).await;
    for absent_or_published in [45, 42] {
        let result = ctx.store().transact_write(publish(&table, 42, absent_or_published)).await;
        ctx.expect_canceled(result, &["ConditionalCheckFailed", "None"]);
        ctx.expect_unchanged(&before).await;
    }

    ctx.ok(ctx.store().transact_write(publish(&table, 42, 43)).await);
    let [first, _, draft] = themes;
    let after = [first, theme(43, "published"), draft, moved_marker(43)];
    ctx.expect_table(&table, &after).await;

    // A rollback goes to a version that was published before, and only the marker moves.
    let rollback = |to: u32| {
        let check = ConditionCheck::new(&table, theme_key(to), "#status = :published")
            .name("#status", "status")
            .value(":published", "published");
        TransactWriteItems::new().item(check).item(publication(&table, 43, to))
    };
    let result = ctx.store().transact_write(rollback(44)).await;
    ctx.expect_canceled(result, &["ConditionalCheckFailed", "None"]);
    ctx.expect_table(&table, &after).await;
    ctx.ok(ctx.store().transact_write(rollback(42)).await);
    let [first, second, draft, _] = after;
    ctx.expect_table(&table, &[first, second, draft, moved_marker(42)]).await;
}

pub(super) async fn published_is_immutable(ctx: Ctx) {
    let table = table(&ctx).await;
    ctx.put_all(&table, [theme(42, "published"), theme(43, "draft")]).await;
    let edit = |version: u32| {
        UpdateItem::new(&table, theme_key(version))
            .update("SET metadata = :m, updatedAt = :now")
            .condition("#status = :draft AND version = :version")
            .name("#status", "status")
            .value(":m", map! { "primaryColor" => "#000000" })
            .value(":now", "2025-09-28T14:31:00Z")
            .value(":draft", "draft")
            .value(":version", version)
    };
    ctx.expect_condition_failed(ctx.store().update(edit(42)).await);
    ctx.expect_condition_failed(ctx.store().update(edit(44)).await);
    ctx.update(edit(43)).await;
    let edited = theme(43, "draft")
        .with("metadata", map! { "primaryColor" => "#000000" })
        .with("updatedAt", "2025-09-28T14:31:00Z");
    ctx.expect_table(&table, &[theme(42, "published"), edited]).await;
}

pub(super) async fn assets_are_read_by_id_and_listed(ctx: Ctx) {
    let table = with_themes(&ctx, &[theme(1, "draft")]).await;
    let documented = from_json(json!({
        "PK": { "S": "ASSET#logo-123" },
        "SK": { "S": "META" },
        "type": { "S": "ASSET" },
        "businessId": { "S": "123" },
        "assetType": { "S": "logo" },
        "uri": { "S": "s3://intrale-branding/assets/logo-123.png" },
        "checksum": { "S": "md5:abcdef" },
        "updatedAt": { "S": "2025-09-18T12:45:00Z" },
    }));
    ctx.put(&table, documented.clone()).await;
    assert_eq!(ctx.get(&table, pk_sk("ASSET#logo-123", "META")).await, Some(documented));
    let banner = pk_sk("BUS#123", "ASSET#banner-123").with("type", "ASSET_LINK");
    ctx.put(&table, banner.clone().with("scope", "theme")).await;
    let query = Query::new(&table, "PK = :pk AND begins_with(SK, :prefix)")
        .value(":pk", "BUS#123")
        .value(":prefix", "ASSET#");
    let logo = pk_sk("BUS#123", "ASSET#logo-123").with("type", "ASSET_LINK");
    ctx.expect_in_order(&ctx.query_all(query).await, &[banner.with("scope", "theme"), logo]);
}
