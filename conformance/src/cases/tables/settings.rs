//! Throughput, table class, encryption and tags.

use super::super::prelude::*;
use super::{add_index, constraint, describe, invalid, on_gpk, refused};

fn units(read: i64, write: i64) -> Option<ProvisionedThroughput> {
    Some(ProvisionedThroughput::new(read, write))
}

/// Returns a provisioned table with one index.
fn provisioned_with(
    table: Option<ProvisionedThroughput>,
    index: Option<ProvisionedThroughput>,
) -> TableSpec {
    TableSpec::s().with(|request| {
        request
            .attribute("gpk", KeyType::S)
            .global_index(on_gpk("gsi").provisioned_throughput(index))
            .billing_mode(Some(BillingMode::Provisioned))
            .provisioned_throughput(table)
    })
}

/// Returns the billing mode, the throughput of the table and that of its index.
async fn throughput(
    ctx: &Ctx,
    table: &Table,
) -> (BillingMode, Option<ProvisionedThroughput>, Option<ProvisionedThroughput>) {
    let description = describe(ctx, table).await;
    let index = &description.global_secondary_indexes[0];
    let (table, index) = (description.provisioned_throughput, index.provisioned_throughput);
    (description.billing_mode, Some(table), Some(index))
}

pub(super) async fn pay_per_request_table_has_no_throughput(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi_hash()).await;
    let expected = (BillingMode::PayPerRequest, units(0, 0), units(0, 0));
    assert_eq!(throughput(&ctx, &table).await, expected);
    // Setting the current mode again changes nothing.
    let again = UpdateTable::new(&table).billing_mode(Some(BillingMode::PayPerRequest));
    ctx.ok(ctx.store().update_table(again).await);
    assert_eq!(throughput(&ctx, &table).await, expected);
}

pub(super) async fn throughput_of_pay_per_request_table_is_rejected(ctx: Ctx) {
    let shape = TableSpec::s().with(|request| request.provisioned_throughput(units(1, 1)));
    let text = "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode \
                is PAY_PER_REQUEST";
    refused(&ctx, shape, &invalid(text)).await;
    let table = ctx.table(TableSpec::s().gsi_hash()).await;
    let request = UpdateTable::new(&table).provisioned_throughput(units(1, 1));
    ctx.expect_validation(ctx.store().update_table(request).await, &invalid(text));
    let shape = TableSpec::s().with(|request| {
        let index = on_gpk("gsi").provisioned_throughput(units(1, 1));
        request.attribute("gpk", KeyType::S).global_index(index)
    });
    let text = "ProvisionedThroughput should not be specified for index: gsi when BillingMode is \
                PAY_PER_REQUEST";
    refused(&ctx, shape, &invalid(text)).await;
}

pub(super) async fn provisioned_table_has_its_throughput(ctx: Ctx) {
    let table = ctx.table(provisioned_with(units(5, 6), units(3, 4))).await;
    let expected = (BillingMode::Provisioned, units(5, 6), units(3, 4));
    assert_eq!(throughput(&ctx, &table).await, expected);
    // PROVISIONED is DynamoDB's default.
    let shape = TableSpec::s().with(|it| it.billing_mode(None).provisioned_throughput(units(7, 8)));
    let description = describe(&ctx, &ctx.table(shape).await).await;
    assert_eq!(description.billing_mode, BillingMode::Provisioned);
    assert_eq!(Some(description.provisioned_throughput), units(7, 8));
}

pub(super) async fn provisioned_table_needs_throughput(ctx: Ctx) {
    let text = "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode \
                is PROVISIONED";
    refused(&ctx, provisioned_with(None, units(1, 1)), &invalid(text)).await;
    let text = invalid("ProvisionedThroughput is not specified for index: gsi");
    refused(&ctx, provisioned_with(units(1, 1), None), &text).await;
    let least = "have value greater than or equal to 1";
    let text = constraint("0", "provisionedThroughput.readCapacityUnits", least);
    refused(&ctx, provisioned_with(units(0, 1), units(1, 1)), &text).await;
    let member = "globalSecondaryIndexes.1.member.provisionedThroughput.writeCapacityUnits";
    let text = constraint("0", member, least);
    refused(&ctx, provisioned_with(units(1, 1), units(1, 0)), &text).await;
    let text = "Cannot increase provisioned throughput to more than 40,000 units per table";
    refused(&ctx, provisioned_with(units(40_001, 1), units(1, 1)), text).await;
}

/// Returns billing mode and throughput after each change.
async fn after_each(
    ctx: &Ctx,
    table: &Table,
    changes: impl IntoIterator<Item = UpdateTable>,
) -> Vec<(BillingMode, ProvisionedThroughput)> {
    let mut states = Vec::new();
    for change in changes {
        ctx.ok(ctx.store().update_table(change).await);
        let description = describe(ctx, table).await;
        states.push((description.billing_mode, description.provisioned_throughput));
    }
    states
}

pub(super) async fn billing_mode_can_be_changed(ctx: Ctx) {
    let shape = TableSpec::s().with(|request| {
        request.billing_mode(Some(BillingMode::Provisioned)).provisioned_throughput(units(5, 6))
    });
    let item = item! { "pk" => "a" };
    let table = ctx.table_with(shape, [item.clone()]).await;
    let update = || UpdateTable::new(&table);
    let to = |mode| update().billing_mode(Some(mode));
    let states = after_each(
        &ctx,
        &table,
        [
            update().provisioned_throughput(units(7, 6)),
            to(BillingMode::PayPerRequest),
            to(BillingMode::Provisioned).provisioned_throughput(units(2, 3)),
            to(BillingMode::PayPerRequest),
        ],
    )
    .await;
    let given = |read, write| units(read, write).expect("the table has a throughput");
    let expected = [
        (BillingMode::Provisioned, given(7, 6)),
        (BillingMode::PayPerRequest, given(0, 0)),
        (BillingMode::Provisioned, given(2, 3)),
        (BillingMode::PayPerRequest, given(0, 0)),
    ];
    assert_eq!(states, expected);
    let text = "ProvisionedThroughput must be specified when BillingMode is PROVISIONED";
    let without = to(BillingMode::Provisioned);
    ctx.expect_validation(ctx.store().update_table(without).await, &invalid(text));
    ctx.expect_table(&table, &[item]).await;
}

pub(super) async fn billing_mode_changes_index_throughput(ctx: Ctx) {
    let item = item! { "pk" => "a", "gpk" => "g" };
    let table = ctx.table_with(provisioned_with(units(5, 6), units(3, 4)), [item.clone()]).await;
    let to_request = UpdateTable::new(&table).billing_mode(Some(BillingMode::PayPerRequest));
    ctx.ok(ctx.store().update_table(to_request).await);
    let expected = (BillingMode::PayPerRequest, units(0, 0), units(0, 0));
    assert_eq!(throughput(&ctx, &table).await, expected);
    let mut back = UpdateTable::new(&table)
        .billing_mode(Some(BillingMode::Provisioned))
        .provisioned_throughput(units(2, 2));
    let text = invalid("ProvisionedThroughput must be specified for index: gsi");
    ctx.expect_validation(ctx.store().update_table(back.clone()).await, &text);
    back.index_updates.push(IndexUpdate::Update {
        name: "gsi".to_owned(),
        provisioned_throughput: units(1, 2).expect("the table has a throughput"),
    });
    ctx.ok(ctx.store().update_table(back).await);
    let expected = (BillingMode::Provisioned, units(2, 2), units(1, 2));
    assert_eq!(throughput(&ctx, &table).await, expected);
    ctx.expect_index(&table, "gsi", &[item]).await;
}

pub(super) async fn unchanged_throughput_is_rejected(ctx: Ctx) {
    let table = ctx.table(provisioned_with(units(5, 6), units(3, 4))).await;
    let request = UpdateTable::new(&table).provisioned_throughput(units(5, 6));
    ctx.expect_validation(
        ctx.store().update_table(request).await,
        "The provisioned throughput for the table will not change. The requested value equals the \
         current value. Current ReadCapacityUnits provisioned for the table: 5. Requested \
         ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the table: 6. Requested \
         WriteCapacityUnits: 6. Refer to the Amazon DynamoDB Developer Guide for current limits \
         and how to request higher limits.",
    );
}

pub(super) async fn update_without_change_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for request in [UpdateTable::new(&table), UpdateTable::new(&table).attribute("x", KeyType::S)] {
        ctx.expect_validation(
            ctx.store().update_table(request).await,
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, \
             GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, \
             MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, \
             DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is \
             required",
        );
    }
}

pub(super) async fn stream_and_index_change_exclude_each_other(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let stream = StreamSpecification::enabled(StreamViewType::KeysOnly);
    let request = add_index(&table, "gsi").stream(Some(stream));
    let text = "You cannot create or delete index while changing stream status";
    ctx.expect_validation(ctx.store().update_table(request).await, &invalid(text));
    let description = describe(&ctx, &table).await;
    assert_eq!(description.stream, None);
    assert!(description.global_secondary_indexes.is_empty());
}

pub(super) async fn table_class_is_stored_and_changed(ctx: Ctx) {
    let class = |name: &str| Some(name.to_owned());
    let shape = TableSpec::s().with(|mut request| {
        request.table_class = class("STANDARD_INFREQUENT_ACCESS");
        request
    });
    let table = ctx.table(shape).await;
    assert_eq!(describe(&ctx, &table).await.table_class, class("STANDARD_INFREQUENT_ACCESS"));
    let mut request = UpdateTable::new(&table);
    request.table_class = class("STANDARD");
    ctx.ok(ctx.store().update_table(request).await);
    assert_eq!(describe(&ctx, &table).await.table_class, class("STANDARD"));
}

pub(super) async fn encryption_settings_are_stored(ctx: Ctx) {
    let sse = SseSpecification::enabled().sse_type(Some("KMS".to_owned()));
    let shape = TableSpec::s().with(|request| request.sse(Some(sse)));
    let described = describe(&ctx, &ctx.table(shape).await).await.sse;
    let described = described.expect("the table is encrypted with a key of the account");
    assert!(described.enabled);
    assert_eq!(described.sse_type.as_deref(), Some("KMS"));
}

fn tags_of<const N: usize>(pairs: [(&str, &str); N]) -> Tags {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

async fn tags_now(ctx: &Ctx, table: &Table) -> Tags {
    ctx.ok(ctx.store().list_table_tags(ListTableTags::new(table)).await)
}

pub(super) async fn tags_are_added_changed_and_removed(ctx: Ctx) {
    let given = tags_of([("team", "blue"), ("stage", "test")]);
    let table = ctx.table(TableSpec::s().with(|request| request.tags(given.clone()))).await;
    assert_eq!(tags_now(&ctx, &table).await, given);
    let tags = tags_of([("team", "red"), ("empty", "")]);
    ctx.ok(ctx.store().tag_table(TagTable::new(&table, tags)).await);
    let expected = tags_of([("team", "red"), ("stage", "test"), ("empty", "")]);
    assert_eq!(tags_now(&ctx, &table).await, expected);
    let keys = vec!["stage".to_owned(), "none".to_owned()];
    ctx.ok(ctx.store().untag_table(UntagTable::new(&table, keys)).await);
    assert_eq!(tags_now(&ctx, &table).await, tags_of([("team", "red"), ("empty", "")]));
}

pub(super) async fn invalid_tags_are_rejected(ctx: Ctx) {
    let fifty: Tags = (0..50).map(|number| (format!("k{number}"), "v".to_owned())).collect();
    let table = ctx.table(TableSpec::s().with(|request| request.tags(fifty.clone()))).await;
    let tag = |tags: Tags| {
        let (store, table) = (ctx.store(), String::from(&table));
        async move { store.tag_table(TagTable::new(table, tags)).await }
    };
    ctx.expect_validation(
        tag(tags_of([("more", "v")])).await,
        "Number of Tags exceed the current limit for the provided ResourceArn",
    );
    ctx.expect_validation(
        tag(tags_of([("aws:k", "v")])).await,
        "Tag Key cannot be prefixed with aws:, Key: aws:k",
    );
    ctx.expect_validation_with(tag(tags_of([(&"k".repeat(129), "v")])).await, "Tag Key");
    ctx.expect_validation_with(tag(tags_of([("k0", &"v".repeat(257))])).await, "Tag Value");
    assert_eq!(tags_now(&ctx, &table).await, fifty);
}

pub(super) async fn conflicting_encryption_settings_are_rejected(ctx: Ctx) {
    let some = |text: &str| Some(text.to_owned());
    let table = ctx.table(TableSpec::s()).await;
    for (sse, text) in [
        (
            SseSpecification::default().sse_type(some("KMS")),
            "SSEType can not be specified if Enabled is false",
        ),
        (
            SseSpecification::default().kms_master_key_id(some("alias/key")),
            "KMSMasterKeyId can not be specified if Enabled is false",
        ),
        (SseSpecification::enabled().sse_type(some("AES256")), "SSEType AES256 is not supported"),
        (
            SseSpecification::enabled().kms_master_key_id(some("alias/key")),
            "SSEType KMS is required if KMSMasterKeyId is specified",
        ),
    ] {
        let spec = TableSpec::s().with(|request| request.sse(Some(sse.clone())));
        refused(&ctx, spec, &invalid(text)).await;
        let update = UpdateTable::new(&table).sse(Some(sse));
        ctx.expect_validation(ctx.store().update_table(update).await, &invalid(text));
        assert_eq!(describe(&ctx, &table).await.sse, None, "{text}");
    }
}
