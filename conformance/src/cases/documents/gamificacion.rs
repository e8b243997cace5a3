//! Single table of the gamification panel.

use std::time::Duration;

use super::super::prelude::*;
use super::{create, pk_sk, single_table};

async fn table_with(ctx: &Ctx, items: impl IntoIterator<Item = Item>) -> Table {
    let table = create(ctx, single_table("Gamificacion", &["GSI1", "GSI2", "GSI3"])).await;
    ctx.put_all(&table, items).await;
    table
}

fn profile(user: &str, code: &str) -> Item {
    pk_sk(&format!("USER#{user}"), "PROFILE")
        .with("entityType", "profile")
        .with("userCode", code)
        .with("GSI1PK", format!("USERCODE#{code}"))
        .with("GSI1SK", format!("USER#{user}"))
}

fn member(user: &str, id: &str, level: &str, status: &str) -> Item {
    let by_member = format!("USER#{user}#MEMBER#{id}");
    pk_sk(&format!("USER#{user}"), &format!("NETWORK#{id}"))
        .with("entityType", "network")
        .with("level", level)
        .with("status", status)
        .with("GSI2PK", format!("LEVEL#{level}"))
        .with("GSI2SK", by_member.as_str())
        .with("GSI3PK", format!("STATUS#{status}"))
        .with("GSI3SK", by_member)
}

fn of_user(table: &Table, user: &str, prefix: &str) -> Query {
    let pk = attr("PK").eq(format!("USER#{user}"));
    Query::new(table, pk.and(attr("SK").begins_with(prefix)))
}

pub(super) async fn dashboard_is_one_item_collection(ctx: Ctx) {
    let part = |sort: &str| pk_sk("USER#1", sort);
    let collection = [
        part("DASHBOARD").with("entityType", "dashboard"),
        part("FEATURED#f1").with("entityType", "featured"),
        part("GOAL#g1").with("entityType", "goal"),
        part("GOAL#g2").with("entityType", "goal"),
        member("1", "m1", "ORO", "ACTIVO"),
        part("PRODUCT#p1").with("entityType", "product"),
        profile("1", "ABC"),
    ];
    let strangers = [profile("10", "XYZ"), pk_sk("USER#2", "GOAL#g1")];
    let table = table_with(&ctx, collection.iter().rev().cloned().chain(strangers)).await;
    let whole = Query::new(&table, attr("PK").eq("USER#1"));
    ctx.expect_query(whole, &collection).await;
    for (prefix, expected) in [
        ("PROFILE", &collection[6..]),
        ("DASHBOARD", &collection[..1]),
        ("GOAL#", &collection[2..4]),
        ("PRODUCT#", &collection[5..6]),
        ("FEATURED#", &collection[1..2]),
        ("NETWORK#", &collection[4..5]),
        ("ASSET#", &[]),
    ] {
        ctx.expect_query(of_user(&table, "1", prefix), expected).await;
    }
}

pub(super) async fn dashboard_of_several_pages_is_complete(ctx: Ctx) {
    let filler = "x".repeat(300_000);
    let members: Vec<Item> = (0..8)
        .map(|n| member("1", &format!("{n:03}"), "ORO", "ACTIVO").with("bio", filler.as_str()))
        .collect();
    let table = table_with(&ctx, members.iter().cloned().chain([profile("1", "ABC")])).await;
    let query = Query::new(&table, attr("PK").eq("USER#1"));
    let pages = ctx.query_pages(query.clone()).await;
    assert!(pages.len() >= 3, "2.4 MB in {} pages", pages.len());
    let all: Vec<Item> = members.into_iter().chain([profile("1", "ABC")]).collect();
    ctx.expect_query(query.clone(), &all).await;
    ctx.expect_query(query.limit(2), &all).await;
}

pub(super) async fn user_is_found_by_code(ctx: Ctx) {
    let table = table_with(&ctx, [profile("1", "ABC"), profile("2", "ABCD")]).await;
    let query = Query::new(&table, "GSI1PK = :code").index("GSI1");
    let found = |code: &str| query.clone().value(":code", format!("USERCODE#{code}"));
    ctx.expect_query(found("ABC"), &[profile("1", "ABC")]).await;
    ctx.expect_query(found("AB"), &[]).await;
    // A user whose code changes is found only by the new code.
    ctx.put(&table, profile("1", "NEW")).await;
    ctx.expect_query(found("NEW"), &[profile("1", "NEW")]).await;
    ctx.expect_query(found("ABC"), &[]).await;
}

pub(super) async fn members_are_found_by_level_and_status(ctx: Ctx) {
    let members = [
        member("1", "a", "ORO", "ACTIVO"),
        member("1", "b", "PLATA", "ACTIVO"),
        member("1", "c", "ORO", "INACTIVO"),
        member("2", "d", "ORO", "ACTIVO"),
    ];
    let [a, b, c, d] = members.clone();
    let table = table_with(&ctx, members.into_iter().rev()).await;
    let level = Query::new(&table, attr("GSI2PK").eq("LEVEL#ORO")).index("GSI2");
    ctx.expect_query(level, &[a.clone(), c.clone(), d.clone()]).await;
    let of_user = attr("GSI2SK").begins_with("USER#1#");
    let level = Query::new(&table, attr("GSI2PK").eq("LEVEL#ORO").and(of_user)).index("GSI2");
    ctx.expect_query(level, &[a.clone(), c]).await;
    let status = Query::new(&table, attr("GSI3PK").eq("STATUS#ACTIVO")).index("GSI3");
    ctx.expect_query(status.clone(), &[a.clone(), b.clone(), d]).await;
    let of_user = attr("GSI3SK").begins_with("USER#1#");
    let status = Query::new(&table, attr("GSI3PK").eq("STATUS#ACTIVO").and(of_user));
    ctx.expect_query(status.clone().index("GSI3"), &[a.clone(), b]).await;
    // Members by level and status: the index selects one, a filter the other.
    let both = status.index("GSI3").filter(attr("level").eq("ORO"));
    ctx.expect_query(both, &[a]).await;
}

pub(super) async fn member_moves_between_levels(ctx: Ctx) {
    let table = table_with(&ctx, [member("1", "a", "PLATA", "ACTIVO")]).await;
    let before = ctx.snapshot(&table).await;
    let promote = UpdateItem::new(&table, pk_sk("USER#1", "NETWORK#a"))
        .update("SET #level = :new, GSI2PK = :key")
        .condition("#level = :old")
        .name("#level", "level")
        .value(":new", "ORO")
        .value(":key", "LEVEL#ORO");
    let lost = promote.clone().value(":old", "BRONCE");
    ctx.expect_condition_failed(ctx.store().update(lost).await);
    ctx.expect_unchanged(&before).await;
    ctx.update(promote.value(":old", "PLATA")).await;
    let after = [member("1", "a", "ORO", "ACTIVO")];
    let level =
        |level: &str| Query::new(&table, attr("GSI2PK").eq(format!("LEVEL#{level}"))).index("GSI2");
    ctx.expect_query(level("ORO"), &after).await;
    ctx.expect_query(level("PLATA"), &[]).await;
    ctx.expect_index(&table, "GSI3", &after).await;
}

fn asset(id: &str) -> Item {
    pk_sk(&format!("ASSET#{id}"), "METADATA").with("entityType", "asset")
}

pub(super) async fn asset_and_link_are_written_together(ctx: Ctx) {
    let table = table_with(&ctx, [profile("1", "ABC")]).await;
    let link = |user: &str| pk_sk(&format!("USER#{user}"), "ASSET#a1");
    let owner = |user: &str| pk_sk(&format!("USER#{user}"), "PROFILE");
    let request = |user: &str| {
        TransactWriteItems::new()
            .item(PutItem::new(&table, asset("a1").with("userId", user)))
            .item(PutItem::new(&table, link(user)))
            .item(ConditionCheck::new(&table, owner(user), attr("PK").exists()))
    };
    let result = ctx.store().transact_write(request("2")).await;
    ctx.expect_canceled(result, &["None", "None", "ConditionalCheckFailed"]);
    ctx.expect_table(&table, &[profile("1", "ABC")]).await;
    ctx.ok(ctx.store().transact_write(request("1")).await);
    assert_eq!(
        ctx.get(&table, pk_sk("ASSET#a1", "METADATA")).await,
        Some(asset("a1").with("userId", "1"))
    );
    ctx.expect_query(of_user(&table, "1", "ASSET#"), &[link("1")]).await;
}

pub(super) async fn pending_upload_expires(ctx: Ctx) {
    let expires = ctx.now().as_secs() + 3600;
    let pending = |id: &str| asset(id).with("status", "pending").with("expiresAt", expires);
    let table = table_with(&ctx, [pending("a1"), pending("a2")]).await;
    let ttl = UpdateTimeToLive::new(&table, "expiresAt", true);
    ctx.ok(ctx.store().update_time_to_live(ttl).await);
    let confirm = UpdateItem::new(&table, pk_sk("ASSET#a1", "METADATA"))
        .update("SET #status = :ready REMOVE expiresAt")
        .condition("#status = :pending")
        .name("#status", "status")
        .value(":ready", "ready")
        .value(":pending", "pending");
    ctx.update(confirm.clone()).await;
    ctx.clock().advance(Duration::from_secs(2 * 3600));
    ctx.sweep().await;
    let ready = asset("a1").with("status", "ready");
    ctx.expect_table(&table, std::slice::from_ref(&ready)).await;
    // The other upload has expired: it cannot be confirmed, and nothing is created.
    let late = assign!(confirm, { key: pk_sk("ASSET#a2", "METADATA") });
    ctx.expect_condition_failed(ctx.store().update(late).await);
    ctx.expect_table(&table, &[ready]).await;
}
