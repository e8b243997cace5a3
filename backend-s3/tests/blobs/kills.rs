//! Processes that are killed while they upload: acknowledged blobs are whole, and no other blob is
//! visible in part.
//!
//! `TABLA_KILLS` is the number of kills; the long form is 50.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt as _;
use tabla_core::blobs::*;
use tabla_core::env::{Random, SystemRandom};

use crate::support::*;

const KILLS: usize = 5;
const WRITERS: u64 = 8;
/// Environment variable that marks the child process; its value is the path of the folder.
const CHILD: &str = "TABLA_TEST_UPLOADER";
/// Part of a multipart blob: the least that S3 accepts.
const PART: usize = 5 << 20;

/// Content of a writer's blob: a function of its number.
fn content(writer: u64, number: u64) -> Bytes {
    let length = match number % 4 {
        0 => 100,
        1 => 300_000,
        2 => 1_000_000,
        // As two parts.
        _ => PART + 1000,
    };
    bytes(writer << 32 | number, length)
}

/// Writes one blob: from memory, from a stream, or in parts.
async fn write(blobs: &dyn Blobs, key: &str, number: u64, content: Bytes) {
    match number % 4 {
        3 => {
            let parts = [content.slice(..PART), content.slice(PART..)];
            upload_parts(blobs, key, &parts).await.expect("an upload");
        }
        2 => {
            let body = pieces(&content, 60_000);
            blobs.put(PutBlob::new(key, body)).await.expect("a put");
        }
        _ => {
            blobs.put(PutBlob::new(key, content)).await.expect("a put");
        }
    }
}

/// Writes until the process is killed, and prints each acknowledged number. Each writer counts up:
/// it writes a new blob, replaces its blob `last`, and deletes the blob of 8 numbers before.
async fn write_forever(path: &Path) {
    let (_folder, blobs) = open(path).await;
    let blobs = Arc::new(blobs);
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let blobs = Arc::clone(&blobs);
        tasks.spawn(async move {
            let last = blobs.info(&format!("{writer}/last")).await.expect("a description");
            let mut number = last.map_or(0, |last| number_of(&last)) + 1;
            loop {
                let content = content(writer, number);
                write(&*blobs, &format!("{writer}/{number:08}"), number, content.clone()).await;
                let put = PutBlob::new(format!("{writer}/last"), content);
                blobs.put(put.metadata("number", number.to_string())).await.expect("a put");
                if let Some(old) = number.checked_sub(8) {
                    let delete = DeleteBlob::new(format!("{writer}/{old:08}"));
                    blobs.delete(delete).await.expect("a delete");
                }
                // One call per line, so that a kill does not leave part of a line.
                let line = format!("ack {writer} {number}\n");
                std::io::stdout().lock().write_all(line.as_bytes()).expect("a parent that reads");
                number += 1;
            }
        });
    }
    tasks.join_all().await;
}

fn number_of(last: &BlobInfo) -> u64 {
    last.metadata["number"].parse().expect("a number")
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_that_uploads() {
    let Ok(path) = std::env::var(CHILD) else { return };
    block_on(write_forever(path.as_ref()));
}

/// Starts a child, kills it after a number of acknowledgments, and records the last acknowledged
/// number of each writer.
fn write_and_kill(path: &Path, answers: usize, acknowledged: &mut BTreeMap<u64, u64>) {
    let mut child = child("kills::child_that_uploads")
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let (mut is_killed, mut seen) = (false, 0);
    let lines = BufReader::new(child.stdout.take().expect("piped output")).lines();
    for line in lines.map_while(Result::ok) {
        // The test runner of the child prints a prefix without a line end.
        if let Some((_, answer)) = line.split_once("ack ")
            && let Some((writer, number)) = answer.split_once(' ')
            && let (Ok(writer), Ok(number)) = (writer.parse(), number.parse())
        {
            acknowledged.insert(writer, number);
            seen += 1;
        }
        if seen >= answers && !is_killed {
            child.kill().expect("a running child");
            is_killed = true;
        }
    }
    assert!(is_killed, "the child ended by itself after {seen} acknowledgments");
    child.wait().expect("a killed child");
}

/// Verifies the folder before and after a sweep. A number that is found counts as acknowledged
/// afterwards, because it must not disappear again.
async fn verify(path: &Path, acknowledged: &mut BTreeMap<u64, u64>) {
    let (folder, blobs) = open(path).await;
    for (writer, acknowledged) in acknowledged {
        let key = format!("{writer}/last");
        let last = number_of(&blobs.head(HeadBlob::new(&key)).await.expect("a blob"));
        // All that was acknowledged, and at most the number that was in flight.
        let one_more = *acknowledged + 1;
        assert!(last == *acknowledged || last == one_more, "{last}, acknowledged {acknowledged}");
        assert_eq!(read(&blobs, &key).await.expect("a whole blob"), content(*writer, last));
        for number in last.saturating_sub(7).max(1)..=last {
            let found = read(&blobs, &format!("{writer}/{number:08}")).await;
            assert_eq!(found.expect("a whole blob"), content(*writer, number));
        }
        *acknowledged = last;
    }
    // Whatever is visible is whole.
    let all: Vec<BlobSummary> =
        blobs.list_all(ListBlobs::new()).try_collect().await.expect("pages");
    for blob in &all {
        let found = read(&blobs, &blob.key).await.expect("a whole blob");
        assert_eq!(found.len() as u64, blob.size, "{}", blob.key);
        let (writer, number) = blob.key.split_once('/').expect("a writer");
        if let Ok(number) = number.parse() {
            assert_eq!(found, content(writer.parse().expect("a writer"), number), "{}", blob.key);
        }
    }
    let report = folder.sweep().await.expect("a sweep");
    assert_eq!(report.in_progress, 0, "a killed process has no locks");
    assert_agreement(path);
    println!("{} blobs, {report:?}", all.len());
}

#[test]
fn acknowledged_blobs_survive_a_kill_and_no_other_is_visible_in_part() {
    let kills = std::env::var("TABLA_KILLS").map_or(KILLS, |text| text.parse().expect("a number"));
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("assets");
    let mut acknowledged = BTreeMap::new();
    for _ in 0..kills {
        let answers = 1 + SystemRandom.next_u64() as usize % 60;
        write_and_kill(&path, answers, &mut acknowledged);
        block_on(verify(&path, &mut acknowledged));
    }
}
