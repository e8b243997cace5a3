//! Files with the bytes of blobs: `data/<xx>/<id>`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabla_core::env::Env;
use tabla_core::{Error, Result};

use super::entries::{EntrySyncs, PendingEntry};
use super::error::from_io;
use crate::storage::Content;

/// Number of the last subfolder. The first is 0.
pub(super) const LAST_SUBFOLDER: u8 = u8::MAX;

/// Random id of a file. Its 32 hexadecimal digits are the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileId(u128);

impl FileId {
    pub(super) fn random(env: &Env) -> Self {
        Self(u128::from(env.random.next_u64()) << 64 | u128::from(env.random.next_u64()))
    }

    /// Id of the file with this name; `None` if no blob has such a file.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let id = Self(u128::from_str_radix(name, 16).ok()?);
        (id.name() == name).then_some(id)
    }

    pub(super) fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    pub(super) fn of_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    fn name(self) -> String {
        format!("{:032x}", self.0)
    }

    fn subfolder(self) -> u8 {
        self.bytes()[0]
    }

    fn with_subfolder(self, number: u8) -> Self {
        let mut bytes = self.bytes();
        bytes[0] = number;
        Self::of_bytes(bytes)
    }
}

/// File of a content, with its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) file: FileId,
    pub(super) length: u64,
}

/// Files of a content, in the order of their bytes. One written as parts has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Files(pub(super) Arc<[Segment]>);

impl Content for Files {
    fn concat<'a>(contents: impl Iterator<Item = &'a Self>) -> Self {
        Self(contents.flat_map(|content| content.0.iter().copied()).collect())
    }
}

impl Files {
    /// Value of the column `files`.
    pub(super) fn encode(&self) -> Vec<u8> {
        let bytes = |segment: &Segment| {
            segment.file.bytes().into_iter().chain(segment.length.to_be_bytes())
        };
        self.0.iter().flat_map(bytes).collect()
    }

    /// Files of a value of the column `files`; `None` if it is damaged.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (segments, rest) = bytes.as_chunks::<24>();
        let segment = |bytes: &[u8; 24]| {
            let (id, length) = (bytes.first_chunk()?, bytes.last_chunk()?);
            let (file, length) = (FileId::of_bytes(*id), u64::from_be_bytes(*length));
            Some(Segment { file, length })
        };
        match rest {
            [] => segments.iter().map(segment).collect::<Option<Arc<_>>>().map(Self),
            _ => None,
        }
    }
}

/// The folder `data`.
#[derive(Debug)]
pub(super) struct DataFolder {
    path: PathBuf,
    syncs: EntrySyncs,
}

impl DataFolder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, syncs: EntrySyncs::default() }
    }

    /// Creates the folder and its subfolders durably.
    pub(super) fn create(&self) -> Result<()> {
        let create = |path: &Path| match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(from_io("create", path, error))
            }
            _ => Ok(()),
        };
        create(&self.path)?;
        (0..=LAST_SUBFOLDER).try_for_each(|number| create(&self.subfolder(number)))?;
        sync_folder(&self.path)
    }

    pub(super) fn subfolder(&self, number: u8) -> PathBuf {
        self.path.join(format!("{number:02x}"))
    }

    pub(super) fn path(&self, id: FileId) -> PathBuf {
        self.subfolder(id.subfolder()).join(id.name())
    }

    /// Draws the id of a new file. Files of the same time are in the same subfolder, so that one sync
    /// makes their entries durable.
    pub(super) fn new_id(&self, env: &Env) -> FileId {
        let id = FileId::random(env);
        id.with_subfolder(self.syncs.subfolder(id.subfolder()))
    }

    /// Queues the entry of a new file to be synced; returns whether it is the first of its batch.
    pub(super) fn add_entry(&self, id: FileId) -> (PendingEntry, bool) {
        self.syncs.add(id.subfolder())
    }

    /// Syncs the entries that are queued, unless another thread does so. It blocks.
    pub(super) fn sync_entries(&self) {
        self.syncs.sync(|number| sync_folder(&self.subfolder(number)));
    }

    /// Waits until an entry is durable. It blocks.
    pub(super) fn wait_for_entry(&self, entry: &PendingEntry) -> Result<()> {
        self.syncs.wait(entry, |number| sync_folder(&self.subfolder(number)))
    }

    /// Opens a file for reading; `None` if there is none.
    pub(super) fn open(&self, id: FileId) -> Result<Option<File>> {
        let path = self.path(id);
        match File::open(&path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(from_io("read", &path, error)),
        }
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, id: FileId) -> Result<()> {
        let path = self.path(id);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(from_io("delete", &path, error))
            }
            _ => Ok(()),
        }
    }

    /// Ids of the files in a subfolder. Files with other names are not of this crate.
    pub(super) fn list(&self, number: u8) -> Result<Vec<FileId>> {
        let path = self.subfolder(number);
        let failed = |error: io::Error| -> Error { from_io("read", &path, error) };
        let mut ids = Vec::new();
        for entry in fs::read_dir(&path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            ids.extend(name.to_str().and_then(FileId::of_name));
        }
        Ok(ids)
    }
}

/// Makes the entries of a folder durable. Windows does so by itself.
pub(super) fn sync_folder(path: &Path) -> Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| from_io("sync", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_file_is_32_hexadecimal_digits() {
        let id = FileId(0xAB << 120 | 1);
        assert_eq!(id.name(), "ab000000000000000000000000000001");
        assert_eq!(id.subfolder(), 0xAB);
        assert_eq!(id.with_subfolder(0xCD), FileId(0xCD << 120 | 1));
        assert_eq!(FileId::of_name(&id.name()), Some(id));
        assert_eq!(FileId::of_bytes(id.bytes()), id);
        for name in ["", "ab", "AB000000000000000000000000000001", "notes.txt"] {
            assert_eq!(FileId::of_name(name), None, "{name}");
        }
    }

    #[test]
    fn files_of_a_content_are_decoded_as_encoded() {
        let segment = |id, length| Segment { file: FileId(id), length };
        let files = Files([segment(1, 5), segment(u128::MAX, u64::MAX)].into());
        assert_eq!(Files::decode(&files.encode()), Some(files.clone()));
        assert_eq!(Files::decode(&files.encode()[1..]), None);
        assert_eq!(Files::decode(&[]), Some(Files([].into())));
    }
}
