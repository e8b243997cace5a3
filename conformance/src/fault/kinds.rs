//! List of the injected faults, each with the case that must catch it.

/// Defines the enum of the faults of a wrapper, each with the case that must catch it.
macro_rules! faults {
    (
        #[doc = $about:literal]
        $name:ident;
        $(#[doc = $doc:literal] $variant:ident = $text:literal, caught by $case:literal;)+
    ) => {
        #[doc = $about]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = $doc] $variant,)+
        }

        impl $name {
            /// All faults, in the order of their definition.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// Name in test names, in snake case.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }

            /// Description in one sentence.
            pub fn description(self) -> &'static str {
                match self {
                    $($name::$variant => $doc.trim_ascii(),)+
                }
            }

            /// Id of the case that must fail with this fault.
            pub fn caught_by(self) -> &'static str {
                match self {
                    $($name::$variant => $case,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use faults;

faults! {
    /// Rule of DynamoDB's that a [`FaultStore`](super::FaultStore) breaks.
    Fault;

    /// A single write ignores its condition.
    ConditionSkipped = "condition_skipped", caught by "31c";
    /// Every condition on a missing item is false.
    MissingItemFails = "missing_item_fails", caught by "31a";
    /// `<>` is false for a missing attribute.
    MissingNeverDiffers = "missing_never_differs", caught by "18b";
    /// The size of a string counts its bytes.
    SizeInBytes = "size_in_bytes", caught by "19a";
    /// `contains` ignores the case of letters.
    ContainsIgnoresCase = "contains_ignores_case", caught by "20a";

    /// A put keeps attributes of the old item that the new one lacks.
    PutMerges = "put_merges", caught by "35e";
    /// A failed condition never returns the item.
    FailureReturnsNothing = "failure_returns_nothing", caught by "30a";
    /// An update whose condition fails creates an item with only its key.
    GhostItem = "ghost_item", caught by "31b";
    /// An update without actions creates no item.
    NoUpsert = "no_upsert", caught by "27a";
    /// Deleting a missing item is an error.
    DeleteMissingFails = "delete_missing_fails", caught by "33a";
    /// ALL_NEW returns the old item.
    OldForNew = "old_for_new", caught by "29e";
    /// UPDATED_NEW returns the whole item.
    AllForUpdated = "all_for_updated", caught by "29g";

    /// A SET action reads the results of the SET actions before it.
    SetsInSequence = "sets_in_sequence", caught by "23a";
    /// REMOVE renumbers list elements after each removal.
    RemovesInSequence = "removes_in_sequence", caught by "23b";
    /// `list_append` swaps its two lists.
    AppendPrepends = "append_prepends", caught by "25a";
    /// ADD to a missing attribute is an error.
    AddNeedsNumber = "add_needs_number", caught by "26b";
    /// DELETE never removes the last member of a set.
    LastMemberStays = "last_member_stays", caught by "26e";

    /// Items are sorted by the text of a number key.
    NumbersSortAsText = "numbers_sort_as_text", caught by "4a";
    /// A descending query returns items in ascending order.
    DescendingIgnored = "descending_ignored", caught by "52a";
    /// BETWEEN on a sort key excludes its upper bound.
    UpperBoundExcluded = "upper_bound_excluded", caught by "28f";
    /// `begins_with` on a sort key ignores the case of letters.
    PrefixIgnoresCase = "prefix_ignores_case", caught by "28h";
    /// Limit counts only the items that pass the filter.
    LimitAfterFilter = "limit_after_filter", caught by "44a";
    /// Count includes the items that the filter removed.
    CountBeforeFilter = "count_before_filter", caught by "44c";
    /// Pages never have a LastEvaluatedKey.
    LastKeyDropped = "last_key_dropped", caught by "44b";
    /// A page omits items whose key in the index equals that of its start key.
    TiesLost = "ties_lost", caught by "46b";
    /// A page begins with the item of its start key.
    CursorItemRepeated = "cursor_item_repeated", caught by "46b";
    /// A page whose start key names a deleted item is empty.
    CursorMustExist = "cursor_must_exist", caught by "46c";
    /// The second page ignores the upper bound of BETWEEN.
    BoundForgotten = "bound_forgotten", caught by "46f";
    /// Each segment of a parallel scan returns all items.
    SegmentsOverlap = "segments_overlap", caught by "51d";
    /// A segment of a parallel scan omits the last item of each page.
    SegmentsLoseItems = "segments_lose_items", caught by "51d";
    /// A consistent read of a global index is accepted.
    ConsistentIndexRead = "consistent_index_read", caught by "48a";
    /// A projection always returns the key attributes.
    ProjectionAddsKeys = "projection_adds_keys", caught by "22h";
    /// An item without any projected attribute is reported as missing.
    EmptyProjectionIsMissing = "empty_projection_is_missing", caught by "22g";

    /// The index entry of a deleted item remains.
    DeletedEntryStays = "deleted_entry_stays", caught by "added-index-follows-writes";
    /// The old index entry remains when an item's index key changes.
    MovedEntryStays = "moved_entry_stays", caught by "added-index-follows-writes";
    /// An index has items that lack its sort key.
    IndexNotSparse = "index_not_sparse", caught by "34f";
    /// An index returns whole items, regardless of its projection.
    IndexCarriesAll = "index_carries_all", caught by "49a";
    /// A new index lacks the items that existed before it.
    NoBackfill = "no_backfill", caught by "54b";

    /// A batch of writes may name a key twice; the last write wins.
    BatchWritesTwice = "batch_writes_twice", caught by "35c";
    /// A batch of reads may name a key twice.
    BatchReadsTwice = "batch_reads_twice", caught by "35h";

    /// A transaction ignores the conditions of its writes.
    TransactionUnconditional = "transaction_unconditional", caught by "last-put-condition-fails";
    /// A canceled transaction applies the writes before the failed one.
    HalfTransaction = "half_transaction", caught by "43c";
    /// Only the first of several cancellation reasons is reported.
    FirstReasonOnly = "first_reason_only", caught by "37c";
    /// Operations that did not fail have no cancellation reason.
    ReasonsOutOfPlace = "reasons_out_of_place", caught by "37a";
    /// A cancellation reason never has the item.
    ReasonWithoutItem = "reason_without_item", caught by "30d";
    /// A transaction may write an item twice.
    OneItemTwice = "one_item_twice", caught by "36c";
    /// Client request tokens are ignored.
    TokenIgnored = "token_ignored", caught by "40a";
    /// A client request token may be reused with another request.
    TokenMismatchAccepted = "token_mismatch_accepted", caught by "40c";
    /// A client request token never expires.
    TokenForever = "token_forever", caught by "40d";
    /// A failed transaction uses up its client request token.
    FailedTokenKept = "failed_token_kept", caught by "40f";
    /// A transactional write costs as much as a single one.
    TransactionCostsOnce = "transaction_costs_once", caught by "42a";

    /// Writes to indexes consume no capacity.
    IndexesAreFree = "indexes_are_free", caught by "58i";
    /// A consistent read costs as much as an eventually consistent one.
    ConsistencyIsFree = "consistency_is_free", caught by "58b";
    /// A read hides an expired item.
    ExpiredIsHidden = "expired_is_hidden", caught by "55d";
    /// A put that changes nothing writes a stream record.
    NoOpRecorded = "no_op_recorded", caught by "56h";
    /// A table with deletion protection is deleted.
    ProtectionIgnored = "protection_ignored", caught by "53h";
    /// Table names are listed in descending order.
    TablesReversed = "tables_reversed", caught by "list-tables";
}
