//! Files of uploads in progress.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, future};
use tabla_core::blobs::{Body, ByteStream, ChecksumPlan, Digests};
use tabla_core::{Error, Result};
use tokio::task::JoinHandle;

use super::data::{FileId, Files, Segment};
use super::entries::PendingEntry;
use super::error::from_io;
use super::folder::{Folder, blocking};
use crate::storage::Written;

/// Bytes that are gathered from a stream before they are written. Memory is twice as much. A body
/// that is not larger is received as a whole before its file is created.
const PIECE_BYTES: u64 = 256 << 10;

/// Written bytes after which a sync begins while the rest is received: the last sync then has little
/// left to write.
const SYNC_BYTES: u64 = 8 << 20;

/// Body that has been received.
pub(super) enum Received {
    /// The whole body, in memory.
    Pieces(Vec<Bytes>),
    /// A file with the whole body, which is not durable yet.
    File(NewFile, Digests),
}

impl Received {
    /// Receives a body.
    pub(super) async fn new(folder: &Arc<Folder>, plan: &ChecksumPlan, body: Body) -> Result<Self> {
        match body.length() {
            0..=PIECE_BYTES => Ok(Self::Pieces(body.into_stream().try_collect().await?)),
            _ => receive(folder, plan, body.into_stream()).await,
        }
    }

    /// Verifies the checksums, and makes the file durable. It blocks.
    pub(super) fn finish(
        self,
        folder: &Arc<Folder>,
        plan: &ChecksumPlan,
    ) -> Result<(UncommittedFile, Written<Files>)> {
        let (file, digests) = match self {
            Self::File(file, digests) => (file, digests),
            Self::Pieces(pieces) => {
                // The entry of the file is synced while the bytes are.
                let mut file = NewFile::create(folder)?;
                let mut digests = plan.start();
                pieces.iter().for_each(|piece| digests.update(piece));
                file.write(&pieces)?;
                (file, digests)
            }
        };
        file.finish(plan, digests)
    }
}

/// Writes a stream to a new file. A piece is hashed and written at the same time, while the next
/// piece arrives.
async fn receive(
    folder: &Arc<Folder>,
    plan: &ChecksumPlan,
    stream: ByteStream,
) -> Result<Received> {
    let mut source = Source { stream, rest: Bytes::new() };
    let create = {
        let folder = Arc::clone(folder);
        blocking(move || NewFile::create(&folder))
    };
    let (mut file, mut pieces) = future::try_join(create, source.gather()).await?;
    let mut digests = plan.start();
    let mut early = EarlySync::default();
    while !pieces.is_empty() {
        let hashed = pieces.clone();
        let hash = blocking(move || {
            hashed.iter().for_each(|piece| digests.update(piece));
            Ok(digests)
        });
        let write = blocking(move || {
            file.write(&pieces)?;
            Ok(file)
        });
        (digests, file, pieces) = future::try_join3(hash, write, source.gather()).await?;
        early.start_if_due(&file).await?;
    }
    early.end(&file).await?;
    Ok(Received::File(file, digests))
}

/// Stream that is cut into pieces of one size.
struct Source {
    stream: ByteStream,
    /// Received bytes that are not passed on yet.
    rest: Bytes,
}

impl Source {
    /// The next bytes; none at the end.
    async fn gather(&mut self) -> Result<Vec<Bytes>> {
        let (mut pieces, mut missing) = (Vec::new(), PIECE_BYTES as usize);
        while missing > 0 {
            if self.rest.is_empty() {
                match self.stream.next().await {
                    Some(piece) => self.rest = piece?,
                    None => break,
                }
            }
            let piece = self.rest.split_to(self.rest.len().min(missing));
            missing -= piece.len();
            pieces.push(piece);
        }
        Ok(pieces)
    }
}

/// Sync of a file that is still being written. At most one runs at a time.
#[derive(Default)]
struct EarlySync {
    /// Length of the file when the last one began.
    synced: u64,
    running: Option<JoinHandle<io::Result<()>>>,
}

impl EarlySync {
    async fn start_if_due(&mut self, file: &NewFile) -> Result<()> {
        let is_running = self.running.as_ref().is_some_and(|running| !running.is_finished());
        if is_running || file.length - self.synced < SYNC_BYTES {
            return Ok(());
        }
        self.end(file).await?;
        let synced = Arc::clone(&file.file);
        self.synced = file.length;
        self.running = Some(tokio::task::spawn_blocking(move || synced.sync_data()));
        Ok(())
    }

    /// Waits for the sync that runs. The system reports a failed write to one sync only.
    async fn end(&mut self, file: &NewFile) -> Result<()> {
        let Some(running) = self.running.take() else { return Ok(()) };
        // One that has not begun is not needed any more.
        running.abort();
        match running.await {
            Ok(outcome) => outcome.map_err(|error| file.failed("sync", error)),
            Err(_) => Ok(()),
        }
    }
}

/// File that is being written. It is removed when this is dropped, unless it is
/// [kept](UncommittedFile::keep).
///
/// It is locked exclusively, so that no sweep of any process removes it. The operating system
/// releases the lock of a killed process.
pub(super) struct NewFile {
    folder: Arc<Folder>,
    id: FileId,
    file: Arc<File>,
    entry: Option<PendingEntry>,
    length: u64,
    is_kept: bool,
}

impl NewFile {
    /// Creates an empty file with a new id, and begins to sync its entry. It blocks.
    fn create(folder: &Arc<Folder>) -> Result<Self> {
        loop {
            let id = folder.data.new_id(&folder.env);
            let path = folder.data.path(id);
            let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(from_io("create", &path, error)),
            };
            // From here on, dropping removes the file.
            let mut new = Self {
                folder: Arc::clone(folder),
                id,
                file: Arc::new(file),
                entry: None,
                length: 0,
                is_kept: false,
            };
            new.file.lock().map_err(|error| from_io("lock", &path, error))?;
            // A sweep may have locked and removed it before. Afterwards none does.
            if path.exists() {
                new.entry = Some(start_entry_sync(folder, id));
                return Ok(new);
            }
        }
    }

    /// Appends bytes. It blocks.
    fn write(&mut self, pieces: &[Bytes]) -> Result<()> {
        for piece in pieces {
            (&*self.file).write_all(piece).map_err(|error| self.failed("write", error))?;
            self.length += piece.len() as u64;
        }
        Ok(())
    }

    /// Verifies the checksums, and makes the file durable. It blocks.
    fn finish(
        self,
        plan: &ChecksumPlan,
        digests: Digests,
    ) -> Result<(UncommittedFile, Written<Files>)> {
        let (etag, checksum) = plan.finish(digests)?;
        self.file.sync_all().map_err(|error| self.failed("sync", error))?;
        if let Some(entry) = &self.entry {
            self.folder.data.wait_for_entry(entry)?;
        }
        let segment = Segment { file: self.id, length: self.length };
        let content = Files([segment].into());
        let written = Written { content, size: self.length, etag, checksum };
        Ok((UncommittedFile(self), written))
    }

    fn failed(&self, action: &str, error: io::Error) -> Error {
        from_io(action, &self.folder.data.path(self.id), error)
    }
}

/// Begins to make the entry of a new file durable.
fn start_entry_sync(folder: &Arc<Folder>, id: FileId) -> PendingEntry {
    let (entry, is_first) = folder.data.add_entry(id);
    if is_first {
        let folder = Arc::clone(folder);
        // If the runtime does not execute it, those that wait for the entry sync it.
        tokio::task::spawn_blocking(move || folder.data.sync_entries());
    }
    entry
}

/// Durable file that no row lists yet.
pub(super) struct UncommittedFile(NewFile);

impl UncommittedFile {
    /// Keeps the file, because a row lists it, or may list it.
    pub(super) fn keep(mut self) {
        self.0.is_kept = true;
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_kept {
            // What is left, a sweep removes.
            let _ = self.folder.data.remove(self.id);
        }
    }
}
