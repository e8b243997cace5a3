//! Families of cases, one file each in `cases`.

use std::fmt;

use super::case::BlobNeed;

macro_rules! families {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// Family of cases: one file in `blobs/cases/`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum BlobFamily {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl BlobFamily {
            /// All families, in the order of reports.
            pub const ALL: &[BlobFamily] = &[$(BlobFamily::$variant),+];

            /// Name in test names and reports, in snake_case.
            pub fn name(self) -> &'static str {
                match self {
                    $(BlobFamily::$variant => $name,)+
                }
            }

            /// Subject of the family, as a short text for reports.
            pub fn subject(self) -> &'static str {
                match self {
                    $(BlobFamily::$variant => concat!($($doc),+).trim_ascii(),)+
                }
            }
        }
    };
}

families! {
    /// Puts and gets of bytes and streams.
    PutGet = "put_get",
    /// Headers and user metadata.
    Headers = "headers",
    /// Checksums that are expected, computed and stored.
    Checksums = "checksums",
    /// Conditions of writes, deletes and reads.
    Conditions = "conditions",
    /// Ranges of bytes.
    Ranges = "ranges",
    /// Keys: length, characters and distinctness.
    Keys = "keys",
    /// Listings: order, prefixes, delimiters and pages.
    Listing = "listing",
    /// Deletion of one blob and of many.
    Deletes = "deletes",
    /// Copies inside the bucket.
    Copies = "copies",
    /// Multipart uploads.
    Multipart = "multipart",
    /// Versions and delete markers.
    Versions = "versions",
    /// Validation of presigned URLs; the gateway's tests send them.
    Presigned = "presigned",
    /// Concurrent conditional writes.
    Concurrency = "concurrency",
    /// Declared capabilities, and the refusal of requests for missing ones.
    Capabilities = "capabilities",
}

impl BlobFamily {
    /// Needs of every case of the family, in addition to those of the case itself.
    pub fn needs(self) -> &'static [BlobNeed] {
        match self {
            BlobFamily::Multipart => &[BlobNeed::Multipart],
            BlobFamily::Versions => &[BlobNeed::Versions],
            BlobFamily::Presigned => &[BlobNeed::Presign],
            _ => &[],
        }
    }
}

impl fmt::Display for BlobFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
