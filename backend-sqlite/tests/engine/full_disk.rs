//! A disk that takes no more.

use std::path::Path;
use std::process::Command;

use tabla::ops::*;
use tabla::{ErrorKind, Retry, Store, item};

use crate::support::*;

/// Names the file to a child, and makes one of this test.
const CHILD: &str = "TABLA_TEST_FULL_DISK";
/// Items of one transaction.
const TOGETHER: i64 = 4;

fn transaction(number: i64) -> TransactWriteItems {
    (0..TOGETHER).fold(TransactWriteItems::new(), |several, part| {
        let item = order("c", number * TOGETHER + part, "open").with("note", "x".repeat(20_000));
        several.item(PutItem::new("orders", item))
    })
}

async fn write_until_full(path: &Path) {
    let store = open(path).await;
    let mut number = 0;
    let error = loop {
        match store.transact_write(transaction(number)).await {
            Ok(_) => println!("ack {number}"),
            Err(error) => break error,
        }
        number += 1;
        assert!(number < 10_000, "the disk has no end");
    };
    assert_eq!(error.kind(), &ErrorKind::Unavailable, "{error}");
    assert_eq!(error.retry(), Retry::Later);
    // What was there can be read, and what failed is not there.
    let present = |number: i64| {
        let key = item! { "pk" => "c", "sk" => number * TOGETHER };
        store.get(GetItem::new("orders", key))
    };
    assert!(present(number - 1).await.expect("a read").item.is_some());
    assert_eq!(present(number).await.expect("a read").item, None);
    // It fails again as long as there is no room, and never by half.
    assert!(store.transact_write(transaction(number)).await.is_err());
    assert_eq!(present(number).await.expect("a read").item, None);
    println!("full");
}

/// Only a child does anything here.
#[test]
fn child_on_a_small_disk() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(write_until_full(path.as_ref()));
}

/// The child's files may not grow past 2 MB: writes beyond fail, as they do on a full disk.
#[tokio::test]
async fn a_full_disk_loses_nothing_and_halves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    open(&path).await.create_table(orders()).await.unwrap();
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 4000; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "full_disk::child_on_a_small_disk", "--nocapture"])
        .env(CHILD, &path)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&limited.stdout);
    assert!(limited.status.success(), "{told}{}", String::from_utf8_lossy(&limited.stderr));
    assert!(told.contains("full"), "{told}");
    let answered = told.lines().filter(|line| line.starts_with("ack ")).count() as i64;
    assert!(answered > 0);

    // With room again, all that was answered is there, and the store goes on where it was.
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
    let store = open(&path).await;
    let described = store.describe_table(DescribeTable::new("orders")).await.unwrap();
    assert_eq!(described.item_count as i64, answered * TOGETHER);
    store.transact_write(transaction(answered)).await.unwrap();
}
