//! Trailer of a chunked body: the checksum that is sent behind the bytes.

use http::HeaderMap;
use tabla_core::Result;
use tabla_core::blobs::{Checksum, ChecksumAlgorithm, Digests, bad_digest};

use super::super::refusal::{INVALID_REQUEST, MALFORMED_TRAILER, Refusal};
use super::super::verify::ChunkSigner;
use super::chunked::{malformed_trailer, mismatch};

/// Header that announces the names in the trailer.
const ANNOUNCEMENT: &str = "x-amz-trailer";

/// Prefix of the headers with checksums.
pub(in super::super) const CHECKSUM: &str = "x-amz-checksum-";

/// Expected trailer of a body.
#[derive(Debug, Default)]
pub(in super::super) struct Trailer {
    /// Announced checksum, computed while the body is read.
    checksum: Option<(ChecksumAlgorithm, Digests)>,
    is_allowed: bool,
}

impl Trailer {
    /// Trailer that the headers of a request announce.
    ///
    /// # Errors
    /// - `MalformedTrailerError`: something other than one checksum is announced.
    /// - `InvalidRequest`: the payload has no trailer.
    pub(in super::super) fn declared(
        headers: &HeaderMap,
        is_allowed: bool,
    ) -> Result<Self, Refusal> {
        let mut given = headers.get_all(ANNOUNCEMENT).iter();
        let Some(name) = given.next() else { return Ok(Self { checksum: None, is_allowed }) };
        if !is_allowed {
            let message = "x-amz-trailer needs a payload with a trailer, such as \
                           STREAMING-UNSIGNED-PAYLOAD-TRAILER";
            return Err(Refusal::new(INVALID_REQUEST, message));
        }
        let name = name.to_str().unwrap_or_default().trim().to_ascii_lowercase();
        let algorithm = name.strip_prefix(CHECKSUM).and_then(stored_algorithm);
        match (algorithm, given.next()) {
            (Some(algorithm), None) => {
                Ok(Self { checksum: Some((algorithm, Digests::new([algorithm]))), is_allowed })
            }
            _ => Err(Refusal::new(
                MALFORMED_TRAILER,
                "The value specified in the x-amz-trailer header is not supported: use one \
                 x-amz-checksum-* name",
            )),
        }
    }

    /// Adds decoded bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        if let Some((_, digests)) = &mut self.checksum {
            digests.update(bytes);
        }
    }

    /// Verifies the trailer: its signature if there is a signer, and its checksum.
    pub(super) fn finish(self, text: &[u8], signer: Option<&ChunkSigner>) -> Result<()> {
        let mut lines = parse(text)?;
        lines.sort();
        let signature = lines.iter().position(|(name, _)| name == "x-amz-trailer-signature");
        let signature = signature.map(|position| lines.remove(position).1);
        if !self.is_allowed && !lines.is_empty() {
            return Err(malformed_trailer("the payload was announced without one"));
        }
        if let Some(signer) = signer.filter(|_| self.is_allowed) {
            let canonical: String =
                lines.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
            let given = signature.ok_or_else(|| malformed_trailer("it is not signed"))?;
            if !signer.is_trailer(canonical.as_bytes(), given.as_bytes()) {
                return Err(mismatch("the trailer"));
            }
        }
        let mut checksums = lines.iter().filter(|(name, _)| name.starts_with(CHECKSUM));
        let (given, other) = (checksums.next(), checksums.next());
        match (self.checksum, given, other) {
            (None, None, _) => Ok(()),
            (Some((algorithm, digests)), Some((name, value)), None)
                if name.strip_prefix(CHECKSUM).and_then(stored_algorithm) == Some(algorithm) =>
            {
                let expected = Checksum::decode(algorithm, value)?;
                match digests.finish().into_iter().next() {
                    Some(found) if found != expected => Err(bad_digest(&expected, &found)),
                    _ => Ok(()),
                }
            }
            _ => {
                Err(malformed_trailer("it does not have the checksum that x-amz-trailer announces"))
            }
        }
    }
}

/// Algorithm with this lower-case name that S3 stores.
pub(in super::super) fn stored_algorithm(name: &str) -> Option<ChecksumAlgorithm> {
    ChecksumAlgorithm::ALL
        .into_iter()
        .filter(|algorithm| *algorithm != ChecksumAlgorithm::Md5)
        .find(|algorithm| algorithm.as_str().eq_ignore_ascii_case(name))
}

/// Parses lines of the form `name:value`; names in lower case.
fn parse(text: &[u8]) -> Result<Vec<(String, String)>> {
    let text = std::str::from_utf8(text).map_err(|_| malformed_trailer("it is not ASCII"))?;
    let lines = text.split('\n').map(|line| line.trim_end_matches('\r'));
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let (name, value) =
                line.split_once(':').ok_or_else(|| malformed_trailer("a line has no colon"))?;
            Ok((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        })
        .collect()
}
