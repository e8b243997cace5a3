//! Requests, headers and query parameters that the gateway answers with `NotImplemented`.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method};

use super::query::Query;
use super::refusal::{INVALID_ARGUMENT, NOT_IMPLEMENTED, Refusal};

/// Requests that the gateway serves, by S3's names.
pub const SERVED: &[&str] = &[
    "AbortMultipartUpload",
    "CompleteMultipartUpload",
    "CopyObject",
    "CreateBucket",
    "CreateMultipartUpload",
    "DeleteBucket",
    "DeleteObject",
    "DeleteObjects",
    "GetBucketLocation",
    "GetBucketVersioning",
    "GetObject",
    "HeadBucket",
    "HeadObject",
    "ListBuckets",
    "ListMultipartUploads",
    "ListObjectVersions",
    "ListObjects",
    "ListObjectsV2",
    "ListParts",
    "PutBucketVersioning",
    "PutObject",
    "UploadPart",
    "UploadPartCopy",
];

/// Requests of S3 that the gateway answers with `NotImplemented`, by subject.
pub const NOT_SERVED: &[(&str, &str)] = &[
    (
        "Access control",
        "GetBucketAcl, PutBucketAcl, GetObjectAcl, PutObjectAcl, GetBucketPolicy, \
      PutBucketPolicy, DeleteBucketPolicy, GetBucketPolicyStatus, GetPublicAccessBlock, \
      PutPublicAccessBlock, DeletePublicAccessBlock, GetBucketOwnershipControls, \
      PutBucketOwnershipControls, DeleteBucketOwnershipControls",
    ),
    (
        "Analytics, inventory, metrics and tiers",
        "Bucket*AnalyticsConfiguration, \
      Bucket*InventoryConfiguration, Bucket*MetricsConfiguration, \
      Bucket*IntelligentTieringConfiguration, Bucket*MetadataTableConfiguration, \
      GetBucketAccelerateConfiguration, PutBucketAccelerateConfiguration",
    ),
    (
        "Archive and queries",
        "RestoreObject, SelectObjectContent, GetObjectTorrent, \
      WriteGetObjectResponse",
    ),
    ("Attributes", "GetObjectAttributes"),
    ("CORS of a bucket", "GetBucketCors, PutBucketCors, DeleteBucketCors: use the option --cors"),
    ("Directory buckets", "CreateSession, ListDirectoryBuckets"),
    ("Encryption", "GetBucketEncryption, PutBucketEncryption, DeleteBucketEncryption"),
    (
        "Events and logs",
        "GetBucketNotificationConfiguration, PutBucketNotificationConfiguration, \
      GetBucketLogging, PutBucketLogging",
    ),
    ("Forms", "PostObject, the upload of an HTML form: use a presigned PUT"),
    (
        "Lifecycle",
        "GetBucketLifecycleConfiguration, PutBucketLifecycleConfiguration, \
      DeleteBucketLifecycle",
    ),
    (
        "Locks and retention",
        "GetObjectLockConfiguration, PutObjectLockConfiguration, \
      GetObjectLegalHold, PutObjectLegalHold, GetObjectRetention, PutObjectRetention",
    ),
    ("Replication", "GetBucketReplication, PutBucketReplication, DeleteBucketReplication"),
    ("Requester pays", "GetBucketRequestPayment, PutBucketRequestPayment"),
    (
        "Tags",
        "GetBucketTagging, PutBucketTagging, DeleteBucketTagging, GetObjectTagging, \
      PutObjectTagging, DeleteObjectTagging",
    ),
    ("Versions", "PutBucketVersioning with the status Suspended or with MFA delete"),
    ("Websites", "GetBucketWebsite, PutBucketWebsite, DeleteBucketWebsite"),
];

/// Headers of requests that the gateway answers with `NotImplemented`: to ignore one would store an
/// object otherwise than the client asked for. A name that ends with `-` stands for all names that
/// begin with it.
pub const HEADERS: &[&str] = &[
    "expires",
    "x-amz-acl",
    "x-amz-bucket-object-lock-enabled",
    "x-amz-bypass-governance-retention",
    "x-amz-copy-source-server-side-encryption-",
    "x-amz-expected-bucket-owner",
    "x-amz-grant-",
    "x-amz-if-match-",
    "x-amz-mfa",
    "x-amz-object-lock-",
    "x-amz-request-route",
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-",
    "x-amz-source-expected-bucket-owner",
    "x-amz-storage-class",
    "x-amz-tagging",
    "x-amz-website-redirect-location",
    "x-amz-write-offset-bytes",
];

/// Values of [`HEADERS`] that name what the gateway does anyway.
const DEFAULTS: &[(&str, &str)] = &[
    ("x-amz-acl", "bucket-owner-full-control"),
    ("x-amz-acl", "private"),
    ("x-amz-bucket-object-lock-enabled", "false"),
    ("x-amz-storage-class", "STANDARD"),
];

/// Query parameters that a request with this method may have, on an object or on a bucket.
fn parameters(method: &Method, is_object: bool) -> &'static [&'static str] {
    match (method, is_object) {
        (&Method::PUT, true) => &["partNumber", "uploadId"],
        (&Method::PUT, false) => &["versioning"],
        (&Method::POST, true) => &["uploadId", "uploads"],
        (&Method::POST, false) => &["delete"],
        (&Method::DELETE, true) => &["uploadId", "versionId"],
        (&Method::DELETE, false) => &[],
        _ => &[
            "bucket-region",
            "continuation-token",
            "delimiter",
            "encoding-type",
            "fetch-owner",
            "key-marker",
            "list-type",
            "location",
            "marker",
            "max-buckets",
            "max-keys",
            "max-parts",
            "max-uploads",
            "part-number-marker",
            "prefix",
            "start-after",
            "upload-id-marker",
            "uploadId",
            "uploads",
            "version-id-marker",
            "versionId",
            "versioning",
            "versions",
        ],
    }
}

/// Refuses the upload of an HTML form, which has its signature in the form.
///
/// # Errors
/// `NotImplemented`.
pub(super) fn check_form(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    let is_form = |value: &HeaderValue| {
        value.as_bytes().to_ascii_lowercase().starts_with(b"multipart/form-data")
    };
    if *method == Method::POST && headers.get(CONTENT_TYPE).is_some_and(is_form) {
        let message = "uploads of HTML forms are not implemented; use a presigned PUT";
        return Err(Refusal::new(NOT_IMPLEMENTED, message));
    }
    Ok(())
}

/// Checks that the gateway implements what the headers and the query of a request ask for.
///
/// `s3s` executes a request with a sub-resource that it does not know as one without: it would
/// answer `DELETE /bucket?new` with the deletion of the bucket. So unknown parameters are refused,
/// except for parameters with a value in a read, which S3 ignores as well.
///
/// # Errors
/// - `NotImplemented`, naming the header or the parameter.
/// - `InvalidArgument`: one of `uploadId` and `partNumber` is missing.
pub(super) fn check(
    method: &Method,
    is_object: bool,
    headers: &HeaderMap,
    query: &Query,
) -> Result<(), Refusal> {
    for (name, value) in headers {
        let name = name.as_str();
        let is_refused = HEADERS.iter().any(|refused| match refused.strip_suffix('-') {
            Some(_) => name.starts_with(refused),
            None => name == *refused,
        });
        let is_default = |(given, default): &(&str, &str)| name == *given && value == *default;
        if is_refused && !DEFAULTS.iter().any(is_default) {
            let message = "A header you provided implies functionality that is not implemented";
            return Err(Refusal::new(NOT_IMPLEMENTED, message).detail("Header", name));
        }
    }
    let known = parameters(method, is_object);
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    for (name, value) in query.iter() {
        let is_ignored = name.starts_with("x-") || is_read && !value.is_empty();
        let is_response = is_read && name.starts_with("response-");
        let is_refused = match name {
            // A part of an object that was uploaded in parts.
            "partNumber" => is_read,
            _ => !is_ignored,
        };
        if is_refused && !is_response && !known.contains(&name) {
            let message =
                "A query parameter you provided implies functionality that is not implemented";
            return Err(Refusal::new(NOT_IMPLEMENTED, message).detail("Parameter", name));
        }
    }
    if *method == Method::PUT && query.has("partNumber") != query.has("uploadId") {
        let message = "The upload of a part needs the parameters partNumber and uploadId";
        return Err(Refusal::new(INVALID_ARGUMENT, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(method: Method, target: &str, header: Option<(&'static str, &str)>) -> bool {
        let mut headers = HeaderMap::new();
        if let Some((name, value)) = header {
            headers.insert(name, value.parse().unwrap());
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match check(&method, path == "key", &headers, &Query::parse(query).unwrap()) {
            Ok(()) => true,
            Err(refusal) => {
                assert_eq!(refusal.code(), "NotImplemented");
                false
            }
        }
    }

    #[test]
    fn unknown_sub_resources_are_refused() {
        for (method, target) in [
            (Method::DELETE, "key?annotation"),
            (Method::DELETE, "bucket?abac=1"),
            (Method::DELETE, "bucket?uploadId=1"),
            (Method::PUT, "key?renameObject"),
            (Method::PUT, "key?versioning"),
            (Method::PUT, "key?tagging"),
            (Method::PUT, "key?versionId=1"),
            (Method::PUT, "bucket?uploadId=1"),
            (Method::POST, "key?restore"),
            (Method::GET, "key?encryption"),
            (Method::GET, "bucket?acl="),
            (Method::GET, "key?partNumber=1"),
            (Method::HEAD, "key?partNumber=1"),
        ] {
            assert!(!checked(method.clone(), target, None), "{method} {target}");
        }
        for (method, target) in [
            (Method::PUT, "key?uploadId=1&partNumber=2&x-id=UploadPart"),
            (Method::PUT, "bucket?versioning"),
            (Method::POST, "key?uploads="),
            (Method::DELETE, "key?versionId=1"),
            (Method::GET, "bucket?list-type=2&prefix=&delimiter=%2F"),
            (Method::GET, "key?response-content-type=text%2Fplain&cache=1"),
        ] {
            assert!(checked(method.clone(), target, None), "{method} {target}");
        }
    }

    #[test]
    fn headers_that_would_change_the_object_are_refused() {
        for (name, value) in [
            ("x-amz-acl", "public-read"),
            ("x-amz-storage-class", "GLACIER"),
            ("x-amz-server-side-encryption", "AES256"),
            ("x-amz-server-side-encryption-customer-key", "x"),
            ("x-amz-tagging", "a=b"),
            ("x-amz-grant-read", "x"),
            ("expires", "Wed, 21 Oct 2026 07:28:00 GMT"),
        ] {
            assert!(!checked(Method::PUT, "key", Some((name, value))), "{name}");
        }
        for (name, value) in
            [("x-amz-acl", "private"), ("x-amz-storage-class", "STANDARD"), ("x-amz-meta-a", "b")]
        {
            assert!(checked(Method::PUT, "key", Some((name, value))), "{name}");
        }
    }

    #[test]
    fn forms_are_refused() {
        let of_type =
            |kind: &'static str| HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())]);
        let form = of_type("Multipart/Form-Data; boundary=x");
        assert_eq!(check_form(&Method::POST, &form).unwrap_err().code(), "NotImplemented");
        assert!(check_form(&Method::PUT, &form).is_ok(), "the type of an object");
        assert!(check_form(&Method::POST, &of_type("application/xml")).is_ok());
    }

    #[test]
    fn no_request_is_listed_as_served_and_not_served() {
        for (_, requests) in NOT_SERVED {
            for name in SERVED.iter().filter(|name| **name != "PutBucketVersioning") {
                assert!(!requests.split(", ").any(|request| request == *name), "{name}");
            }
        }
    }
}
