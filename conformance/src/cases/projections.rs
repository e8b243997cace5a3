//! Projection expressions of all reads (22).

use tabla_core::Result;
use tabla_core::expr::Names;

use super::prelude::*;
use super::texts::{self, Asked, names};

cases! {
    Projections;
    clause "22a", overlapping_paths_are_rejected:
        "Two paths of which one contains the other are rejected with ValidationException.";
    clause "22b", two_placeholders_for_one_attribute_are_rejected:
        "Two placeholders for one attribute are rejected with ValidationException.";
    clause "22c", overlapping_paths_are_rejected_without_an_item:
        "Overlapping paths are rejected even if the item is missing.";
    extra "projection-paths-conflict" of "22a", conflicting_paths_are_rejected:
        "Projection paths that use one value both as a map and as a list are rejected with \
         ValidationException.";
    clause "22d", sibling_paths_return_one_map: "Paths to siblings return one map.";
    clause "22e", paths_through_one_element_return_it_once:
        "Paths through one list element return it as one element.";
    clause "22f", list_elements_are_returned_without_gaps:
        "List elements are returned without gaps, in the order of their indexes.";
    clause "22g", projection_without_matches_returns_an_empty_item:
        "A projection that matches nothing of an existing item returns an empty item.";
    extra "projection-of-missing-item" of "22g", projection_of_missing_item_returns_none:
        "A projection of a missing item returns no item.";
    clause "22h", keys_are_returned_only_on_request:
        "Key attributes are returned only if the projection names them.";
    extra "projection-into-keys" of "22h", path_into_key_attribute_is_rejected:
        "A path into a key attribute of the table or of an index is rejected by every read.";
    extra "projection-of-every-type", values_of_every_type_are_projected:
        "Attributes of every type, also empty ones, are returned unchanged.";
    extra "projection-names", names_are_case_sensitive:
        "A name placeholder is one attribute name, including dots, and names are case-sensitive.";
    extra "projection-syntax", syntax_errors_are_reported:
        "A projection that is no list of paths is a syntax error.";
    extra "projection-operands", invalid_paths_are_rejected:
        "Reserved words, undefined placeholders, paths that are too deep and list indexes that \
         are too large are rejected.";
    extra "projection-limits" of "15a", projections_are_limited_to_4096_bytes:
        "A projection is limited to 4096 bytes, and each of its paths to 32 elements.";
    extra "projection-in-every-read", every_read_projects:
        "Query, scan and batch get apply projections as GetItem does.";
    extra "projection-in-transactions", transactional_reads_project:
        "Each read of a transaction applies its projection.", needs [Transactions];
    extra "projection-invalid-in-every-read", invalid_projections_are_rejected_by_every_read:
        "An invalid projection is rejected by every read, with or without an item.";
    extra "projection-invalid-in-transactions", invalid_projections_reject_transactions:
        "An invalid projection rejects a transactional read as a whole.", needs [Transactions];
    extra "projection-of-indexes", index_reads_project:
        "A projection on an index returns the requested attributes of its entries.",
        needs [LocalIndexes];
    extra "projection-after-filter", filter_sees_unprojected_attributes:
        "A filter sees attributes that the projection omits.";
}

fn key() -> Item {
    item! { "pk" => "it" }
}

/// Evaluator of projections on the item that `texts.rs` defines.
struct Projected {
    ctx: Ctx,
    table: Table,
    wrong: Vec<String>,
}

impl Projected {
    async fn new(ctx: &Ctx) -> Self {
        let table = ctx.table_with(TableSpec::s(), [Asked::item()]).await;
        Self { ctx: ctx.clone(), table, wrong: Vec::new() }
    }

    async fn get(&self, text: &str, names: Names) -> Result<Option<Item>> {
        let mut get = GetItem::new(&self.table, key()).consistent_read(true).projection(text);
        get.names = names;
        Ok(self.ctx.store().get(get).await?.item)
    }

    /// Expects the projection to return this item.
    async fn gives(&mut self, text: &str, expected: Item) {
        let result = self.get(text, names(&[text])).await;
        if !matches!(&result, Ok(Some(item)) if *item == expected) {
            self.wrong.push(format!("{text:?}: expected {expected:?}\n    got {result:?}"));
        }
    }

    /// Expects the projection to be rejected for this reason.
    async fn refuses(&mut self, text: &str, problem: &str) {
        let result = self.get(text, names(&[text])).await;
        let message = format!("Invalid ProjectionExpression: {problem}");
        if !matches!(&result, Err(error) if texts::says(&self.ctx, error, &message)) {
            self.wrong.push(format!("{text:?}: expected {message}\n    got {result:?}"));
        }
    }

    #[track_caller]
    fn done(self) {
        assert!(self.wrong.is_empty(), "unexpected results:\n  {}", self.wrong.join("\n  "));
    }
}

fn overlap(one: &str, two: &str) -> String {
    format!(
        "Two document paths overlap with each other; must remove or rewrite one of these paths; \
         path one: [{one}], path two: [{two}]"
    )
}

async fn overlapping_paths_are_rejected(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    for (text, one, two) in [
        ("a, a", "a", "a"),
        ("m, m.x", "m", "m, x"),
        ("m.x, m", "m, x", "m"),
        ("m.x, m.x", "m, x", "m, x"),
        ("m.y.z, m.y", "m, y, z", "m, y"),
        ("m, m.y.z", "m", "m, y, z"),
        ("l[0], l", "l, [0]", "l"),
        ("l, l[0]", "l", "l, [0]"),
        ("l[0], l[0]", "l, [0]", "l, [0]"),
        ("l[2], l[2].q", "l, [2]", "l, [2], q"),
        ("n, a, a", "a", "a"),
        // The paths are validated whatever the item has.
        ("zz, zz", "zz", "zz"),
        ("zz, zz.x", "zz", "zz, x"),
        ("a, a.x", "a", "a, x"),
    ] {
        projected.refuses(text, &overlap(one, two)).await;
    }
    projected.done();
}

async fn two_placeholders_for_one_attribute_are_rejected(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    projected.refuses("#a, #also_a", &overlap("a", "a")).await;
    projected.refuses("#a, a", &overlap("a", "a")).await;
    projected.refuses("#m, #m", &overlap("m", "m")).await;
    projected.refuses("#m.x, m.#x", &overlap("m, x", "m, x")).await;
    projected.refuses("#m, m.#x", &overlap("m", "m, x")).await;
    projected.done();
}

async fn overlapping_paths_are_rejected_without_an_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (text, one, two) in
        [("a, a", "a", "a"), ("m, m.x", "m", "m, x"), ("l[1], l", "l, [1]", "l")]
    {
        let message = format!("Invalid ProjectionExpression: {}", overlap(one, two));
        let get = GetItem::new(&table, key()).projection(text);
        ctx.expect_validation(ctx.store().get(get).await, &message);
        let query = Query::new(&table, attr("pk").eq("it")).projection(text);
        ctx.expect_validation(ctx.store().query(query).await, &message);
        let scan = Scan::new(&table).projection(text);
        ctx.expect_validation(ctx.store().scan(scan).await, &message);
    }
}

async fn conflicting_paths_are_rejected(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    for (text, one, two) in [
        ("l[0], l.x", "l, [0]", "l, x"),
        ("m.x, m[0]", "m, x", "m, [0]"),
        ("m.l[0], m.l.x", "m, l, [0]", "m, l, x"),
        ("zz[0], zz.x", "zz, [0]", "zz, x"),
    ] {
        let problem = overlap(one, two).replace("overlap", "conflict");
        projected.refuses(text, &problem).await;
    }
    projected.done();
}

async fn sibling_paths_return_one_map(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    let both = item! { "m" => map! { "x" => 1, "y" => map! { "z" => 2 } } };
    projected.gives("m.x, m.y", both.clone()).await;
    projected.gives("m.x, m.y.z", both.clone()).await;
    projected.gives("m.y.z, m.x", both).await;
    projected
        .gives("m.l[1], a, m.x", item! { "m" => map! { "x" => 1, "l" => list![2] }, "a" => 1 })
        .await;
    projected.gives("m.x, m.zz", item! { "m" => map! { "x" => 1 } }).await;
    projected
        .gives("m.x, m2.x", item! { "m" => map! { "x" => 1 }, "m2" => map! { "x" => 1 } })
        .await;
    projected.done();
}

async fn paths_through_one_element_return_it_once(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    let both = item! { "l" => list![map! { "q" => 7, "r" => 8 }] };
    projected.gives("l[2].q, l[2].r", both.clone()).await;
    projected.gives("l[2].r, l[2].q", both.clone()).await;
    projected.gives("l[2]", both).await;
    projected.gives("l[2].r, l[0]", item! { "l" => list![0, map! { "r" => 8 }] }).await;
    projected.gives("l[2].q, l[3][0]", item! { "l" => list![map! { "q" => 7 }, list![9]] }).await;
    projected.done();
}

async fn list_elements_are_returned_without_gaps(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    projected.gives("l[0], l[1]", item! { "l" => list![0, "x"] }).await;
    projected.gives("l[1], l[0]", item! { "l" => list![0, "x"] }).await;
    let map = map! { "q" => 7, "r" => 8 };
    projected.gives("l[3], l[0], l[2]", item! { "l" => list![0, map, list![9]] }).await;
    projected.gives("l[3][0]", item! { "l" => list![list![9]] }).await;
    projected.gives("m.l[2], m.l[0]", item! { "m" => map! { "l" => list![1, 3] } }).await;
    projected.gives("l[99], l[1]", item! { "l" => list!["x"] }).await;
    projected.done();
    // The indexes are ordered by number, not as text.
    let long: Vec<Value> = (0..12).map(Value::from).collect();
    let table = ctx.table_with(TableSpec::s(), [key().with("l", long)]).await;
    let get = GetItem::new(&table, key()).projection("l[10], l[9], l[2], l[11], l[1]");
    let answer = ctx.ok(ctx.store().get(get).await);
    assert_eq!(answer.item, Some(item! { "l" => list![1, 2, 9, 10, 11] }));
}

/// Projections that match nothing of the item.
const NOTHING: [&str; 14] = [
    "zz", "m.zz", "zz.x", "zz[0]", "l[99]", "l0[0]", "m0.x", "n.x", "n[0]", "st[0]", "l.x", "m[0]",
    "ss[0]", "A",
];

async fn projection_without_matches_returns_an_empty_item(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    for text in NOTHING {
        projected.gives(text, Item::new()).await;
        projected.gives(&format!("{text}, a"), item! { "a" => 1 }).await;
    }
    projected.gives("zz, yy, m.zz.x", Item::new()).await;
    let table = projected.table.clone();
    projected.done();
    for text in NOTHING {
        let query = Query::new(&table, attr("pk").eq("it")).projection(text);
        let page = ctx.ok(ctx.store().query(query).await);
        assert_eq!((page.items, page.count), (vec![Item::new()], 1), "{text}");
        let scan = Scan::new(&table).consistent_read(true).projection(text);
        let page = ctx.ok(ctx.store().scan(scan).await);
        assert_eq!((page.items, page.count), (vec![Item::new()], 1), "{text}");
    }
}

async fn projection_of_missing_item_returns_none(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for text in ["pk", "a", "zz, m.x"] {
        let get = GetItem::new(&table, key()).projection(text);
        assert_eq!(ctx.ok(ctx.store().get(get).await).item, None, "{text}");
        let request = KeysAndAttributes::new([key()]).projection(text);
        let batch = BatchGetItem::new().request(&table, request);
        let answer = ctx.ok(ctx.store().batch_get(batch).await);
        let items: Vec<Item> = answer.responses.into_values().flatten().collect();
        assert_eq!(items, [], "{text}");
    }
}

async fn keys_are_returned_only_on_request(ctx: Ctx) {
    let item = item! { "pk" => "a", "sk" => "b", "gpk" => "c", "gsk" => "d", "n" => 1 };
    let table = ctx.table_with(TableSpec::s_s().gsi(), [item.clone()]).await;
    for (text, expected) in [
        ("n", item! { "n" => 1 }),
        ("pk", item! { "pk" => "a" }),
        ("sk", item! { "sk" => "b" }),
        ("n, sk", item! { "n" => 1, "sk" => "b" }),
        ("sk, pk", item! { "pk" => "a", "sk" => "b" }),
        ("gpk", item! { "gpk" => "c" }),
    ] {
        let expected = [expected];
        let get = GetItem::new(&table, table.key_of(&item)).projection(text);
        assert_eq!(ctx.ok(ctx.store().get(get).await).item.as_slice(), &expected, "{text}");
        let query = Query::new(&table, attr("pk").eq("a")).projection(text);
        ctx.expect_query(query, &expected).await;
        let query = Query::new(&table, attr("gpk").eq("c")).index("gsi").projection(text);
        ctx.expect_query(query, &expected).await;
        let scan = Scan::new(&table).consistent_read(true).projection(text);
        assert_eq!(ctx.scan_all(scan).await, expected, "{text}");
    }
}

async fn path_into_key_attribute_is_rejected(ctx: Ctx) {
    let item = item! { "pk" => "a", "sk" => "b", "gpk" => "c", "gsk" => "d", "n" => 1 };
    let table = ctx.table_with(TableSpec::s_s().gsi(), [item.clone()]).await;
    let key = table.key_of(&item);
    for (text, which) in [
        ("pk.x", "Key: pk"),
        ("n, sk[0]", "Key: sk"),
        ("gpk.x, n", "IndexKey: gpk"),
        ("gsk[1].x", "IndexKey: gsk"),
    ] {
        let message = format!(
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not \
             allowed: {which}"
        );
        let get = GetItem::new(&table, key.clone()).projection(text);
        ctx.expect_validation(ctx.store().get(get).await, &message);
        let query = Query::new(&table, attr("pk").eq("a")).projection(text);
        ctx.expect_validation(ctx.store().query(query).await, &message);
        let query = Query::new(&table, attr("gpk").eq("c")).index("gsi").projection(text);
        ctx.expect_validation(ctx.store().query(query).await, &message);
        let scan = Scan::new(&table).projection(text);
        ctx.expect_validation(ctx.store().scan(scan).await, &message);
        let request = KeysAndAttributes::new([key.clone()]).projection(text);
        let batch = BatchGetItem::new().request(&table, request);
        ctx.expect_validation(ctx.store().batch_get(batch).await, &message);
    }
}

async fn values_of_every_type_are_projected(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    let item = Asked::item();
    for (name, value) in item.iter().filter(|(name, _)| !["a.b", "name"].contains(name)) {
        projected.gives(name, item! { name => value.to_value() }).await;
    }
    projected.gives("m.y", item! { "m" => map! { "y" => map! { "z" => 2 } } }).await;
    projected.gives("m.l", item! { "m" => map! { "l" => list![1, 2, 3] } }).await;
    projected.gives("l[3]", item! { "l" => list![list![9]] }).await;
    projected.done();
}

async fn names_are_case_sensitive(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    let (dotted, map) = (item! { "a.b" => "dotted" }, item! { "m" => map! { "x" => 1 } });
    projected.gives("#dotted", dotted.clone()).await;
    projected.gives("#dotted, #a", dotted.with("a", 1)).await;
    projected.gives("#name", item! { "name" => "Ann" }).await;
    projected.gives("#m.#x", map.clone()).await;
    projected.gives("m.#x", map.clone()).await;
    projected.gives("#m.x", map).await;
    projected.gives("#l[0]", item! { "l" => list![0] }).await;
    projected.gives("m.X, M.x, A", Item::new()).await;
    projected.gives(" a ,\tn\r\n", item! { "a" => 1, "n" => 5 }).await;
    projected.gives("m . x, l [ 0 ]", item! { "m" => map! { "x" => 1 }, "l" => list![0] }).await;
    let table = projected.table.clone();
    projected.done();
    let get = |names: &[(&str, &str)]| {
        let mut get = GetItem::new(&table, key()).projection("#a");
        get.names = names.iter().map(|(key, name)| (key.to_string(), name.to_string())).collect();
        get
    };
    for (stands_for, expected) in [("m.x", Item::new()), ("l[0]", Item::new())] {
        let answer = ctx.ok(ctx.store().get(get(&[("#a", stands_for)])).await);
        assert_eq!(answer.item, Some(expected), "{stands_for}");
    }
    ctx.expect_validation(
        ctx.store().get(get(&[("#a", "a"), ("#u", "n")])).await,
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
    );
    ctx.expect_validation(
        ctx.store().get(get(&[("#a", "")])).await,
        "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a",
    );
}

async fn syntax_errors_are_reported(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    projected.refuses("", "The expression can not be empty;").await;
    for (text, token, near) in [
        (" ", "<EOF>", " "),
        (",", ",", ","),
        ("a,", "<EOF>", ","),
        ("a,,n", ",", ",,n"),
        (",a", ",", ",a"),
        ("a n", "n", "a n"),
        ("a;n", ";", "a;n"),
        ("a.", "<EOF>", "."),
        ("a..b", ".", "..b"),
        ("a[", "<EOF>", "["),
        ("a[0", "<EOF>", "0"),
        ("a[x]", "x", "[x]"),
        ("a[-1]", "-", "[-1"),
        ("a[01]", "1", "01]"),
        (":one", ":one", ":one"),
        ("a = :one", "=", "a = :one"),
        ("size(a)", "(", "size(a"),
        ("a, size(n)", "(", "size(n"),
        ("(a)", "(", "(a"),
        ("a AND n", "AND", "a AND n"),
        ("*", "*", "*"),
        ("5", "5", "5"),
        ("é", "é", "é"),
        ("_a", "_", "_a"),
        ("set", "set", "set"),
        ("a, and", "and", ", and"),
        ("m.or", "or", ".or"),
    ] {
        let problem = format!("Syntax error; token: \"{token}\", near: \"{near}\"");
        projected.refuses(text, &problem).await;
    }
    projected.done();
}

async fn invalid_paths_are_rejected(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    for (text, word) in [
        ("select", "select"),
        ("a, name", "name"),
        ("m.Status", "Status"),
        ("name[0]", "name"),
        ("a, a, name", "name"),
    ] {
        let problem = format!("Attribute name is a reserved keyword; reserved keyword: {word}");
        projected.refuses(text, &problem).await;
    }
    let unknown = "An expression attribute name used in the document path is not defined; \
                   attribute name: #unknown";
    for text in ["#unknown", "a, #unknown", "m.#unknown", "#unknown[0], #a"] {
        projected.refuses(text, unknown).await;
    }
    let problem = "List index is not within the allowable range; index: [2147483648]";
    projected.refuses("l[2147483648]", problem).await;
    projected.gives("l[2147483647]", Item::new()).await;
    projected.done();
}

async fn projections_are_limited_to_4096_bytes(ctx: Ctx) {
    let mut projected = Projected::new(&ctx).await;
    let deep = |count: usize| vec!["m"; count].join(".");
    let indexed = |count: usize| format!("l{}", "[0]".repeat(count - 1));
    let problem = "The document path has too many nesting levels; nesting levels: 33";
    for path in [deep, indexed] as [fn(usize) -> String; 2] {
        projected.gives(&path(32), Item::new()).await;
        projected.refuses(&path(33), problem).await;
    }
    projected.done();
    let names: Vec<String> = (100..1000).map(|n| format!("a{n}")).collect();
    let text = names[..819].join(",");
    assert_eq!(text.len(), 4094);
    let wide: Item = names.iter().map(|name| (name.clone(), Value::from(1))).collect();
    let table = ctx.table_with(TableSpec::s(), [wide.with("pk", "it")]).await;
    let get = GetItem::new(&table, key()).projection(text);
    let item = ctx.ok(ctx.store().get(get).await).item.expect("the item exists");
    assert_eq!(item.len(), 819);
}

async fn every_read_projects(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [Asked::item()]).await;
    for (text, expected) in [
        ("pk, m.x", item! { "pk" => "it", "m" => map! { "x" => 1 } }),
        ("l[3], l[0]", item! { "l" => list![0, list![9]] }),
        ("#dotted, #name", item! { "a.b" => "dotted", "name" => "Ann" }),
        ("zz", Item::new()),
    ] {
        let mut query = Query::new(&table, attr("pk").eq("it")).projection(text);
        query.names = names(&[text]);
        let page = ctx.ok(ctx.store().query(query.clone()).await);
        assert_eq!(page.items, std::slice::from_ref(&expected), "{text}");
        let page = ctx.ok(ctx.store().query(query.select(Select::SpecificAttributes)).await);
        assert_eq!(page.items, std::slice::from_ref(&expected), "{text}");
        let mut scan = Scan::new(&table).consistent_read(true).projection(text);
        scan.names = names(&[text]);
        assert_eq!(ctx.scan_all(scan).await, std::slice::from_ref(&expected), "{text}");
        let request = KeysAndAttributes::new([key()]).projection(text).consistent_read(true);
        let request = assign!(request, { names: names(&[text]) });
        let batch = BatchGetItem::new().request(&table, request);
        let answer = ctx.ok(ctx.store().batch_get(batch).await);
        let items: Vec<Item> = answer.responses.into_values().flatten().collect();
        assert_eq!(items, [expected], "{text}");
    }
}

async fn transactional_reads_project(ctx: Ctx) {
    let table =
        ctx.table_with(TableSpec::s(), [Asked::item(), item! { "pk" => "b", "a" => 2 }]).await;
    let get = |pk: &str, text: &str| {
        let mut get = GetItem::new(&table, item! { "pk" => pk }).projection(text);
        get.names = names(&[text]);
        get
    };
    let request =
        TransactGetItems::new([get("it", "m.y, #dotted"), get("missing", "a"), get("b", "zz")]);
    let answer = ctx.ok(ctx.store().transact_get(request).await);
    let first = item! { "m" => map! { "y" => map! { "z" => 2 } }, "a.b" => "dotted" };
    assert_eq!(answer.responses, [Some(first), None, Some(Item::new())]);
}

/// Returns invalid projections with their messages.
fn broken() -> [(&'static str, String); 4] {
    [
        ("a,", "Syntax error; token: \"<EOF>\", near: \",\"".to_owned()),
        ("a, a", overlap("a", "a")),
        ("name", "Attribute name is a reserved keyword; reserved keyword: name".to_owned()),
        (
            "#unknown",
            "An expression attribute name used in the document path is not defined; attribute \
             name: #unknown"
                .to_owned(),
        ),
    ]
}

async fn invalid_projections_are_rejected_by_every_read(ctx: Ctx) {
    let full = ctx.table_with(TableSpec::s(), [Asked::item()]).await;
    let empty = ctx.table(TableSpec::s()).await;
    for (text, problem) in broken() {
        let message = format!("Invalid ProjectionExpression: {problem}");
        for table in [&full, &empty] {
            let get = GetItem::new(table, key()).projection(text);
            ctx.expect_validation(ctx.store().get(get).await, &message);
            let query = Query::new(table, attr("pk").eq("it")).projection(text);
            ctx.expect_validation(ctx.store().query(query).await, &message);
            let scan = Scan::new(table).projection(text);
            ctx.expect_validation(ctx.store().scan(scan).await, &message);
            let request = KeysAndAttributes::new([key()]).projection(text);
            let batch = BatchGetItem::new().request(table, request);
            ctx.expect_validation(ctx.store().batch_get(batch).await, &message);
        }
    }
}

async fn invalid_projections_reject_transactions(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [Asked::item()]).await;
    for (text, problem) in broken() {
        let first = GetItem::new(&table, key());
        let last = GetItem::new(&table, item! { "pk" => "missing" }).projection(text);
        ctx.expect_validation(
            ctx.store().transact_get(TransactGetItems::new([first, last])).await,
            &format!("Invalid ProjectionExpression: {problem}"),
        );
    }
}

async fn index_reads_project(ctx: Ctx) {
    let base = item! { "pk" => "a", "sk" => "b", "gpk" => "c", "gsk" => "d", "lsk" => "e" };
    let item = base.clone().with("n", 1).with("m", map! { "x" => 1, "y" => 2 });
    let table = ctx.table_with(TableSpec::s_s().gsi().lsi(), [item]).await;
    for (text, expected) in [
        ("m.y, n", item! { "n" => 1, "m" => map! { "y" => 2 } }),
        ("pk, sk, gpk, gsk, lsk", base),
        ("zz", Item::new()),
    ] {
        let expected = [expected];
        for (index, condition) in
            [("gsi", attr("gpk").eq("c")), ("lsi", attr("pk").eq("a").and(attr("lsk").eq("e")))]
        {
            let query = Query::new(&table, condition).index(index).projection(text);
            ctx.expect_query(query, &expected).await;
            let scan = Scan::new(&table).index(index).projection(text);
            let items = ctx.scan_all(scan).await;
            assert_eq!(items, expected, "{text} of {index}");
        }
    }
}

async fn filter_sees_unprojected_attributes(ctx: Ctx) {
    let items =
        (1..=4).map(|n| item! { "pk" => "a", "sk" => n, "n" => n, "m" => map! { "x" => n } });
    let table = ctx.table_with(TableSpec::s_n(), items).await;
    let query = Query::new(&table, attr("pk").eq("a"))
        .filter(attr("n").ge(2).and(attr("m").field("x").lt(4)))
        .projection("sk");
    ctx.expect_query(query, &[item! { "sk" => 2 }, item! { "sk" => 3 }]).await;
    let scan = Scan::new(&table)
        .consistent_read(true)
        .filter(attr("m").field("x").eq(4))
        .projection("m.zz, n");
    assert_eq!(ctx.scan_all(scan).await, [item! { "n" => 4 }]);
}
