//! Key schema and attribute definitions of a new table.

use super::super::prelude::*;
use super::{constraint, describe, invalid, refused};

pub(super) async fn created_table_is_active_and_described(ctx: Ctx) {
    let name = ctx.unused_table_name();
    let request = TableSpec::s_n()
        .gsi_projecting(IndexProjection::include(["y", "x"]))
        .lsi_projecting(IndexProjection::keys_only())
        .stream(StreamViewType::NewAndOldImages)
        .with(|request| request.deletion_protection(true))
        .request(&name);
    let created = ctx.ok(ctx.store().create_table(request.clone()).await);
    let described = describe(&ctx, &Table::new(&request)).await;
    for (call, table) in [("create", created), ("describe", described)] {
        assert_eq!(table.table, name, "{call}");
        assert_eq!(table.status, TableStatus::Active, "{call}");
        assert_eq!(sorted(&table.attribute_definitions), sorted(&request.attribute_definitions));
        assert_eq!(table.key_schema, request.key_schema, "{call}");
        for (described, asked) in [
            (&table.global_secondary_indexes, &request.global_secondary_indexes),
            (&table.local_secondary_indexes, &request.local_secondary_indexes),
        ] {
            let [described] = &described[..] else { panic!("{call}: {described:?}") };
            let [asked] = &asked[..] else {
                panic!("not exactly one index was requested: {asked:?}")
            };
            assert_eq!(described.name, asked.name, "{call}");
            assert_eq!(described.key_schema, asked.key_schema, "{call}");
            assert_eq!(described.projection.kind, asked.projection.kind, "{call}");
            let mut carried = described.projection.non_key_attributes.clone();
            carried.sort_unstable();
            let expected: &[&str] = if asked.name == "gsi" { &["x", "y"] } else { &[] };
            assert_eq!(carried, expected, "{call}");
            assert_eq!(described.status, TableStatus::Active, "{call}");
            assert!(!described.backfilling, "{call}");
            assert!(described.arn.ends_with(&format!("/index/{}", asked.name)), "{call}");
        }
        assert_eq!(table.billing_mode, BillingMode::PayPerRequest, "{call}");
        assert_eq!(table.stream, request.stream, "{call}");
        assert!(table.latest_stream_arn.is_some_and(|arn| arn.contains(&name)), "{call}");
        assert!(table.deletion_protection, "{call}");
        assert_eq!((table.item_count, table.size_bytes), (0, 0), "{call}");
        assert!(table.created_at.as_secs() > 0, "{call}");
        assert!(table.arn.ends_with(&name), "{call}: {}", table.arn);
    }
}

fn sorted(definitions: &[AttributeDefinition]) -> Vec<(&str, KeyType)> {
    let pair = |it: &AttributeDefinition| it.kind;
    let mut pairs: Vec<(&str, KeyType)> =
        definitions.iter().map(|it| (it.name.as_str(), pair(it))).collect();
    pairs.sort_unstable_by_key(|(name, _)| *name);
    pairs
}

fn element(name: &str, role: KeyRole) -> KeySchemaElement {
    KeySchemaElement::new(name, role)
}

fn definition(name: &str, kind: KeyType) -> AttributeDefinition {
    AttributeDefinition::new(name, kind)
}

/// Returns a request with exactly these definitions and this key, valid or not.
fn raw(definitions: &[(&str, KeyType)], key: &[(&str, KeyRole)]) -> TableSpec {
    TableSpec::s().with(|mut request| {
        request.attribute_definitions =
            definitions.iter().map(|(name, kind)| definition(name, *kind)).collect();
        request.key_schema = key.iter().map(|(name, role)| element(name, *role)).collect();
        request
    })
}

use KeyRole::{Partition as H, Sort as R};
use KeyType::{N, S};

pub(super) async fn key_without_definition_is_rejected(ctx: Ctx) {
    let undefined = |keys: &str, definitions: &str| {
        invalid(&format!(
            "Some index key attributes are not defined in AttributeDefinitions. \
             Keys: [{keys}], AttributeDefinitions: [{definitions}]"
        ))
    };
    refused(&ctx, raw(&[("b", S)], &[("a", H)]), &undefined("a", "b")).await;
    refused(&ctx, raw(&[("a", S), ("c", S)], &[("a", H), ("b", R)]), &undefined("a, b", "a, c"))
        .await;
    let fewer = "Invalid KeySchema: Some index key attribute have no definition";
    refused(&ctx, raw(&[("a", S)], &[("a", H), ("b", R)]), fewer).await;
    refused(&ctx, raw(&[], &[("a", H)]), fewer).await;
    let index = SecondaryIndex::new("gsi").partition_key("g");
    let shape = TableSpec::s().with(|request| request.global_index(index));
    refused(&ctx, shape, &undefined("g", "pk")).await;
    let index = SecondaryIndex::new("gsi").partition_key("pk").sort_key("g");
    let shape = TableSpec::s().with(|request| request.global_index(index));
    refused(&ctx, shape, &undefined("pk, g", "pk")).await;
}

pub(super) async fn definition_without_key_is_rejected(ctx: Ctx) {
    let shape = TableSpec::s().with(|request| request.attribute("extra", N));
    let text = "Number of attributes in KeySchema does not exactly match number of attributes \
                defined in AttributeDefinitions";
    refused(&ctx, shape, &invalid(text)).await;
    let shape = TableSpec::s().gsi().with(|request| request.attribute("extra", N));
    let text = "Some AttributeDefinitions are not used. AttributeDefinitions: \
                [pk, gpk, gsk, extra], keys used: [pk, gpk, gsk]";
    refused(&ctx, shape, &invalid(text)).await;
}

pub(super) async fn duplicate_definition_is_rejected(ctx: Ctx) {
    for kind in [S, N] {
        let shape = raw(&[("a", S), ("a", kind)], &[("a", H)]);
        refused(&ctx, shape, "Attribute Name is duplicated: a").await;
    }
}

pub(super) async fn key_schema_is_hash_then_range(ctx: Ctx) {
    let both = [("a", S), ("b", S)];
    let first = "Invalid KeySchema: The first KeySchemaElement is not a HASH key type";
    let second = "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type";
    let same = "Both the Hash Key and the Range Key element in the KeySchema have the same name";
    refused(&ctx, raw(&both[..1], &[("a", R)]), first).await;
    refused(&ctx, raw(&both, &[("b", R), ("a", H)]), first).await;
    refused(&ctx, raw(&both, &[("a", R), ("b", R)]), first).await;
    refused(&ctx, raw(&both, &[("a", H), ("b", H)]), second).await;
    refused(&ctx, raw(&both, &[("a", H), ("a", R)]), same).await;
    let none = constraint("[]", "keySchema", "have length greater than or equal to 1");
    refused(&ctx, raw(&both[..1], &[]), &none).await;
    let name = ctx.unused_table_name();
    let three = raw(&[("a", S), ("b", S), ("c", S)], &[("a", H), ("b", R), ("c", R)]);
    // The message contains the whole list, whose order varies.
    let error = ctx.expect_error(ctx.store().create_table(three.request(&name)).await);
    assert!(matches!(error.kind(), ErrorKind::Validation), "{error}");
}

pub(super) async fn key_names_have_1_to_255_bytes(ctx: Ctx) {
    let longest = "x".repeat(255);
    let table = ctx.table(raw(&[(&longest, S)], &[(&longest, H)])).await;
    let item = Item::new().with(longest, "a");
    ctx.put(&table, item.clone()).await;
    ctx.expect_table(&table, &[item]).await;
    // The limit is in bytes, not characters. Both the definition and the key exceed it.
    for name in [String::new(), "x".repeat(256), "é".repeat(128)] {
        let rule = if name.is_empty() {
            "greater than or equal to 1"
        } else {
            "less than or equal to 255"
        };
        let violated = |member: &str| {
            format!(
                "Value '{name}' at '{member}.1.member.attributeName' failed to satisfy \
                 constraint: Member must have length {rule}"
            )
        };
        let text = format!(
            "2 validation errors detected: {}; {}",
            violated("keySchema"),
            violated("attributeDefinitions")
        );
        refused(&ctx, raw(&[(&name, S)], &[(&name, H)]), &text).await;
    }
}
