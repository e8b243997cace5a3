//! Requests from the design documents of the apps.
//!
//! Tables, indexes, attributes and expressions are spelled as in the documents. Where a document is
//! silent, the cases follow the decisions of the app.

mod branding;
mod crypto_cards;
mod esencia_fest;
mod gamificacion;
mod rk_pai;

use self::branding::*;
use self::crypto_cards::*;
use self::esencia_fest::*;
use self::gamificacion::*;
use self::rk_pai::*;
use super::prelude::*;

cases! {
    Documents;

    extra "branding-initial-publish", first_publication_creates_the_marker:
        "Branding: the first publication creates the marker, and a second one fails.";
    extra "branding-publish-change", marker_moves_from_the_expected_version:
        "Branding: the marker moves if the current version is the expected one.";
    extra "branding-rollback", rollback_publishes_an_earlier_version:
        "Branding: a rollback is the same request with an earlier version.";
    extra "branding-publish-without-marker", moving_a_missing_marker_creates_none:
        "Branding: moving a missing marker creates none.";
    extra "branding-publishers-race", one_of_concurrent_publishers_wins:
        "Branding: of concurrent publishers that expect the same version, one moves the marker.";
    extra "branding-theme-creation", version_is_created_once:
        "Branding: a version is created once, and is changed only if it is the expected one.";
    extra "branding-versions-in-order", padded_versions_sort_by_number:
        "Branding: zero-padded versions are returned in the order of their numbers.";
    extra "branding-drafts", drafts_pass_the_filter:
        "Branding: drafts are the themes that pass the filter.";
    extra "branding-drafts-by-bare-name", status_needs_a_placeholder:
        "Branding: status is a reserved word, and needs a placeholder.";
    extra "branding-published-theme", marker_leads_to_the_published_theme:
        "Branding: the marker leads to the published theme.";
    extra "branding-publish-as-transaction", theme_and_marker_are_published_together:
        "Branding: a theme and its marker are published together or not at all.",
        needs [Transactions];
    extra "branding-published-is-immutable", published_is_immutable:
        "Branding: a published version can no longer be changed.";
    extra "branding-assets", assets_are_read_by_id_and_listed:
        "Branding: assets are read by id and listed by business.";

    extra "rk-pai-twelve-indexes", table_has_twelve_indexes:
        "RK_PAI: one table has its twelve indexes under their names.";
    extra "rk-pai-user-by-email", user_is_found_by_email: "RK_PAI: a user is found by email.";
    extra "rk-pai-users-of-a-contract", users_are_found_by_origin_and_contract:
        "RK_PAI: the users of a contract are found by origin and contract.";
    extra "rk-pai-cycles-of-a-contract", cycles_are_found_by_origin_and_contract:
        "RK_PAI: the cycles of a contract are found by origin and contract.";
    extra "rk-pai-contracts-by-origin", prefix_of_index_partition_is_rejected:
        "RK_PAI: begins_with on the partition key of an index is rejected with \
         ValidationException.";
    extra "rk-pai-contract-links", links_list_the_contracts_of_an_origin:
        "RK_PAI: link items, which are written with the contract, list the contracts of an origin.",
        needs [Transactions];
    extra "rk-pai-every-index", each_index_returns_its_items_alone:
        "RK_PAI: a query of each index returns the items that it was designed for, and no others.";
    extra "rk-pai-log-in-order", log_is_ordered_by_timestamp:
        "RK_PAI: the log of an element is returned in the order of its timestamps.";
    extra "rk-pai-user-collection", user_is_one_item_collection:
        "RK_PAI: all items of a user are one item collection, which prefixes divide.";

    extra "gamificacion-dashboard", dashboard_is_one_item_collection:
        "Gamificación: the dashboard of a user is one item collection, which prefixes divide.";
    extra "gamificacion-dashboard-of-many-pages", dashboard_of_several_pages_is_complete:
        "Gamificación: a dashboard of more than one page is returned completely.";
    extra "gamificacion-user-by-code", user_is_found_by_code:
        "Gamificación: a user is found by code.";
    extra "gamificacion-network", members_are_found_by_level_and_status:
        "Gamificación: members are found by level and by status, for one user and for all.";
    extra "gamificacion-member-moves", member_moves_between_levels:
        "Gamificación: a member whose level changes is no longer found at the old level.";
    extra "gamificacion-asset-with-link", asset_and_link_are_written_together:
        "Gamificación: an asset and its link are written together.", needs [Transactions];
    extra "gamificacion-upload-expires", pending_upload_expires:
        "Gamificación: a pending upload expires unless it is confirmed.",
        needs [TimeToLive, Clock, Sweep];

    extra "esencia-user", user_has_profile_and_progress:
        "Esencia Fest: a user has a profile and progress.";
    extra "esencia-rooms", room_statuses_are_one_item_collection:
        "Esencia Fest: the statuses of all rooms are one item collection.";
    extra "esencia-room-content", active_content_is_a_group_of_gsi1:
        "Esencia Fest: the active content of the rooms is a group of GSI1.";
    extra "esencia-post-and-comments", post_and_comments_are_one_item_collection:
        "Esencia Fest: a post and its comments are one item collection.";
    extra "esencia-moderation", post_moves_between_groups_with_its_status:
        "Esencia Fest: a post whose status changes moves between the groups of the indexes.",
        needs [Transactions];
    extra "esencia-popularity", padded_counts_sort_by_number:
        "Esencia Fest: padded counts sort by number, and unpadded ones do not.";
    extra "esencia-like", like_counts_once_per_user:
        "Esencia Fest: a like is counted once per user.", needs [Transactions];
    extra "esencia-likes-race", concurrent_likes_all_count:
        "Esencia Fest: concurrent likes all count, in the number of likes and in the sort order.",
        needs [Transactions];
    extra "esencia-comment", comment_and_count_are_written_together:
        "Esencia Fest: a comment and its count are written together.", needs [Transactions];
    extra "esencia-pages-of-posts", posts_are_paged_latest_first:
        "Esencia Fest: posts of a status are returned in pages, the latest first.";
    extra "esencia-moderation-log", moderation_log_is_ordered_and_filtered:
        "Esencia Fest: the moderation log of a day is returned in order and can be filtered by \
         action.";
    extra "esencia-activity-logs", activity_is_spread_over_ten_shards:
        "Esencia Fest: the activity of a user is spread over ten shards, and is read from all \
         of them.";

    extra "crypto-reserve", funds_are_reserved_at_the_read_version:
        "Crypto cards: funds are reserved if the account still has the version that was read.";
    extra "crypto-reserve-by-arithmetic", arithmetic_in_condition_is_rejected:
        "Crypto cards: arithmetic in a condition is rejected with ValidationException.";
    extra "crypto-reserve-race", concurrent_reservations_stay_within_the_balance:
        "Crypto cards: concurrent reservations never exceed the balance.";
    extra "crypto-release", release_lowers_the_reservation:
        "Crypto cards: a release lowers the reservation, but never the version.";
    extra "crypto-authorize", account_transaction_and_spend_change_together:
        "Crypto cards: an authorization changes the account, the transaction and the card's \
         spend together.", needs [Transactions];
    extra "crypto-authorize-twice", transaction_id_is_authorized_once:
        "Crypto cards: a transaction id is authorized once.", needs [Transactions];
    extra "crypto-complete", completion_debits_balance_and_reservation:
        "Crypto cards: a completion debits the balance and the reservation together.",
        needs [Transactions];
    extra "crypto-exact-money", money_is_never_rounded: "Crypto cards: money is never rounded.";
    extra "crypto-indexes", indexes_list_accounts_transactions_and_cards:
        "Crypto cards: the indexes list the accounts of a user, the transactions and cards of \
         an account, and the items with a status.";
}

/// Creates a table under the name in its document.
async fn create(ctx: &Ctx, request: CreateTable) -> Table {
    let table = Table::new(&request);
    ctx.ok(ctx.store().create_table(request).await);
    table
}

/// Returns a table with the keys `PK` and `SK`, and indexes on `<name>PK` and `<name>SK`.
fn single_table(name: &str, indexes: &[&str]) -> CreateTable {
    let request = CreateTable::new(name).partition_key("PK", KeyType::S).sort_key("SK", KeyType::S);
    indexes.iter().fold(request, |request, index| {
        let (partition, sort) = (format!("{index}PK"), format!("{index}SK"));
        let keys = SecondaryIndex::new(*index).partition_key(&*partition).sort_key(&*sort);
        request.attribute(partition, KeyType::S).attribute(sort, KeyType::S).global_index(keys)
    })
}

/// Returns the key of an item of such a table.
fn pk_sk(pk: &str, sk: &str) -> Item {
    item! { "PK" => pk, "SK" => sk }
}

/// Parses an item from DynamoDB JSON, the notation of the documents.
fn from_json(json: serde_json::Value) -> Item {
    Item::from_json(&json).expect("the JSON is a valid item")
}
