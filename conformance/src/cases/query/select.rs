//! Consistency, `Select`, projections, and rejected queries.

use super::*;

const NOT_CONSISTENT: &str = "Consistent reads are not supported on global secondary indexes";

/// Creates a table with a global index that has one entry.
async fn indexed(ctx: &Ctx) -> (Table, Query) {
    let entry = item! { "pk" => "a", "sk" => 1, "gpk" => "g", "gsk" => "s" };
    let table = ctx.table_with(TableSpec::s_n().gsi(), [entry]).await;
    let query = Query::new(&table, attr("gpk").eq("g")).index("gsi");
    (table, query)
}

pub(super) async fn consistent_query_of_global_index_is_rejected(ctx: Ctx) {
    let (_, query) = indexed(&ctx).await;
    let query = query.consistent_read(true);
    ctx.expect_validation(ctx.store().query(query.clone()).await, NOT_CONSISTENT);
    ctx.expect_validation(ctx.store().query(query.descending().limit(1)).await, NOT_CONSISTENT);
}

pub(super) async fn consistent_scan_of_global_index_is_rejected(ctx: Ctx) {
    let (table, _) = indexed(&ctx).await;
    let scan = Scan::new(&table).index("gsi").consistent_read(true);
    ctx.expect_validation(ctx.store().scan(scan.clone()).await, NOT_CONSISTENT);
    ctx.expect_validation(ctx.store().scan(scan.segment(0, 2)).await, NOT_CONSISTENT);
}

pub(super) async fn consistent_count_of_global_index_is_rejected(ctx: Ctx) {
    let (table, query) = indexed(&ctx).await;
    let query = query.select(Select::Count).consistent_read(true);
    ctx.expect_validation(ctx.store().query(query).await, NOT_CONSISTENT);
    let scan = Scan::new(&table).index("gsi").select(Select::Count).consistent_read(true);
    ctx.expect_validation(ctx.store().scan(scan).await, NOT_CONSISTENT);
}

pub(super) async fn consistent_read_of_local_index_is_accepted(ctx: Ctx) {
    let entry = item! { "pk" => "a", "sk" => 1, "lsk" => "l" };
    let table = ctx.table_with(TableSpec::s_n().lsi(), [entry.clone()]).await;
    let query = of_five(&table).index("lsi").consistent_read(true);
    let page = ctx.ok(ctx.store().query(query.clone()).await);
    ctx.expect_in_order(&page.items, std::slice::from_ref(&entry));
    let page = ctx.ok(ctx.store().query(query.select(Select::Count)).await);
    assert_eq!((page.count, page.scanned_count), (1, 1));
    let scan = Scan::new(&table).index("lsi").consistent_read(true);
    ctx.expect_items(&ctx.ok(ctx.store().scan(scan).await).items, &[entry]);
}

pub(super) async fn consistent_query_sees_completed_writes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n().lsi()).await;
    for n in 1..=20 {
        ctx.put(&table, item! { "pk" => "a", "sk" => n, "lsk" => format!("{:02}", 20 - n) }).await;
        let query = of_five(&table).consistent_read(true);
        ctx.expect_column(&ctx.query_all(query.clone()).await, "sk", 1..=n);
        ctx.expect_column(&ctx.query_all(query.index("lsi")).await, "sk", (1..=n).rev());
    }
}

/// Asserts that the query and the scan are rejected with this message.
async fn refused(ctx: &Ctx, query: Query, scan: Scan, text: &str) {
    ctx.expect_validation(ctx.store().query(query).await, text);
    ctx.expect_validation(ctx.store().scan(scan).await, text);
}

pub(super) async fn count_with_projection_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    let projection = Projection::new(["sk"]);
    refused(
        &ctx,
        of_five(&table).select(Select::Count).projection(projection.clone()),
        Scan::new(&table).select(Select::Count).projection(projection),
        "Cannot specify the ProjectionExpression when choosing to get only the Count",
    )
    .await;
}

pub(super) async fn specific_attributes_need_a_projection(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    refused(
        &ctx,
        of_five(&table).select(Select::SpecificAttributes),
        Scan::new(&table).select(Select::SpecificAttributes),
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get \
         SPECIFIC_ATTRIBUTES",
    )
    .await;
}

pub(super) async fn projected_attributes_need_an_index(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n().gsi(), five()).await;
    refused(
        &ctx,
        of_five(&table).select(Select::AllProjectedAttributes),
        Scan::new(&table).select(Select::AllProjectedAttributes),
        "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
    )
    .await;
}

pub(super) async fn all_attributes_with_projection_are_rejected(ctx: Ctx) {
    let (table, query) = indexed(&ctx).await;
    for (select, name) in [
        (Select::AllAttributes, "ALL_ATTRIBUTES"),
        (Select::AllProjectedAttributes, "ALL_PROJECTED_ATTRIBUTES"),
    ] {
        let projection = Projection::new(["gsk"]);
        refused(
            &ctx,
            query.clone().select(select).projection(projection.clone()),
            Scan::new(&table).index("gsi").select(select).projection(projection),
            &format!("Cannot specify the ProjectionExpression when choosing to get {name}"),
        )
        .await;
    }
}

pub(super) async fn specific_attributes_are_those_of_the_projection(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    let projection = Projection::new(["odd"]);
    let query = of_five(&table).projection(projection.clone());
    let plain = ctx.ok(ctx.store().query(query.clone()).await);
    ctx.expect_in_order(&plain.items, &[1, 0, 1, 0, 1].map(|odd| item! { "odd" => odd }));
    let specific = query.select(Select::SpecificAttributes);
    assert_eq!(ctx.ok(ctx.store().query(specific).await), plain);
    let scan = Scan::new(&table).projection(projection).select(Select::SpecificAttributes);
    let scanned = ctx.scan_all(scan).await;
    ctx.expect_items(&scanned, &[1, 0, 1, 0, 1, 1].map(|odd| item! { "odd" => odd }));
}

pub(super) async fn all_attributes_are_the_default_of_tables(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    let query = of_five(&table);
    ctx.expect_query(query.clone(), &five()[..5]).await;
    ctx.expect_query(query.select(Select::AllAttributes), &five()[..5]).await;
    let scan = Scan::new(&table).select(Select::AllAttributes);
    ctx.expect_items(&ctx.scan_all(scan).await, &five());
}

pub(super) async fn query_projection_returns_named_attributes(ctx: Ctx) {
    let item = item! {
        "pk" => "a", "sk" => 1, "m" => map! { "x" => 1, "y" => 2 }, "l" => list!["p", "q", "r"],
    };
    let table = ctx.table_with(TableSpec::s_n(), [item]).await;
    let query = Query::new(&table, "pk = :p").value(":p", "a");
    for (text, expected) in [
        ("m.x", item! { "m" => map! { "x" => 1 } }),
        ("l[2], l[0], sk", item! { "l" => list!["p", "r"], "sk" => 1 }),
        ("nothing", item! {}),
        ("pk", item! { "pk" => "a" }),
    ] {
        ctx.expect_query(query.clone().projection(text), std::slice::from_ref(&expected)).await;
        let scanned = ctx.scan_all(Scan::new(&table).projection(text)).await;
        ctx.expect_in_order(&scanned, &[expected]);
    }
}

pub(super) async fn query_without_key_condition_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    let query = assign!(Query::default(), { table: (&table).into() });
    let text = "Either the KeyConditions or KeyConditionExpression parameter must be specified in \
                the request.";
    ctx.expect_validation(ctx.store().query(query.clone()).await, text);
    ctx.expect_validation(ctx.store().query(query.filter(attr("odd").eq(1))).await, text);
}

pub(super) async fn unknown_index_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n().gsi(), five()).await;
    for name in ["nope", "GSI", "gsi2"] {
        refused(
            &ctx,
            of_five(&table).index(name),
            Scan::new(&table).index(name),
            &format!("The table does not have the specified index: {name}"),
        )
        .await;
    }
}

pub(super) async fn query_of_missing_table_fails(ctx: Ctx) {
    let name = ctx.unused_table_name();
    let query = Query::new(&name, attr("pk").eq("a"));
    ctx.expect_table_missing(ctx.store().query(query.clone()).await);
    ctx.expect_table_missing(ctx.store().query(query.index("nope")).await);
    ctx.expect_table_missing(ctx.store().scan(Scan::new(&name)).await);
}

pub(super) async fn filter_on_key_is_rejected(ctx: Ctx) {
    let (table, by_index) = indexed(&ctx).await;
    let query = Query::new(&table, attr("pk").eq("a"));
    for (key, query, filter) in [
        ("pk", &query, attr("pk").eq("a")),
        ("sk", &query, attr("sk").gt(0)),
        ("sk", &query, attr("odd").eq(1).and(!attr("sk").exists())),
        ("pk", &query, attr("sk").gt(0).or(attr("pk").eq("b"))),
        ("gpk", &by_index, attr("gpk").eq("g")),
        ("gsk", &by_index, attr("gsk").begins_with("s")),
    ] {
        ctx.expect_validation(
            ctx.store().query(query.clone().filter(filter)).await,
            &format!(
                "Filter Expression can only contain non-primary key attributes: Primary key \
                 attribute: {key}"
            ),
        );
    }
    // A scan has no key condition, so its filter can use keys.
    let scan = Scan::new(&table).filter(attr("sk").gt(0).and(attr("pk").eq("a")));
    assert_eq!(ctx.scan_all(scan).await.len(), 1);
}

pub(super) async fn filter_on_other_key_is_accepted(ctx: Ctx) {
    let items: Vec<Item> = (1..=3)
        .map(|n| item! { "pk" => "a", "sk" => n, "gpk" => "g", "gsk" => format!("s{n}") })
        .collect();
    let table = ctx.table_with(TableSpec::s_n().gsi(), items.clone()).await;
    let by_index = Query::new(&table, attr("gpk").eq("g")).index("gsi");
    ctx.expect_query(by_index.clone().filter(attr("sk").gt(1)), &items[1..]).await;
    ctx.expect_query(by_index.filter(attr("pk").eq("b")), &[]).await;
    ctx.expect_query(of_five(&table).filter(attr("gsk").eq("s2")), &items[1..2]).await;
}

pub(super) async fn path_into_key_is_rejected(ctx: Ctx) {
    let (table, by_index) = indexed(&ctx).await;
    let text = |role: &str, key: &str| {
        format!(
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not \
             allowed: {role}: {key}"
        )
    };
    let query = of_five(&table);
    for (path, role) in [
        (attr("pk").field("x"), "Key"),
        (attr("sk").index(0), "Key"),
        (attr("gsk").field("x"), "IndexKey"),
    ] {
        let text = text(role, path.root());
        let projection = Projection::new([path.clone()]);
        ctx.expect_validation(
            ctx.store().query(query.clone().projection(projection.clone())).await,
            &text,
        );
        ctx.expect_validation(
            ctx.store().query(by_index.clone().projection(projection.clone())).await,
            &text,
        );
        let scan = Scan::new(&table);
        ctx.expect_validation(ctx.store().scan(scan.clone().projection(projection)).await, &text);
        ctx.expect_validation(ctx.store().scan(scan.filter(path.exists())).await, &text);
    }
    let filter = attr("gpk").field("x").exists();
    ctx.expect_validation(ctx.store().query(query.filter(filter)).await, &text("IndexKey", "gpk"));
}
