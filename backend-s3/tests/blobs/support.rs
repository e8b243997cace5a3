//! Folders, contents and checks that several of these tests use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::channel::mpsc;
use tabla_core::blobs::*;
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_core::{Error, Result};
use tabla_s3::{Buckets, FileBlobs, FileFolder, MemoryBuckets};

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

/// Folder whose bucket `default` is open, without sweeps of its own.
pub(crate) async fn open(path: &Path) -> (FileFolder, FileBlobs) {
    let folder = FileFolder::open(path).await.expect("a folder").with_sweeps(false);
    let blobs = folder.blobs("default").expect("the default bucket");
    (folder, blobs)
}

/// Folder in a temporary folder, on a manual clock.
pub(crate) struct Sample {
    pub(crate) clock: ManualClock,
    pub(crate) path: PathBuf,
    pub(crate) folder: FileFolder,
    pub(crate) blobs: Arc<FileBlobs>,
    _parent: tempfile::TempDir,
}

impl Sample {
    pub(crate) async fn new() -> Self {
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join("assets");
        let (clock, env) = manual();
        let folder = FileFolder::open_with_env(&path, env).await.expect("a folder");
        let folder = folder.with_sweeps(false);
        let blobs = Arc::new(folder.blobs("default").expect("the default bucket"));
        Self { clock, path, folder, blobs, _parent: parent }
    }

    /// Paths of all files with bytes of blobs.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        data_files(&self.path)
    }
}

pub(crate) fn manual() -> (ManualClock, Env) {
    let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
    (clock.clone(), Env::test(clock, 1))
}

/// Buckets in memory and in a folder, on manual clocks.
pub(crate) async fn both() -> (Vec<(&'static str, Arc<dyn Buckets>)>, tempfile::TempDir) {
    let parent = tempfile::tempdir().expect("a folder");
    let path = parent.path().join("assets");
    let folder = FileFolder::open_with_env(path, manual().1).await.expect("a folder");
    let memory = MemoryBuckets::with_env(manual().1);
    (vec![("memory", Arc::new(memory)), ("file", Arc::new(folder))], parent)
}

/// Repeatable bytes: a block that depends on the seed, again and again.
pub(crate) fn bytes(seed: u64, length: usize) -> Bytes {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut block = Vec::with_capacity(8 * 1009);
    for _ in 0..1009 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        block.extend_from_slice(&state.to_le_bytes());
    }
    let mut all = block.repeat(length.div_ceil(block.len()));
    all.truncate(length);
    all.into()
}

/// Body whose pieces a test sends.
pub(crate) fn slow_body(length: usize) -> (mpsc::UnboundedSender<Result<Bytes>>, Body) {
    let (send, receive) = mpsc::unbounded();
    (send, Body::stream(length as u64, receive.boxed()))
}

/// Stream of these bytes in pieces.
pub(crate) fn pieces(bytes: &Bytes, length: usize) -> Body {
    let all: Vec<Result<Bytes>> =
        bytes.chunks(length).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    Body::stream(bytes.len() as u64, futures::stream::iter(all))
}

/// Multipart upload of these parts.
pub(crate) async fn upload_parts(
    blobs: &dyn Blobs,
    key: &str,
    parts: &[Bytes],
) -> Result<PutBlobOutput> {
    let upload = blobs.create_upload(CreateUpload::new(key)).await?.upload;
    let mut stored = Vec::new();
    for (number, part) in (1..).zip(parts) {
        let part = UploadPart::new(key, &upload, number, part.clone());
        stored.push(blobs.upload_part(part).await?);
    }
    blobs.complete_upload(CompleteUpload::new(key, upload, stored)).await
}

pub(crate) async fn read(blobs: &dyn Blobs, key: &str) -> Result<Bytes> {
    blobs.get(GetBlob::new(key)).await?.body.collect().await
}

/// Error of a call that must fail.
pub(crate) fn failure<T>(outcome: Result<T>) -> Error {
    outcome.err().expect("an error")
}

/// Paths of all files with bytes of blobs.
pub(crate) fn data_files(folder: &Path) -> Vec<PathBuf> {
    let entries = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    };
    entries(&folder.join("data")).iter().flat_map(|subfolder| entries(subfolder)).collect()
}

/// Panics unless catalogue and files agree: each listed file is there in its length, each file is
/// listed or garbage, and the counts of links are those of the rows.
pub(crate) fn assert_agreement(folder: &Path) {
    let catalogue = rusqlite::Connection::open(folder.join("catalogue.db")).expect("a catalogue");
    let integrity: String =
        catalogue.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a result");
    assert_eq!(integrity, "ok");
    let mut listed: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    let mut statement = catalogue
        .prepare("SELECT files FROM blob WHERE files IS NOT NULL UNION ALL SELECT files FROM part")
        .expect("a statement");
    let lists = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).expect("rows");
    for list in lists {
        for segment in list.expect("a list").chunks(24) {
            let length = u64::from_be_bytes(segment[16..].try_into().expect("8 bytes"));
            let counted = listed.entry(hex(&segment[..16])).or_insert((length, 0));
            counted.1 += 1;
        }
    }
    let ids = |sql: &str| -> BTreeMap<String, i64> {
        let mut statement = catalogue.prepare(sql).expect("a statement");
        let rows =
            statement.query_map([], |row| Ok((hex(&row.get::<_, Vec<u8>>(0)?), row.get(1)?)));
        rows.expect("rows").map(|row| row.expect("a row")).collect()
    };
    let links: BTreeMap<String, i64> =
        listed.iter().map(|(id, (_, links))| (id.clone(), *links)).collect();
    assert_eq!(ids("SELECT id, links FROM file"), links);
    let garbage = ids("SELECT file, since FROM garbage");
    let found: BTreeMap<String, u64> = data_files(folder)
        .iter()
        .map(|path| {
            let name = path.file_name().expect("a name").to_str().expect("text").to_owned();
            (name, path.metadata().expect("a file").len())
        })
        .collect();
    for (id, (length, _)) in &listed {
        assert_eq!(found.get(id), Some(length), "file {id}");
    }
    for id in found.keys() {
        assert!(listed.contains_key(id) || garbage.contains_key(id), "unreferenced file {id}");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Command that runs one test of this program in a child process.
pub(crate) fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command
}
