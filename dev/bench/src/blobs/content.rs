//! Sizes, keys and bytes of the blobs.

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

/// Size of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Kb1,
    Mb1,
    Mb100,
}

impl Size {
    pub(crate) const ALL: [Self; 3] = [Self::Kb1, Self::Mb1, Self::Mb100];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kb1 => "1 KB",
            Self::Mb1 => "1 MB",
            Self::Mb100 => "100 MB",
        }
    }

    /// Parses the name in an option, such as `1kb`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let is_name = |size: &Self| size.name().replace(' ', "").eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(is_name)
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Kb1 => 1 << 10,
            Self::Mb1 => 1 << 20,
            Self::Mb100 => 100 << 20,
        }
    }

    /// Number of blobs that are read in turn.
    pub(crate) fn stored(self) -> u64 {
        match self {
            Self::Kb1 => 256,
            Self::Mb1 => 16,
            Self::Mb100 => 1,
        }
    }

    /// Limit on the operations of a turn: a turn of puts uses at most 300 MB of disk.
    pub(crate) fn most(self) -> u64 {
        match self {
            Self::Kb1 => 10_000,
            Self::Mb1 => 300,
            Self::Mb100 => 3,
        }
    }

    /// Lowest number of operations of a turn, at which every caller has some.
    pub(crate) fn fewest(self, callers: usize) -> u64 {
        match self {
            Self::Mb100 => callers as u64,
            _ => 2 * callers as u64,
        }
    }

    /// Pseudo-random bytes, which no file system can compress.
    pub(crate) fn content(self) -> Bytes {
        pseudo_random(self.bytes())
    }

    /// Key of a blob that is read in turn.
    pub(crate) fn stored_key(self, number: u64) -> String {
        // Multiplied by a prime, so that the order is not that of the keys.
        format!("stored-{}-{}", self.bytes(), number * 7_919 % self.stored())
    }
}

/// Key of a blob that a turn writes.
pub(crate) fn new_key(number: u64) -> String {
    format!("new-{number}")
}

/// Pseudo-random bytes, the same in every call.
pub(crate) fn pseudo_random(length: usize) -> Bytes {
    let words = (0..length.div_ceil(8) as u64).map(|number| xxh3_64(&number.to_le_bytes()));
    let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    bytes.truncate(length);
    bytes.into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_stored_blob_is_read() {
        for size in Size::ALL {
            let keys: BTreeSet<_> = (0..size.stored()).map(|one| size.stored_key(one)).collect();
            assert_eq!(keys.len() as u64, size.stored());
        }
    }

    #[test]
    fn size_is_parsed_without_the_space() {
        assert_eq!(Size::named("100mb"), Some(Size::Mb100));
        assert_eq!(Size::named("2mb"), None);
        assert_eq!(pseudo_random(1_001).len(), 1_001);
    }
}
