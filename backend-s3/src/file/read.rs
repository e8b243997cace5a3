//! Streams of the bytes of a content.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
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
    let mut reader = Reader { folder, key, open: None, left: 0, rest };
    if !reader.open(first)? {
        return Ok(None);
    }
    if reader.rest.is_empty() && reader.left <= SMALL_BYTES {
        let piece = reader.read()?;
        return Ok(Some(stream::iter(piece.map(Ok)).boxed()));
    }
    let next = |mut reader: Reader| async move {
        let read = move || Ok(reader.read()?.map(|piece| (piece, reader)));
        blocking(read).await
    };
    Ok(Some(stream::try_unfold(reader, next).boxed()))
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
        let found = file
            .seek(SeekFrom::Start(slice.range.start))
            .and_then(|_| file.metadata())
            .map_err(|error| from_io("read", &path, error))?
            .len();
        if found != slice.length {
            let what = format!("has {found} bytes, not {}", slice.length);
            return Err(damaged_file(&self.key, &path, what));
        }
        self.left = slice.range.end - slice.range.start;
        self.open = Some((file, slice.file));
        Ok(true)
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
        let mut piece = Vec::with_capacity(length as usize);
        let outcome = file.take(length).read_to_end(&mut piece);
        let path = || self.folder.data.path(*id);
        match outcome {
            Ok(found) if found as u64 == length => {
                self.left -= length;
                Ok(Some(piece.into()))
            }
            Ok(_) => Err(damaged_file(&self.key, &path(), "ends too early")),
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

#[cfg(test)]
mod tests {
    use super::super::data::Segment;
    use super::*;

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
