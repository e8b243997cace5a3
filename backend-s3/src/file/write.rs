//! Files of uploads in progress.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt as _, future};
use tabla_core::Result;
use tabla_core::blobs::{ByteStream, ChecksumPlan, Digests};

use super::data::{FileId, Files, Segment};
use super::error::from_io;
use super::folder::{Folder, blocking};
use crate::storage::Written;

/// Bytes that are gathered from a stream before they are written. Memory is twice as much.
const PIECE_BYTES: usize = 256 << 10;

/// File that is being written. It is removed when this is dropped, unless it is
/// [kept](UncommittedFile::keep).
///
/// It is locked exclusively, so that no sweep of any process removes it. The operating system
/// releases the lock of a killed process.
pub(super) struct NewFile {
    folder: Arc<Folder>,
    id: FileId,
    file: File,
    length: u64,
    digests: Digests,
    is_kept: bool,
}

impl NewFile {
    /// Creates an empty file with a new id. It blocks.
    pub(super) fn create(folder: &Arc<Folder>, plan: &ChecksumPlan) -> Result<Self> {
        loop {
            let id = FileId::random(&folder.env);
            let path = folder.data.path(id);
            let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(from_io("create", &path, error)),
            };
            // From here on, dropping removes the file.
            let new = Self {
                folder: Arc::clone(folder),
                id,
                file,
                length: 0,
                digests: plan.start(),
                is_kept: false,
            };
            new.file.lock().map_err(|error| from_io("lock", &path, error))?;
            // A sweep may have locked and removed it before. Afterwards none does.
            if path.exists() {
                return Ok(new);
            }
        }
    }

    /// Creates a file from a stream.
    pub(super) async fn receive(
        folder: Arc<Folder>,
        plan: &ChecksumPlan,
        mut stream: ByteStream,
    ) -> Result<Self> {
        let mut file = {
            let (folder, plan) = (Arc::clone(&folder), plan.clone());
            blocking(move || Self::create(&folder, &plan)).await?
        };
        let mut pieces = gather(&mut stream).await?;
        while !pieces.is_empty() {
            let write = blocking(move || {
                pieces.iter().try_for_each(|piece| file.write(piece))?;
                Ok(file)
            });
            // The next pieces arrive while these are written.
            (file, pieces) = future::try_join(write, gather(&mut stream)).await?;
        }
        Ok(file)
    }

    /// Appends bytes. It blocks.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.digests.update(bytes);
        let written = self.file.write_all(bytes);
        written.map_err(|error| from_io("write", &self.folder.data.path(self.id), error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Verifies the checksums, and makes the file durable. It blocks.
    pub(super) fn finish(self, plan: &ChecksumPlan) -> Result<(UncommittedFile, Written<Files>)> {
        let mut this = self;
        let digests = std::mem::replace(&mut this.digests, Digests::new([]));
        let (etag, checksum) = plan.finish(digests)?;
        let synced = this.file.sync_all();
        synced.map_err(|error| from_io("sync", &this.folder.data.path(this.id), error))?;
        this.folder.data.sync_entry(this.id)?;
        let segment = Segment { file: this.id, length: this.length };
        let content = Files([segment].into());
        let written = Written { content, size: this.length, etag, checksum };
        Ok((UncommittedFile(this), written))
    }
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

/// The next pieces of a stream; empty at the end.
async fn gather(stream: &mut ByteStream) -> Result<Vec<Bytes>> {
    let (mut pieces, mut length) = (Vec::new(), 0);
    while length < PIECE_BYTES
        && let Some(piece) = stream.next().await
    {
        let piece = piece?;
        length += piece.len();
        pieces.push(piece);
    }
    Ok(pieces)
}
