//! Streams of the bytes of a content.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::{StreamExt as _, stream};
use tabla_core::blobs::ByteStream;
use tabla_core::{Error, ErrorKind, Result, Retry};

use super::data::{FileId, Files};
use super::error::{damaged_file, from_io};
use super::folder::{Folder, blocking};
use super::links;

/// Largest piece of a stream.
const PIECE_BYTES: u64 = 256 << 10;

/// Largest content that is read at once, on the thread of the caller.
const SMALL_BYTES: u64 = 64 << 10;

/// Pieces that are read from the memory of the operating system before other tasks get a turn.
const PIECES_PER_TURN: u32 = 4;

/// Pieces that a receiver holds at the same time, before new memory is allocated for each.
const LENT_PIECES: usize = 4;

/// Bytes to read from one file.
struct Slice {
    file: FileId,
    /// Length of the whole file.
    length: u64,
    range: Range<u64>,
}

/// Reader of a content. It opens one file at a time.
struct Reader {
    folder: Arc<Folder>,
    key: String,
    open: Option<(File, FileId)>,
    /// Bytes of the open file that are still to come.
    left: u64,
    rest: VecDeque<Slice>,
    buffers: Buffers,
    /// Pieces since other tasks had a turn.
    in_turn: u32,
}

/// Opens the bytes of a content at these positions; `None` if its first file is missing.
///
/// The first file is opened at once: its bytes can be read even after it has been deleted.
pub(super) fn open(
    folder: &Arc<Folder>,
    key: &str,
    files: &Files,
    range: Range<u64>,
) -> Result<Option<ByteStream>> {
    let mut rest = slices(files, range);
    let (folder, key) = (Arc::clone(folder), key.to_owned());
    let Some(first) = rest.pop_front() else { return Ok(Some(stream::empty().boxed())) };
    let buffers = Buffers::default();
    let mut reader = Reader { folder, key, open: None, left: 0, rest, buffers, in_turn: 0 };
    if !reader.open(first)? {
        return Ok(None);
    }
    if reader.rest.is_empty() && reader.left <= SMALL_BYTES {
        let piece = reader.read()?;
        return Ok(Some(stream::iter(piece.map(Ok)).boxed()));
    }
    Ok(Some(stream::try_unfold(reader, Reader::next).boxed()))
}

/// Error for a content whose first file is missing.
pub(super) fn missing(folder: &Folder, key: &str, files: &Files) -> Error {
    let first = files.0.first().map(|segment| folder.data.path(segment.file));
    damaged_file(key, &first.unwrap_or_default(), "is missing")
}

/// Parts of the files at these positions of the content. Empty ones are left out.
fn slices(files: &Files, range: Range<u64>) -> VecDeque<Slice> {
    let mut begin = 0;
    let mut slices = VecDeque::new();
    for segment in files.0.iter() {
        let end = begin + segment.length;
        let first = range.start.clamp(begin, end) - begin;
        let last = range.end.clamp(begin, end) - begin;
        if first < last {
            slices.push_back(Slice {
                file: segment.file,
                length: segment.length,
                range: first..last,
            });
        }
        begin = end;
    }
    slices
}

impl Reader {
    /// Opens a file at the first byte of its slice; returns whether it exists.
    fn open(&mut self, slice: Slice) -> Result<bool> {
        let Some(mut file) = self.folder.data.open(slice.file)? else { return Ok(false) };
        let path = self.folder.data.path(slice.file);
        let failed = |error| from_io("read", &path, error);
        let found = file.metadata().map_err(failed)?.len();
        if found != slice.length {
            let what = format!("has {found} bytes, not {}", slice.length);
            return Err(damaged_file(&self.key, &path, what));
        }
        if slice.range.start > 0 {
            file.seek(SeekFrom::Start(slice.range.start)).map_err(failed)?;
        }
        self.left = slice.range.end - slice.range.start;
        self.open = Some((file, slice.file));
        Ok(true)
    }

    /// Reads the next piece; `None` at the end. Bytes that the operating system has in memory are read
    /// on the thread of the caller.
    async fn next(mut self) -> Result<Option<(Bytes, Self)>> {
        if self.left == 0 && self.rest.is_empty() {
            return Ok(None);
        }
        if self.in_turn >= PIECES_PER_TURN {
            self.in_turn = 0;
            tokio::task::yield_now().await;
        }
        if let Some(piece) = self.read_cached() {
            self.in_turn += 1;
            return Ok(Some((piece, self)));
        }
        self.in_turn = 0;
        blocking(move || Ok(self.read()?.map(|piece| (piece, self)))).await
    }

    /// Reads the next piece if that needs no disk. It may be shorter than others.
    fn read_cached(&mut self) -> Option<Bytes> {
        let length = self.left.min(PIECE_BYTES) as usize;
        let (file, _) = self.open.as_ref().filter(|_| length > 0)?;
        let mut buffer = self.buffers.take(length);
        match read_without_waiting(file, &mut buffer) {
            Some(count @ 1..) => {
                buffer.truncate(count);
                self.left -= count as u64;
                Some(self.buffers.lend(buffer))
            }
            // The end of a file that is too short, and errors: `read` reports them.
            _ => {
                self.buffers.give_back(buffer);
                None
            }
        }
    }

    /// Reads the next piece; `None` at the end. It blocks.
    fn read(&mut self) -> Result<Option<Bytes>> {
        if self.left == 0 {
            let Some(next) = self.rest.pop_front() else { return Ok(None) };
            let id = next.file;
            if !self.open(next)? {
                return Err(self.missing_later(id));
            }
        }
        let Some((file, id)) = &mut self.open else { return Ok(None) };
        let length = self.left.min(PIECE_BYTES);
        let mut buffer = self.buffers.take(length as usize);
        let path = || self.folder.data.path(*id);
        match file.read_exact(&mut buffer) {
            Ok(()) => {
                self.left -= length;
                Ok(Some(self.buffers.lend(buffer)))
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(damaged_file(&self.key, &path(), "ends too early"))
            }
            Err(error) => Err(from_io("read", &path(), error)),
        }
    }

    /// Error for a missing file behind the first one.
    fn missing_later(&self, id: FileId) -> Error {
        let path = self.folder.data.path(id);
        match self.folder.catalogue.read(|connection| links::is_linked(connection, id)) {
            Ok(true) => damaged_file(&self.key, &path, "is missing"),
            Ok(false) => {
                let message = format!(
                    "the blob `{}` was replaced or deleted over 1 hour ago, while it was read; \
                     read it again",
                    self.key
                );
                Error::new(ErrorKind::Unavailable, message).with_retry(Retry::Later)
            }
            Err(error) => error,
        }
    }
}

/// Reads from the position of a file, at most what the operating system has in memory; `None` if it
/// has nothing, or cannot tell.
#[cfg(target_os = "linux")]
fn read_without_waiting(file: &File, buffer: &mut [u8]) -> Option<usize> {
    use rustix::io::{ReadWriteFlags, preadv2};
    const FROM_POSITION: u64 = u64::MAX;
    let buffers = &mut [io::IoSliceMut::new(buffer)];
    preadv2(file, buffers, FROM_POSITION, ReadWriteFlags::NOWAIT).ok()
}

#[cfg(not(target_os = "linux"))]
fn read_without_waiting(_: &File, _: &mut [u8]) -> Option<usize> {
    None
}

/// Buffers of the pieces of one stream. A buffer is used again when the receiver has dropped
/// its piece: memory that was just read from is in the cache of the processor, and needs no zeros.
#[derive(Default)]
struct Buffers {
    lent: VecDeque<Bytes>,
    free: Option<BytesMut>,
}

impl Buffers {
    /// Buffer of this length, with any contents.
    fn take(&mut self, length: usize) -> BytesMut {
        let mut buffer = self.free.take().or_else(|| self.dropped()).unwrap_or_default();
        buffer.resize(length, 0);
        buffer
    }

    /// Buffer of the oldest piece, if the receiver has dropped it.
    fn dropped(&mut self) -> Option<BytesMut> {
        let oldest = self.lent.pop_front()?;
        oldest.try_into_mut().map_err(|held| self.lent.push_front(held)).ok()
    }

    /// Piece with the contents of a buffer.
    fn lend(&mut self, buffer: BytesMut) -> Bytes {
        let piece = buffer.freeze();
        if self.lent.len() == LENT_PIECES {
            self.lent.pop_front();
        }
        self.lent.push_back(piece.clone());
        piece
    }

    /// Takes back a buffer that was not lent.
    fn give_back(&mut self, buffer: BytesMut) {
        self.free = Some(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::Segment;
    use super::*;

    #[test]
    fn buffer_is_used_again_after_its_piece_was_dropped() {
        let mut buffers = Buffers::default();
        let piece = |buffers: &mut Buffers, length| {
            let buffer = buffers.take(length);
            assert_eq!(buffer.len(), length);
            buffers.lend(buffer)
        };
        let first = piece(&mut buffers, 1000);
        let second = piece(&mut buffers, 1000);
        assert_ne!(first.as_ptr(), second.as_ptr());
        let address = first.as_ptr();
        drop(first);
        let third = piece(&mut buffers, 900);
        assert_eq!((third.as_ptr(), third.len()), (address, 900));
        let buffer = buffers.take(7);
        let address = buffer.as_ptr();
        buffers.give_back(buffer);
        assert_eq!(buffers.take(7).as_ptr(), address);
        // A receiver that keeps all pieces keeps no more memory than them.
        let held: Vec<Bytes> = (0..10).map(|_| piece(&mut buffers, 10)).collect();
        assert!(buffers.lent.len() <= LENT_PIECES);
        drop((second, third, held));
    }

    #[test]
    fn range_is_cut_at_the_ends_of_files() {
        let segments = [3, 0, 4, 2]
            .map(|length| Segment { file: FileId::of_bytes([length as u8; 16]), length });
        let files = Files(segments.into());
        let cut = |range| -> Vec<_> {
            let slice = |slice: Slice| (slice.length, slice.range);
            slices(&files, range).into_iter().map(slice).collect()
        };
        assert_eq!(cut(0..9), [(3, 0..3), (4, 0..4), (2, 0..2)]);
        assert_eq!(cut(2..4), [(3, 2..3), (4, 0..1)]);
        assert_eq!(cut(4..6), [(4, 1..3)]);
        assert_eq!(cut(7..8), [(2, 0..1)]);
        assert_eq!(cut(0..0), []);
    }
}
