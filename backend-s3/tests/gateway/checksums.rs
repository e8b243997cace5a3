//! Checksums: of parts, in the query of a presigned URL, and the one that the gateway chooses.

use tabla_core::blobs::{BlobsExt, Checksum, ChecksumAlgorithm};

use crate::signer::Signer;
use crate::support::{Answer, BUCKET, Gateway, Plain};

/// Algorithms that clients send, with the ends of their header names.
const SENT: [(ChecksumAlgorithm, &str); 5] = [
    (ChecksumAlgorithm::Crc32, "crc32"),
    (ChecksumAlgorithm::Crc32c, "crc32c"),
    (ChecksumAlgorithm::Crc64Nvme, "crc64nvme"),
    (ChecksumAlgorithm::Sha1, "sha1"),
    (ChecksumAlgorithm::Sha256, "sha256"),
];

/// A gateway, and a client that adds nothing to a request but its signature.
struct Scene {
    gateway: Gateway,
    signer: Signer,
}

impl Scene {
    async fn start() -> Self {
        let gateway = Gateway::start().await;
        let signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
        Self { gateway, signer }
    }

    fn request(&self, method: &str, target: &str) -> Plain {
        Plain::new(method, &format!("http://{}/{BUCKET}/{target}", self.gateway.host()))
    }

    async fn send(&mut self, request: Plain) -> Answer {
        self.gateway.send(&self.signer.header(request, "UNSIGNED-PAYLOAD", &[])).await
    }

    /// Begins an upload of the key `k`, and returns its id.
    async fn create(&mut self, algorithm: Option<&str>) -> String {
        let mut request = self.request("POST", "k?uploads").body("");
        if let Some(algorithm) = algorithm {
            request = request.header("x-amz-checksum-algorithm", algorithm);
        }
        let answer = self.send(request).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.element("UploadId")
    }

    fn part(&self, upload: &str, number: u32) -> Plain {
        self.request("PUT", &format!("k?partNumber={number}&uploadId={upload}"))
    }

    /// Part with a checksum behind its bytes.
    async fn send_trailing(&mut self, part: Plain, bytes: &str, sum: &Checksum) -> Answer {
        let name = format!("x-amz-checksum-{}", sum.algorithm().as_str().to_ascii_lowercase());
        let request = part
            .header("x-amz-decoded-content-length", &bytes.len().to_string())
            .header("x-amz-trailer", &name);
        let request = self.signer.header(request, "STREAMING-UNSIGNED-PAYLOAD-TRAILER", &[]);
        let chunk = format!("{:x}\r\n{bytes}\r\n0\r\n", bytes.len());
        let request = request.body(format!("{chunk}{name}:{}\r\n\r\n", sum.encoded()));
        self.gateway.send(&request).await
    }

    /// Completes an upload with this XML in the list of parts.
    async fn complete(&mut self, upload: &str, parts: &str) -> Answer {
        let xml = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        let request = self.request("POST", &format!("k?uploadId={upload}")).body(xml);
        self.send(request).await
    }

    /// Numbers of the stored parts.
    async fn numbers(&self, upload: &str) -> Vec<i32> {
        let parts = self.gateway.client.list_parts().bucket(BUCKET).key("k").upload_id(upload);
        let parts = parts.send().await.unwrap();
        parts.parts().iter().filter_map(|part| part.part_number()).collect()
    }

    /// The stored checksum of the key `k`, whose bytes a read has verified against it.
    async fn stored(&self) -> Checksum {
        let blobs = self.gateway.buckets.open_bucket(BUCKET).await.unwrap();
        blobs.read("k").await.unwrap().unwrap();
        blobs.info("k").await.unwrap().unwrap().checksum.unwrap()
    }
}

#[tokio::test]
async fn part_of_an_upload_without_an_algorithm_may_have_any_checksum() {
    let mut scene = Scene::start().await;
    let upload = scene.create(None).await;
    let bytes = "a".repeat(5 << 20);
    let (mut list, mut number) = (String::new(), 0);
    for (algorithm, name) in SENT {
        let header = format!("x-amz-checksum-{name}");
        let (right, wrong) =
            (Checksum::of(algorithm, bytes.as_bytes()), Checksum::of(algorithm, b"other"));
        number += 1;
        let part = scene.part(&upload, number).body(bytes.clone());
        let refused = scene.send(part.clone().header(&header, &wrong.encoded())).await;
        assert_eq!(refused.code(), "BadDigest", "{name}");
        let answer = scene.send(part.header(&header, &right.encoded())).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        assert_eq!(answer.header(&header), Some(right.encoded().as_str()));
        number += 1;
        let part = scene.part(&upload, number);
        let refused = scene.send_trailing(part.clone(), &bytes, &wrong).await;
        assert_eq!(refused.code(), "BadDigest", "{name}");
        let trailing = scene.send_trailing(part, &bytes, &right).await;
        assert_eq!(trailing.status, 200, "{name}: {}", trailing.text());
        for (number, answer) in [(number - 1, &answer), (number, &trailing)] {
            let etag = answer.header("etag").unwrap();
            list += &format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>");
        }
    }
    let done = scene.complete(&upload, &list).await;
    assert_eq!(done.status, 200, "{}", done.text());
    let whole = bytes.repeat(2 * SENT.len());
    let expected = Checksum::of(ChecksumAlgorithm::Crc64Nvme, whole.as_bytes());
    assert_eq!(done.element("ChecksumCRC64NVME"), expected.encoded());
    assert_eq!(done.element("ChecksumType"), "FULL_OBJECT");
    assert_eq!(scene.stored().await, expected);
}

#[tokio::test]
async fn completion_without_an_algorithm_refuses_a_checksum_that_is_not_stored() {
    let mut scene = Scene::start().await;
    let upload = scene.create(None).await;
    let sum = Checksum::of(ChecksumAlgorithm::Crc32, b"hello").encoded();
    let part = scene.part(&upload, 1).body("hello").header("x-amz-checksum-crc32", &sum);
    let etag = scene.send(part).await.header("etag").unwrap().to_owned();
    let entry = format!("<PartNumber>1</PartNumber><ETag>{etag}</ETag>");
    let named = format!("<Part>{entry}<ChecksumCRC32>{sum}</ChecksumCRC32></Part>");
    assert_eq!(scene.complete(&upload, &named).await.code(), "InvalidPart");
    assert!(scene.gateway.keys().await.is_empty());
    assert_eq!(scene.complete(&upload, &format!("<Part>{entry}</Part>")).await.status, 200);
}

#[tokio::test]
async fn part_of_an_upload_with_an_algorithm_must_have_that_one() {
    let mut scene = Scene::start().await;
    for own in ["CRC64NVME", "CRC32C", "SHA256"] {
        let upload = scene.create(Some(own)).await;
        let other = Checksum::of(ChecksumAlgorithm::Crc32, b"hello");
        let part = scene.part(&upload, 1);
        let header = part.clone().body("hello").header("x-amz-checksum-crc32", &other.encoded());
        assert_eq!(scene.send(header).await.code(), "InvalidRequest", "{own}");
        let trailing = scene.send_trailing(part.clone(), "hello", &other).await;
        assert_eq!(trailing.code(), "InvalidRequest", "{own}");
        assert!(scene.numbers(&upload).await.is_empty());
        let right = Checksum::of(own.parse().unwrap(), b"hello");
        assert_eq!(scene.send_trailing(part, "hello", &right).await.status, 200, "{own}");
    }
}

#[tokio::test]
async fn object_without_a_checksum_gets_crc64nvme() {
    let mut scene = Scene::start().await;
    let expected = Checksum::of(ChecksumAlgorithm::Crc64Nvme, b"hello");
    let put = scene.request("PUT", "k").body("hello");
    let answer = scene.send(put.clone()).await;
    assert_eq!(answer.header("x-amz-checksum-crc64nvme"), Some(expected.encoded().as_str()));
    assert_eq!(answer.header("x-amz-checksum-type"), Some("FULL_OBJECT"));
    assert_eq!(answer.header("x-amz-checksum-sha256"), None);
    assert_eq!(scene.stored().await, expected);
    // MD5 is verified, and not stored.
    let md5 = Checksum::of(ChecksumAlgorithm::Md5, b"hello").encoded();
    assert_eq!(scene.send(put.header("content-md5", &md5)).await.status, 200);
    assert_eq!(scene.stored().await, expected);
    let head = scene.request("HEAD", "k").header("x-amz-checksum-mode", "ENABLED");
    let head = scene.send(head).await;
    assert_eq!(head.header("x-amz-checksum-crc64nvme"), Some(expected.encoded().as_str()));
    // A copy keeps the algorithm of its source.
    let copy = scene.request("PUT", "copy").header("x-amz-copy-source", &format!("{BUCKET}/k"));
    assert_eq!(scene.send(copy.body("")).await.element("ChecksumCRC64NVME"), expected.encoded());
}

/// The default of the JavaScript SDK, which has no body yet when it signs.
#[tokio::test]
async fn checksum_of_no_bytes_in_a_query_is_ignored() {
    let scene = Scene::start().await;
    for (algorithm, name) in SENT {
        let sum = Checksum::of(algorithm, b"").encoded();
        let sum = sum.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
        for query in [
            format!("x-amz-checksum-{name}={sum}&x-amz-sdk-checksum-algorithm={algorithm}"),
            // Go's SDK writes names so.
            format!("X-Amz-Checksum-{name}={sum}&X-Amz-Sdk-Checksum-Algorithm={algorithm}"),
            format!("x-amz-sdk-checksum-algorithm={algorithm}"),
        ] {
            let put = scene.request("PUT", &format!("k?{query}"));
            let put = scene.signer.query(put, "60", &["host"]);
            for body in ["hello", ""] {
                let answer = scene.gateway.send(&put.clone().body(body)).await;
                assert_eq!(answer.status, 200, "{query}: {}", answer.text());
                let expected = Checksum::of(ChecksumAlgorithm::Crc64Nvme, body.as_bytes());
                assert_eq!(scene.stored().await, expected, "{query}");
            }
        }
    }
}

#[tokio::test]
async fn checksum_of_bytes_in_a_query_is_verified() {
    let scene = Scene::start().await;
    for (algorithm, name) in SENT {
        let sum = Checksum::of(algorithm, b"hello");
        let text = sum.encoded().replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
        for query in [
            format!("x-amz-checksum-{name}={text}&x-amz-sdk-checksum-algorithm={algorithm}"),
            format!("x-amz-checksum-{name}={text}"),
        ] {
            let put = scene.request("PUT", &format!("{name}?{query}"));
            let put = scene.signer.query(put, "60", &["host"]);
            for body in ["hellO", ""] {
                let refused = scene.gateway.send(&put.clone().body(body)).await;
                assert_eq!(refused.code(), "BadDigest", "{query}");
            }
            assert!(!scene.gateway.keys().await.contains(&name.to_owned()));
        }
        let put = scene.request("PUT", &format!("k?x-amz-checksum-{name}={text}"));
        let put = scene.signer.query(put, "60", &["host"]).body("hello");
        assert_eq!(scene.gateway.send(&put).await.status, 200, "{name}");
        assert_eq!(scene.stored().await, sum);
    }
}

#[tokio::test]
async fn signed_header_with_the_checksum_of_no_bytes_is_verified() {
    let scene = Scene::start().await;
    let sum = Checksum::of(ChecksumAlgorithm::Crc32, b"").encoded();
    let put = scene.request("PUT", "k").header("x-amz-checksum-crc32", &sum);
    let put = scene.signer.query(put, "60", &["host", "x-amz-checksum-crc32"]);
    assert_eq!(scene.gateway.send(&put.clone().body("hello")).await.code(), "BadDigest");
    assert_eq!(scene.gateway.send(&put.body("")).await.status, 200);
}

#[tokio::test]
async fn part_is_uploaded_with_a_url_of_the_javascript_sdk() {
    let mut scene = Scene::start().await;
    for algorithm in [None, Some("CRC32")] {
        let upload = scene.create(algorithm).await;
        let part = scene.request(
            "PUT",
            &format!(
                "k?partNumber=1&uploadId={upload}&x-amz-checksum-crc32=AAAAAA%3D%3D\
                 &x-amz-sdk-checksum-algorithm=CRC32"
            ),
        );
        let part = scene.signer.query(part, "60", &["host"]).body("hello");
        let answer = scene.gateway.send(&part).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(scene.numbers(&upload).await, [1]);
    }
}
