//! Shard iterators: positions, limits and expiry (56l-n).

use std::time::Duration;

use super::*;

/// Creates a table with the changes 1 to 5 of `n`, and returns its stream, shard and records.
async fn five_records(ctx: &Ctx) -> (Table, StreamArn, Shard, Vec<Record>) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    write_numbers(ctx, &table, 1..=5).await;
    let records = ctx.records(&table, 5).await;
    assert_eq!(numbers(&records), [1, 2, 3, 4, 5]);
    let (arn, shard) = written_shard(ctx, &table).await;
    (table, arn, shard, records)
}

pub(super) async fn trim_horizon_and_latest_are_the_ends(ctx: Ctx) {
    let (table, arn, shard, _) = five_records(&ctx).await;
    let oldest = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    let newest = iterator(&ctx, &arn, &shard.id, ShardPosition::Latest).await;
    assert_eq!(numbers(&read(&ctx, oldest).await.records), [1, 2, 3, 4, 5]);
    let page = read(&ctx, newest).await;
    assert_eq!(page.records, []);
    let continued = page.next_iterator.expect("an open shard has a next iterator");
    write_numbers(&ctx, &table, 6..=7).await;
    ctx.records(&table, 7).await;
    let page = read(&ctx, continued).await;
    assert_eq!(numbers(&page.records), [6, 7]);
    let continued = page.next_iterator.expect("an open shard has a next iterator");
    assert_eq!(read(&ctx, continued).await.records, []);
}

pub(super) async fn at_and_after_begin_at_a_record(ctx: Ctx) {
    let (_, arn, shard, records) = five_records(&ctx).await;
    for (n, record) in (1..).zip(&records) {
        let number = &record.sequence_number;
        let position = ShardPosition::At(number.clone());
        let found = read(&ctx, iterator(&ctx, &arn, &shard.id, position).await).await;
        assert_eq!(numbers(&found.records), (n..=5).collect::<Vec<_>>(), "at {number}");
        let position = ShardPosition::After(number.clone());
        let found = read(&ctx, iterator(&ctx, &arn, &shard.id, position).await).await;
        assert_eq!(numbers(&found.records), (n + 1..=5).collect::<Vec<_>>(), "after {number}");
    }
}

pub(super) async fn iterator_at_first_number_of_shard_is_accepted(ctx: Ctx) {
    let shape = || TableSpec::s().stream(StreamViewType::NewImage);
    let table = ctx.table(shape()).await;
    // The first sequence number of a shard need not belong to a record.
    let other = ctx.table(shape()).await;
    write_numbers(&ctx, &other, 1..=3).await;
    write_numbers(&ctx, &table, 1..=3).await;
    let (arn, shard) = written_shard(&ctx, &table).await;
    let position = ShardPosition::At(shard.starting_sequence_number.clone());
    let found = read(&ctx, iterator(&ctx, &arn, &shard.id, position).await).await;
    assert_eq!(numbers(&found.records), [1, 2, 3]);
}

pub(super) async fn iterator_after_last_number_of_shard_is_accepted(ctx: Ctx) {
    let (table, arn, shard, _) = five_records(&ctx).await;
    set_stream(&ctx, &table, None).await;
    let closed = ctx.ok(ctx.store().describe_stream(DescribeStream::new(arn.clone())).await);
    let closed = closed.shards.into_iter().find(|closed| closed.id == shard.id);
    let last = closed.and_then(|shard| shard.ending_sequence_number).expect("the shard is closed");
    let position = ShardPosition::After(last);
    let found = read(&ctx, iterator(&ctx, &arn, &shard.id, position).await).await;
    assert_eq!(found, GetRecordsOutput::default());
}

pub(super) async fn invalid_sequence_numbers_are_rejected(ctx: Ctx) {
    let (_, arn, shard, _) = five_records(&ctx).await;
    let of_length = |constraint: &str, number: &str| {
        format!(
            "1 validation error detected: Value '{number}' at 'sequenceNumber' failed to satisfy \
             constraint: Member must have length {constraint}"
        )
    };
    for number in ["", "1", "-1", "abc", "11111111111111111111"] {
        for position in [ShardPosition::At(number.into()), ShardPosition::After(number.into())] {
            let result = ctx.store().get_shard_iterator(at(&arn, &shard.id, position)).await;
            ctx.expect_validation(result, &of_length("greater than or equal to 21", number));
        }
    }
    let long = "9".repeat(41);
    let position = ShardPosition::At(long.as_str().into());
    let result = ctx.store().get_shard_iterator(at(&arn, &shard.id, position)).await;
    ctx.expect_validation(result, &of_length("less than or equal to 40", &long));
    // This number is before the first one of the shard.
    let position = ShardPosition::At("000000000000000000000".into());
    let result = ctx.store().get_shard_iterator(at(&arn, &shard.id, position)).await;
    ctx.expect_validation(result, "Invalid SequenceNumber for the shard");
}

pub(super) async fn unknown_shard_is_rejected(ctx: Ctx) {
    let (_, arn, _, _) = five_records(&ctx).await;
    let (_, _, of_another, _) = five_records(&ctx).await;
    for shard in ["shardId-00000000000000000000-00000000".into(), of_another.id] {
        let result =
            ctx.store().get_shard_iterator(at(&arn, &shard, ShardPosition::TrimHorizon)).await;
        ctx.expect_code(
            result,
            "ResourceNotFoundException",
            "Requested resource not found: Shard does not exist",
        );
    }
}

pub(super) async fn unknown_stream_is_rejected(ctx: Ctx) {
    let (_, arn, shard, _) = five_records(&ctx).await;
    // The labels are another millisecond of the same table, and a stream of a missing table.
    let other = if arn.0.ends_with('1') { '2' } else { '1' };
    let cut = &arn.0[..arn.0.len() - 1];
    let made_up =
        "arn:aws:dynamodb:us-east-1:000000000000:table/none/stream/2026-01-01T00:00:00.000";
    for arn in [StreamArn(format!("{cut}{other}")), made_up.into()] {
        let result = ctx.store().describe_stream(DescribeStream::new(arn.clone())).await;
        let message = format!("Requested resource not found: Stream: {arn} not found");
        ctx.expect_code(result, "ResourceNotFoundException", &message);
        let request = at(&arn, &shard.id, ShardPosition::TrimHorizon);
        let result = ctx.store().get_shard_iterator(request).await;
        ctx.expect_kind(result, "NotFound", |kind| matches!(kind, ErrorKind::NotFound));
    }
}

/// Texts that are long enough for a stream ARN but are none.
const MALFORMED: [&str; 5] = [
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "arn:aws:dynamodb:us-east-1:000000000000:table/none",
    "arn:aws:dynamodb:us-east-1:000000000000:table/none/stream/",
    "arn:aws:dynamodb:us-east-1:000000000000:table/none/index/by-name",
    "arn:aws:kinesis:us-east-1:000000000000:stream/none/2026-01-01T00:00:00.000",
];

pub(super) async fn malformed_stream_arn_is_rejected(ctx: Ctx) {
    let (_, arn, shard, _) = five_records(&ctx).await;
    for text in MALFORMED {
        let malformed = StreamArn::from(text);
        let result = ctx.store().describe_stream(DescribeStream::new(malformed.clone())).await;
        ctx.expect_validation_with(result, "Invalid StreamArn");
        let request = at(&malformed, &shard.id, ShardPosition::TrimHorizon);
        let result = ctx.store().get_shard_iterator(request).await;
        ctx.expect_validation_with(result, "Invalid StreamArn");
    }
    iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
}

pub(super) async fn list_after_malformed_arn_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    let arn = ctx.stream_of(&table).await;
    for text in MALFORMED {
        for table in [None, Some(table.name().to_owned())] {
            let start = StreamArn::from(text);
            let request = assign!(ListStreams::new().exclusive_start_stream(start), { table });
            let result = ctx.store().list_streams(request).await;
            ctx.expect_validation_with(result, "Invalid StreamArn");
        }
    }
    let request = ListStreams::of_table(&table).exclusive_start_stream(arn);
    assert_eq!(ctx.ok(ctx.store().list_streams(request).await).streams, []);
}

pub(super) async fn malformed_iterator_is_rejected(ctx: Ctx) {
    let (_, arn, shard, _) = five_records(&ctx).await;
    let good = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    for iterator in ["garbage".into(), ShardIterator("x".repeat(2000))] {
        let result = ctx.store().get_records(GetRecords::new(iterator)).await;
        ctx.expect_validation(result, "Invalid ShardIterator");
    }
    assert_eq!(read(&ctx, good).await.records.len(), 5);
}

pub(super) async fn reused_iterator_returns_the_same_records(ctx: Ctx) {
    let (table, arn, shard, records) = five_records(&ctx).await;
    let iterator = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    for _ in 0..3 {
        assert_eq!(read(&ctx, iterator.clone()).await.records, records);
    }
    write_numbers(&ctx, &table, 6..=6).await;
    ctx.records(&table, 6).await;
    assert_eq!(numbers(&read(&ctx, iterator).await.records), [1, 2, 3, 4, 5, 6]);
}

pub(super) async fn iterator_expires_after_15_minutes(ctx: Ctx) {
    let (_, arn, shard, records) = five_records(&ctx).await;
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    let first = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    ctx.clock().advance(minutes(14));
    let page = read(&ctx, first.clone()).await;
    assert_eq!(page.records, records);
    // The next iterator is a new one.
    let next = page.next_iterator.expect("an open shard has a next iterator");
    ctx.clock().advance(minutes(2));
    let expired = ctx.store().get_records(GetRecords::new(first)).await;
    let error = ctx.expect_code(expired, "ExpiredIteratorException", "Shard iterator has expired");
    assert_eq!(error.kind(), &ErrorKind::ExpiredIterator);
    assert_eq!(read(&ctx, next.clone()).await.records, []);
    ctx.clock().advance(minutes(14));
    let expired = ctx.store().get_records(GetRecords::new(next)).await;
    ctx.expect_code(expired, "ExpiredIteratorException", "Shard iterator has expired");
    // The records are still there.
    let again = ShardPosition::After(records[1].sequence_number.clone());
    let found = read(&ctx, iterator(&ctx, &arn, &shard.id, again).await).await;
    assert_eq!(numbers(&found.records), [3, 4, 5]);
}

pub(super) async fn iterator_of_empty_shard_finds_the_first_record(ctx: Ctx) {
    let shape = || TableSpec::s().stream(StreamViewType::NewImage);
    let table = ctx.table(shape()).await;
    let other = ctx.table(shape()).await;
    let arn = ctx.stream_of(&table).await;
    let empty = ctx.ok(ctx.store().describe_stream(DescribeStream::new(arn.clone())).await);
    let mut taken = Vec::new();
    for shard in &empty.shards {
        for position in [ShardPosition::TrimHorizon, ShardPosition::Latest] {
            let iterator = iterator(&ctx, &arn, &shard.id, position).await;
            let page = read(&ctx, iterator).await;
            assert_eq!(page.records, []);
            taken.push(page.next_iterator.expect("an open shard has a next iterator"));
        }
    }
    // Sequence numbers of another stream do not affect this one.
    write_numbers(&ctx, &other, 1..=3).await;
    write_numbers(&ctx, &table, 1..=1).await;
    ctx.records(&table, 1).await;
    let mut found = Vec::new();
    for iterator in taken {
        found.extend(numbers(&read(&ctx, iterator).await.records));
    }
    assert_eq!(found, [1, 1], "one shard must have the record, from either end");
}

pub(super) async fn read_returns_up_to_its_limit(ctx: Ctx) {
    let (_, arn, shard, _) = five_records(&ctx).await;
    let iterator = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    let read = |iterator: ShardIterator, limit: i32| {
        let store = ctx.store();
        async move { store.get_records(GetRecords::new(iterator).limit(limit)).await }
    };
    for limit in [0, -1] {
        let message = format!(
            "1 validation error detected: Value '{limit}' at 'limit' failed to satisfy \
             constraint: Member must have value greater than or equal to 1"
        );
        ctx.expect_validation(read(iterator.clone(), limit).await, &message);
    }
    ctx.expect_validation(
        read(iterator.clone(), 1001).await,
        "One or more parameter values were invalid: Limit should be less than or equal to 1000",
    );
    assert_eq!(ctx.ok(read(iterator.clone(), 1000).await).records.len(), 5);
    let mut next = iterator;
    for expected in [vec![1, 2], vec![3, 4], vec![5], vec![]] {
        let page = ctx.ok(read(next, 2).await);
        assert_eq!(numbers(&page.records), expected);
        next = page.next_iterator.expect("an open shard has a next iterator");
    }
}

pub(super) async fn read_returns_up_to_1_mb(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    for n in 1..=5 {
        ctx.put(&table, numbered("a", n).with("filler", "x".repeat(300 * 1024))).await;
    }
    assert_eq!(numbers(&ctx.records(&table, 5).await), [1, 2, 3, 4, 5]);
    let (arn, shard) = written_shard(&ctx, &table).await;
    let mut next = iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
    let mut found = Vec::new();
    while found.len() < 5 {
        let page = read(&ctx, next).await;
        let size: u64 = page.records.iter().map(|record| record.size_bytes).sum();
        assert!(size <= 1024 * 1024, "a page has {size} bytes");
        assert!(!page.records.is_empty(), "empty page after {found:?}");
        found.extend(numbers(&page.records));
        next = page.next_iterator.expect("an open shard has a next iterator");
    }
    assert_eq!(found, [1, 2, 3, 4, 5]);
}
