//! Assertions on errors and on the state of the bucket.

use std::fmt::Debug;
use std::panic::Location;

use futures::future::BoxFuture;
use tabla_core::blobs::{GetBlob, HeadBlob, ListBlobs, codes};
use tabla_core::{Applied, Error, ErrorKind, Result};

use super::BlobCtx;
use crate::ctx::{fail, ok_at};

/// Kind of the errors with this name.
fn kind_of(code: &str) -> ErrorKind {
    match code {
        codes::NO_SUCH_BUCKET
        | codes::NO_SUCH_KEY
        | codes::NO_SUCH_UPLOAD
        | codes::NO_SUCH_VERSION => ErrorKind::NotFound,
        codes::NOT_MODIFIED => ErrorKind::NotModified,
        codes::PRECONDITION_FAILED => ErrorKind::ConditionFailed { item: None },
        codes::CONDITIONAL_REQUEST_CONFLICT => ErrorKind::TransactionConflict,
        _ => ErrorKind::Validation,
    }
}

impl BlobCtx {
    /// Asserts that the result is an error with this name of S3, of the kind that belongs to it, and
    /// that nothing was applied. Returns the error.
    #[track_caller]
    pub fn expect_code<T: Debug>(&self, result: Result<T>, code: &str) -> Error {
        match result {
            Ok(answer) => panic!("expected {code}, got success: {answer:?}"),
            Err(error) => {
                let (kind, expected) = (error.kind(), kind_of(code));
                assert!(
                    error.code() == code && *kind == expected && error.applied() == Applied::No,
                    "expected {code} of kind {expected:?}, nothing applied\ngot      {error:?}"
                );
                error
            }
        }
    }

    /// Asserts that the result is an error of the kind that belongs to this name: for responses to
    /// HEAD, which have no body to carry a name.
    #[track_caller]
    pub fn expect_kind_of<T: Debug>(&self, result: Result<T>, code: &str) {
        match result {
            Ok(answer) => panic!("expected the kind of {code}, got success: {answer:?}"),
            Err(error) => assert!(
                *error.kind() == kind_of(code),
                "expected the kind {:?}, got {error:?}",
                kind_of(code)
            ),
        }
    }

    /// Asserts that a blob exists with these bytes, by get, head and listing.
    #[track_caller]
    pub fn expect_blob<'a>(
        &self,
        key: &str,
        bytes: impl AsRef<[u8]> + Send + 'a,
    ) -> BoxFuture<'a, ()> {
        let at = Location::caller();
        let (blobs, key) = (self.shared(), key.to_owned());
        Box::pin(async move {
            let expected = bytes.as_ref();
            let found = ok_at(at, blobs.get(GetBlob::new(&key)).await);
            let info = found.info;
            let actual = ok_at(at, found.body.collect().await);
            if actual != expected {
                fail(at, difference(&key, &actual, expected));
            }
            let head = ok_at(at, blobs.head(HeadBlob::new(&key)).await);
            if head != info || head.size != expected.len() as u64 || head.key != key {
                fail(at, format_args!("head and get of {key:?} differ: {head:?}\nget: {info:?}"));
            }
            let page = ok_at(at, blobs.list(ListBlobs::with_prefix(&key).limit(Some(1))).await);
            let is_listed = page.blobs.first().is_some_and(|it| {
                (&it.key, it.size, &it.etag) == (&head.key, head.size, &head.etag)
            });
            if !is_listed {
                fail(at, format_args!("the listing does not agree with {head:?}: {page:?}"));
            }
        })
    }

    /// Asserts that a blob does not exist, by get, head and listing.
    #[track_caller]
    pub fn expect_missing(&self, key: &str) -> BoxFuture<'static, ()> {
        let at = Location::caller();
        let (blobs, key) = (self.shared(), key.to_owned());
        Box::pin(async move {
            match blobs.get(GetBlob::new(&key)).await {
                Err(error) if error.code() == codes::NO_SUCH_KEY && error.is_not_found() => {}
                other => fail(at, format_args!("expected NoSuchKey for {key:?}, got {other:?}")),
            }
            match blobs.head(HeadBlob::new(&key)).await {
                Err(error) if error.is_not_found() => {}
                other => fail(at, format_args!("expected NotFound for {key:?}, got {other:?}")),
            }
            let page = ok_at(at, blobs.list(ListBlobs::with_prefix(&key).limit(Some(1))).await);
            if page.blobs.iter().any(|blob| blob.key == key) {
                fail(at, format_args!("the missing blob {key:?} is listed"));
            }
        })
    }

    /// Asserts that the bucket lists these keys, in this order.
    #[track_caller]
    pub fn expect_keys<K: Into<String>>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> BoxFuture<'static, ()> {
        let at = Location::caller();
        let expected: Vec<String> = keys.into_iter().map(Into::into).collect();
        let actual = self.keys();
        Box::pin(async move {
            let actual = actual.await;
            if actual != expected {
                fail(at, format_args!("the keys are {actual:?}\nexpected     {expected:?}"));
            }
        })
    }
}

/// Description of the first difference, because the bytes may be many.
fn difference(key: &str, actual: &[u8], expected: &[u8]) -> String {
    let first = actual.iter().zip(expected).position(|(actual, expected)| actual != expected);
    let first = first.unwrap_or(actual.len().min(expected.len()));
    let part = |bytes: &[u8]| {
        let end = bytes.len().min(first + 32);
        String::from_utf8_lossy(&bytes[first.min(end)..end]).into_owned()
    };
    format!(
        "the blob {key:?} has {} bytes, expected {}; from byte {first} on they are {:?}, expected \
         {:?}",
        actual.len(),
        expected.len(),
        part(actual),
        part(expected)
    )
}
