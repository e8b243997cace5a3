//! Contestants in this process: `file:`, files by hand, and `object_store`.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures::StreamExt;
use object_store::local::LocalFileSystem;
use object_store::{ObjectStoreExt, path::Path as ObjectPath};
use tabla_core::blobs::{Blobs, Checksum, DeleteBlob, GetBlob, PutBlob};
use tabla_s3::{FileBlobs, FileFolder};
use tokio::task::JoinSet;

use super::Contestant;
use super::comparison::Turn;
use crate::embedded::Failure;
use crate::http::client::LoadRun;
use crate::median::{Durations, Stopwatch};

/// Bucket of `file:`, which exists from the start.
pub(super) const BUCKET: &str = "default";

/// Bytes that are read from a plain file at a time.
const PIECE_BYTES: usize = 256 << 10;

/// Place that stores blobs in a folder.
#[derive(Clone)]
pub(super) enum Local {
    File(Arc<FileBlobs>),
    Plain(PathBuf),
    ObjectStore(Arc<LocalFileSystem>),
}

impl Local {
    /// Opens the contestant's folder in `parent`, and creates it if it is missing.
    pub(super) async fn open(
        contestant: Contestant,
        parent: &Path,
        sweeps: bool,
    ) -> Result<Self, Failure> {
        let folder = parent.join(contestant.name().replace([' ', ':'], "-"));
        Ok(match contestant {
            Contestant::File => {
                let opened = FileFolder::open(&folder).await?.with_sweeps(sweeps);
                Self::File(Arc::new(opened.blobs(BUCKET)?))
            }
            Contestant::ObjectStore | Contestant::ObjectStoreSynced => {
                create(&folder)?;
                let store = LocalFileSystem::new_with_prefix(&folder)?;
                let is_synced = contestant == Contestant::ObjectStoreSynced;
                Self::ObjectStore(Arc::new(store.with_fsync(is_synced)))
            }
            _ => {
                create(&folder)?;
                Self::Plain(folder)
            }
        })
    }

    /// Writes a blob. Only `file:` uses the checksum.
    pub(super) async fn put(
        &self,
        key: String,
        content: Bytes,
        checksum: Option<Checksum>,
    ) -> Result<(), Failure> {
        match self {
            Self::File(blobs) => {
                let mut put = PutBlob::new(key, content);
                put.expected_checksums.extend(checksum);
                blobs.put(put).await?;
            }
            Self::ObjectStore(store) => drop(store.put(&path(&key), content.into()).await?),
            Self::Plain(folder) => {
                let folder = folder.clone();
                blocking(move || write_synced(&folder, &key, &content)).await?;
            }
        }
        Ok(())
    }

    /// Reads a blob as a stream; `see` gets its pieces.
    pub(super) async fn get(
        &self,
        key: String,
        mut see: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<(), Failure> {
        match self {
            Self::File(blobs) => {
                let mut body = blobs.get(GetBlob::new(key)).await?.body;
                while let Some(piece) = body.next().await {
                    see(&piece?);
                }
            }
            Self::ObjectStore(store) => {
                let mut body = store.get(&path(&key)).await?.into_stream();
                while let Some(piece) = body.next().await {
                    see(&piece?);
                }
            }
            Self::Plain(folder) => {
                let path = folder.join(key);
                blocking(move || read(&path, see)).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn delete(&self, key: String) -> Result<(), Failure> {
        match self {
            Self::File(blobs) => drop(blobs.delete(DeleteBlob::new(key)).await?),
            Self::ObjectStore(store) => store.delete(&path(&key)).await?,
            Self::Plain(folder) => fs::remove_file(folder.join(key))?,
        }
        Ok(())
    }

    /// Executes the operations of a turn: each caller takes the next one after its last has ended.
    pub(super) async fn turn(&self, turn: &Turn) -> Result<LoadRun, Failure> {
        let next = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        let watch = Stopwatch::start();
        for _ in 0..turn.row.callers {
            let (this, turn, next) = (self.clone(), turn.clone(), Arc::clone(&next));
            tasks.spawn(async move {
                let mut durations = Durations::default();
                loop {
                    let step = next.fetch_add(1, Ordering::Relaxed);
                    if step >= turn.ops {
                        return Ok::<_, Failure>(durations);
                    }
                    durations.time(this.step(&turn, step)).await?;
                }
            });
        }
        let mut durations = Durations::default();
        while let Some(done) = tasks.join_next().await {
            durations.join(done??);
        }
        Ok(LoadRun { seconds: watch.seconds(), durations })
    }

    async fn step(&self, turn: &Turn, step: u64) -> Result<(), Failure> {
        if turn.is_put() {
            return self.put(turn.key(step), turn.content.clone(), turn.checksum.clone()).await;
        }
        let length = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&length);
        let count = move |piece: &[u8]| {
            counted.fetch_add(piece.len() as u64, Ordering::Relaxed);
        };
        self.get(turn.key(step), count).await?;
        match length.load(Ordering::Relaxed) == turn.content.len() as u64 {
            true => Ok(()),
            false => Err("a blob was not read whole".into()),
        }
    }
}

/// Creates a folder, without a system call if it exists: in the measurement of fsyncs each attempt
/// counts as a mark.
fn create(folder: &Path) -> std::io::Result<()> {
    match folder.exists() {
        true => Ok(()),
        false => fs::create_dir(folder),
    }
}

fn path(key: &str) -> ObjectPath {
    ObjectPath::from(key)
}

/// Writes a file that a power failure cannot undo.
fn write_synced(folder: &Path, key: &str, content: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(folder.join(key))?;
    file.write_all(content)?;
    file.sync_all()?;
    File::open(folder)?.sync_all()
}

fn read(path: &Path, mut see: impl FnMut(&[u8])) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len() as usize;
    let mut buffer = vec![0; length.min(PIECE_BYTES)];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            count => see(&buffer[..count]),
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    Ok(tokio::task::spawn_blocking(work).await??)
}
