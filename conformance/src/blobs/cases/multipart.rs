//! Multipart uploads.

mod complete;
mod convenience;
mod lists;
mod parts;

use self::complete::*;
use self::convenience::*;
use self::lists::*;
use self::parts::*;
use super::prelude::*;

blob_cases! {
    Multipart;

    upload_is_invisible_before_completion:
        "Nothing is visible under the key before the upload is completed.";
    completed_upload_is_one_blob: "A completed upload is one blob, and no upload any more.";
    parts_are_joined_by_number:
        "Parts are joined in the order of their numbers, whatever the order of their uploads.";
    part_numbers_may_have_gaps: "The numbers of the parts may have gaps.", needs [AnyParts];
    part_with_the_same_number_replaces: "A part replaces the earlier one with its number.";
    parts_that_are_not_listed_are_left_out:
        "A completion with some of the parts has those alone.", needs [AnyParts];
    completion_replaces_the_blob: "A completion replaces the present blob.";
    uploads_of_one_key_are_independent: "Uploads of one key are independent of each other.";
    part_numbers_are_1_to_10000: "The number of a part is 1 to 10,000.";
    part_with_wrong_checksum_is_refused:
        "A part with a wrong checksum fails with BadDigest and is not stored.";
    part_with_checksum_of_other_algorithm_is_refused:
        "A part with a checksum of another algorithm than the upload's is refused with \
         InvalidRequest.", needs [StoredChecksums];
    part_has_any_checksum_if_the_upload_allows_it:
        "A part has a checksum of any algorithm if the upload allows it. It is verified, and the blob \
         has that of the upload.", needs [StoredChecksums];
    part_of_shorter_stream_is_refused:
        "A part whose stream is shorter than announced fails with IncompleteBody and is not stored.";
    part_has_its_etag_checksum_and_size:
        "The output of a part and the list of parts agree on ETag, checksum and size.",
        needs [StoredChecksums];
    operations_on_missing_upload_fail:
        "Operations on an upload that does not exist fail with NoSuchUpload.";
    upload_belongs_to_its_key: "An upload id with another key fails with NoSuchUpload.";
    aborted_upload_is_gone: "An aborted upload is gone with its parts, and changes no blob.";
    completed_upload_cannot_be_completed_again:
        "A second completion fails with NoSuchUpload and leaves the blob.";
    completion_with_wrong_etag_fails:
        "A completion with another ETag of a part fails with InvalidPart, and the upload stays.";
    completion_with_missing_part_fails:
        "A completion with a part that was not uploaded fails with InvalidPart.";
    completion_in_wrong_order_fails:
        "A completion whose numbers do not ascend fails with InvalidPartOrder.";
    completion_with_small_part_fails:
        "A completion with a part under 5 MB that is not the last fails with EntityTooSmall.";
    completion_without_parts_fails: "A completion without parts fails with MalformedXML.";
    completion_with_10001_parts_fails: "A completion with 10,001 parts fails with MalformedXML.";
    completion_with_other_size_fails:
        "A completion with another expected length fails with InvalidRequest, and the upload stays.";
    completion_with_wrong_checksum_fails:
        "A completion with another expected checksum fails with BadDigest, and the upload stays.",
        needs [StoredChecksums];
    failed_condition_keeps_the_upload:
        "A completion if absent to a present blob fails with PreconditionFailed, and the upload \
         stays.", needs [PutIfAbsent, ConditionalUploads];
    completion_if_absent_creates: "A completion if absent creates a missing blob.",
        needs [PutIfAbsent, ConditionalUploads];
    completion_if_match_needs_present_etag:
        "A completion if match needs the present ETag.", needs [PutIfMatch, ConditionalUploads];
    full_object_checksum_is_of_all_bytes:
        "A full-object checksum of an upload is that of all its bytes.", needs [StoredChecksums];
    composite_checksum_is_of_part_checksums:
        "A composite checksum of an upload is that of the checksums of its parts.",
        needs [StoredChecksums];
    impossible_checksums_are_refused:
        "A full-object checksum that is no CRC, a composite CRC64NVME, and MD5 are refused with \
         InvalidRequest.";
    parts_are_listed_in_pages: "Pages of every limit have every part once and in order.";
    uploads_are_listed_in_pages:
        "Pages of every limit have every upload once, in the order of their keys.";
    uploads_of_one_key_are_listed_by_start:
        "Uploads of one key are listed in the order of their start.", needs [Clock];
    uploads_are_listed_by_prefix: "A prefix selects the uploads whose keys begin with it.";
    stream_is_uploaded_in_parts_with_progress:
        "`upload` stores a stream of 11 MB in parts, and reports its progress.";
    short_stream_is_uploaded_as_put: "`upload` stores a short stream with a plain put.";
    failed_stream_aborts_the_upload:
        "`upload` of a stream that fails returns its error and leaves neither blob nor upload.";
    upload_with_failed_condition_is_aborted:
        "`upload` whose condition fails leaves the old blob and no upload.",
        needs [PutIfAbsent, ConditionalUploads];
}
