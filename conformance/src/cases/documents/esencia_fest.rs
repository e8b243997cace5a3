//! Main table and activity log of Esencia Fest.

use super::super::prelude::*;
use super::super::transactions::retry_on_conflict;
use super::{create, pk_sk, single_table};

async fn table_with(ctx: &Ctx, items: impl IntoIterator<Item = Item>) -> Table {
    let indexes = ["GSI1", "GSI2", "GSI3", "GSI4"];
    let table = create(ctx, single_table("EsenciaFest-Main-2025", &indexes)).await;
    ctx.put_all(&table, items).await;
    table
}

/// Formats a count as part of a key, padded so that keys sort by number.
fn padded(count: u32, created_at: &str) -> String {
    format!("{count:010}#{created_at}")
}

/// Returns the index group of posts with a status; active posts have the bare name.
fn group(name: &str, status: &str) -> String {
    if status == "active" { format!("POSTS#{name}") } else { format!("POSTS#{name}#{status}") }
}

struct Post {
    id: &'static str,
    created_at: &'static str,
    status: &'static str,
    likes: u32,
    comments: u32,
}

const POST: Post =
    Post { id: "p1", created_at: "2025-08-18T10:30:00Z", status: "active", likes: 0, comments: 0 };

impl Post {
    fn key(&self) -> Item {
        let key = format!("POST#{}", self.id);
        pk_sk(&key, &key)
    }

    fn item(&self) -> Item {
        self.key()
            .with("userId", "ana@sura.com.co")
            .with("createdAt", self.created_at)
            .with("status", self.status)
            .with("likes", self.likes)
            .with("commentsCount", self.comments)
            .with("GSI1PK", "USER#ana@sura.com.co#POSTS")
            .with("GSI1SK", self.created_at)
            .with("GSI2PK", format!("POSTS#{}", self.status))
            .with("GSI2SK", self.created_at)
            .with("GSI3PK", group("SORTED", self.status))
            .with("GSI3SK", padded(self.likes, self.created_at))
            .with("GSI4PK", group("COMMENTS", self.status))
            .with("GSI4SK", padded(self.comments, self.created_at))
    }

    /// Returns an update of the post's number of likes and of its popularity key.
    fn like(&self, table: &Table, likes: u32) -> UpdateItem {
        UpdateItem::new(table, self.key())
            .update("SET likes = :likes, GSI3SK = :place")
            .condition("likes = :before AND #status = :active")
            .name("#status", "status")
            .value(":likes", likes + 1)
            .value(":before", likes)
            .value(":place", padded(likes + 1, self.created_at))
            .value(":active", "active")
    }
}

fn by(table: &Table, index: &str, partition: &str) -> Query {
    Query::new(table, attr(format!("{index}PK")).eq(partition)).index(index)
}

pub(super) async fn user_has_profile_and_progress(ctx: Ctx) {
    let profile = pk_sk("USER#ana@sura.com.co", "PROFILE")
        .with("name", "Ana")
        .with("country", "Colombia")
        .with("createdAt", "2025-08-18")
        .with("progress", list!["sala1"])
        .with("GSI1PK", "USER#Colombia")
        .with("GSI1SK", "2025-08-18");
    let table = table_with(&ctx, [profile.clone()]).await;
    let key = table.key_of(&profile);
    // A room is completed once, even if it is reported repeatedly.
    let complete = UpdateItem::new(&table, key.clone())
        .update("SET progress = list_append(progress, :rooms)")
        .condition("NOT contains(progress, :room)")
        .value(":rooms", list!["sala3"])
        .value(":room", "sala3");
    ctx.update(complete.clone()).await;
    ctx.expect_condition_failed(ctx.store().update(complete).await);
    let after = profile.with("progress", list!["sala1", "sala3"]);
    ctx.expect_table(&table, std::slice::from_ref(&after)).await;
    let projected = GetItem::new(&table, key).projection("progress").consistent_read(true);
    let answer = ctx.ok(ctx.store().get(projected).await);
    assert_eq!(answer.item, Some(item! { "progress" => list!["sala1", "sala3"] }));
    ctx.expect_query(by(&table, "GSI1", "USER#Colombia"), &[after]).await;
}

pub(super) async fn room_statuses_are_one_item_collection(ctx: Ctx) {
    let room = |name: &str| {
        pk_sk("ROOM#STATUS", &format!("ROOM#{name}"))
            .with("openAt", "2025-08-20T09:00:00Z")
            .with("manualOverride", Value::Null)
    };
    let table = table_with(&ctx, ["sala2", "sala1", "sala3"].map(room)).await;
    let all = Query::new(&table, attr("PK").eq("ROOM#STATUS"));
    ctx.expect_query(all.clone(), &["sala1", "sala2", "sala3"].map(room)).await;
    // NULL is a value: the attribute exists, and is replaced where it is NULL.
    let force = UpdateItem::new(&table, pk_sk("ROOM#STATUS", "ROOM#sala2"))
        .update("SET manualOverride = :open")
        .condition("attribute_exists(manualOverride) AND attribute_type(manualOverride, :null)")
        .value(":open", "open")
        .value(":null", "NULL");
    ctx.update(force.clone()).await;
    ctx.expect_condition_failed(ctx.store().update(force).await);
    let open = room("sala2").with("manualOverride", "open");
    ctx.expect_query(all, &[room("sala1"), open, room("sala3")]).await;
}

pub(super) async fn active_content_is_a_group_of_gsi1(ctx: Ctx) {
    let content = |name: &str, version: u32| {
        pk_sk(&format!("ROOM#{name}"), &format!("CONTENT#v{version}")).with("title", "Bienvenida")
    };
    let active = |name: &str, version: u32| {
        content(name, version).with("GSI1PK", "CONTENT#ACTIVE").with("GSI1SK", name)
    };
    let table = table_with(&ctx, [active("sala2", 1), active("sala1", 1)]).await;
    let group = by(&table, "GSI1", "CONTENT#ACTIVE");
    ctx.expect_query(group.clone(), &[active("sala1", 1), active("sala2", 1)]).await;
    // A new version replaces the old one in the index; the old one stays in its room.
    ctx.put(&table, content("sala1", 1)).await;
    ctx.put(&table, active("sala1", 2)).await;
    ctx.expect_query(group, &[active("sala1", 2), active("sala2", 1)]).await;
    let room = Query::new(&table, attr("PK").eq("ROOM#sala1"));
    ctx.expect_query(room, &[content("sala1", 1), active("sala1", 2)]).await;
}

fn comment_item(id: &str, status: &str) -> Item {
    pk_sk("POST#p1", &format!("COMMENT#{id}")).with("status", status)
}

pub(super) async fn post_and_comments_are_one_item_collection(ctx: Ctx) {
    let comments =
        [comment_item("c1", "active"), comment_item("c2", "banned"), comment_item("c3", "active")];
    let table = table_with(&ctx, comments.iter().rev().cloned().chain([POST.item()])).await;
    let [first, second, third] = comments;
    let collection = Query::new(&table, attr("PK").eq("POST#p1"));
    let all = [first.clone(), second, third.clone(), POST.item()];
    ctx.expect_query(collection, &all).await;
    let active = Query::new(&table, "PK = :post AND begins_with(SK, :comment)")
        .filter("#status = :active")
        .name("#status", "status")
        .value(":post", "POST#p1")
        .value(":comment", "COMMENT#")
        .value(":active", "active");
    ctx.expect_query(active, &[first, third]).await;
}

pub(super) async fn post_moves_between_groups_with_its_status(ctx: Ctx) {
    let table = table_with(&ctx, [POST.item()]).await;
    let log = |action: &str| {
        pk_sk("MODLOG#2025-08-18", &format!("2025-08-18T12:00:00Z#admin1#{action}"))
            .with("action", action)
            .with("targetId", POST.id)
    };
    let change = |from: &str, to: &str, action: &str| {
        let post = UpdateItem::new(&table, POST.key())
            .update(
                "SET #status = :to, GSI2PK = :by_date, GSI3PK = :by_likes, GSI4PK = :by_comments",
            )
            .condition("#status = :from")
            .name("#status", "status")
            .value(":from", from)
            .value(":to", to)
            .value(":by_date", format!("POSTS#{to}"))
            .value(":by_likes", group("SORTED", to))
            .value(":by_comments", group("COMMENTS", to));
        TransactWriteItems::new().item(PutItem::new(&table, log(action))).item(post)
    };
    ctx.ok(ctx.store().transact_write(change("active", "banned", "ban")).await);
    let banned = Post { status: "banned", ..POST }.item();
    ctx.expect_table(&table, &[banned.clone(), log("ban")]).await;
    for (index, old, new) in [
        ("GSI2", "POSTS#active", "POSTS#banned"),
        ("GSI3", "POSTS#SORTED", "POSTS#SORTED#banned"),
        ("GSI4", "POSTS#COMMENTS", "POSTS#COMMENTS#banned"),
    ] {
        ctx.expect_query(by(&table, index, new), std::slice::from_ref(&banned)).await;
        ctx.expect_query(by(&table, index, old), &[]).await;
    }
    // A banned post is not changed again, and no log entry is written.
    let result = ctx.store().transact_write(change("active", "deleted", "delete")).await;
    ctx.expect_canceled(result, &["None", "ConditionalCheckFailed"]);
    ctx.expect_table(&table, &[banned, log("ban")]).await;
    ctx.ok(ctx.store().transact_write(change("banned", "active", "restore")).await);
    ctx.expect_table(&table, &[POST.item(), log("ban"), log("restore")]).await;
    ctx.expect_query(by(&table, "GSI3", "POSTS#SORTED"), &[POST.item()]).await;
}

pub(super) async fn padded_counts_sort_by_number(ctx: Ctx) {
    let post = |id, created_at, likes| Post { id, created_at, likes, ..POST }.item();
    let by_likes = [
        post("nine", "2025-08-19", 9),
        post("ten-early", "2025-08-18", 10),
        post("ten-late", "2025-08-20", 10),
        post("hundred", "2025-08-17", 100),
    ];
    let table = table_with(&ctx, by_likes.iter().rev().cloned()).await;
    ctx.expect_query(by(&table, "GSI3", "POSTS#SORTED"), &by_likes).await;
    let most_liked: Vec<Item> = by_likes.iter().rev().cloned().collect();
    ctx.expect_query(by(&table, "GSI3", "POSTS#SORTED").descending(), &most_liked).await;

    // Without padding, as in the document, 10 and 100 come before 9, because keys are texts.
    let bare = |id: &str, likes: u32| {
        pk_sk(&format!("POST#{id}"), "bare")
            .with("GSI3PK", "POSTS#BARE")
            .with("GSI3SK", format!("{likes}#2025-08-18"))
    };
    ctx.put_all(&table, [bare("a", 9), bare("b", 10), bare("c", 100)]).await;
    let texts = [bare("b", 10), bare("c", 100), bare("a", 9)];
    ctx.expect_query(by(&table, "GSI3", "POSTS#BARE"), &texts).await;
}

fn like_item(user: &str) -> Item {
    pk_sk("POST#p1", &format!("LIKE#{user}"))
}

/// Returns a like of a user, for a post that was read with `likes` likes.
fn like_request(table: &Table, user: &str, likes: u32) -> TransactWriteItems {
    let like = PutItem::new(table, like_item(user)).condition("attribute_not_exists(PK)");
    TransactWriteItems::new().item(like).item(POST.like(table, likes))
}

pub(super) async fn like_counts_once_per_user(ctx: Ctx) {
    let table = table_with(&ctx, [Post { likes: 9, ..POST }.item()]).await;
    ctx.ok(ctx.store().transact_write(like_request(&table, "eva", 9)).await);
    let after = [like_item("eva"), Post { likes: 10, ..POST }.item()];
    ctx.expect_table(&table, &after).await;
    ctx.expect_query(by(&table, "GSI3", "POSTS#SORTED"), &after[1..]).await;
    // A second like of the same user fails.
    let result = ctx.store().transact_write(like_request(&table, "eva", 10)).await;
    ctx.expect_canceled(result, &["ConditionalCheckFailed", "None"]);
    // A like with a stale count fails.
    let result = ctx.store().transact_write(like_request(&table, "leo", 9)).await;
    ctx.expect_canceled(result, &["None", "ConditionalCheckFailed"]);
    ctx.expect_table(&table, &after).await;
}

pub(super) async fn concurrent_likes_all_count(ctx: Ctx) {
    let table = table_with(&ctx, [POST.item()]).await;
    // Six users each send their like twice.
    let taps = (0..12).map(|tap| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            let user = format!("user{}", tap % 6);
            loop {
                let post = ctx.get(&table, POST.key()).await.expect("the post exists");
                let likes = post.get("likes").and_then(|likes| likes.as_number());
                let likes =
                    likes.expect("valid number").to_string().parse().expect("the item has a count");
                let request = like_request(&table, &user, likes);
                let store = ctx.store();
                let Err(error) = retry_on_conflict(|| store.transact_write(request.clone())).await
                else {
                    return true;
                };
                let reasons = error.cancellation_reasons();
                assert!(error.is_condition_failed(), "{error:?}");
                if reasons[0].code == CancellationCode::ConditionalCheckFailed {
                    return false;
                }
            }
        }
    });
    let counted = ctx.at_once(taps).await.into_iter().filter(|counted| *counted).count();
    assert_eq!(counted, 6);
    let mut all: Vec<Item> = (0..6).map(|user| like_item(&format!("user{user}"))).collect();
    let post = Post { likes: 6, ..POST }.item();
    all.push(post.clone());
    ctx.expect_table(&table, &all).await;
    ctx.expect_index(&table, "GSI3", &[post]).await;
}

pub(super) async fn comment_and_count_are_written_together(ctx: Ctx) {
    let table = table_with(&ctx, [POST.item()]).await;
    let request = |comments: u32| {
        let count = UpdateItem::new(&table, POST.key())
            .update("SET commentsCount = commentsCount + :one, GSI4SK = :place")
            .condition("commentsCount = :before")
            .value(":one", 1)
            .value(":before", comments)
            .value(":place", padded(comments + 1, POST.created_at));
        let comment = comment_item(&format!("c{comments}"), "active");
        TransactWriteItems::new().item(PutItem::new(&table, comment)).item(count)
    };
    ctx.ok(ctx.store().transact_write(request(0)).await);
    let after = [comment_item("c0", "active"), Post { comments: 1, ..POST }.item()];
    ctx.expect_table(&table, &after).await;
    let result = ctx.store().transact_write(request(5)).await;
    ctx.expect_canceled(result, &["None", "ConditionalCheckFailed"]);
    ctx.expect_table(&table, &after).await;
    ctx.expect_query(by(&table, "GSI4", "POSTS#COMMENTS"), &after[1..]).await;
}

pub(super) async fn posts_are_paged_latest_first(ctx: Ctx) {
    let post = |id, created_at, status| Post { id, created_at, status, ..POST }.item();
    let active = [
        post("a", "2025-08-18", "active"),
        post("b", "2025-08-19", "active"),
        post("c", "2025-08-20", "active"),
        post("d", "2025-08-21", "active"),
        post("e", "2025-08-22", "active"),
    ];
    let banned = post("x", "2025-08-20", "banned");
    let table = table_with(&ctx, active.iter().cloned().chain([banned.clone()])).await;
    let latest_first: Vec<Item> = active.iter().rev().cloned().collect();
    let query = by(&table, "GSI2", "POSTS#active").descending();
    ctx.expect_query(query.clone(), &latest_first).await;
    let first = ctx.ok(ctx.store().query(query.clone().limit(2)).await);
    ctx.expect_in_order(&first.items, &latest_first[..2]);
    let cursor = first.last_evaluated_key.expect("three more posts follow");
    let mut names: Vec<&str> = cursor.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    assert_eq!(names, ["GSI2PK", "GSI2SK", "PK", "SK"]);
    let rest = ctx.query_all(query.limit(2).exclusive_start_key(cursor)).await;
    ctx.expect_in_order(&rest, &latest_first[2..]);
    ctx.expect_query(by(&table, "GSI2", "POSTS#banned"), &[banned]).await;
    let mut of_user: Vec<Item> =
        ctx.query_all(by(&table, "GSI1", "USER#ana@sura.com.co#POSTS")).await;
    of_user.retain(|post| post.get("status").and_then(|s| s.as_str()) == Some("active"));
    ctx.expect_in_order(&of_user, &active);
}

pub(super) async fn moderation_log_is_ordered_and_filtered(ctx: Ctx) {
    let entry = |at: &str, action: &str| {
        let day = at.split('T').next().expect("a date");
        pk_sk(&format!("MODLOG#{day}"), &format!("{at}#admin1#{action}-1")).with("action", action)
    };
    let day = [
        entry("2025-08-18T09:00:00Z", "ban"),
        entry("2025-08-18T10:00:00Z", "delete"),
        entry("2025-08-18T11:00:00Z", "ban"),
    ];
    let next = entry("2025-08-19T00:00:00Z", "ban");
    let table = table_with(&ctx, day.iter().rev().cloned().chain([next])).await;
    let log = Query::new(&table, attr("PK").eq("MODLOG#2025-08-18"));
    ctx.expect_query(log.clone(), &day).await;
    // `action` is a reserved word, for which the builder uses a placeholder.
    let bans = log.filter(attr("action").eq("ban"));
    ctx.expect_query(bans, &[day[0].clone(), day[2].clone()]).await;
    let morning = attr("SK").between("2025-08-18T09:30:00Z", "2025-08-18T10:30:00Z");
    let query = Query::new(&table, attr("PK").eq("MODLOG#2025-08-18").and(morning));
    ctx.expect_query(query, &day[1..2]).await;
}

pub(super) async fn activity_is_spread_over_ten_shards(ctx: Ctx) {
    let table = create(&ctx, single_table("EsenciaFest-ActivityLogs-2025-08", &[])).await;
    let event = |user: &str, n: u32| {
        pk_sk(
            &format!("USER#{user}#shard{}", n % 10),
            &format!("2025-08-{:02}T10:30:00Z#event{n}", 1 + n),
        )
        .with("action", "visit")
        .with("ttl", 1_763_000_000 + n)
    };
    let events: Vec<Item> = (0..25).map(|n| event("ana", n)).collect();
    ctx.put_all(&table, events.iter().cloned().chain([event("ana2", 3)])).await;
    let mut found = Vec::new();
    for shard in 0..10 {
        let days = attr("SK").between("2025-08-05", "2025-08-21");
        let pk = attr("PK").eq(format!("USER#ana#shard{shard}"));
        found.extend(ctx.query_all(Query::new(&table, pk.and(days))).await);
    }
    // The range is the 5th to the 20th; its upper bound is a prefix, which sorts before the texts
    // that begin with it.
    ctx.expect_items(&found, &events[4..20]);
}
