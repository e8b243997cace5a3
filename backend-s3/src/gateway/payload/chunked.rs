//! Decoder of the content coding `aws-chunked`.
//!
//! A body is a sequence of chunks, of which the last one is empty, and an optional trailer:
//!
//! ```text
//! 5;chunk-signature=…64 hexadecimal digits…⏎
//! hello⏎
//! 0;chunk-signature=…⏎
//! x-amz-checksum-crc32c:…⏎
//! x-amz-trailer-signature:…⏎
//! ⏎
//! ```
//!
//! Bytes of a chunk are passed on before the chunk is complete, so that a chunk of any length takes
//! constant memory. Its signature is verified at its end.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};
use sha2::{Digest, Sha256};
use tabla_core::blobs::validation;
use tabla_core::{Error, Result};

use super::super::refusal::{INVALID_REQUEST, MALFORMED_TRAILER, SIGNATURE_DOES_NOT_MATCH};
use super::super::verify::{ChunkSigner, hexadecimal};
use super::trailer::Trailer;

/// Longest line before a chunk, in bytes.
const LINE: usize = 256;

/// Longest trailer, in bytes.
const TRAILER: usize = 8 << 10;

/// Decoder of one body.
#[derive(Debug)]
pub(in super::super) struct ChunkDecoder {
    signer: Option<ChunkSigner>,
    trailer: Trailer,
    position: Position,
    /// Line or trailer that is incomplete.
    line: Vec<u8>,
    /// Hash of the current chunk, and its signature.
    chunk: Sha256,
    signature: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// In the line before a chunk.
    Line,
    /// In a chunk with this many bytes left.
    Chunk(u64),
    /// In the line break behind a chunk.
    Break,
    /// Behind the last chunk.
    Trailer,
}

impl ChunkDecoder {
    /// Decoder of a body whose chunks are signed if there is a signer.
    pub(in super::super) fn new(signer: Option<ChunkSigner>, trailer: Trailer) -> Self {
        Self {
            signer,
            trailer,
            position: Position::Line,
            line: Vec::new(),
            chunk: Sha256::new(),
            signature: Vec::new(),
        }
    }

    /// Decodes received bytes.
    pub(super) fn receive(&mut self, mut bytes: Bytes, out: &mut VecDeque<Bytes>) -> Result<()> {
        while !bytes.is_empty() {
            match self.position {
                Position::Line => {
                    if self.take_line(&mut bytes, LINE)? {
                        self.begin_chunk()?;
                    }
                }
                Position::Chunk(left) => {
                    let taken = left.min(bytes.len() as u64);
                    // It is at most the length of the received bytes.
                    let piece = bytes.split_to(taken as usize);
                    if self.signer.is_some() {
                        self.chunk.update(&piece);
                    }
                    self.trailer.update(&piece);
                    out.push_back(piece);
                    self.position = Position::Chunk(left - taken);
                    if left == taken {
                        self.end_chunk()?;
                        self.position = Position::Break;
                    }
                }
                Position::Break => {
                    if self.take_line(&mut bytes, 2)? {
                        if !self.line.is_empty() {
                            return Err(malformed("bytes follow a chunk"));
                        }
                        self.position = Position::Line;
                    }
                }
                Position::Trailer => {
                    if self.line.len() + bytes.len() > TRAILER {
                        return Err(malformed_trailer("it is longer than 8192 bytes"));
                    }
                    self.line.extend_from_slice(&bytes);
                    bytes.clear();
                }
            }
        }
        Ok(())
    }

    /// Takes bytes up to the end of a line. Returns whether the line is complete, without its break.
    fn take_line(&mut self, bytes: &mut Bytes, limit: usize) -> Result<bool> {
        while bytes.has_remaining() {
            let byte = bytes.get_u8();
            self.line.push(byte);
            if byte == b'\n' {
                if !self.line.ends_with(b"\r\n") {
                    return Err(malformed("a line ends without a carriage return"));
                }
                self.line.truncate(self.line.len() - 2);
                return Ok(true);
            }
            if self.line.len() > limit {
                return Err(malformed("a line is too long"));
            }
        }
        Ok(false)
    }

    /// Reads the length and the signature of a chunk.
    fn begin_chunk(&mut self) -> Result<()> {
        let line = std::mem::take(&mut self.line);
        let line = std::str::from_utf8(&line).map_err(|_| malformed("a line is not ASCII"))?;
        let (length, extension) = line.split_once(';').unwrap_or((line, ""));
        let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_hexdigit());
        let length = u64::from_str_radix(length, 16).ok().filter(|_| is_number);
        let length = length.ok_or_else(|| malformed("the length of a chunk is no number"))?;
        let signature = extension.strip_prefix("chunk-signature=");
        self.signature = match (&self.signer, signature) {
            (Some(_), None) => return Err(malformed("a chunk has no signature")),
            (_, signature) => signature.unwrap_or_default().as_bytes().to_vec(),
        };
        self.chunk = Sha256::new();
        self.position = Position::Chunk(length);
        if length == 0 {
            self.end_chunk()?;
            self.position = Position::Trailer;
        }
        Ok(())
    }

    /// Verifies the signature of the current chunk.
    fn end_chunk(&mut self) -> Result<()> {
        let Some(signer) = &mut self.signer else { return Ok(()) };
        let hash = hexadecimal(&std::mem::take(&mut self.chunk).finalize());
        match signer.is_chunk(&hash, &self.signature) {
            true => Ok(()),
            false => Err(mismatch("a chunk")),
        }
    }

    /// Verifies the trailer at the end of the body.
    pub(super) fn finish(self) -> Result<()> {
        if self.position != Position::Trailer {
            return Err(malformed("it ends before its last chunk, which is empty"));
        }
        self.trailer.finish(&self.line, self.signer.as_ref())
    }
}

/// Error for a body that breaks the rules of the coding.
fn malformed(what: &str) -> Error {
    validation(INVALID_REQUEST, format!("the aws-chunked body is malformed: {what}"))
}

/// Error for a trailer that breaks the rules of the coding.
pub(super) fn malformed_trailer(what: &str) -> Error {
    validation(
        MALFORMED_TRAILER,
        format!(
            "The request contained trailing data that was not well-formed or did not conform to our \
             published schema: {what}"
        ),
    )
}

/// Error for a chunk or trailer with another signature.
pub(super) fn mismatch(what: &str) -> Error {
    validation(
        SIGNATURE_DOES_NOT_MATCH,
        format!(
            "The signature that was calculated for {what} does not match the one you provided. \
             Check your key and signing method."
        ),
    )
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    /// Decodes a body in pieces of `size` bytes.
    fn decode(
        text: &str,
        size: usize,
        declared: Option<&'static str>,
    ) -> Result<String, &'static str> {
        let mut headers = HeaderMap::new();
        if let Some(declared) = declared {
            headers.insert("x-amz-trailer", declared.parse().unwrap());
        }
        let trailer = Trailer::declared(&headers, true).unwrap();
        let mut decoder = ChunkDecoder::new(None, trailer);
        let mut out = VecDeque::new();
        for piece in text.as_bytes().chunks(size) {
            decoder
                .receive(Bytes::copy_from_slice(piece), &mut out)
                .map_err(|error| error.code())?;
        }
        decoder.finish().map_err(|error| error.code())?;
        let all: Vec<u8> = out.into_iter().flatten().collect();
        Ok(String::from_utf8(all).unwrap())
    }

    #[test]
    fn chunks_are_decoded_in_pieces_of_any_length() {
        let text = "5\r\nhello\r\n7;chunk-signature=x\r\n, world\r\n0\r\n\r\n";
        for size in [1, 2, 3, 7, 1000] {
            assert_eq!(decode(text, size, None).as_deref(), Ok("hello, world"), "{size}");
        }
        assert_eq!(decode("0\r\n\r\n", 1, None).as_deref(), Ok(""));
        assert_eq!(decode("0\r\n", 1, None).as_deref(), Ok(""));
    }

    #[test]
    fn malformed_bodies_are_refused() {
        for text in [
            "",
            "5\r\nhello",
            "5\r\nhello\r\n",
            "5\nhello\r\n0\r\n\r\n",
            "5\r\nhelloo\r\n0\r\n\r\n",
            "x\r\nhello\r\n0\r\n\r\n",
            "+5\r\nhello\r\n0\r\n\r\n",
            "\r\n",
            "-1\r\n",
            "ffffffffffffffffff\r\n",
        ] {
            assert_eq!(decode(text, 1000, None), Err("InvalidRequest"), "{text:?}");
        }
        let long = format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(300));
        assert_eq!(decode(&long, 7, None), Err("InvalidRequest"));
    }

    #[test]
    fn trailing_checksum_is_verified() {
        let with = |trailer: &str| {
            let text = format!("5\r\nhello\r\n0\r\n{trailer}\r\n\r\n");
            decode(&text, 4, Some("x-amz-checksum-crc32c"))
        };
        assert_eq!(with("x-amz-checksum-crc32c:mnG7TA==").as_deref(), Ok("hello"));
        assert_eq!(with("X-Amz-Checksum-Crc32c: mnG7TA== ").as_deref(), Ok("hello"));
        assert_eq!(with("x-amz-checksum-crc32c:mnG7TQ=="), Err("BadDigest"));
        assert_eq!(with("x-amz-checksum-crc32c:mnG7"), Err("InvalidDigest"));
        assert_eq!(with(""), Err("MalformedTrailerError"));
        assert_eq!(with("x-amz-checksum-crc32:NhCmhg=="), Err("MalformedTrailerError"));
        assert_eq!(with("no colon"), Err("MalformedTrailerError"));
        assert_eq!(with(&format!("x:{}", "y".repeat(9000))), Err("MalformedTrailerError"));
    }
}
