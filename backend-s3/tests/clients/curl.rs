//! curl with URLs of `Blobs::presign`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tabla_core::blobs::{
    BlobHeaders, Blobs, BlobsExt, Checksum, ChecksumAlgorithm, ListBlobs, Presign, PresignGet,
    PresignPut, PresignedRequest,
};
use tabla_testkit::clients;

use crate::place::Place;

const MINUTE: Duration = Duration::from_secs(60);
const CODE: &str = "SignatureDoesNotMatch";

/// Response to curl.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Answer {
    /// S3's code; empty if there is none.
    fn code(&self) -> String {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        let start = text.split_once("<Code>").map_or("", |(_, rest)| rest);
        start.split_once("</Code>").map_or("", |(code, _)| code).to_owned()
    }

    #[track_caller]
    fn assert_refused(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.code().as_str()), (status, code), "{self:?}");
    }
}

/// Runs curl without settings of this machine. It blocks.
fn curl(folder: &Path, url: &str, words: &[&str]) -> Answer {
    let (body, headers) = (folder.join("body"), folder.join("headers"));
    let mut command = Command::new("curl");
    // `--disable` must be the first option.
    command
        .args(["--disable", "--silent", "--show-error", "--noproxy", "*", "--max-time", "60"])
        .args(["--write-out", "%{http_code}", "--output"])
        .arg(&body)
        .arg("--dump-header")
        .arg(&headers)
        .args(words)
        .arg(url)
        .stdin(Stdio::null());
    let done = command.output().expect("curl is installed");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "curl {words:?} {url}: {errors}");
    let status = String::from_utf8_lossy(&done.stdout).parse().expect("a status");
    let headers = fs::read_to_string(headers).expect("curl writes headers").to_ascii_lowercase();
    // curl creates no file for an empty body.
    let content = fs::read(&body).unwrap_or_default();
    let _ = fs::remove_file(&body);
    Answer { status, headers, body: content }
}

/// Gateway, its blobs, and files for curl.
struct Case {
    place: Place,
    blobs: std::sync::Arc<dyn Blobs>,
    files: tempfile::TempDir,
}

impl Case {
    async fn start() -> Self {
        let place = Place::start(None).await;
        let blobs = place.blobs().await;
        Self { place, blobs, files: tempfile::tempdir().expect("a temporary folder") }
    }

    fn presign(&self) -> &dyn Presign {
        self.blobs.presign().expect("`file:` signs URLs")
    }

    async fn curl(&self, url: &str, words: &[&str]) -> Answer {
        let folder = self.files.path().to_owned();
        let url = url.to_owned();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        tokio::task::spawn_blocking(move || {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            curl(&folder, &url, &words)
        })
        .await
        .expect("curl responds")
    }

    /// Uploads bytes with the headers of a signed request, except for those that `change` removes
    /// or changes.
    async fn upload(
        &self,
        signed: &PresignedRequest,
        bytes: &[u8],
        change: impl Fn(&str, &str) -> Option<String>,
    ) -> Answer {
        let file = self.files.path().join("upload");
        fs::write(&file, bytes).expect("the file is written");
        let mut words = vec!["--upload-file".to_owned(), file.display().to_string()];
        for (name, value) in &signed.headers {
            if let Some(value) = change(name, value) {
                words.extend(["--header".to_owned(), format!("{name}: {value}")]);
            }
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.curl(&signed.url, &words).await
    }

    async fn keys(&self) -> Vec<String> {
        let page = self.blobs.list(ListBlobs::new()).await.expect("the bucket is listed");
        page.blobs.into_iter().map(|blob| blob.key).collect()
    }
}

/// Keeps a header, for [`Case::upload`].
fn same(_: &str, value: &str) -> Option<String> {
    Some(value.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn curl_uploads_exactly_what_was_signed() {
    if clients::are_excluded() {
        return;
    }
    let case = Case::start().await;
    let content = b"the content that was signed";
    let key = "a b/\u{f1}+%.txt";
    let put = PresignPut::new(key, MINUTE)
        .content_type("text/plain")
        .length(Some(content.len() as u64))
        .checksum(Some(Checksum::of(ChecksumAlgorithm::Sha256, content)))
        .if_absent();
    let signed = case.presign().presign_put(put).await.unwrap();
    let without = |left_out: &'static str| {
        move |name: &str, value: &str| (name != left_out).then(|| value.to_owned())
    };

    // curl sends the length of the file if it is not told another.
    let longer = case.upload(&signed, b"the content that was signed!", without("content-length"));
    longer.await.assert_refused(403, CODE);
    let shorter = case.upload(&signed, b"the content", without("content-length"));
    shorter.await.assert_refused(403, CODE);
    case.upload(&signed, content, without("content-type")).await.assert_refused(403, CODE);
    case.upload(&signed, content, without("x-amz-checksum-sha256")).await.assert_refused(403, CODE);
    case.upload(&signed, content, without("if-none-match")).await.assert_refused(403, CODE);
    let other_type = |name: &str, value: &str| match name {
        "content-type" => Some("text/html".to_owned()),
        _ => Some(value.to_owned()),
    };
    case.upload(&signed, content, other_type).await.assert_refused(403, CODE);
    let same_length = b"the content that was SIGNED";
    case.upload(&signed, same_length, same).await.assert_refused(400, "BadDigest");
    let other_key = PresignedRequest::new(
        signed.method,
        signed.url.replace("/default/a%20b/", "/default/a%20c/"),
        signed.expires,
    );
    let other_key = other_key.headers(signed.headers.clone());
    case.upload(&other_key, content, same).await.assert_refused(403, CODE);
    case.curl(&signed.url, &["--request", "DELETE"]).await.assert_refused(403, CODE);
    case.curl(&signed.url, &[]).await.assert_refused(403, CODE);
    assert!(case.keys().await.is_empty(), "a refused request has written something");

    let done = case.upload(&signed, content, same).await;
    assert_eq!(done.status, 200, "{done:?}");
    assert!(done.headers.contains("etag: \""), "{}", done.headers);
    assert_eq!(case.keys().await, [key]);
    assert_eq!(case.blobs.read(key).await.unwrap().unwrap(), content[..]);
    let again = case.upload(&signed, content, same).await;
    again.assert_refused(412, "PreconditionFailed");
}

#[tokio::test(flavor = "multi_thread")]
async fn curl_downloads_what_was_uploaded() {
    if clients::are_excluded() {
        return;
    }
    let case = Case::start().await;
    // More than 1 MB: curl sends `Expect: 100-continue`, and waits for that response.
    let content: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    let put = PresignPut::new("large", MINUTE).content_type("video/mp4");
    let signed = case.presign().presign_put(put).await.unwrap();
    let done = case.upload(&signed, &content, same).await;
    assert_eq!(done.status, 200, "{done:?}");
    assert!(done.headers.starts_with("http/1.1 100 continue"), "{}", done.headers);

    let download = PresignGet::new("large", MINUTE);
    let get = case.presign().presign_get(download.clone()).await.unwrap();
    let whole = case.curl(&get.url, &[]).await;
    assert_eq!((whole.status, whole.body == content), (200, true), "{}", whole.headers);
    assert!(whole.headers.contains("content-type: video/mp4"), "{}", whole.headers);
    let part = case.curl(&get.url, &["--range", "1000-1999"]).await;
    assert_eq!((part.status, &part.body[..]), (206, &content[1000..2000]));
    assert!(part.headers.contains("content-range: bytes 1000-1999/3000000"), "{}", part.headers);
    case.curl(&get.url, &["--range", "3000000-"]).await.assert_refused(416, "InvalidRange");

    let mut named = BlobHeaders::of_type("application/octet-stream");
    named.content_disposition = Some("attachment; filename=\"a b.mp4\"".to_owned());
    let named = download.response_headers(named);
    let named = case.presign().presign_get(named).await.unwrap();
    let answer = case.curl(&named.url, &["--range", "0-0"]).await;
    assert_eq!(answer.status, 206);
    assert!(answer.headers.contains("content-disposition: attachment; filename=\"a b.mp4\""));
    assert!(answer.headers.contains("content-type: application/octet-stream"));

    let missing = case.presign().presign_get(PresignGet::new("missing", MINUTE)).await.unwrap();
    case.curl(&missing.url, &[]).await.assert_refused(404, "NoSuchKey");
    // The signature covers the method, so that a URL of a download is not one of `curl --head`.
    assert_eq!(case.curl(&get.url, &["--head"]).await.status, 403);
    let other = get.url.replace("X-Amz-Expires=60", "X-Amz-Expires=61");
    case.curl(&other, &[]).await.assert_refused(403, CODE);
}

/// With the option `--aws-sigv4`, curl signs the header `Authorization`.
#[tokio::test(flavor = "multi_thread")]
async fn curl_signs_requests_itself() {
    if clients::are_excluded() {
        return;
    }
    let case = Case::start().await;
    let run = case.place.run();
    let user = format!("{}:{}", run.access_key, run.secret_key);
    let url = format!("{}/default/own", run.url);
    let signed = ["--aws-sigv4", "aws:amz:us-east-1:s3", "--user", &user];
    let file = case.files.path().join("upload");
    fs::write(&file, "hello").unwrap();
    let file = file.display().to_string();
    // curl 7.88 does not add the header that S3 requires.
    let unsigned = ["--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD"];
    let upload = [&signed[..], &unsigned[..], &["--upload-file", &file]].concat();
    let done = case.curl(&url, &upload).await;
    assert_eq!(done.status, 200, "{done:?}");
    let read = case.curl(&url, &[&signed[..], &unsigned[..]].concat()).await;
    assert_eq!((read.status, &read.body[..]), (200, &b"hello"[..]));
    case.curl(&url, &[]).await.assert_refused(403, "AccessDenied");
}
