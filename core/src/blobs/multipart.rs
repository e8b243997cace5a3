//! Requests and outputs of multipart uploads.

use std::collections::BTreeMap;

use super::errors::{self, codes};
use super::{
    BlobHeaders, Body, Checksum, ChecksumAlgorithm, ChecksumPlan, ChecksumType, WriteCondition,
    rules,
};
use crate::env::Timestamp;
use crate::error::Result;
use crate::ops::setters;

/// Begin of a multipart upload; see [`Blobs::create_upload`](super::Blobs::create_upload).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CreateUpload {
    /// Key of the blob.
    pub key: String,
    /// Stored headers.
    pub headers: BlobHeaders,
    /// User metadata: at most 2048 bytes of printable ASCII.
    pub metadata: BTreeMap<String, String>,
    /// Checksum of every part and of the blob. Default: CRC-64/NVME of all bytes. `None`: the
    /// blob has no stored checksum.
    pub checksum: Option<(ChecksumAlgorithm, ChecksumType)>,
    /// Whether a part may be sent with a checksum of any algorithm, as in an upload to S3 that names
    /// none (default: no). The checksum is verified; the stored one is that of the upload.
    pub any_part_checksum: bool,
}

impl CreateUpload {
    /// Upload without headers and metadata.
    pub fn new(key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            headers: BlobHeaders::default(),
            metadata: BTreeMap::new(),
            checksum: Some((ChecksumAlgorithm::Crc64Nvme, ChecksumType::FullObject)),
            any_part_checksum: false,
        }
    }

    setters! {
        /// Sets the stored headers.
        headers: BlobHeaders,
        /// Sets the checksum of every part and of the blob.
        checksum: Option<(ChecksumAlgorithm, ChecksumType)>,
        /// Sets whether a part may be sent with a checksum of any algorithm.
        any_part_checksum: bool,
    }

    /// Adds user metadata.
    #[must_use]
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Validates the request.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`]: key, headers or metadata break a rule; a full-object
    /// checksum that is no CRC, a composite CRC-64/NVME, or MD5 (`InvalidRequest`).
    pub fn check(&self) -> Result<()> {
        rules::check_key(&self.key)?;
        self.headers.check()?;
        rules::check_metadata(&self.metadata)?;
        let is_allowed = match self.checksum {
            None => true,
            Some((ChecksumAlgorithm::Md5, _)) => false,
            Some((algorithm, ChecksumType::FullObject)) => algorithm.is_crc(),
            Some((algorithm, ChecksumType::Composite)) => algorithm != ChecksumAlgorithm::Crc64Nvme,
        };
        match (is_allowed, self.checksum) {
            (false, Some((algorithm, kind))) => Err(errors::validation(
                codes::INVALID_REQUEST,
                format!(
                    "a multipart upload cannot have a {kind:?} checksum of {algorithm}: use \
                     CRC64NVME, CRC32 or CRC32C of all bytes, or a composite one of SHA256, SHA1, \
                     CRC32 or CRC32C"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Plans the checksums of a part of this upload.
    ///
    /// # Errors
    /// Those of [`UploadPart::plan_checksums`], unless a part may have any checksum.
    pub fn plan_part(&self, part: &UploadPart) -> Result<ChecksumPlan> {
        let algorithm = self.checksum.map(|(algorithm, _)| algorithm);
        match algorithm.filter(|_| self.any_part_checksum) {
            Some(stored) => ChecksumPlan::storing(stored, &part.expected_checksums),
            None => part.plan_checksums(algorithm),
        }
    }

    pub(super) fn has_metadata(&self) -> bool {
        !self.metadata.is_empty() || self.headers.has_more_than_type()
    }
}

/// Result of the begin of a multipart upload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreateUploadOutput {
    /// Id of the upload.
    pub upload: String,
}

impl CreateUploadOutput {
    /// Output with this id.
    pub fn new(upload: impl Into<String>) -> Self {
        Self { upload: upload.into() }
    }
}

/// Write of one part; see [`Blobs::upload_part`](super::Blobs::upload_part).
#[derive(Debug)]
#[non_exhaustive]
pub struct UploadPart {
    /// Key of the blob.
    pub key: String,
    /// Id of the upload.
    pub upload: String,
    /// Number of the part: 1 to 10,000.
    pub number: u32,
    /// Bytes of the part.
    pub body: Body,
    /// Checksums that the body must have.
    pub expected_checksums: Vec<Checksum>,
    /// Algorithm of a checksum that the body verifies itself at its end, such as one that a client
    /// sends behind the bytes. It must fit the upload as that of an expected checksum.
    pub verified_algorithm: Option<ChecksumAlgorithm>,
}

impl UploadPart {
    /// Write of this content.
    pub fn new(
        key: impl Into<String>,
        upload: impl Into<String>,
        number: u32,
        body: impl Into<Body>,
    ) -> Self {
        Self {
            key: key.into(),
            upload: upload.into(),
            number,
            body: body.into(),
            expected_checksums: Vec::new(),
            verified_algorithm: None,
        }
    }

    setters! {
        /// Sets the algorithm of a checksum that the body verifies itself.
        verified_algorithm: Option<ChecksumAlgorithm>,
    }

    /// Adds a checksum that the body must have.
    #[must_use]
    pub fn expect(mut self, checksum: Checksum) -> Self {
        self.expected_checksums.push(checksum);
        self
    }

    /// Copy of this request with another body.
    #[must_use]
    pub fn with_body(&self, body: impl Into<Body>) -> Self {
        Self {
            key: self.key.clone(),
            upload: self.upload.clone(),
            number: self.number,
            body: body.into(),
            expected_checksums: self.expected_checksums.clone(),
            verified_algorithm: self.verified_algorithm,
        }
    }

    /// Validates the request. The upload decides the algorithm: see [`CreateUpload::plan_part`].
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`]: key, number or length break a rule.
    pub fn check(&self) -> Result<()> {
        rules::check_key(&self.key)?;
        rules::check_part_number(self.number)?;
        rules::check_length(self.body.length())
    }

    /// Plans the checksums of a part of an upload that names this algorithm.
    ///
    /// # Errors
    /// `InvalidRequest`: a checksum of another algorithm is expected or verified, except MD5.
    pub fn plan_checksums(&self, algorithm: Option<ChecksumAlgorithm>) -> Result<ChecksumPlan> {
        let expected = self.expected_checksums.iter().map(Checksum::algorithm);
        let other = expected.chain(self.verified_algorithm).find(|expected| {
            *expected != ChecksumAlgorithm::Md5 && algorithm.is_some_and(|own| own != *expected)
        });
        match (other, algorithm) {
            (Some(other), Some(own)) => Err(errors::validation(
                codes::INVALID_REQUEST,
                format!(
                    "Checksum Type mismatch occurred, expected checksum Type: {own}, actual \
                     checksum Type: {other}"
                ),
            )),
            _ => ChecksumPlan::new(algorithm, &self.expected_checksums),
        }
    }
}

/// Stored part of a multipart upload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UploadedPart {
    /// Number of the part.
    pub number: u32,
    /// ETag of the part, without quotes.
    pub etag: String,
    /// Stored checksum.
    pub checksum: Option<Checksum>,
    /// Length in bytes.
    pub size: u64,
}

impl UploadedPart {
    /// Part without a checksum.
    pub fn new(number: u32, etag: impl Into<String>, size: u64) -> Self {
        Self { number, etag: etag.into(), checksum: None, size }
    }

    setters! {
        /// Sets the stored checksum.
        checksum: Option<Checksum>,
    }
}

/// Completion of a multipart upload; see [`Blobs::complete_upload`](super::Blobs::complete_upload).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompleteUpload {
    /// Key of the blob.
    pub key: String,
    /// Id of the upload.
    pub upload: String,
    /// Parts of the blob, in ascending order of their numbers.
    pub parts: Vec<CompletedPart>,
    /// Condition of the write.
    pub condition: WriteCondition,
    /// Checksum that the blob must have.
    pub expected_checksum: Option<Checksum>,
    /// Length that the blob must have.
    pub expected_size: Option<u64>,
}

/// Part in a [`CompleteUpload`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletedPart {
    /// Number of the part.
    pub number: u32,
    /// ETag that the part must have.
    pub etag: String,
    /// Checksum that the part must have.
    pub checksum: Option<Checksum>,
}

impl CompletedPart {
    /// Part with this ETag.
    pub fn new(number: u32, etag: impl Into<String>) -> Self {
        Self { number, etag: etag.into(), checksum: None }
    }

    setters! {
        /// Sets the checksum that the part must have.
        checksum: Option<Checksum>,
    }
}

impl From<UploadedPart> for CompletedPart {
    fn from(part: UploadedPart) -> Self {
        Self { number: part.number, etag: part.etag, checksum: part.checksum }
    }
}

impl CompleteUpload {
    /// Unconditional completion with these parts.
    pub fn new<P: Into<CompletedPart>>(
        key: impl Into<String>,
        upload: impl Into<String>,
        parts: impl IntoIterator<Item = P>,
    ) -> Self {
        Self {
            key: key.into(),
            upload: upload.into(),
            parts: parts.into_iter().map(Into::into).collect(),
            condition: WriteCondition::None,
            expected_checksum: None,
            expected_size: None,
        }
    }

    setters! {
        /// Sets the condition of the write.
        condition: WriteCondition,
        /// Sets the checksum that the blob must have.
        expected_checksum: Option<Checksum>,
        /// Sets the length that the blob must have.
        expected_size: Option<u64>,
    }

    /// Completes only if no blob has the key.
    #[must_use]
    pub fn if_absent(self) -> Self {
        self.condition(WriteCondition::IfAbsent)
    }

    /// Validates the request.
    ///
    /// # Errors
    /// - `MalformedXML`, as on S3: no part, or more than 10,000.
    /// - `InvalidPartOrder`: the numbers do not ascend.
    pub fn check(&self) -> Result<()> {
        rules::check_key(&self.key)?;
        if self.parts.is_empty() || self.parts.len() > rules::PARTS as usize {
            return Err(errors::validation(
                codes::MALFORMED_XML,
                format!("an upload has 1 to {} parts, not {}", rules::PARTS, self.parts.len()),
            ));
        }
        match self.parts.is_sorted_by(|one, next| one.number < next.number) {
            true => Ok(()),
            false => Err(errors::validation(
                codes::INVALID_PART_ORDER,
                "The list of parts was not in ascending order. The parts list must be specified in \
                 order by part number."
                    .into(),
            )),
        }
    }

    /// Finds the parts to use among the stored ones.
    ///
    /// # Errors
    /// - `InvalidPart`: a part is not stored, or has another ETag or checksum.
    /// - `EntityTooSmall`: a part other than the last has less than 5 MB.
    pub fn choose<'a, P>(
        &self,
        mut stored: impl FnMut(u32) -> Option<&'a P>,
        describe: impl Fn(&'a P) -> &'a UploadedPart,
    ) -> Result<Vec<&'a P>>
    where
        P: 'a,
    {
        let mut chosen = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let found = stored(part.number).filter(|found| {
                let found = describe(found);
                found.etag == part.etag
                    && part.checksum.as_ref().is_none_or(|sum| found.checksum.as_ref() == Some(sum))
            });
            chosen.push(found.ok_or_else(|| errors::invalid_part(part.number))?);
        }
        let all_but_last = chosen.len().saturating_sub(1);
        for part in chosen.iter().take(all_but_last).map(|part| describe(part)) {
            if part.size < rules::PART_BYTES {
                return Err(errors::validation(
                    codes::ENTITY_TOO_SMALL,
                    format!(
                        "Your proposed upload is smaller than the minimum allowed size: part {} \
                         has {} bytes, and every part but the last needs {}",
                        part.number,
                        part.size,
                        rules::PART_BYTES
                    ),
                ));
            }
        }
        Ok(chosen)
    }

    /// Compares length and checksum of the whole blob with the expected ones.
    ///
    /// # Errors
    /// `BadDigest` for another checksum, `InvalidRequest` for another length.
    pub fn check_whole(&self, size: u64, checksum: Option<&Checksum>) -> Result<()> {
        if let Some(expected) = self.expected_size.filter(|expected| *expected != size) {
            return Err(errors::validation(
                codes::INVALID_REQUEST,
                format!("the parts have {size} bytes together, not {expected}"),
            ));
        }
        match (&self.expected_checksum, checksum) {
            (Some(expected), Some(found)) if expected != found => {
                Err(errors::bad_digest(expected, found))
            }
            (Some(expected), None) => Err(errors::invalid_argument(format!(
                "the upload was created without a checksum, so {expected} cannot be compared"
            ))),
            _ => Ok(()),
        }
    }
}

/// End of a multipart upload without a blob; see
/// [`Blobs::abort_upload`](super::Blobs::abort_upload).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AbortUpload {
    /// Key of the blob.
    pub key: String,
    /// Id of the upload.
    pub upload: String,
}

impl AbortUpload {
    /// End of this upload.
    pub fn new(key: impl Into<String>, upload: impl Into<String>) -> Self {
        Self { key: key.into(), upload: upload.into() }
    }
}

/// List of one page of parts; see [`Blobs::list_parts`](super::Blobs::list_parts).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListParts {
    /// Key of the blob.
    pub key: String,
    /// Id of the upload.
    pub upload: String,
    /// Only parts with a higher number. Default: 0.
    pub after: u32,
    /// Most parts of the page: at most 1000, which is the default.
    pub limit: Option<usize>,
}

impl ListParts {
    /// All parts of this upload.
    pub fn new(key: impl Into<String>, upload: impl Into<String>) -> Self {
        Self { key: key.into(), upload: upload.into(), after: 0, limit: None }
    }

    setters! {
        /// Sets the number behind which the page begins.
        after: u32,
        /// Sets the most parts of the page.
        limit: Option<usize>,
    }

    /// Most parts of the page.
    pub fn page_size(&self) -> usize {
        self.limit.unwrap_or(rules::PAGE).min(rules::PAGE)
    }
}

/// One page of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartPage {
    /// Parts, in the order of their numbers.
    pub parts: Vec<UploadedPart>,
    /// Number for [`ListParts::after`] of the next page; `None` on the last page.
    pub next: Option<u32>,
}

impl PartPage {
    /// Page of these parts.
    pub fn new(parts: Vec<UploadedPart>, next: Option<u32>) -> Self {
        Self { parts, next }
    }
}

/// List of one page of uploads in progress; see [`Blobs::list_uploads`](super::Blobs::list_uploads).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListUploads {
    /// Only keys that begin with this.
    pub prefix: String,
    /// Only uploads behind this key and id. For the next page: [`UploadPage::next`].
    pub after: Option<(String, String)>,
    /// Most uploads of the page: at most 1000, which is the default.
    pub limit: Option<usize>,
}

impl ListUploads {
    /// All uploads in progress.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the prefix of the keys.
        prefix: String,
        /// Sets the key and the id behind which the page begins.
        after: Option<(String, String)>,
        /// Sets the most uploads of the page.
        limit: Option<usize>,
    }

    /// Most uploads of the page.
    pub fn page_size(&self) -> usize {
        self.limit.unwrap_or(rules::PAGE).min(rules::PAGE)
    }
}

/// Multipart upload in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UploadSummary {
    /// Key of the blob.
    pub key: String,
    /// Id of the upload.
    pub upload: String,
    /// Time of its begin.
    pub created: Timestamp,
}

impl UploadSummary {
    /// Upload in progress.
    pub fn new(key: impl Into<String>, upload: impl Into<String>, created: Timestamp) -> Self {
        Self { key: key.into(), upload: upload.into(), created }
    }
}

/// One page of uploads in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UploadPage {
    /// Uploads, in the order of their keys and then of their begin.
    pub uploads: Vec<UploadSummary>,
    /// Position for [`ListUploads::after`] of the next page; `None` on the last page.
    pub next: Option<(String, String)>,
}

impl UploadPage {
    /// Page of these uploads.
    pub fn new(uploads: Vec<UploadSummary>, next: Option<(String, String)>) -> Self {
        Self { uploads, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_completion_ascend() {
        let check = |numbers: &[u32]| {
            let parts = numbers.iter().map(|number| CompletedPart::new(*number, "e"));
            CompleteUpload::new("k", "u", parts).check().map_err(|error| error.code())
        };
        assert_eq!(check(&[1, 3, 10_000]), Ok(()));
        assert_eq!(check(&[]), Err("MalformedXML"));
        assert_eq!(check(&[2, 1]), Err("InvalidPartOrder"));
        assert_eq!(check(&[1, 1]), Err("InvalidPartOrder"));
        assert_eq!(check(&(1..=10_001).collect::<Vec<_>>()), Err("MalformedXML"));
    }

    #[test]
    fn completion_chooses_stored_parts_of_enough_bytes() {
        let stored: BTreeMap<u32, UploadedPart> =
            [(1, rules::PART_BYTES), (2, rules::PART_BYTES - 1), (3, 0)]
                .map(|(number, size)| (number, UploadedPart::new(number, "e", size)))
                .into();
        let choose = |parts: &[(u32, &str)]| {
            let parts = parts.iter().map(|(number, etag)| CompletedPart::new(*number, *etag));
            CompleteUpload::new("k", "u", parts)
                .choose(|number| stored.get(&number), |part| part)
                .map(|parts| parts.len())
                .map_err(|error| error.code())
        };
        assert_eq!(choose(&[(1, "e"), (3, "e")]), Ok(2));
        assert_eq!(choose(&[(1, "e"), (2, "e")]), Ok(2));
        assert_eq!(choose(&[(2, "e"), (3, "e")]), Err("EntityTooSmall"));
        assert_eq!(choose(&[(1, "f")]), Err("InvalidPart"));
        assert_eq!(choose(&[(4, "e")]), Err("InvalidPart"));
    }

    #[test]
    fn checksums_of_uploads_are_crcs_of_all_bytes_or_composite() {
        let check = |algorithm, kind| {
            CreateUpload::new("k").checksum(Some((algorithm, kind))).check().is_ok()
        };
        for algorithm in ChecksumAlgorithm::ALL {
            assert_eq!(check(algorithm, ChecksumType::FullObject), algorithm.is_crc());
            let is_excluded =
                matches!(algorithm, ChecksumAlgorithm::Md5 | ChecksumAlgorithm::Crc64Nvme);
            assert_eq!(check(algorithm, ChecksumType::Composite), !is_excluded);
        }
    }

    #[test]
    fn part_with_a_checksum_of_another_algorithm_is_refused() {
        let part = UploadPart::new("k", "u", 1, "abc")
            .expect(Checksum::of(ChecksumAlgorithm::Md5, b"abc"))
            .expect(Checksum::of(ChecksumAlgorithm::Sha256, b"abc"));
        assert!(part.plan_checksums(Some(ChecksumAlgorithm::Sha256)).is_ok());
        let error = part.plan_checksums(Some(ChecksumAlgorithm::Crc32)).unwrap_err();
        assert_eq!(error.code(), "InvalidRequest");
        let trailing =
            UploadPart::new("k", "u", 1, "abc").verified_algorithm(Some(ChecksumAlgorithm::Crc32c));
        assert!(trailing.plan_checksums(Some(ChecksumAlgorithm::Crc32c)).is_ok());
        assert!(trailing.plan_checksums(None).is_ok());
        let error = trailing.plan_checksums(Some(ChecksumAlgorithm::Crc32)).unwrap_err();
        assert_eq!(error.code(), "InvalidRequest");
    }

    #[test]
    fn part_of_an_upload_without_a_named_algorithm_stores_that_of_the_upload() {
        let upload = CreateUpload::new("k").any_part_checksum(true);
        let crc32 = Checksum::of(ChecksumAlgorithm::Crc32, b"abc");
        let plan = |part: UploadPart, bytes: &[u8]| {
            let plan = upload.plan_part(&part).unwrap();
            let mut digests = plan.start();
            digests.update(bytes);
            plan.finish(digests).map(|(_, stored)| stored).map_err(|error| error.code())
        };
        let part = || UploadPart::new("k", "u", 1, "abc");
        let stored = Ok(Some(Checksum::of(ChecksumAlgorithm::Crc64Nvme, b"abc")));
        assert_eq!(plan(part(), b"abc"), stored);
        assert_eq!(plan(part().expect(crc32.clone()), b"abc"), stored);
        assert_eq!(plan(part().expect(crc32.clone()), b"abd"), Err("BadDigest"));
        let trailing = part().verified_algorithm(Some(ChecksumAlgorithm::Sha1));
        assert_eq!(plan(trailing, b"abc"), stored);
        let named = CreateUpload::new("k").plan_part(&part().expect(crc32)).unwrap_err();
        assert_eq!(named.code(), "InvalidRequest");
    }
}
