//! Conversion of errors through the SDK: every code, every status, and failures without a response.

use std::time::Duration;

use aws_smithy_runtime_api::client::result::ConnectorError;
use tabla_core::Retry;
use tabla_core::blobs::{Blobs, CopyBlob, DeleteBlobs, GetBlob, HeadBlob, ListBlobs, PutBlob};

use super::*;
use crate::S3Config;
use crate::s3::fake::{FakeResponse, FakeService};

/// Returns the error of a write with this response.
async fn written(answer: FakeResponse) -> Error {
    FakeService::new([answer]).blobs().put(PutBlob::new("k", "abc")).await.unwrap_err()
}

/// Returns the error of a read with this response.
async fn read(answer: FakeResponse) -> Error {
    FakeService::new([answer]).blobs().list(ListBlobs::new()).await.unwrap_err()
}

fn kind_of(class: ErrorClass) -> (ErrorKind, Retry) {
    match class {
        ErrorClass::Validation => (ErrorKind::Validation, Retry::Never),
        ErrorClass::ConditionFailed => (ErrorKind::ConditionFailed { item: None }, Retry::Never),
        ErrorClass::NotModified => (ErrorKind::NotModified, Retry::Never),
        ErrorClass::Conflict => (ErrorKind::TransactionConflict, Retry::Later),
        ErrorClass::NotFound => (ErrorKind::NotFound, Retry::Never),
        ErrorClass::InUse => (ErrorKind::InUse, Retry::Never),
        ErrorClass::Throttled => (ErrorKind::Throttled, Retry::Later),
        ErrorClass::AccessDenied => (ErrorKind::AccessDenied, Retry::Never),
        ErrorClass::Unsupported => (ErrorKind::Unsupported, Retry::Never),
        ErrorClass::WrongRegion => (ErrorKind::Config, Retry::Never),
        ErrorClass::DiskFull => (ErrorKind::Unavailable, Retry::Exhausted),
        ErrorClass::Unavailable | ErrorClass::Interrupted => (ErrorKind::Unavailable, Retry::Later),
    }
}

#[tokio::test]
async fn every_code_has_its_kind_in_reads_and_writes() {
    for &(code, class) in CODES {
        let status = if class == ErrorClass::Unavailable { 500 } else { 400 };
        let write = written(FakeResponse::error(status, code)).await;
        let read = read(FakeResponse::error(status, code)).await;
        for error in [&write, &read] {
            let (kind, retry) = kind_of(class);
            let expected = if class == ErrorClass::DiskFull { "InsufficientStorage" } else { code };
            assert_eq!(error.code(), expected);
            assert!(error.message().starts_with("as it is."), "{code}: {error}");
            assert_eq!(error.kind(), &kind, "{code}");
            assert_eq!(error.retry(), retry, "{code}");
            assert_eq!(error.request_id(), Some("REQUEST-1"), "{code}");
            assert!(StdError::source(error).is_some(), "{code}");
        }
        let maybe = matches!(class, ErrorClass::Unavailable | ErrorClass::DiskFull);
        let expected = if maybe { Applied::Maybe } else { Applied::No };
        assert_eq!(write.applied(), expected, "{code}");
        assert_eq!(read.applied(), Applied::No, "{code}");
    }
}

#[test]
fn codes_are_unique() {
    for (position, (code, _)) in CODES.iter().enumerate() {
        assert!(CODES[..position].iter().all(|(other, _)| other != code), "{code}");
    }
}

#[tokio::test]
async fn response_without_a_body_is_classified_by_status() {
    for (status, code, kind, applied) in [
        (304, "NotModified", ErrorKind::NotModified, Applied::No),
        (403, "AccessDenied", ErrorKind::AccessDenied, Applied::No),
        (404, "NoSuchKey", ErrorKind::NotFound, Applied::No),
        (405, "MethodNotAllowed", ErrorKind::Unsupported, Applied::No),
        (412, "PreconditionFailed", ErrorKind::ConditionFailed { item: None }, Applied::No),
        (416, "InvalidRange", ErrorKind::Validation, Applied::No),
        (418, UNKNOWN, ErrorKind::Unexpected, Applied::No),
        (429, UNKNOWN, ErrorKind::Throttled, Applied::No),
        (500, UNKNOWN, ErrorKind::Unavailable, Applied::Maybe),
        (502, UNKNOWN, ErrorKind::Unavailable, Applied::Maybe),
        (503, "SlowDown", ErrorKind::Throttled, Applied::Maybe),
        (507, "InsufficientStorage", ErrorKind::Unavailable, Applied::Maybe),
    ] {
        let error = written(FakeResponse::body(status, "")).await;
        assert_eq!((error.code(), error.kind()), (code, &kind), "{status}");
        assert_eq!(error.applied(), applied, "{status}");
        let fake = FakeService::new([FakeResponse::body(status, "")]);
        let error = fake.blobs().head(HeadBlob::new("k")).await.unwrap_err();
        assert_eq!((error.code(), error.kind()), (code, &kind), "HEAD {status}");
        assert_eq!(error.applied(), Applied::No, "HEAD {status}");
    }
}

#[tokio::test]
async fn page_of_a_proxy_tells_nothing_about_the_blob() {
    for (status, kind) in [
        (403, ErrorKind::AccessDenied),
        (404, ErrorKind::Unexpected),
        (412, ErrorKind::Unexpected),
        (502, ErrorKind::Unavailable),
    ] {
        let page = FakeResponse::body(status, "<html>nginx</html>");
        let error = FakeService::new([page]).blobs().get(GetBlob::new("k")).await.unwrap_err();
        assert_eq!(error.kind(), &kind, "{status} {error:?}");
    }
    let unknown = FakeResponse::error(404, "NoSuchProject");
    let error = FakeService::new([unknown]).blobs().get(GetBlob::new("k")).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unexpected);
    assert_eq!(error.message(), "NoSuchProject: as it is.");
}

#[tokio::test]
async fn unknown_code_is_in_the_message() {
    for (status, kind) in [(400, ErrorKind::Validation), (409, ErrorKind::Unexpected)] {
        let error = written(FakeResponse::error(status, "NovelError")).await;
        assert_eq!((error.kind(), error.code()), (&kind, UNKNOWN));
        assert_eq!(error.message(), "NovelError: as it is.");
        assert_eq!((error.retry(), error.applied()), (Retry::Never, Applied::No));
    }
}

#[tokio::test]
async fn missing_blob_is_named() {
    let fake = FakeService::new([FakeResponse::error(404, "NoSuchKey")]);
    let error = fake.blobs().get(GetBlob::new("photos/1")).await.unwrap_err();
    assert_eq!(error.message(), "no blob has the key `photos/1`");
    assert_eq!(error.request_id(), Some("REQUEST-1"));
}

#[tokio::test]
async fn wrong_region_error_names_the_right_one() {
    for (status, body) in [(301, "<Error><Code>PermanentRedirect</Code></Error>"), (301, "")] {
        let headers = vec![("x-amz-bucket-region", "eu-west-1".to_owned())];
        let error = written(FakeResponse::Answer(status, headers, body.to_owned())).await;
        assert_eq!((error.kind(), error.code()), (&ErrorKind::Config, "PermanentRedirect"));
        assert!(error.message().ends_with("as in `?region=eu-west-1`"), "{error}");
    }
}

#[tokio::test]
async fn error_in_a_copy_that_began_well_is_an_error() {
    let fake = FakeService::new([FakeResponse::error(200, "InternalError")]);
    let error = fake.blobs().copy(CopyBlob::new("a", "b")).await.unwrap_err();
    assert_eq!((error.code(), error.applied()), ("InternalError", Applied::Maybe));
}

#[tokio::test]
async fn unreadable_answer_of_a_write_is_maybe_applied() {
    for (body, kind) in [
        ("no XML", ErrorKind::Unavailable),
        ("<CopyObjectResult></CopyObjectResult>", ErrorKind::Unexpected),
    ] {
        let fake = FakeService::new([FakeResponse::body(200, body)]);
        let error = fake.blobs().copy(CopyBlob::new("a", "b")).await.unwrap_err();
        assert_eq!((error.kind(), error.applied()), (&kind, Applied::Maybe), "{body}");
    }
}

#[tokio::test]
async fn keys_of_a_deletion_fail_one_by_one() {
    let body = "<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key>\
        <Code>AccessDenied</Code><Message>no</Message></Error><Error><Key>c</Key>\
        <Code>NoSuchKey</Code></Error></DeleteResult>";
    let fake = FakeService::new([FakeResponse::body(200, body)]);
    let keys = ["a", "b", "c", "d", ""];
    let output = fake.blobs().delete_many(DeleteBlobs::new(keys)).await.unwrap();
    let failed: Vec<_> =
        output.failed.iter().map(|(key, error)| (key.as_str(), error.kind().clone())).collect();
    let expected =
        [("", ErrorKind::Validation), ("b", ErrorKind::AccessDenied), ("d", ErrorKind::Unexpected)];
    assert_eq!(failed, expected);
}

#[tokio::test]
async fn refused_connection_is_not_applied() {
    let refused = || {
        ConnectorError::io(Box::new(io::Error::new(io::ErrorKind::ConnectionRefused, "refused")))
    };
    let error = written(FakeResponse::Fails(refused)).await;
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::No));
    assert_eq!(error.message(), "the service cannot be reached: refused");
}

#[tokio::test]
async fn unused_port_is_a_refused_connection() {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    drop(socket);
    let config = S3Config::new("assets")
        .with_endpoint(format!("http://{address}"))
        .with_credentials(crate::SigningKey::new("a", "b"));
    let blobs = crate::S3Blobs::open(&config).await.unwrap();
    let error = blobs.put(PutBlob::new("k", "abc")).await.unwrap_err();
    assert_eq!((error.kind(), error.applied()), (&ErrorKind::Unavailable, Applied::No));
}

#[tokio::test]
async fn lost_answer_of_a_write_is_maybe_applied() {
    let reset =
        || ConnectorError::io(Box::new(io::Error::new(io::ErrorKind::ConnectionReset, "reset")));
    let error = written(FakeResponse::Fails(reset)).await;
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::Maybe));
    let error = read(FakeResponse::Fails(reset)).await;
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::No));
}

#[tokio::test(start_paused = true)]
async fn missing_answer_fails_at_the_time_limit() {
    let config = S3Config::new("assets").with_operation_timeout(Duration::from_secs(20));
    for (access, applied) in [(Access::Write, Applied::Maybe), (Access::Read, Applied::No)] {
        let blobs = FakeService::new([FakeResponse::Silence]).blobs_with(&config);
        let error = match access {
            Access::Write => blobs.put(PutBlob::new("k", "abc")).await.unwrap_err(),
            Access::Read => blobs.list(ListBlobs::new()).await.unwrap_err(),
        };
        assert_eq!((error.kind(), error.applied()), (&ErrorKind::Unavailable, applied));
    }
}

#[tokio::test]
async fn missing_credentials_are_a_configuration_error() {
    let missing =
        || ConnectorError::other(Box::new(CredentialsError::not_loaded("none in the chain")), None);
    let error = written(FakeResponse::Fails(missing)).await;
    assert_eq!(error.kind(), &ErrorKind::Config);
    assert!(error.message().contains("set AWS_ACCESS_KEY_ID"), "{error}");
}

#[tokio::test]
async fn sdk_does_not_retry() {
    let fake = FakeService::new([FakeResponse::error(500, "InternalError")]);
    fake.blobs().list(ListBlobs::new()).await.unwrap_err();
    assert_eq!(fake.requests().len(), 1);
}
