//! Valid requests, which the generator changes, and the content that they need.

use std::sync::Arc;

use tabla_core::blobs::*;
use tabla_s3::Buckets;

/// Origin whose pages may read responses.
pub(crate) const ORIGIN: &str = "https://app.example";

/// Valid requests: the first line, headers, and behind an empty line the body. Names in braces stand
/// for what [`Names`] has.
pub(crate) const SEEDS: &[&str] = &[
    "PUT /default/new\ncontent-type: text/plain\nx-amz-meta-a: b\n\nhello",
    "GET /default/a",
    "PUT /default/dir/b%20c\ncache-control: no-cache\ncontent-disposition: inline\ncontent-encoding: gzip\ncontent-language: es\n\nhello",
    "PUT /default/new\nif-none-match: *\n\nhello",
    "PUT /default/a\nif-match: \"{etag}\"\n\nhello",
    "PUT /default/new\ncontent-md5: {MD5}\n\nhello",
    "PUT /default/new\nx-amz-checksum-crc32: {CRC32}\nx-amz-sdk-checksum-algorithm: CRC32\n\nhello",
    "PUT /default/new\nx-amz-checksum-crc32c: {CRC32C}\n\nhello",
    "PUT /default/new\nx-amz-checksum-crc64nvme: {CRC64NVME}\n\nhello",
    "PUT /default/new\nx-amz-checksum-sha1: {SHA1}\n\nhello",
    "PUT /default/new\nx-amz-checksum-sha256: {SHA256}\n\nhello",
    "PUT /default/new\n\n",
    "PUT /versioned/v\n\nhello",
    "GET /default/a\nrange: bytes=1-2",
    "GET /default/a\nif-none-match: \"{etag}\"",
    "GET /default/a\nif-match: \"{etag}\"\nif-unmodified-since: Thu, 01 Jan 2026 00:00:00 GMT",
    "GET /default/a\nif-modified-since: Thu, 01 Jan 2026 00:00:00 GMT",
    "GET /default/a?response-content-type=text%2Fhtml&response-content-disposition=attachment&response-expires=Thu%2C%2001%20Jan%202026%2000%3A00%3A00%20GMT\nx-amz-checksum-mode: ENABLED",
    "GET /versioned/v?versionId={version}",
    "GET /default/dir/%C3%A9",
    "HEAD /default/a",
    "HEAD /default/a\nrange: bytes=-2",
    "HEAD /versioned/v?versionId={version}",
    "DELETE /default/a",
    "DELETE /default/a\nif-match: \"{etag}\"",
    "DELETE /versioned/v",
    "DELETE /versioned/v?versionId={version}",
    "PUT /default/copy\nx-amz-copy-source: /default/a",
    "PUT /versioned/copy\nx-amz-copy-source: default/dir/b%20c\nx-amz-metadata-directive: REPLACE\nx-amz-meta-new: 1",
    "PUT /default/copy\nx-amz-copy-source: versioned/v?versionId={version}\nx-amz-checksum-algorithm: CRC32C",
    "PUT /default/a\nx-amz-copy-source: default/a\nx-amz-copy-source-if-match: \"{etag}\"\nx-amz-metadata-directive: REPLACE",
    "POST /default/film?uploads",
    "POST /default/new?uploads\ncontent-type: video/mp4\nx-amz-checksum-algorithm: SHA256\nx-amz-checksum-type: COMPOSITE\nx-amz-meta-a: b",
    "PUT /default/film?partNumber=2&uploadId={upload}\n\nhello",
    "PUT /default/film?partNumber=1&uploadId={upload}\ncontent-md5: {MD5}\n\nhello",
    "PUT /default/film?partNumber=3&uploadId={upload}\nx-amz-copy-source: default/a\nx-amz-copy-source-range: bytes=1-3",
    "POST /default/film?uploadId={upload}\n\n<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Part><PartNumber>1</PartNumber><ETag>\"{part}\"</ETag></Part></CompleteMultipartUpload>",
    "POST /default/film?uploadId={upload}\nif-none-match: *\nx-amz-mp-object-size: 4\n\n<CompleteMultipartUpload><Part><ETag>{part}</ETag><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>",
    "DELETE /default/film?uploadId={upload}",
    "GET /default/film?uploadId={upload}&max-parts=1&part-number-marker=0",
    "GET /default?uploads&prefix=f&max-uploads=1&encoding-type=url",
    "GET /default?uploads&key-marker=film&upload-id-marker={upload}",
    "GET /default?list-type=2&prefix=d&delimiter=%2F&max-keys=2&encoding-type=url&fetch-owner=true",
    "GET /default?list-type=2&start-after=a",
    "GET /default?list-type=2&max-keys=1&continuation-token=YQ",
    "GET /default?prefix=dir&delimiter=%2F&marker=a&max-keys=1",
    "GET /versioned?versions&prefix=&max-keys=2",
    "GET /versioned?versions&key-marker=v&version-id-marker={version}&encoding-type=url",
    "POST /default?delete\ncontent-type: application/xml\n\n<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Object><Key>a</Key></Object><Object><Key>missing</Key></Object><Quiet>false</Quiet></Delete>",
    "POST /versioned?delete\n\n<Delete><Quiet>true</Quiet><Object><Key>v</Key><VersionId>{version}</VersionId></Object><Object><Key>x</Key></Object></Delete>",
    "POST /default?delete\n\n<Delete><Object><Key>a</Key><ETag>\"{etag}\"</ETag></Object><Object><Key>dir/b c</Key><ETag>\"0\"</ETag></Object></Delete>",
    "GET /",
    "GET /?prefix=d&max-buckets=1&continuation-token=a",
    "HEAD /default",
    "GET /default?location",
    "GET /versioned?versioning",
    "PUT /default?versioning\n\n<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Status>Enabled</Status></VersioningConfiguration>",
    "PUT /fresh",
    "PUT /fresh\n\n<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>",
    "DELETE /empty",
    "OPTIONS /default/a\norigin: https://app.example\naccess-control-request-method: PUT\naccess-control-request-headers: content-type",
];

/// Content of the object `a`, whose ETag is in [`SEEDS`].
const CONTENT: &[u8] = b"content of a";

/// Body of [`SEEDS`] whose checksums they contain.
const HELLO: &[u8] = b"hello";

/// What the names in braces stand for.
#[derive(Clone, Debug)]
pub(crate) struct Names(Vec<(String, String)>);

impl Names {
    /// Returns a text with its names replaced.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, meaning) in &self.0 {
            if text.contains(name) {
                text = text.replace(name, meaning);
            }
        }
        text
    }
}

/// Writes the content that [`SEEDS`] need. Returns the names of what was written.
pub(crate) async fn fill(buckets: &Arc<dyn Buckets>) -> Names {
    let blobs = buckets.open_bucket("default").await.expect("the default bucket");
    let put = PutBlob::new("a", CONTENT).content_type("text/plain").metadata("name", "value");
    let etag = blobs.put(put).await.expect("a put").etag;
    for key in ["dir/b c", "dir/é", "dir/e\u{301}", "x/../y", "z\u{1}<&>\r\n"] {
        blobs.put(PutBlob::new(key, format!("content of {key}"))).await.expect("a put");
    }
    let upload = blobs.create_upload(CreateUpload::new("film")).await.expect("an upload").upload;
    let part = blobs.upload_part(UploadPart::new("film", &upload, 1, "part")).await;
    let part = part.expect("a part").etag;
    buckets.create_bucket("empty").await.expect("a bucket");
    buckets.create_bucket("versioned").await.expect("a bucket");
    buckets.enable_versions("versioned").await.expect("versions");
    let blobs = buckets.open_bucket("versioned").await.expect("a bucket");
    let first = blobs.put(PutBlob::new("v", "first")).await.expect("a put").version;
    blobs.put(PutBlob::new("v", "second")).await.expect("a put");
    blobs.put(PutBlob::new("gone", "gone")).await.expect("a put");
    blobs.delete(DeleteBlob::new("gone")).await.expect("a delete");
    blobs.create_upload(CreateUpload::new("film")).await.expect("an upload");
    let name = |name: &str, meaning: String| (format!("{{{name}}}"), meaning);
    let mut names = vec![
        name("etag", etag),
        name("upload", upload),
        name("part", part),
        name("version", first.expect("a bucket that keeps versions")),
    ];
    for algorithm in ChecksumAlgorithm::ALL {
        names.push(name(algorithm.as_str(), Checksum::of(algorithm, HELLO).encoded()));
    }
    Names(names)
}
