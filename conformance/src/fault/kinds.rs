//! The faults.

use std::fmt;

macro_rules! faults {
    ($(#[doc = $doc:literal] $variant:ident = $name:literal, caught by $case:literal;)+) => {
        /// A rule that a [`FaultStore`](super::FaultStore) breaks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Fault {
            $(#[doc = $doc] $variant,)+
        }

        impl Fault {
            /// All faults.
            pub const ALL: &[Fault] = &[$(Fault::$variant),+];

            /// The name in test names.
            pub fn name(self) -> &'static str {
                match self {
                    $(Fault::$variant => $name,)+
                }
            }

            /// What goes wrong, in a line.
            pub fn description(self) -> &'static str {
                match self {
                    $(Fault::$variant => $doc.trim_ascii(),)+
                }
            }

            /// The id of the case that must catch it.
            pub fn caught_by(self) -> &'static str {
                match self {
                    $(Fault::$variant => $case,)+
                }
            }
        }
    };
}

faults! {
    /// A single write is made whatever its condition says.
    ConditionSkipped = "condition_skipped", caught by "31c";
    /// No condition holds for an item that is not there.
    MissingItemFails = "missing_item_fails", caught by "31a";
    /// `<>` is false for a missing attribute.
    MissingNeverDiffers = "missing_never_differs", caught by "18b";
    /// The size of a string counts its bytes.
    SizeInBytes = "size_in_bytes", caught by "19a";
    /// `contains` takes letters for equal whatever their case.
    ContainsIgnoresCase = "contains_ignores_case", caught by "20a";

    /// A put keeps attributes of the old item that the new one does not have.
    PutMerges = "put_merges", caught by "35e";
    /// A failed condition never returns the item.
    FailureReturnsNothing = "failure_returns_nothing", caught by "30a";
    /// An update whose condition fails leaves an item with nothing but its key.
    GhostItem = "ghost_item", caught by "31b";
    /// An update without changes makes no item.
    NoUpsert = "no_upsert", caught by "27a";
    /// Deleting a missing item is an error.
    DeleteMissingFails = "delete_missing_fails", caught by "33a";
    /// ALL_NEW returns the old item.
    OldForNew = "old_for_new", caught by "29e";
    /// UPDATED_NEW returns the whole item.
    AllForUpdated = "all_for_updated", caught by "29g";

    /// SET clauses read what the clauses before them have set.
    SetsInSequence = "sets_in_sequence", caught by "23a";
    /// REMOVE counts list elements after each removal again.
    RemovesInSequence = "removes_in_sequence", caught by "23b";
    /// `list_append` puts its lists the wrong way round.
    AppendPrepends = "append_prepends", caught by "25a";
    /// ADD to a missing number is an error.
    AddNeedsNumber = "add_needs_number", caught by "26b";
    /// DELETE leaves the last member in its set.
    LastMemberStays = "last_member_stays", caught by "26e";

    /// Items sort by the text of a number key.
    NumbersSortAsText = "numbers_sort_as_text", caught by "4a";
    /// A descending query ascends.
    DescendingIgnored = "descending_ignored", caught by "52a";
    /// BETWEEN on a sort key leaves out its upper bound.
    UpperBoundExcluded = "upper_bound_excluded", caught by "28f";
    /// `begins_with` on a sort key takes letters for equal whatever their case.
    PrefixIgnoresCase = "prefix_ignores_case", caught by "28h";
    /// Limit counts the items that pass the filter.
    LimitAfterFilter = "limit_after_filter", caught by "44a";
    /// Count counts what the filter dropped as well.
    CountBeforeFilter = "count_before_filter", caught by "44c";
    /// Pages have no last key.
    LastKeyDropped = "last_key_dropped", caught by "44b";
    /// A page leaves out items that tie with the key it begins after.
    TiesLost = "ties_lost", caught by "46b";
    /// A page begins with the item that it should begin after.
    CursorItemRepeated = "cursor_item_repeated", caught by "46b";
    /// A page that begins after an item which is gone is empty.
    CursorMustExist = "cursor_must_exist", caught by "46c";
    /// The upper bound of BETWEEN is forgotten on the second page.
    BoundForgotten = "bound_forgotten", caught by "46f";
    /// Each segment of a parallel scan has everything.
    SegmentsOverlap = "segments_overlap", caught by "51d";
    /// A segment of a parallel scan loses the last item of each page.
    SegmentsLoseItems = "segments_lose_items", caught by "51d";
    /// A consistent read of a global index is allowed.
    ConsistentIndexRead = "consistent_index_read", caught by "48a";
    /// A projection returns the keys unasked.
    ProjectionAddsKeys = "projection_adds_keys", caught by "22h";
    /// An item of which the projection matches nothing is missing.
    EmptyProjectionIsMissing = "empty_projection_is_missing", caught by "22g";

    /// The index entry of a deleted item stays.
    DeletedEntryStays = "deleted_entry_stays", caught by "index-follows";
    /// The index entry under the old key stays when an item's index key changes.
    MovedEntryStays = "moved_entry_stays", caught by "index-follows";
    /// An index has items that lack its sort key.
    IndexNotSparse = "index_not_sparse", caught by "34f";
    /// An index returns whole items, whatever it carries.
    IndexCarriesAll = "index_carries_all", caught by "49a";
    /// A new index does not have the items that were there before.
    NoBackfill = "no_backfill", caught by "54b";

    /// A batch of writes takes a key twice, and does the last.
    BatchWritesTwice = "batch_writes_twice", caught by "35c";
    /// A batch of reads takes a key twice.
    BatchReadsTwice = "batch_reads_twice", caught by "35h";

    /// A transaction writes whatever the conditions of its writes say.
    TransactionUnconditional = "transaction_unconditional", caught by "last-put-loses-its-condition";
    /// A cancelled transaction has made the writes before the one at fault.
    HalfTransaction = "half_transaction", caught by "43c";
    /// Of several cancellation reasons only the first is told.
    FirstReasonOnly = "first_reason_only", caught by "37c";
    /// Innocent operations have no place among the cancellation reasons.
    ReasonsOutOfPlace = "reasons_out_of_place", caught by "37a";
    /// A cancellation reason never has the item.
    ReasonWithoutItem = "reason_without_item", caught by "30d";
    /// A transaction may write an item twice.
    OneItemTwice = "one_item_twice", caught by "36c";
    /// Client request tokens are ignored.
    TokenIgnored = "token_ignored", caught by "40a";
    /// A client request token may be used again with other content.
    TokenMismatchAccepted = "token_mismatch_accepted", caught by "40c";
    /// A client request token is never forgotten.
    TokenForever = "token_forever", caught by "40d";
    /// A transaction that failed has used up its token.
    FailedTokenKept = "failed_token_kept", caught by "40f";
    /// A transactional write costs as much as a single one.
    TransactionCostsOnce = "transaction_costs_once", caught by "42a";

    /// Writes to indexes cost nothing.
    IndexesAreFree = "indexes_are_free", caught by "58i";
    /// A consistent read costs as much as an eventually consistent one.
    ConsistencyIsFree = "consistency_is_free", caught by "58b";
    /// An expired item is not read any more.
    ExpiredIsGone = "expired_is_gone", caught by "55d";
    /// A put that changes nothing is recorded.
    NoOpRecorded = "no_op_recorded", caught by "56h";
    /// A protected table is deleted.
    ProtectionIgnored = "protection_ignored", caught by "53h";
    /// Table names are listed in reverse.
    TablesReversed = "tables_reversed", caught by "list-tables";
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
