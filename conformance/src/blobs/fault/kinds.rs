//! List of the injected faults, each with the case that must catch it.

use crate::fault::faults;

faults! {
    /// Rule of S3's that [`FaultBlobs`](super::FaultBlobs) break.
    BlobFault;

    /// A put ignores its condition.
    ConditionIgnored = "condition_ignored", caught by "put_if_absent_of_present_blob_fails";
    /// A put treats if match as if absent.
    MatchAsAbsent = "match_as_absent", caught by "put_if_match_of_present_etag_replaces";
    /// A put evaluates its condition before it writes, in two steps.
    ConditionNotAtomic = "condition_not_atomic",
        caught by "concurrent_puts_if_absent_have_one_winner";
    /// A put if match with a lost race overwrites the winner.
    LastMatchWins = "last_match_wins", caught by "concurrent_puts_if_match_have_one_winner";
    /// A put keeps the headers and metadata of the old blob.
    HeadersKept = "headers_kept", caught by "put_replaces_content_and_headers";
    /// A put whose stream ends too early stores what has arrived.
    ShortStreamStored = "short_stream_stored", caught by "put_of_shorter_stream_writes_nothing";
    /// A put that fails deletes the old blob.
    FailedPutDeletes = "failed_put_deletes", caught by "put_of_failing_stream_writes_nothing";
    /// Every blob has the same ETag.
    EtagConstant = "etag_constant", caught by "etag_changes_with_content";
    /// Expected checksums are not verified.
    ChecksumNotVerified = "checksum_not_verified", caught by "put_with_wrong_checksum_is_refused";
    /// A put with a wrong checksum fails and writes.
    BadDigestWritten = "bad_digest_written", caught by "put_with_wrong_checksum_is_refused";
    /// The stored checksum is not returned.
    ChecksumDropped = "checksum_dropped", caught by "chosen_checksum_is_stored";
    /// Metadata over the limit is left out.
    MetadataDropped = "metadata_dropped", caught by "metadata_over_2_kb_is_refused";
    /// Keys are folded to lower case.
    KeysFolded = "keys_folded", caught by "keys_differ_by_case";
    /// Double slashes in keys are joined.
    SlashesJoined = "slashes_joined", caught by "keys_with_empty_segments_are_distinct";
    /// Percent escapes in keys are decoded.
    KeysDecoded = "keys_decoded", caught by "percent_signs_are_not_decoded";
    /// The `..` segments of keys are resolved as those of paths.
    KeysResolved = "keys_resolved", caught by "key_above_its_root_is_refused";

    /// A range leaves out its last byte.
    RangeOffByOne = "range_off_by_one", caught by "range_includes_its_last_byte";
    /// A suffix range reads from the start.
    SuffixFromStart = "suffix_from_start", caught by "suffix_range_reads_the_last_bytes";
    /// A read ignores if none match.
    NoneMatchIgnored = "none_match_ignored",
        caught by "get_if_none_match_of_present_etag_is_not_modified";
    /// A blob that is not modified is reported as a failed condition.
    NotModifiedFails = "not_modified_fails",
        caught by "get_if_none_match_of_present_etag_is_not_modified";
    /// If unmodified since outranks if match.
    TimeOutranksEtag = "time_outranks_etag", caught by "if_match_outranks_if_unmodified_since";
    /// A read ignores if modified since.
    ModifiedSinceIgnored = "modified_since_ignored",
        caught by "read_if_modified_since_compares_seconds";

    /// Keys are listed without regard to case.
    ListIgnoresCase = "list_ignores_case", caught by "keys_are_listed_in_order_of_bytes";
    /// A listing ignores its delimiter.
    DelimiterIgnored = "delimiter_ignored", caught by "delimiter_groups_keys";
    /// A page begins with the last key of the page before.
    CursorRepeatsKey = "cursor_repeats_key", caught by "pages_of_every_limit_have_all_keys";
    /// A listing ignores its limit.
    LimitIgnored = "limit_ignored", caught by "page_has_at_most_limit_entries";
    /// A full last page has a next page, which is empty.
    FullPageHasNext = "full_page_has_next", caught by "last_full_page_has_no_next";

    /// A delete ignores its condition.
    DeleteMatchIgnored = "delete_match_ignored", caught by "delete_if_match_of_other_etag_fails";
    /// Deleting a missing blob is an error.
    DeleteMissingFails = "delete_missing_fails", caught by "delete_of_missing_blob_succeeds";
    /// A deletion of several keys leaves the last one.
    LastDeleteLost = "last_delete_lost", caught by "delete_many_deletes_all_keys";

    /// A copy has no metadata.
    CopyDropsMetadata = "copy_drops_metadata", caught by "copy_keeps_headers_and_metadata";
    /// A copy ignores the ETag that its source must have.
    SourceMatchIgnored = "source_match_ignored",
        caught by "copy_if_source_matches_needs_its_etag";

    /// A begun upload is visible as an empty blob.
    UploadVisible = "upload_visible", caught by "upload_is_invisible_before_completion";
    /// An upload loses the headers and metadata of its begin.
    UploadHeadersLost = "upload_headers_lost", caught by "upload_has_headers_of_its_begin";
    /// Parts are joined in the order in which they were uploaded.
    PartsInUploadOrder = "parts_in_upload_order", caught by "parts_are_joined_by_number";
    /// The first part with a number stays.
    FirstPartKept = "first_part_kept", caught by "part_with_the_same_number_replaces";
    /// A completion uses all parts, listed or not.
    AllPartsUsed = "all_parts_used", caught by "parts_that_are_not_listed_are_left_out";
    /// A completed upload stays in the list of uploads.
    CompleteLeavesUpload = "complete_leaves_upload", caught by "completed_upload_is_one_blob";
    /// A completion whose condition fails ends the upload.
    FailureEndsUpload = "failure_ends_upload", caught by "failed_condition_keeps_the_upload";
    /// An aborted upload keeps its parts.
    AbortKeepsParts = "abort_keeps_parts", caught by "aborted_upload_is_gone";

    /// The list of versions has no delete markers.
    MarkersHidden = "markers_hidden", caught by "versions_are_listed_newest_first";
    /// The versions of a key are listed oldest first.
    VersionsOldestFirst = "versions_oldest_first", caught by "versions_are_listed_newest_first";
    /// A read of an earlier version reads the current one.
    VersionIgnored = "version_ignored", caught by "old_version_is_read";
    /// A restored version has the content of the current one.
    RestoreKeepsCurrent = "restore_keeps_current", caught by "restore_makes_old_content_current";
}
