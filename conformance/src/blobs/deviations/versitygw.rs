//! Deviations of versitygw 1.8.0, an S3 server on a POSIX file system.

use super::{Deviation, deviations};

/// Rows, in the order of the cases. The texts are verb phrases in the present tense: they become
/// cells of a table.
pub(super) const ROWS: &[Deviation] = deviations! {
    "versitygw";
    "read_if_modified_since_compares_seconds":
        S3 "compares times to the second",
        source "GetObject, If-Modified-Since; RFC 9110, 5.6.7",
        but "compares the file time, with its fraction, with the second of the request",
        observed "expected NotModified, got success";
    "read_if_unmodified_since_compares_seconds":
        S3 "compares times to the second",
        source "GetObject, If-Unmodified-Since; RFC 9110, 5.6.7",
        but "compares the file time, with its fraction, with the second of the request",
        observed "expected success, got PreconditionFailed";
    "range_of_empty_blob_is_refused":
        S3 "refuses a range that contains no byte",
        source "GetObject, Range; Error responses, InvalidRange",
        but "returns an empty object with status 200",
        observed "expected InvalidRange, got success";
    "key_of_1024_bytes_is_stored":
        S3 "stores keys of up to 1024 bytes",
        source "Naming Amazon S3 objects",
        but "refuses a segment that is longer than a file name of 255 bytes",
        observed "expected success, got KeyTooLongError";
    "key_may_continue_another_key":
        S3 "has no folders: one key may continue another",
        source "Naming Amazon S3 objects",
        but "refuses a key below an object, because a file is no folder",
        observed "ObjectParentIsFile";
    "keys_with_empty_segments_are_distinct":
        S3 "takes slashes at any place as part of the key",
        source "Naming Amazon S3 objects",
        but "refuses content for a key with a slash at the end, which is a folder",
        observed "DirectoryObjectContainsData";
    "keys_with_dot_segments_are_distinct":
        S3 "takes the segments `.` and `..` as part of the key",
        source "Naming Amazon S3 objects",
        but "refuses keys with these segments",
        observed "expected success, got UnknownError: 400";
    "keys_with_control_characters_are_stored":
        S3 "escapes keys of listings with `encoding-type=url`",
        source "ListObjectsV2, encoding-type",
        but "ignores the parameter, and replaces characters that XML lacks by U+FFFD",
        observed "the listing does not agree with BlobInfo { key: \"a\\u{1}b\"";
    "key_with_nul_is_stored":
        S3 "stores keys with NUL",
        source "Naming Amazon S3 objects",
        but "fails with InternalError, because file names have no NUL",
        observed "expected success, got InternalError";
    "keys_of_any_script_are_stored":
        S3 "escapes keys of listings with `encoding-type=url`",
        source "ListObjectsV2, encoding-type",
        but "ignores the parameter, and replaces U+FFFE by U+FFFD",
        observed "the listing does not agree with BlobInfo { key: \"\\u{fffe}\"";
    "url_characters_are_part_of_keys":
        S3 "separates the version from the source of a copy before it decodes the key",
        source "CopyObject, x-amz-copy-source",
        but "decodes first, and takes `?versionId=` in a key for a version",
        observed "Invalid version id specified";
    "spaces_at_the_ends_are_part_of_keys":
        S3 "has no folders: one key may continue another",
        source "Naming Amazon S3 objects",
        but "refuses a key below an object, because a file is no folder",
        observed "ObjectParentIsFile";
    "copy_to_itself_replaces_headers":
        S3 "replaces all headers and metadata with the directive REPLACE",
        source "CopyObject, x-amz-metadata-directive",
        but "keeps the headers that a copy to the same key does not name",
        observed "cache_control: Some(\"no-cache\")";
    "copy_if_absent_to_present_blob_fails":
        S3 "evaluates If-None-Match on the destination of a copy",
        source "CopyObject, If-None-Match",
        but "ignores the condition and copies",
        observed "expected PreconditionFailed, got success";
    "copy_if_match_needs_present_etag":
        S3 "evaluates If-Match on the destination of a copy",
        source "CopyObject, If-Match",
        but "ignores the condition and copies",
        observed "expected PreconditionFailed, got success";
    "uploads_are_listed_in_pages":
        S3 "continues a list of uploads at the markers of the page before",
        source "ListMultipartUploads, upload-id-marker",
        but "refuses its own markers",
        observed "Invalid uploadId marker";
    "listing_has_current_blobs_alone":
        S3 "reports a truncated listing only if keys follow",
        source "ListObjectsV2, IsTruncated",
        but "reports one if only delete markers follow",
        observed "left: (1, 0, Some(\"a\"))";
    "delete_of_missing_blob_creates_marker":
        S3 "creates a delete marker for a missing object",
        source "DeleteObject; Working with delete markers",
        but "creates none",
        observed "a delete in a bucket with versions has a delete marker";
    "failed_writes_create_no_version":
        S3 "reports NoSuchKey for a conditional write to a missing object",
        source "PutObject, If-Match",
        but "reports NoSuchVersion in a bucket with versions",
        observed "code: \"NoSuchVersion\"";
    "conditions_see_the_current_version":
        S3 "has no current version behind a delete marker, so If-Match fails",
        source "PutObject, If-Match; Working with delete markers",
        but "compares the condition with the version behind the delete marker",
        observed "expected NoSuchKey, got success";
    "versions_are_listed_in_pages":
        S3 "continues a list of versions behind the markers of the page before",
        source "ListObjectVersions, version-id-marker",
        but "begins with the latest version of the key again",
        observed "failed: limit 1";
};
