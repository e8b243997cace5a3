//! Lifetime of records and streams, and how streams are enabled, disabled and found (56a, 56o,
//! 56p).

use std::time::Duration;

use super::*;

const HOUR: Duration = Duration::from_secs(60 * 60);
const SECOND: Duration = Duration::from_secs(1);

const TRIMMED: &str = "The data you are trying to access has been trimmed";

pub(super) async fn records_are_kept_for_24_hours(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    write_numbers(&ctx, &table, 1..=2).await;
    ctx.clock().advance(HOUR);
    write_numbers(&ctx, &table, 3..=3).await;
    ctx.clock().advance(23 * HOUR);
    assert_eq!(numbers(&ctx.records(&table, 3).await), [1, 2, 3], "after 24 hours");
    ctx.clock().advance(SECOND);
    assert_eq!(numbers(&ctx.records(&table, 1).await), [3], "after more than 24 hours");
    ctx.clock().advance(HOUR);
    assert_eq!(ctx.records(&table, 0).await, []);
    // The items are unaffected, and the stream continues.
    ctx.expect_table(&table, &[numbered("a", 3)]).await;
    write_numbers(&ctx, &table, 4..=4).await;
    assert_eq!(numbers(&ctx.records(&table, 1).await), [4]);
}

pub(super) async fn iterator_at_trimmed_records_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    write_numbers(&ctx, &table, 1..=2).await;
    let records = ctx.records(&table, 2).await;
    let (arn, shard) = written_shard(&ctx, &table).await;
    ctx.clock().advance(HOUR);
    write_numbers(&ctx, &table, 3..=3).await;
    ctx.clock().advance(23 * HOUR - SECOND);
    let oldest = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    let newest = iterator(&ctx, &arn, &shard.id, ShardPosition::Latest).await;
    ctx.clock().advance(3 * SECOND);

    let number = &records[0].sequence_number;
    for position in [ShardPosition::At(number.clone()), ShardPosition::After(number.clone())] {
        let result = ctx.store().get_shard_iterator(at(&arn, &shard.id, position)).await;
        let error = ctx.expect_code(result, "TrimmedDataAccessException", TRIMMED);
        assert_eq!(error.kind(), &ErrorKind::TrimmedData);
    }
    let result = ctx.store().get_records(GetRecords::new(oldest)).await;
    ctx.expect_code(result, "TrimmedDataAccessException", TRIMMED);
    assert_eq!(read(&ctx, newest).await.records, []);
    let oldest = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    assert_eq!(numbers(&read(&ctx, oldest).await.records), [3]);
}

pub(super) async fn disabled_stream_can_be_read(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    write_numbers(&ctx, &table, 1..=3).await;
    let (arn, shard) = written_shard(&ctx, &table).await;
    let before = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    set_stream(&ctx, &table, None).await;
    write_numbers(&ctx, &table, 4..=4).await;

    let description = ctx.ok(ctx.store().describe_table(DescribeTable::new(&table)).await);
    assert_eq!(description.stream, None);
    let description = ctx.ok(ctx.store().describe_stream(DescribeStream::new(arn.clone())).await);
    assert_eq!(description.status, StreamStatus::Disabled);
    let open = description.shards.iter().filter(|shard| shard.ending_sequence_number.is_none());
    assert_eq!(open.count(), 0, "{description:?}");
    let after = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    for iterator in [before, after] {
        let page = read(&ctx, iterator).await;
        assert_eq!(numbers(&page.records), [1, 2, 3]);
        // A closed shard may need one more read to report its end.
        if let Some(next) = page.next_iterator {
            assert_eq!(read(&ctx, next).await, GetRecordsOutput::default());
        }
    }
    let latest = iterator(&ctx, &arn, &shard.id, ShardPosition::Latest).await;
    assert_eq!(read(&ctx, latest).await, GetRecordsOutput::default());
}

pub(super) async fn disabled_stream_is_deleted_after_24_hours(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    write_numbers(&ctx, &table, 1..=1).await;
    ctx.clock().advance(HOUR);
    write_numbers(&ctx, &table, 2..=2).await;
    let (arn, shard) = written_shard(&ctx, &table).await;
    set_stream(&ctx, &table, None).await;
    ctx.clock().advance(24 * HOUR - SECOND);
    let oldest = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    assert_eq!(numbers(&read(&ctx, oldest.clone()).await.records), [2]);
    ctx.clock().advance(2 * SECOND);
    let store = ctx.store();
    let not_found = |kind: &ErrorKind| matches!(kind, ErrorKind::NotFound);
    let described = store.describe_stream(DescribeStream::new(arn.clone())).await;
    ctx.expect_kind(described, "NotFound", not_found);
    let request = at(&arn, &shard.id, ShardPosition::TrimHorizon);
    ctx.expect_kind(store.get_shard_iterator(request).await, "NotFound", not_found);
    let read = store.get_records(GetRecords::new(oldest)).await;
    ctx.expect_kind(read, "NotFound", not_found);
    let listed = ctx.ok(store.list_streams(ListStreams::default()).await);
    assert_eq!(listed, ListStreamsOutput::default());
}

pub(super) async fn view_type_cannot_be_changed(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    let arn = ctx.stream_of(&table).await;
    for view_type in [StreamViewType::NewImage, StreamViewType::KeysOnly] {
        let stream = StreamSpecification::enabled(view_type);
        let request = UpdateTable::new(&table).stream(Some(stream));
        ctx.expect_validation(
            ctx.store().update_table(request).await,
            &format!("Table already has an enabled stream: TableName: {table}"),
        );
    }
    assert_eq!(ctx.stream_of(&table).await, arn);
    write_numbers(&ctx, &table, 1..=1).await;
    let records = ctx.records(&table, 1).await;
    assert_eq!(shown(&records), [change(EventName::Insert, "a", None, None)]);
    set_stream(&ctx, &table, None).await;
    let stream = StreamSpecification::disabled();
    let request = UpdateTable::new(&table).stream(Some(stream));
    ctx.expect_validation(
        ctx.store().update_table(request).await,
        &format!("Table has no stream to disable: TableName: {table}"),
    );
}

pub(super) async fn reenabled_stream_is_a_new_one(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    let old = ctx.stream_of(&table).await;
    write_numbers(&ctx, &table, 1..=1).await;
    ctx.records(&table, 1).await;
    set_stream(&ctx, &table, None).await;
    write_numbers(&ctx, &table, 2..=2).await;
    set_stream(&ctx, &table, Some(StreamViewType::NewAndOldImages)).await;
    write_numbers(&ctx, &table, 3..=3).await;

    let new = ctx.stream_of(&table).await;
    assert_ne!(new, old);
    let (two, three) = (numbered("a", 2), numbered("a", 3));
    let expected = [change(EventName::Modify, "a", Some(&two), Some(&three))];
    assert_eq!(shown(&ctx.records(&table, 1).await), expected);
    let request = ListStreams::of_table(&table);
    let listed = ctx.ok(ctx.store().list_streams(request).await);
    let mut arns: Vec<StreamArn> = listed.streams.into_iter().map(|stream| stream.arn).collect();
    arns.sort();
    let mut expected = vec![old.clone(), new];
    expected.sort();
    assert_eq!(arns, expected);
    let description = ctx.ok(ctx.store().describe_stream(DescribeStream::new(old.clone())).await);
    assert_eq!(description.status, StreamStatus::Disabled);
    assert_eq!(description.view_type, StreamViewType::KeysOnly);
    let mut records = Vec::new();
    for shard in description.shards {
        let oldest = iterator(&ctx, &old, &shard.id, ShardPosition::TrimHorizon).await;
        records.extend(read(&ctx, oldest).await.records);
    }
    assert_eq!(shown(&records), [change(EventName::Insert, "a", None, None)]);
}

pub(super) async fn stream_of_deleted_table_can_be_read(ctx: Ctx) {
    let shape = TableSpec::s().stream(StreamViewType::NewImage);
    let table = ctx.table(shape.clone()).await;
    write_numbers(&ctx, &table, 1..=2).await;
    let (arn, shard) = written_shard(&ctx, &table).await;
    ctx.ok(ctx.store().delete_table(DeleteTable::new(&table)).await);
    let description = ctx.ok(ctx.store().describe_stream(DescribeStream::new(arn.clone())).await);
    assert_eq!(description.status, StreamStatus::Disabled);
    assert_eq!(description.table, table.name());
    let oldest = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    assert_eq!(numbers(&read(&ctx, oldest.clone()).await.records), [1, 2]);
    // A new table of the same name has its own stream.
    ctx.ok(ctx.store().create_table(shape.request(table.name())).await);
    assert_ne!(ctx.stream_of(&table).await, arn);
    write_numbers(&ctx, &table, 3..=3).await;
    assert_eq!(numbers(&ctx.records(&table, 1).await), [3]);
    assert_eq!(numbers(&read(&ctx, oldest).await.records), [1, 2]);
}

/// Deletes a table with a stream, creates it without one, calls `between` (which changes the
/// clock), enables a stream again, and returns the labels of both streams.
async fn labels_over_a_plain_table(ctx: &Ctx, between: impl Fn()) -> [String; 2] {
    let shape = TableSpec::s().stream(StreamViewType::NewImage);
    let table = ctx.table(shape).await;
    write_numbers(ctx, &table, 1..=2).await;
    let label = || async {
        let described = ctx.ok(ctx.store().describe_table(DescribeTable::new(&table)).await);
        described.latest_stream_label.expect("the table has a stream")
    };
    let old = label().await;
    let old_arn = ctx.stream_of(&table).await;
    for _ in 0..2 {
        ctx.ok(ctx.store().delete_table(DeleteTable::new(&table)).await);
        between();
        ctx.ok(ctx.store().create_table(TableSpec::s().request(table.name())).await);
    }
    set_stream(ctx, &table, Some(StreamViewType::NewImage)).await;
    write_numbers(ctx, &table, 3..=3).await;
    assert_eq!(numbers(&ctx.records(&table, 1).await), [3]);
    assert_ne!(ctx.stream_of(&table).await, old_arn);
    [old, label().await]
}

pub(super) async fn labels_increase_across_tables(ctx: Ctx) {
    let [old, new] = labels_over_a_plain_table(&ctx, || ()).await;
    assert!(new > old, "{new} must be greater than {old}");
}

pub(super) async fn labels_increase_when_the_clock_steps_back(ctx: Ctx) {
    // The clock steps back further than the retention of a closed stream.
    let step_back = || ctx.clock().step_back(36 * HOUR);
    let [old, new] = labels_over_a_plain_table(&ctx, step_back).await;
    assert!(new > old, "{new} must be greater than {old}");
    // The labels also increase when a stream is disabled and enabled again.
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    let mut labels = Vec::new();
    for round in 0..3 {
        let described = ctx.ok(ctx.store().describe_table(DescribeTable::new(&table)).await);
        labels.extend(described.latest_stream_label);
        step_back();
        if round == 0 {
            set_stream(&ctx, &table, None).await;
            set_stream(&ctx, &table, Some(StreamViewType::NewImage)).await;
        } else {
            ctx.ok(ctx.store().delete_table(DeleteTable::new(&table)).await);
            let again = TableSpec::s().stream(StreamViewType::NewImage).request(table.name());
            ctx.ok(ctx.store().create_table(again).await);
        }
    }
    assert!(labels.is_sorted_by(|one, other| one < other), "{labels:?}");
}

pub(super) async fn streams_are_described(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n().stream(StreamViewType::OldImage)).await;
    let described = ctx.ok(ctx.store().describe_table(DescribeTable::new(&table)).await);
    let expected = StreamSpecification::enabled(StreamViewType::OldImage);
    assert_eq!(described.stream, Some(expected));
    let arn = ctx.stream_of(&table).await;
    let stream = ctx.ok(ctx.store().describe_stream(DescribeStream::new(arn.clone())).await);
    assert_eq!(stream.arn, arn);
    assert_eq!(stream.status, StreamStatus::Enabled);
    assert_eq!(stream.view_type, StreamViewType::OldImage);
    assert_eq!(stream.table, table.name());
    assert_eq!(stream.key_schema, described.key_schema);
    assert_eq!(Some(&stream.label), described.latest_stream_label.as_ref());
    assert!(arn.0.ends_with(&stream.label), "{arn} does not end with {}", stream.label);
    assert!(!stream.shards.is_empty(), "{stream:?}");
    let open = stream.shards.iter().filter(|shard| shard.ending_sequence_number.is_none());
    assert_eq!(open.count(), stream.shards.len(), "{stream:?}");
    let plain = ctx.table(TableSpec::s()).await;
    let described = ctx.ok(ctx.store().describe_table(DescribeTable::new(&plain)).await);
    assert_eq!((described.stream, described.latest_stream_arn), (None, None));
    for (limit, message) in [
        (
            0,
            "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: \
             Member must have value greater than or equal to 1",
        ),
        (
            101,
            "One or more parameter values were invalid: Limit cannot be greater than the \
             maximum: 100",
        ),
    ] {
        let request = DescribeStream::new(arn.clone()).limit(limit);
        ctx.expect_validation(ctx.store().describe_stream(request).await, message);
    }
}

pub(super) async fn streams_are_listed_by_table_in_pages(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    for _ in 0..2 {
        set_stream(&ctx, &table, None).await;
        set_stream(&ctx, &table, Some(StreamViewType::KeysOnly)).await;
    }
    let plain = ctx.table(TableSpec::s()).await;
    let all = ctx.ok(ctx.store().list_streams(ListStreams::of_table(&table)).await).streams;
    assert_eq!(all.len(), 3);
    for stream in &all {
        assert_eq!(stream.table, table.name());
        assert!(stream.arn.0.ends_with(&stream.label), "{stream:?}");
    }
    for nothing in [plain.name(), "no-such-table"] {
        let listed = ctx.ok(ctx.store().list_streams(ListStreams::of_table(nothing)).await);
        assert_eq!(listed, ListStreamsOutput::default());
    }
    // The pages list each stream once.
    let mut found = Vec::new();
    let mut request = ListStreams::of_table(&table).limit(1);
    for _ in 0..10 {
        let page = ctx.ok(ctx.store().list_streams(request.clone()).await);
        assert!(page.streams.len() <= 1, "{page:?}");
        found.extend(page.streams.into_iter().map(|stream| stream.arn));
        request.exclusive_start_stream = page.last_evaluated_stream;
        if request.exclusive_start_stream.is_none() {
            break;
        }
    }
    let mut expected: Vec<StreamArn> = all.into_iter().map(|stream| stream.arn).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    for (limit, message) in [
        (
            0,
            "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: \
             Member must have value greater than or equal to 1",
        ),
        (
            101,
            "One or more parameter values were invalid: Limit cannot be greater than the \
             maximum allowed size: 100",
        ),
    ] {
        let request = ListStreams::of_table(&table).limit(limit);
        ctx.expect_validation(ctx.store().list_streams(request).await, message);
    }
}
