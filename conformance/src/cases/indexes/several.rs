//! Index keys of several attributes.

use tabla_core::expr::Condition;

use super::*;

/// Returns a table with the key `pk` and the index `gsi` on these attributes.
fn shape(partition: &[(&str, KeyType)], sort: &[(&str, KeyType)]) -> TableSpec {
    TableSpec::s().with(|request| {
        let defined = [partition, sort].concat();
        let request = defined
            .into_iter()
            .fold(request, |request, (name, kind)| request.attribute(name, kind));
        request.global_index(index(partition, sort))
    })
}

pub(super) fn index(partition: &[(&str, KeyType)], sort: &[(&str, KeyType)]) -> SecondaryIndex {
    let index = SecondaryIndex::new("gsi");
    let index = partition.iter().fold(index, |index, (name, _)| index.partition_key(*name));
    sort.iter().fold(index, |index, (name, _)| index.sort_key(*name))
}

const S: KeyType = KeyType::S;
const N: KeyType = KeyType::N;

const FOUR: [&[(&str, KeyType)]; 2] = [
    &[("p1", S), ("p2", N), ("p3", KeyType::B), ("p4", S)],
    &[("s1", S), ("s2", N), ("s3", KeyType::B), ("s4", S)],
];

/// Returns an item in the index of four partition and four sort attributes.
fn of_four(pk: &str) -> Item {
    item! {
        "pk" => pk, "p1" => "a", "p2" => 1, "p3" => b"b", "p4" => "d",
        "s1" => "x", "s2" => 2, "s3" => b"z", "s4" => "w",
    }
}

fn partition_of_four() -> Condition {
    let half = attr("p1").eq("a").and(attr("p2").eq(1));
    half.and(attr("p3").eq(b"b")).and(attr("p4").eq("d"))
}

async fn table_of_four(ctx: &Ctx) -> Table {
    ctx.table(shape(FOUR[0], FOUR[1])).await
}

pub(super) async fn key_of_four_and_four_attributes_is_accepted(ctx: Ctx) {
    let table = table_of_four(&ctx).await;
    ctx.put(&table, of_four("1")).await;
    ctx.put(&table, of_four("2").with("p4", "other")).await;
    ctx.expect_index(&table, "gsi", &[of_four("1"), of_four("2").with("p4", "other")]).await;
    let query = Query::new(&table, partition_of_four()).index("gsi");
    ctx.expect_query(query, &[of_four("1")]).await;
    let sort = attr("s1").eq("x").and(attr("s2").eq(2));
    let sort = sort.and(attr("s3").eq(b"z")).and(attr("s4").eq("w"));
    let query = Query::new(&table, partition_of_four().and(sort)).index("gsi");
    ctx.expect_query(query, &[of_four("1")]).await;
    let described = ctx.ok(ctx.store().describe_table(DescribeTable::new(&table)).await);
    let key = &described.global_secondary_indexes[0].key_schema;
    let names: Vec<&str> = key.iter().map(|element| element.name.as_str()).collect();
    assert_eq!(names, ["p1", "p2", "p3", "p4", "s1", "s2", "s3", "s4"]);
}

pub(super) async fn key_of_five_attributes_is_rejected(ctx: Ctx) {
    let five = [("a", S), ("b", S), ("c", S), ("d", S), ("e", S)];
    for (partition, sort) in [(&five[..], &[][..]), (&[("f", S)][..], &five[..])] {
        let name = ctx.unused_table_name();
        let result = ctx.store().create_table(shape(partition, sort).request(&name)).await;
        ctx.expect_kind(result, "Validation", |kind| matches!(kind, ErrorKind::Validation));
        let described = ctx.store().describe_table(DescribeTable::new(&name)).await;
        assert!(described.is_err_and(|error| error.is_not_found()), "the rejected table exists");
    }
    // An index with five attributes cannot be added to an existing table either.
    let table = ctx.table(TableSpec::s()).await;
    let mut request = UpdateTable::new(&table).create_index(index(&five, &[]));
    for (name, kind) in five {
        request = request.attribute(name, kind);
    }
    let result = ctx.store().update_table(request).await;
    ctx.expect_kind(result, "Validation", |kind| matches!(kind, ErrorKind::Validation));
    let described = ctx.ok(ctx.store().describe_table(DescribeTable::new(&table)).await);
    assert!(described.global_secondary_indexes.is_empty(), "the rejected index exists");
}

fn missed(attribute: &str) -> String {
    format!("Query condition missed key schema element: {attribute}")
}

pub(super) async fn query_needs_every_partition_attribute(ctx: Ctx) {
    let table = ctx.table(shape(&[("a", S), ("b", S)], &[("c", N)])).await;
    let item = item! { "pk" => "1", "a" => "x", "b" => "y", "c" => 1 };
    ctx.put(&table, item.clone()).await;
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&item)).await;
    let query = |condition: Condition| Query::new(&table, condition).index("gsi");
    let both = attr("b").eq("y").and(attr("a").eq("x"));
    ctx.expect_query(query(both.clone()), std::slice::from_ref(&item)).await;
    ctx.expect_query(query(both.and(attr("c").ge(1))), &[item]).await;
    ctx.expect_query(query(attr("a").eq("x").and(attr("b").eq("x"))), &[]).await;
    for (condition, missing) in [
        (attr("a").eq("x"), "b"),
        (attr("b").eq("y"), "a"),
        (attr("a").eq("x").and(attr("c").eq(1)), "b"),
    ] {
        ctx.expect_validation(ctx.store().query(query(condition)).await, &missed(missing));
    }
    for condition in [
        attr("a").eq("x").and(attr("b").gt("a")),
        attr("a").begins_with("x").and(attr("b").eq("y")),
    ] {
        ctx.expect_validation(
            ctx.store().query(query(condition)).await,
            "Query key condition not supported",
        );
    }
}

/// Creates a table of tournament matches: region is the partition; round, number and name are the
/// sort key.
async fn matches(ctx: &Ctx) -> (Table, Vec<Item>) {
    let mut items = Vec::new();
    for round in ["final", "semi"] {
        for number in [-3, 9, 10] {
            for name in ["a", "b"] {
                items.push(item! {
                    "pk" => format!("{name}{number}{round}"), "region" => "eu",
                    "round" => round, "number" => number, "name" => name,
                });
            }
        }
    }
    let table =
        ctx.table(shape(&[("region", S)], &[("round", S), ("number", N), ("name", S)])).await;
    ctx.put_all(&table, items.iter().rev().cloned()).await;
    ctx.put(&table, items[3].clone().with("pk", "other").with("region", "us")).await;
    (table, items)
}

fn of_region(table: &Table, condition: Condition) -> Query {
    Query::new(table, attr("region").eq("eu").and(condition)).index("gsi")
}

pub(super) async fn query_can_give_leading_sort_attributes(ctx: Ctx) {
    let (table, items) = matches(&ctx).await;
    let final_round = || attr("round").eq("final");
    let all = Query::new(&table, attr("region").eq("eu")).index("gsi");
    ctx.expect_query(all, &items).await;
    ctx.expect_query(of_region(&table, final_round()), &items[..6]).await;
    let two = attr("number").eq(9).and(final_round());
    ctx.expect_query(of_region(&table, two.clone()), &items[2..4]).await;
    ctx.expect_query(of_region(&table, two.and(attr("name").eq("b"))), &items[3..4]).await;
    for (condition, missing) in [
        (attr("number").eq(9), "round"),
        (attr("name").eq("a"), "round"),
        (attr("number").gt(9), "round"),
        (final_round().and(attr("name").eq("a")), "number"),
    ] {
        let query = of_region(&table, condition);
        ctx.expect_validation(ctx.store().query(query).await, &missed(missing));
    }
}

pub(super) async fn range_must_be_on_the_last_attribute(ctx: Ctx) {
    let (table, items) = matches(&ctx).await;
    ctx.expect_query(of_region(&table, attr("round").gt("final")), &items[6..]).await;
    let query = of_region(&table, attr("round").eq("semi").and(attr("number").ge(9)));
    ctx.expect_query(query, &items[8..]).await;
    for condition in [
        attr("round").gt("a").and(attr("number").eq(9)),
        attr("round").begins_with("f").and(attr("number").gt(1)),
        attr("round").eq("semi").and(attr("number").between(1, 9)).and(attr("name").eq("a")),
    ] {
        let result = ctx.store().query(of_region(&table, condition)).await;
        ctx.expect_kind(result, "Validation", |kind| matches!(kind, ErrorKind::Validation));
    }
}

pub(super) async fn entries_are_ordered_by_each_attribute(ctx: Ctx) {
    let (table, items) = matches(&ctx).await;
    let all = Query::new(&table, attr("region").eq("eu")).index("gsi");
    ctx.expect_query(all.clone(), &items).await;
    let reversed: Vec<Item> = items.into_iter().rev().collect();
    ctx.expect_query(all.descending(), &reversed).await;
}

pub(super) async fn ranges_stay_within_the_attributes_before(ctx: Ctx) {
    let (table, items) = matches(&ctx).await;
    let semi = |condition: Condition| attr("round").eq("semi").and(condition);
    let nine = |condition: Condition| semi(attr("number").eq(9)).and(condition);
    for (condition, range) in [
        (attr("round").le("final"), 0..6),
        (attr("round").begins_with("f"), 0..6),
        (attr("round").between("a", "g"), 0..6),
        (semi(attr("number").lt(9)), 6..8),
        (semi(attr("number").le(9)), 6..10),
        (semi(attr("number").gt(-3)), 8..12),
        (semi(attr("number").ge(10)), 10..12),
        (semi(attr("number").between(-3, 9)), 6..10),
        (nine(attr("name").lt("b")), 8..9),
        (nine(attr("name").gt("a")), 9..10),
        (nine(attr("name").begins_with("b")), 9..10),
        (nine(attr("name").between("a", "b")), 8..10),
    ] {
        let query = of_region(&table, condition);
        ctx.expect_query(query.clone(), &items[range.clone()]).await;
        let reversed: Vec<Item> = items[range].iter().rev().cloned().collect();
        ctx.expect_query(query.clone().descending(), &reversed).await;
        ctx.expect_query(query.descending().limit(1), &reversed).await;
    }
}

pub(super) async fn item_without_one_attribute_is_not_indexed(ctx: Ctx) {
    let table = table_of_four(&ctx).await;
    ctx.put(&table, of_four("whole")).await;
    for half in FOUR {
        for (attribute, _) in half {
            let mut item = of_four(attribute);
            item.remove(attribute);
            ctx.put(&table, item).await;
        }
    }
    ctx.expect_index(&table, "gsi", &[of_four("whole")]).await;
    assert_eq!(ctx.all_items(&table).await.len(), 9);
}

pub(super) async fn attribute_values_are_not_concatenated(ctx: Ctx) {
    let table = ctx.table(shape(&[("a", S), ("b", S)], &[("c", S), ("d", S)])).await;
    let item = |pk: &str, a: &str, b: &str, c: &str, d: &str| {
        item! { "pk" => pk, "a" => a, "b" => b, "c" => c, "d" => d }
    };
    let items = [
        item("1", "x", "yz", "x", "yz"),
        item("2", "xy", "z", "x", "yz"),
        item("3", "x", "yz", "xy", "z"),
    ];
    ctx.put_all(&table, items.clone()).await;
    let partition = |a: &str, b: &str| attr("a").eq(a).and(attr("b").eq(b));
    let query = |condition: Condition| Query::new(&table, condition).index("gsi");
    let of_x = [items[0].clone(), items[2].clone()];
    ctx.expect_query(query(partition("x", "yz")), &of_x).await;
    ctx.expect_query(query(partition("xy", "z")), &items[1..2]).await;
    ctx.expect_query(query(partition("xyz", "x")), &[]).await;
    let one = partition("x", "yz").and(attr("c").eq("x"));
    ctx.expect_query(query(one), &items[..1]).await;
    let prefixed = partition("x", "yz").and(attr("c").begins_with("x"));
    ctx.expect_query(query(prefixed), &of_x).await;
}

pub(super) async fn last_key_has_every_attribute(ctx: Ctx) {
    let (table, items) = matches(&ctx).await;
    let all = Query::new(&table, attr("region").eq("eu")).index("gsi");
    ctx.expect_query(all.clone(), &items).await;
    for limit in 1..=13 {
        let pages = ctx.query_pages(all.clone().limit(limit)).await;
        let found: Vec<Item> = pages.iter().flat_map(|page| page.items.clone()).collect();
        ctx.expect_in_order(&found, &items);
        for page in &pages[..pages.len() - 1] {
            // The items have only key attributes.
            assert_eq!(page.last_evaluated_key, page.items.last().cloned(), "limit {limit}");
        }
    }
    let missing = item! { "pk" => "x", "region" => "eu", "round" => "final", "number" => 9 };
    ctx.expect_validation(
        ctx.store().query(all.exclusive_start_key(missing)).await,
        "The provided starting key is invalid",
    );
}

pub(super) async fn entry_moves_with_any_attribute(ctx: Ctx) {
    let table = table_of_four(&ctx).await;
    ctx.put(&table, of_four("1")).await;
    ctx.expect_index(&table, "gsi", &[of_four("1")]).await;
    let key = item! { "pk" => "1" };
    for (attribute, value) in
        [("p2", Value::from(7)), ("p4", "e".into()), ("s1", "y".into()), ("s3", b"q".into())]
    {
        let set = Update::new().set(attribute, value.clone());
        ctx.update(UpdateItem::new(&table, key.clone()).update(set)).await;
        let changed = of_four("1").with(attribute, value);
        ctx.expect_index(&table, "gsi", std::slice::from_ref(&changed)).await;
        let remove = Update::new().remove(attribute);
        ctx.update(UpdateItem::new(&table, key.clone()).update(remove)).await;
        ctx.expect_index(&table, "gsi", &[]).await;
        ctx.put(&table, of_four("1")).await;
        ctx.expect_index(&table, "gsi", &[of_four("1")]).await;
    }
    ctx.delete(&table, key).await;
    ctx.expect_index(&table, "gsi", &[]).await;
}
