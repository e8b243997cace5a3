//! Shards of a stream and their succession (56c, 56o).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::*;

/// Time for which a shard accepts records.
const LIFETIME: Duration = Duration::from_secs(4 * 60 * 60);

/// A shard with all its records.
struct Read {
    shard: Shard,
    records: Vec<Record>,
    /// Whether the reader reached the end of a closed shard.
    is_finished: bool,
}

/// Returns all shards of a stream, listed in pages of `limit`.
async fn described(ctx: &Ctx, arn: &StreamArn, limit: Option<i32>) -> Vec<Shard> {
    let mut shards = Vec::new();
    let mut request = DescribeStream::new(arn.clone()).limit(limit);
    // The bound makes a store with endless pages fail the case.
    for _ in 0..1000 {
        let page = ctx.ok(ctx.store().describe_stream(request.clone()).await);
        assert!(page.shards.len() <= limit.unwrap_or(100) as usize, "{page:?}");
        shards.extend(page.shards);
        request.exclusive_start_shard = page.last_evaluated_shard;
        if request.exclusive_start_shard.is_none() {
            return shards;
        }
    }
    panic!("more than 1000 pages of shards: {shards:?}");
}

/// Reads all shards of a stream, each to its end or, if it is open, to its last record.
async fn read_all(ctx: &Ctx, arn: &StreamArn) -> Vec<Read> {
    let mut all = Vec::new();
    for shard in described(ctx, arn, None).await {
        let mut records = Vec::new();
        let mut next = Some(iterator(ctx, arn, &shard.id, ShardPosition::TrimHorizon).await);
        let mut is_finished = false;
        while let Some(iterator) = next {
            let page = read(ctx, iterator).await;
            is_finished = page.next_iterator.is_none();
            next = page.next_iterator.filter(|_| !page.records.is_empty());
            records.extend(page.records);
        }
        all.push(Read { shard, records, is_finished });
    }
    all
}

/// Pads a sequence number to 40 digits, because numbers have 21 to 40.
fn comparable(number: &SequenceNumber) -> String {
    format!("{:0>40}", number.0)
}

/// Returns the oldest known ancestor of each shard. Parents stand before their children.
fn lineages(all: &[Read]) -> BTreeMap<ShardId, ShardId> {
    let mut roots: BTreeMap<ShardId, ShardId> = BTreeMap::new();
    for Read { shard, .. } in all {
        let parent = shard.parent.as_ref();
        if let Some(parent) = parent {
            let is_later = all.iter().any(|other| other.shard.id == *parent);
            assert_eq!(
                roots.contains_key(parent),
                is_later,
                "the parent {parent} is listed after {}",
                shard.id
            );
        }
        let root = parent.and_then(|parent| roots.get(parent)).unwrap_or(&shard.id).clone();
        assert!(roots.insert(shard.id.clone(), root).is_none(), "duplicate shard: {}", shard.id);
    }
    roots
}

/// Asserts that each of these items, by its key, has these numbers in its records: each once, in
/// order, and all in one lineage.
fn expect_histories(all: &[Read], expected: &BTreeMap<String, Vec<i32>>) {
    let roots = lineages(all);
    let mut ids = BTreeSet::new();
    let mut found: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    let mut places: BTreeMap<String, BTreeSet<&ShardId>> = BTreeMap::new();
    for Read { shard, records, .. } in all {
        let (first, last) = (&shard.starting_sequence_number, &shard.ending_sequence_number);
        for record in records {
            assert!(ids.insert(&record.event_id), "duplicate record: {record:?}");
            let number = comparable(&record.sequence_number);
            assert!(number >= comparable(first), "{record:?} is before {shard:?}");
            let is_inside = last.as_ref().is_none_or(|last| number <= comparable(last));
            assert!(is_inside, "{record:?} is after {shard:?}");
            let pk = record.keys.get("pk").and_then(|pk| pk.as_str().map(str::to_owned));
            let pk = pk.expect("the key is a string");
            found.entry(pk.clone()).or_default().extend(numbers(std::slice::from_ref(record)));
            places.entry(pk).or_default().insert(&roots[&shard.id]);
        }
    }
    assert_eq!(found, *expected);
    for (pk, places) in places {
        assert_eq!(places.len(), 1, "the records of {pk} are in several lineages");
    }
}

/// Writes `n` to each of these items.
async fn write_everywhere(ctx: &Ctx, table: &Table, items: i32, n: i32) {
    for item in 0..items {
        ctx.put(table, numbered(&format!("item-{item}"), n)).await;
    }
}

/// Returns the records that [`write_everywhere`] leaves in a stream.
fn histories(items: i32, numbers: std::ops::RangeInclusive<i32>) -> BTreeMap<String, Vec<i32>> {
    (0..items).map(|item| (format!("item-{item}"), numbers.clone().collect())).collect()
}

pub(super) async fn records_of_an_item_are_in_one_lineage(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    for n in 1..=3 {
        write_everywhere(&ctx, &table, 20, n).await;
    }
    ctx.records(&table, 60).await;
    let arn = ctx.stream_of(&table).await;
    let all = read_all(&ctx, &arn).await;
    expect_histories(&all, &histories(20, 1..=3));
    for Read { shard, is_finished, .. } in &all {
        assert!(!is_finished, "{shard:?} is open");
    }
}

pub(super) async fn shards_are_described_in_pages(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    write_everywhere(&ctx, &table, 1, 1).await;
    let arn = ctx.stream_of(&table).await;
    let all = described(&ctx, &arn, None).await;
    assert!(!all.is_empty());
    for limit in [1, 2, 3, 100] {
        assert_eq!(described(&ctx, &arn, Some(limit)).await, all, "in pages of {limit}");
    }
    let last = all.last().map(|shard| shard.id.clone());
    let request = DescribeStream::new(arn).exclusive_start_shard(last);
    let page = ctx.ok(ctx.store().describe_stream(request).await);
    assert_eq!((page.shards, page.last_evaluated_shard), (vec![], None));
}

pub(super) async fn shard_is_succeeded_by_a_child(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    let arn = ctx.stream_of(&table).await;
    write_everywhere(&ctx, &table, 20, 1).await;
    let parents = described(&ctx, &arn, None).await;
    ctx.clock().advance(LIFETIME - Duration::from_secs(1));
    write_everywhere(&ctx, &table, 20, 2).await;
    assert_eq!(described(&ctx, &arn, None).await, parents, "before the end of their lifetime");
    ctx.clock().advance(Duration::from_secs(1));
    write_everywhere(&ctx, &table, 20, 3).await;

    let all = read_all(&ctx, &arn).await;
    assert_eq!(all.len(), 2 * parents.len());
    expect_histories(&all, &histories(20, 1..=3));
    let (closed, open) = all.split_at(parents.len());
    for (before, after) in parents.iter().zip(closed) {
        assert_eq!(after.shard.id, before.id);
        assert!(after.shard.ending_sequence_number.is_some(), "{:?}", after.shard);
        assert!(after.is_finished, "{:?} is closed", after.shard);
        assert!(after.records.iter().all(|record| numbers(std::slice::from_ref(record)) != [3]));
    }
    for child in open {
        let parent =
            closed.iter().find(|parent| Some(&parent.shard.id) == child.shard.parent.as_ref());
        let parent = &parent.expect("the child has a parent").shard;
        let end = parent.ending_sequence_number.as_ref().expect("the shard is closed");
        let start = &child.shard.starting_sequence_number;
        assert!(comparable(start) > comparable(end), "{start} is not after {end}");
        assert_eq!(child.shard.ending_sequence_number, None);
        assert!(!child.is_finished, "{:?} is open", child.shard);
    }
    // New records are in the children.
    for parent in &parents {
        let latest = iterator(&ctx, &arn, &parent.id, ShardPosition::Latest).await;
        assert_eq!(read(&ctx, latest).await, GetRecordsOutput::default());
    }
}

pub(super) async fn closed_shard_ends_at_its_last_record(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    write_numbers(&ctx, &table, 1..=2).await;
    let (arn, shard) = written_shard(&ctx, &table).await;
    ctx.clock().advance(LIFETIME - Duration::from_secs(1));
    write_numbers(&ctx, &table, 3..=3).await;
    let newest = iterator(&ctx, &arn, &shard.id, ShardPosition::Latest).await;
    write_numbers(&ctx, &table, 4..=4).await;
    ctx.clock().advance(Duration::from_secs(1));
    write_numbers(&ctx, &table, 5..=6).await;
    let page = read(&ctx, newest).await;
    assert_eq!(numbers(&page.records), [4]);
    assert_eq!(page.next_iterator, None);
    // In pages of one record, the last page reports the end of the shard.
    let mut next = Some(iterator(&ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await);
    let mut found = Vec::new();
    while let Some(iterator) = next {
        let request = GetRecords::new(iterator).limit(1);
        let page = ctx.ok(ctx.store().get_records(request).await);
        assert_eq!(page.records.len(), 1, "after {found:?}");
        found.extend(numbers(&page.records));
        next = page.next_iterator;
    }
    assert_eq!(found, [1, 2, 3, 4]);
    let records = ctx.records(&table, 6).await;
    assert_eq!(numbers(&records), [1, 2, 3, 4, 5, 6]);
    // A sequence number is valid only in its own shard.
    for record in &records[4..] {
        let position = ShardPosition::At(record.sequence_number.clone());
        let result = ctx.store().get_shard_iterator(at(&arn, &shard.id, position)).await;
        ctx.expect_validation(result, "Invalid SequenceNumber for the shard");
    }
}

pub(super) async fn order_holds_across_shards(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    let arn = ctx.stream_of(&table).await;
    for n in 1..=5 {
        write_everywhere(&ctx, &table, 10, n).await;
        ctx.clock().advance(LIFETIME);
    }
    let all = read_all(&ctx, &arn).await;
    expect_histories(&all, &histories(10, 1..=5));
    let each: Vec<Shard> = all.iter().map(|read| read.shard.clone()).collect();
    for limit in [1, 3, 7] {
        assert_eq!(described(&ctx, &arn, Some(limit)).await, each, "in pages of {limit}");
    }
}

pub(super) async fn empty_shards_have_numbers_and_end(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    let arn = ctx.stream_of(&table).await;
    for n in 1..=2 {
        ctx.clock().advance(LIFETIME);
        write_numbers(&ctx, &table, n..=n).await;
    }
    set_stream(&ctx, &table, None).await;
    for Read { shard, is_finished, .. } in read_all(&ctx, &arn).await {
        assert!(is_finished, "{shard:?}");
        let (first, last) = (shard.starting_sequence_number, shard.ending_sequence_number);
        let last = last.expect("the shard is closed");
        assert!(comparable(&first) <= comparable(&last), "{first} is after {last}");
        for number in [first, last] {
            for position in [ShardPosition::At(number.clone()), ShardPosition::After(number)] {
                let iterator = iterator(&ctx, &arn, &shard.id, position).await;
                assert_eq!(read(&ctx, iterator).await.next_iterator, None);
            }
        }
    }
}

pub(super) async fn trimmed_shards_disappear(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    let arn = ctx.stream_of(&table).await;
    write_numbers(&ctx, &table, 1..=1).await;
    let first = described(&ctx, &arn, None).await;
    ctx.clock().advance(LIFETIME);
    write_numbers(&ctx, &table, 2..=2).await;
    let second = described(&ctx, &arn, None).await;
    // The records of the first shards are older than a day; those of the second shards are not.
    ctx.clock().advance(Duration::from_secs(24 * 60 * 60 + 1));
    let left = described(&ctx, &arn, None).await;
    assert_eq!(left, second[first.len()..]);
    for (gone, child) in first.iter().zip(&left) {
        assert_eq!(child.parent.as_ref(), Some(&gone.id), "a child must name its trimmed parent");
        let request = at(&arn, &gone.id, ShardPosition::TrimHorizon);
        let result = ctx.store().get_shard_iterator(request).await;
        ctx.expect_kind(result, "NotFound", |kind| matches!(kind, ErrorKind::NotFound));
    }
    // A caller in the middle of the pages can continue.
    let start = first.last().map(|shard| shard.id.clone());
    let request = DescribeStream::new(arn.clone()).exclusive_start_shard(start);
    assert_eq!(ctx.ok(ctx.store().describe_stream(request).await).shards, left);
    // There is an open shard for future records, even without writes for a long time.
    ctx.clock().advance(10 * LIFETIME);
    assert_eq!(described(&ctx, &arn, None).await, left);
    write_numbers(&ctx, &table, 3..=3).await;
    assert_eq!(numbers(&ctx.records(&table, 1).await), [3]);
    let now = described(&ctx, &arn, None).await;
    assert_eq!(now.len(), first.len(), "{now:?}");
    for (parent, child) in left.iter().zip(&now) {
        assert_eq!(child.parent.as_ref(), Some(&parent.id));
    }
}

pub(super) async fn disabling_closes_all_shards(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    let old = ctx.stream_of(&table).await;
    write_everywhere(&ctx, &table, 10, 1).await;
    ctx.records(&table, 10).await;
    set_stream(&ctx, &table, None).await;
    write_everywhere(&ctx, &table, 10, 2).await;
    let all = read_all(&ctx, &old).await;
    expect_histories(&all, &histories(10, 1..=1));
    for Read { shard, is_finished, .. } in &all {
        assert!(shard.ending_sequence_number.is_some(), "{shard:?}");
        assert!(is_finished, "{shard:?}");
    }
    set_stream(&ctx, &table, Some(StreamViewType::NewImage)).await;
    write_everywhere(&ctx, &table, 10, 3).await;
    ctx.records(&table, 10).await;
    let new = ctx.stream_of(&table).await;
    let again = read_all(&ctx, &new).await;
    expect_histories(&again, &histories(10, 3..=3));
    for Read { shard, is_finished, .. } in &again {
        assert_eq!(shard.parent, None, "a new stream must have new shards");
        assert!(!is_finished, "{shard:?}");
        assert!(all.iter().all(|closed| closed.shard.id != shard.id), "{shard:?}");
    }
    let all = read_all(&ctx, &old).await;
    expect_histories(&all, &histories(10, 1..=1));
}

/// Returns the children of a shard, listed with a shard filter.
async fn children(ctx: &Ctx, arn: &StreamArn, parent: &ShardId) -> Vec<Shard> {
    let filter = ShardFilter::ChildrenOf(parent.clone());
    let request = DescribeStream::new(arn.clone()).shard_filter(filter);
    let page = ctx.ok(ctx.store().describe_stream(request).await);
    assert_eq!(page.last_evaluated_shard, None);
    page.shards
}

pub(super) async fn filter_lists_children_of_a_shard(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await;
    let arn = ctx.stream_of(&table).await;
    for n in 1..=3 {
        write_everywhere(&ctx, &table, 20, n).await;
        ctx.clock().advance(LIFETIME);
    }
    let all = described(&ctx, &arn, None).await;
    let mut found = Vec::new();
    for parent in &all {
        let listed = children(&ctx, &arn, &parent.id).await;
        let expected: Vec<Shard> =
            all.iter().filter(|shard| shard.parent.as_ref() == Some(&parent.id)).cloned().collect();
        assert_eq!(listed, expected, "the children of {}", parent.id);
        found.extend(listed);
    }
    let (first, later) = all.split_at(all.len() / 3);
    assert_eq!(found, later, "the children of all shards must be each later shard once");
    // A limit of one is enough for an only child, and invalid limits are rejected.
    let filter = ShardFilter::ChildrenOf(first[0].id.clone());
    let request =
        |limit: i32| DescribeStream::new(arn.clone()).shard_filter(filter.clone()).limit(limit);
    let page = ctx.ok(ctx.store().describe_stream(request(1)).await);
    assert_eq!((page.shards.len(), page.last_evaluated_shard), (1, None));
    let refused = ctx.store().describe_stream(request(0)).await;
    ctx.expect_kind(refused, "Validation", |kind| matches!(kind, ErrorKind::Validation));
    // Children of a trimmed shard are listed; a trimmed child is not.
    ctx.clock().advance(Duration::from_secs(24 * 60 * 60 + 1) - 2 * LIFETIME);
    let left = described(&ctx, &arn, None).await;
    assert!(left.len() < all.len(), "{left:?}");
    for parent in &all {
        let expected: Vec<Shard> = left
            .iter()
            .filter(|shard| shard.parent.as_ref() == Some(&parent.id))
            .cloned()
            .collect();
        assert_eq!(children(&ctx, &arn, &parent.id).await, expected);
    }
}

/// Well-formed shard ids that sort before and after all existing ones.
const UNKNOWN: [&str; 2] =
    ["shardId-00000000000000000000-00000000", "shardId-99999999999999999999-ffffffff"];

pub(super) async fn filter_without_children_is_empty(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    let arn = ctx.stream_of(&table).await;
    let open = described(&ctx, &arn, None).await.into_iter().map(|shard| shard.id);
    for parent in open.chain(UNKNOWN.map(ShardId::from)) {
        let listed = children(&ctx, &arn, &parent).await;
        assert_eq!(listed, [], "{parent} has no children");
    }
}

pub(super) async fn filter_with_start_shard_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    let arn = ctx.stream_of(&table).await;
    let shard = described(&ctx, &arn, None).await.remove(0);
    let request = DescribeStream::new(arn)
        .exclusive_start_shard(shard.id.clone())
        .shard_filter(ShardFilter::ChildrenOf(shard.id));
    ctx.expect_validation(
        ctx.store().describe_stream(request).await,
        "ShardFilter and ExclusiveStartShardId both should not be specified in the request.",
    );
}

pub(super) async fn page_after_unknown_shard_is_empty(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    let arn = ctx.stream_of(&table).await;
    let other = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    let other = described(&ctx, &ctx.stream_of(&other).await, None).await.remove(0);
    for start in UNKNOWN.map(ShardId::from).into_iter().chain([other.id]) {
        let request = DescribeStream::new(arn.clone()).exclusive_start_shard(start.clone());
        let page = ctx.ok(ctx.store().describe_stream(request).await);
        assert_eq!((page.shards, page.last_evaluated_shard), (vec![], None), "after {start}");
    }
}
