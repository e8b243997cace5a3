//! Order in which streams and shards are read.

use super::*;

#[tokio::test]
async fn second_drain_continues_after_the_first() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    let notes = Notes::new();
    (1..=250).for_each(|n| fake.write("s", "a", n));
    let drained = consumer(&fake, 1).drain(&notes).await.unwrap();
    assert_eq!(drained, DrainReport { handled: 250, set_aside: 0, leased_elsewhere: 0 });
    assert_eq!(notes.handled(), pairs("a", 1..=250));
    (251..=260).for_each(|n| fake.write("s", "a", n));
    let drained = consumer(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!(drained, DrainReport { handled: 10, set_aside: 0, leased_elsewhere: 0 });
    assert_eq!(notes.of("a"), (1..=260).collect::<Vec<_>>());
    assert!(fake.clock.sleeps().is_empty(), "a drain without other workers does not wait");
}

#[tokio::test]
async fn parent_shards_are_finished_before_their_children() {
    let fake = Fake::new().await;
    // Pages have two shards, and a child is listed before its parent.
    for (shard, parent) in
        [("c", Some("b")), ("a", None), ("b", Some("a")), ("e", Some("b")), ("x", Some("deleted"))]
    {
        fake.add_shard(shard, parent);
    }
    for (n, shard) in (1..).zip(["a", "b", "c"]) {
        fake.write(shard, "item", n);
    }
    fake.write("e", "other", 4);
    fake.write("x", "third", 1);
    fake.close("a");
    fake.close("b");
    let notes = Notes::new();
    let drained = consumer(&fake, 1).drain(&notes).await.unwrap();
    assert_eq!(drained.handled, 5);
    assert_eq!(notes.of("item"), [1, 2, 3]);
    let status = consumer(&fake, 1).status().await.unwrap().unwrap();
    let finished: Vec<&str> =
        status.shards.iter().filter(|shard| shard.finished).map(|s| s.shard.0.as_str()).collect();
    assert_eq!(finished, ["a", "b"]);
}

#[tokio::test]
async fn open_parent_blocks_its_children() {
    let fake = Fake::new().await;
    fake.add_shard("a", None);
    fake.add_shard("b", Some("a"));
    fake.write("b", "item", 2);
    let notes = Notes::new();
    consumer(&fake, 1).drain(&notes).await.unwrap();
    assert_eq!(notes.handled(), []);
    fake.write("a", "item", 1);
    fake.close("a");
    consumer(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!(notes.of("item"), [1, 2]);
}

#[tokio::test]
async fn new_shards_are_found_and_deleted_ones_removed() {
    let fake = Fake::new().await;
    fake.add_shard("a", None);
    let notes = Notes::new();
    let worker = Worker::start(consumer(&fake, 1), &notes);
    fake.write("a", "item", 1);
    settle(|| notes.of("item") == [1]).await;
    fake.write("a", "item", 2);
    fake.add_shard("b", Some("a"));
    fake.write("b", "item", 3);
    fake.close("a");
    pass(&fake, LEASE).await;
    assert_eq!(notes.of("item"), [1, 2, 3]);
    let shards = async || {
        let status = consumer(&fake, 9).status().await.unwrap().unwrap();
        status.shards.into_iter().map(|shard| shard.shard.0).collect::<Vec<_>>()
    };
    assert_eq!(shards().await, ["a", "b"]);
    fake.forget("a");
    pass(&fake, LEASE * 2).await;
    assert_eq!(shards().await, ["b"]);
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn newer_stream_is_read_after_the_older_one() {
    let fake = Fake::new().await;
    fake.add_shard("a", None);
    fake.write("a", "item", 1);
    let notes = Notes::new();
    let worker = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.of("item") == [1]).await;
    fake.add_stream("2");
    // The records have the same item as in the older stream.
    fake.add_shard("b", None);
    fake.write("b", "item", 3);
    pass(&fake, LEASE).await;
    assert_eq!(notes.of("item"), [1], "the older stream is still open");
    fake.write("a", "item", 2);
    fake.close("a");
    pass(&fake, LEASE).await;
    assert_eq!(notes.of("item"), [1, 2, 3]);
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn deleted_stream_does_not_block_the_next() {
    let fake = Fake::new().await;
    fake.add_shard("a", None);
    fake.write("a", "item", 1);
    let notes = Notes::new();
    consumer(&fake, 1).drain(&notes).await.unwrap();
    // The table was deleted and created again, on an engine that deletes the stream with its table.
    fake.forget_stream("1");
    fake.add_stream("2");
    fake.add_shard("b", None);
    fake.write("b", "item", 1);
    // The shard was read to its end a moment before, so there is no gap.
    consumer(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!(notes.of("item"), [1, 1]);
    let status = consumer(&fake, 2).status().await.unwrap().unwrap();
    assert_eq!((status.gaps, status.shards.len()), (0, 1));
}
