//! Distribution of the shards among workers.

use std::collections::BTreeMap;

use super::*;

async fn parts(fake: &Arc<Fake>) -> Vec<usize> {
    let status = consumer(fake, 99).status().await.unwrap().unwrap();
    let mut parts: BTreeMap<String, usize> =
        status.workers.into_iter().map(|worker| (worker, 0)).collect();
    for owner in status.shards.into_iter().filter_map(|shard| shard.owner) {
        *parts.entry(owner).or_default() += 1;
    }
    let mut parts: Vec<usize> = parts.into_values().collect();
    parts.sort_unstable();
    parts
}

#[tokio::test]
async fn shards_are_rebalanced_when_workers_join_and_leave() {
    let fake = Fake::new().await;
    let shards: Vec<String> = (0..7).map(|n| format!("shard-{n}")).collect();
    shards.iter().for_each(|shard| fake.add_shard(shard, None));
    let notes = Notes::new();
    let mut n = 0;
    let mut write = |fake: &Fake| {
        n += 1;
        shards.iter().for_each(|shard| fake.write(shard, shard, n));
    };
    write(&fake);
    let first = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.handled().len() == 7).await;
    assert_eq!(parts(&fake).await, [7]);
    let second = Worker::start(consumer(&fake, 2), &notes);
    pass(&fake, LEASE).await;
    assert_eq!(parts(&fake).await, [3, 4]);
    write(&fake);
    let third = Worker::start(consumer(&fake, 3), &notes);
    pass(&fake, LEASE).await;
    assert_eq!(parts(&fake).await, [2, 2, 3]);
    write(&fake);
    second.stop().await.unwrap();
    pass(&fake, LEASE).await;
    assert_eq!(parts(&fake).await, [3, 4]);
    third.kill().await;
    pass(&fake, LEASE * 2).await;
    assert_eq!(parts(&fake).await, [7]);
    write(&fake);
    pass(&fake, LEASE).await;
    // A release happens between records, so no record is repeated.
    for shard in &shards {
        assert_eq!(notes.of(shard), [1, 2, 3, 4]);
    }
    first.stop().await.unwrap();
}

#[tokio::test]
async fn workers_without_a_shard_stay_idle() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    let notes = Notes::new();
    let workers: Vec<Worker> =
        (1..=3).map(|seed| Worker::start(consumer(&fake, seed), &notes)).collect();
    fake.write("s", "a", 1);
    pass(&fake, LEASE).await;
    assert_eq!(parts(&fake).await, [0, 0, 1]);
    fake.write("s", "a", 2);
    pass(&fake, LEASE).await;
    assert_eq!(notes.of("a"), [1, 2]);
    for worker in workers {
        worker.stop().await.unwrap();
    }
}
