//! Checksums of blobs: algorithms, values, and the digests that compute them.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crc_fast::CrcAlgorithm;
use sha2::Digest as _;

use super::errors;
use crate::error::{Error, Result};

/// Algorithm of a [`Checksum`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChecksumAlgorithm {
    /// SHA-256, the default of a put.
    #[default]
    Sha256,
    /// SHA-1, for clients that still use it.
    Sha1,
    /// CRC-32 of ISO 3309, as in zip files.
    Crc32,
    /// CRC-32C of Castagnoli.
    Crc32c,
    /// CRC-64/NVME, the default of a multipart upload.
    Crc64Nvme,
    /// MD5, which S3 verifies and does not store as a checksum. Only for expected checksums.
    Md5,
}

impl ChecksumAlgorithm {
    /// All algorithms.
    pub const ALL: [Self; 6] =
        [Self::Sha256, Self::Sha1, Self::Crc32, Self::Crc32c, Self::Crc64Nvme, Self::Md5];

    /// S3's name, such as `CRC64NVME`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sha256 => "SHA256",
            Self::Sha1 => "SHA1",
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
            Self::Crc64Nvme => "CRC64NVME",
            Self::Md5 => "MD5",
        }
    }

    /// Length of a value, in bytes.
    pub fn length(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha1 => 20,
            Self::Crc32 | Self::Crc32c => 4,
            Self::Crc64Nvme => 8,
            Self::Md5 => 16,
        }
    }

    /// Whether the checksum of a whole follows from those of its parts and their lengths.
    pub fn is_crc(self) -> bool {
        self.crc().is_some()
    }

    fn crc(self) -> Option<CrcAlgorithm> {
        match self {
            Self::Crc32 => Some(CrcAlgorithm::Crc32IsoHdlc),
            Self::Crc32c => Some(CrcAlgorithm::Crc32Iscsi),
            Self::Crc64Nvme => Some(CrcAlgorithm::Crc64Nvme),
            Self::Sha256 | Self::Sha1 | Self::Md5 => None,
        }
    }

    /// Value of a CRC, big-endian, in the length of the algorithm.
    fn crc_bytes(self, value: u64) -> Vec<u8> {
        value.to_be_bytes()[8 - self.length()..].to_vec()
    }
}

impl fmt::Display for ChecksumAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ChecksumAlgorithm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            errors::invalid_argument(format!(
                "unknown checksum algorithm `{name}` (possible: {names})"
            ))
        })
    }
}

/// What a checksum of a multipart upload is computed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChecksumType {
    /// All bytes of the blob. In a multipart upload only a CRC.
    #[default]
    FullObject,
    /// The checksums of the parts, concatenated.
    Composite,
}

/// Checksum of a blob or part: an algorithm and its value.
///
/// Its text is S3's: Base64, followed by `-` and the number of parts if it is composite.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Checksum {
    algorithm: ChecksumAlgorithm,
    value: Vec<u8>,
    parts: Option<u32>,
}

impl Checksum {
    /// Checksum with this value.
    ///
    /// # Errors
    /// `InvalidDigest`: the value does not have the length of the algorithm.
    pub fn new(algorithm: ChecksumAlgorithm, value: impl Into<Vec<u8>>) -> Result<Self> {
        let value = value.into();
        match value.len() == algorithm.length() {
            true => Ok(Self { algorithm, value, parts: None }),
            false => Err(errors::invalid_digest(format!(
                "a {algorithm} checksum has {} bytes, not {}",
                algorithm.length(),
                value.len()
            ))),
        }
    }

    /// Checksum of these bytes.
    pub fn of(algorithm: ChecksumAlgorithm, bytes: &[u8]) -> Self {
        let mut digest = Digest::new(algorithm);
        digest.update(bytes);
        digest.finish()
    }

    /// Checksum from the text of [`encoded`](Self::encoded).
    ///
    /// # Errors
    /// `InvalidDigest`: the text is no Base64, or has another length.
    pub fn decode(algorithm: ChecksumAlgorithm, text: &str) -> Result<Self> {
        let (base64, parts) = match text.split_once('-') {
            Some((base64, parts)) => {
                (base64, Some(parts.parse().map_err(|_| invalid_text(algorithm, text))?))
            }
            None => (text, None),
        };
        let value = BASE64.decode(base64).map_err(|_| invalid_text(algorithm, text))?;
        Ok(Self { parts, ..Self::new(algorithm, value)? })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> ChecksumAlgorithm {
        self.algorithm
    }

    /// The value, in [`ChecksumAlgorithm::length`] bytes.
    pub fn value(&self) -> &[u8] {
        &self.value
    }

    /// Whether the checksum is of all bytes, and not of the checksums of parts.
    pub fn is_full_object(&self) -> bool {
        self.parts.is_none()
    }

    /// S3's text of the value: Base64, with `-` and the number of parts if it is composite.
    pub fn encoded(&self) -> String {
        let base64 = BASE64.encode(&self.value);
        match self.parts {
            Some(parts) => format!("{base64}-{parts}"),
            None => base64,
        }
    }

    /// The value in lower-case hexadecimal digits.
    pub fn hex(&self) -> String {
        self.value.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn invalid_text(algorithm: ChecksumAlgorithm, text: &str) -> Error {
    errors::invalid_digest(format!("`{text}` is not the Base64 of a {algorithm} checksum"))
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.algorithm, self.encoded())
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checksum({self})")
    }
}

/// Running computation of one checksum.
enum Digest {
    Sha256(sha2::Sha256),
    Sha1(sha1::Sha1),
    Md5(md5::Md5),
    Crc(ChecksumAlgorithm, crc_fast::Digest),
}

impl Digest {
    fn new(algorithm: ChecksumAlgorithm) -> Self {
        match (algorithm, algorithm.crc()) {
            (_, Some(crc)) => Self::Crc(algorithm, crc_fast::Digest::new(crc)),
            (ChecksumAlgorithm::Sha1, _) => Self::Sha1(sha1::Sha1::new()),
            (ChecksumAlgorithm::Md5, _) => Self::Md5(md5::Md5::new()),
            (_, None) => Self::Sha256(sha2::Sha256::new()),
        }
    }

    fn algorithm(&self) -> ChecksumAlgorithm {
        match self {
            Self::Sha256(_) => ChecksumAlgorithm::Sha256,
            Self::Sha1(_) => ChecksumAlgorithm::Sha1,
            Self::Md5(_) => ChecksumAlgorithm::Md5,
            Self::Crc(algorithm, _) => *algorithm,
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(digest) => digest.update(bytes),
            Self::Sha1(digest) => digest.update(bytes),
            Self::Md5(digest) => digest.update(bytes),
            Self::Crc(_, digest) => digest.update(bytes),
        }
    }

    fn finish(self) -> Checksum {
        let algorithm = self.algorithm();
        let value = match self {
            Self::Sha256(digest) => digest.finalize().to_vec(),
            Self::Sha1(digest) => digest.finalize().to_vec(),
            Self::Md5(digest) => digest.finalize().to_vec(),
            Self::Crc(algorithm, digest) => algorithm.crc_bytes(digest.finalize()),
        };
        Checksum { algorithm, value, parts: None }
    }
}

/// Running computation of several checksums of the same bytes.
pub struct Digests(Vec<Digest>);

impl Digests {
    /// Starts the computation with these algorithms, each once.
    pub fn new(algorithms: impl IntoIterator<Item = ChecksumAlgorithm>) -> Self {
        let mut digests: Vec<Digest> = Vec::new();
        for algorithm in algorithms {
            if !digests.iter().any(|digest| digest.algorithm() == algorithm) {
                digests.push(Digest::new(algorithm));
            }
        }
        Self(digests)
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|digest| digest.update(bytes));
    }

    /// Ends the computation: one checksum per algorithm, in the order of [`Digests::new`].
    pub fn finish(self) -> Vec<Checksum> {
        self.0.into_iter().map(Digest::finish).collect()
    }
}

impl fmt::Debug for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(Digest::algorithm)).finish()
    }
}

/// Checksums that a write has to compute, and those that it has to compare.
///
/// A backend computes [`algorithms`](Self::algorithms) while it reads the body, and passes them to
/// [`finish`](Self::finish) before the write becomes visible.
#[derive(Clone, Debug)]
pub struct ChecksumPlan {
    stored: Option<ChecksumAlgorithm>,
    expected: Vec<Checksum>,
}

impl ChecksumPlan {
    /// Plan of a write that stores a checksum of this algorithm, and expects these.
    ///
    /// An expected checksum that can be stored is stored instead of `stored`.
    ///
    /// # Errors
    /// `InvalidArgument`: MD5 as the stored algorithm, or a composite checksum.
    pub fn new(stored: Option<ChecksumAlgorithm>, expected: &[Checksum]) -> Result<Self> {
        if stored == Some(ChecksumAlgorithm::Md5) {
            return Err(errors::invalid_argument(
                "MD5 is not stored as a checksum; expect it, and store SHA256 or a CRC".into(),
            ));
        }
        if let Some(composite) = expected.iter().find(|checksum| !checksum.is_full_object()) {
            return Err(errors::invalid_argument(format!(
                "the expected checksum {composite} is of the parts of an upload; give the one of \
                 all bytes"
            )));
        }
        let mut given = expected.iter().map(Checksum::algorithm);
        let stored = given.find(|algorithm| *algorithm != ChecksumAlgorithm::Md5).or(stored);
        Ok(Self { stored, expected: expected.to_vec() })
    }

    /// Plan of a write that stores a checksum of this algorithm, whichever ones it expects.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn storing(stored: ChecksumAlgorithm, expected: &[Checksum]) -> Result<Self> {
        let plan = Self::new(Some(stored), expected)?;
        Ok(Self { stored: Some(stored), ..plan })
    }

    /// Algorithm of the checksum to store.
    pub fn stored(&self) -> Option<ChecksumAlgorithm> {
        self.stored
    }

    /// Expected checksums.
    pub fn expected(&self) -> &[Checksum] {
        &self.expected
    }

    /// Algorithms to compute, MD5 among them, of which the ETag is made.
    pub fn algorithms(&self) -> impl Iterator<Item = ChecksumAlgorithm> {
        let expected = self.expected.iter().map(Checksum::algorithm);
        [ChecksumAlgorithm::Md5].into_iter().chain(self.stored).chain(expected)
    }

    /// Starts the computation.
    pub fn start(&self) -> Digests {
        Digests::new(self.algorithms())
    }

    /// Compares the expected checksums, and returns the ETag and the checksum to store.
    ///
    /// # Errors
    /// `BadDigest`: the bytes have another checksum than expected.
    pub fn finish(&self, digests: Digests) -> Result<(String, Option<Checksum>)> {
        let computed = digests.finish();
        let of = |algorithm: ChecksumAlgorithm| {
            computed.iter().find(|checksum| checksum.algorithm() == algorithm)
        };
        for expected in &self.expected {
            match of(expected.algorithm()) {
                Some(found) if found == expected => {}
                Some(found) => return Err(errors::bad_digest(expected, found)),
                None => return Err(errors::invalid_digest(format!("{expected} was not computed"))),
            }
        }
        let etag = of(ChecksumAlgorithm::Md5).map(Checksum::hex).unwrap_or_default();
        Ok((etag, self.stored.and_then(of).cloned()))
    }
}

/// Checksum and ETag of a multipart upload, from those of its parts in their order.
#[derive(Debug)]
pub struct PartChecksums {
    algorithm: Option<(ChecksumAlgorithm, ChecksumType)>,
    /// MD5 values of the parts.
    md5: md5::Md5,
    /// Concatenated checksums of the parts.
    concatenated: Vec<u8>,
    /// CRC of the parts so far.
    crc: Option<u64>,
    parts: u32,
}

impl PartChecksums {
    /// Starts with no part. Without an algorithm only the ETag is computed.
    pub fn new(algorithm: Option<(ChecksumAlgorithm, ChecksumType)>) -> Self {
        Self { algorithm, md5: md5::Md5::new(), concatenated: Vec::new(), crc: None, parts: 0 }
    }

    /// Adds a part: its length, its ETag, and its checksum of the upload's algorithm.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Corrupt`]: the ETag is no MD5, or the checksum is missing.
    pub fn add(&mut self, length: u64, etag: &str, checksum: Option<&Checksum>) -> Result<()> {
        let md5 = hex_bytes(etag)
            .ok_or_else(|| Error::corrupt(format!("the ETag `{etag}` of a part is no MD5")))?;
        self.md5.update(&md5);
        self.parts += 1;
        let Some((algorithm, _)) = self.algorithm else { return Ok(()) };
        let checksum = checksum
            .filter(|checksum| checksum.algorithm() == algorithm)
            .ok_or_else(|| Error::corrupt(format!("a part has no {algorithm} checksum")))?;
        self.concatenated.extend_from_slice(checksum.value());
        if let Some(crc) = algorithm.crc() {
            let value = checksum.value().iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
            self.crc = Some(match self.crc {
                Some(before) => crc_fast::checksum_combine(crc, before, value, length),
                None => value,
            });
        }
        Ok(())
    }

    /// ETag and checksum of the whole.
    pub fn finish(self) -> (String, Option<Checksum>) {
        let etag = Checksum {
            algorithm: ChecksumAlgorithm::Md5,
            value: self.md5.finalize().to_vec(),
            parts: None,
        };
        let etag = format!("{}-{}", etag.hex(), self.parts);
        let checksum = self.algorithm.map(|(algorithm, kind)| match (kind, self.crc) {
            (ChecksumType::FullObject, Some(crc)) => {
                Checksum { algorithm, value: algorithm.crc_bytes(crc), parts: None }
            }
            // `CreateUpload::check` refuses a full-object checksum that is no CRC.
            _ => {
                Checksum { parts: Some(self.parts), ..Checksum::of(algorithm, &self.concatenated) }
            }
        });
        (etag, checksum)
    }
}

fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> =
        text.chars().map(|digit| digit.to_digit(16)).collect::<Option<Vec<u32>>>()?;
    digits
        .len()
        .is_multiple_of(2)
        .then(|| digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_of_known_texts() {
        // Check values of the CRC catalogue and of RFC 1321, for "123456789".
        for (algorithm, hex) in [
            (ChecksumAlgorithm::Crc32, "cbf43926"),
            (ChecksumAlgorithm::Crc32c, "e3069283"),
            (ChecksumAlgorithm::Crc64Nvme, "ae8b14860a799888"),
            (ChecksumAlgorithm::Md5, "25f9e794323b453885f5181f1b624d0b"),
            (ChecksumAlgorithm::Sha1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
            (
                ChecksumAlgorithm::Sha256,
                "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
            ),
        ] {
            let checksum = Checksum::of(algorithm, b"123456789");
            assert_eq!(checksum.hex(), hex, "{algorithm}");
            assert_eq!(Checksum::decode(algorithm, &checksum.encoded()).unwrap(), checksum);
            assert_eq!(algorithm.as_str().parse::<ChecksumAlgorithm>().unwrap(), algorithm);
        }
    }

    #[test]
    fn checksum_of_another_length_is_refused() {
        let error = Checksum::decode(ChecksumAlgorithm::Crc32, "AAAA").unwrap_err();
        assert_eq!((error.code(), error.kind()), ("InvalidDigest", &crate::ErrorKind::Validation));
        assert!(Checksum::decode(ChecksumAlgorithm::Crc32, "no base64").is_err());
        assert!(Checksum::decode(ChecksumAlgorithm::Crc32, "AAAAAA==-x").is_err());
    }

    #[test]
    fn plan_stores_the_expected_checksum_unless_it_is_md5() {
        let md5 = Checksum::of(ChecksumAlgorithm::Md5, b"abc");
        let crc = Checksum::of(ChecksumAlgorithm::Crc32, b"abc");
        let stored = |expected: &[Checksum]| {
            let plan = ChecksumPlan::new(Some(ChecksumAlgorithm::Sha256), expected).unwrap();
            let mut digests = plan.start();
            digests.update(b"abc");
            plan.finish(digests).unwrap()
        };
        let (etag, checksum) = stored(std::slice::from_ref(&md5));
        assert_eq!(etag, md5.hex());
        assert_eq!(checksum, Some(Checksum::of(ChecksumAlgorithm::Sha256, b"abc")));
        assert_eq!(stored(&[md5, crc.clone()]).1, Some(crc));
    }

    #[test]
    fn plan_reports_another_checksum() {
        let expected = Checksum::of(ChecksumAlgorithm::Sha256, b"abc");
        let plan = ChecksumPlan::new(None, &[expected]).unwrap();
        let mut digests = plan.start();
        digests.update(b"abd");
        assert_eq!(plan.finish(digests).unwrap_err().code(), "BadDigest");
    }

    #[test]
    fn crc_of_parts_is_the_crc_of_the_whole() {
        for algorithm in
            [ChecksumAlgorithm::Crc32, ChecksumAlgorithm::Crc32c, ChecksumAlgorithm::Crc64Nvme]
        {
            let mut parts = PartChecksums::new(Some((algorithm, ChecksumType::FullObject)));
            for part in ["12", "3456", "789"] {
                let etag = Checksum::of(ChecksumAlgorithm::Md5, part.as_bytes()).hex();
                let checksum = Checksum::of(algorithm, part.as_bytes());
                parts.add(part.len() as u64, &etag, Some(&checksum)).unwrap();
            }
            let (etag, checksum) = parts.finish();
            assert!(etag.ends_with("-3"), "{etag}");
            assert_eq!(checksum, Some(Checksum::of(algorithm, b"123456789")));
        }
    }

    #[test]
    fn composite_checksum_is_of_the_checksums_of_parts() {
        let algorithm = ChecksumAlgorithm::Sha256;
        let mut parts = PartChecksums::new(Some((algorithm, ChecksumType::Composite)));
        let mut concatenated = Vec::new();
        for part in ["12", "3"] {
            let etag = Checksum::of(ChecksumAlgorithm::Md5, part.as_bytes()).hex();
            let checksum = Checksum::of(algorithm, part.as_bytes());
            concatenated.extend_from_slice(checksum.value());
            parts.add(part.len() as u64, &etag, Some(&checksum)).unwrap();
        }
        let checksum = parts.finish().1.unwrap();
        let expected = Checksum::of(algorithm, &concatenated);
        assert_eq!(checksum.encoded(), format!("{}-2", expected.encoded()));
        assert!(!checksum.is_full_object());
        assert_eq!(Checksum::decode(algorithm, &checksum.encoded()).unwrap(), checksum);
    }
}
