//! Requests that the design documents of the apps give.
//!
//! Tables, indexes, attributes and expressions are spelled as the documents spell them. Where a
//! document is silent, the cases follow what the project has decided for the app.

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

    extra "branding-initial-publish", initial_publish:
        "Branding: the first publication creates the marker, and only the first does.";
    extra "branding-publish-change", publish_change:
        "Branding: the marker moves if the current version is the expected one.";
    extra "branding-rollback", rollback:
        "Branding: a rollback is the same request with an earlier version.";
    extra "branding-publish-without-marker", publish_without_marker:
        "Branding: moving a marker that is not there creates none.";
    extra "branding-publishers-race", publishers_race:
        "Branding: of publishers who expect the same version, one moves the marker.";
    extra "branding-theme-creation", theme_creation:
        "Branding: a version is created once, and changed only if it is the expected one.";
    extra "branding-versions-in-order", versions_in_order:
        "Branding: zero-padded versions come in the order of their numbers.";
    extra "branding-drafts", drafts: "Branding: drafts are the themes that pass the filter.";
    extra "branding-drafts-by-bare-name", drafts_by_bare_name:
        "Branding: status is a reserved word, and needs a placeholder.";
    extra "branding-published-theme", published_theme:
        "Branding: the marker leads to the published theme.";
    extra "branding-publish-as-transaction", publish_as_transaction:
        "Branding: a theme and its marker are published together, or not at all.",
        needs [Transactions];
    extra "branding-published-is-immutable", published_is_immutable:
        "Branding: a published version does not change any more.";
    extra "branding-assets", assets:
        "Branding: assets are read by id, and listed by business.";

    extra "rk-pai-twelve-indexes", twelve_indexes:
        "RK_PAI: one table has its twelve indexes, under their names.";
    extra "rk-pai-user-by-email", user_by_email: "RK_PAI: a user is found by email.";
    extra "rk-pai-users-of-a-contract", users_of_a_contract:
        "RK_PAI: the users of a contract are found by origin and contract.";
    extra "rk-pai-cycles-of-a-contract", cycles_of_a_contract:
        "RK_PAI: the cycles of a contract are found by origin and contract.";
    extra "rk-pai-contracts-by-origin", contracts_by_origin_is_refused:
        "RK_PAI: begins_with on an index's partition key is refused.";
    extra "rk-pai-contract-links", contract_links:
        "RK_PAI: link items, written with the contract, list the contracts of an origin.",
        needs [Transactions];
    extra "rk-pai-every-index", every_index_answers:
        "RK_PAI: each index gives what it was made for, and nothing else.";
    extra "rk-pai-log-in-order", log_in_order:
        "RK_PAI: the log of an element comes in the order of its timestamps.";
    extra "rk-pai-user-collection", user_collection:
        "RK_PAI: everything about a user is one collection, cut by prefixes.";

    extra "gamificacion-dashboard", dashboard:
        "Gamificación: the dashboard of a user is one collection, cut by prefixes.";
    extra "gamificacion-dashboard-of-many-pages", dashboard_of_many_pages:
        "Gamificación: a dashboard that outgrows one page comes back whole.";
    extra "gamificacion-by-code", by_code: "Gamificación: a user is found by code.";
    extra "gamificacion-network", network:
        "Gamificación: members are found by level and by status, of a user and overall.";
    extra "gamificacion-member-moves", member_moves:
        "Gamificación: a member who changes level leaves the old one.";
    extra "gamificacion-assets", asset_with_link:
        "Gamificación: an asset and its link are written together.", needs [Transactions];
    extra "gamificacion-upload-expires", upload_expires:
        "Gamificación: a pending upload expires unless it is confirmed.",
        needs [TimeToLive, Clock, Sweep];

    extra "esencia-user", user: "Esencia Fest: a user has a profile and progress.";
    extra "esencia-rooms", rooms: "Esencia Fest: the status of all rooms is one collection.";
    extra "esencia-room-content", room_content:
        "Esencia Fest: the active content of the rooms is a group of GSI1.";
    extra "esencia-post-and-comments", post_and_comments:
        "Esencia Fest: a post and its comments are one collection.";
    extra "esencia-moderation", moderation:
        "Esencia Fest: a post that changes status moves between the groups of the indexes.",
        needs [Transactions];
    extra "esencia-popularity", popularity:
        "Esencia Fest: padded counts sort by number, and bare ones do not.";
    extra "esencia-like", like:
        "Esencia Fest: a like is counted once per user.", needs [Transactions];
    extra "esencia-likes-race", likes_race:
        "Esencia Fest: likes at the same time are all counted, in the count and in the order.",
        needs [Transactions];
    extra "esencia-comment", comment:
        "Esencia Fest: a comment and its count are written together.", needs [Transactions];
    extra "esencia-pages-of-posts", pages_of_posts:
        "Esencia Fest: posts of a status come in pages, the latest first.";
    extra "esencia-moderation-log", moderation_log:
        "Esencia Fest: the log of a day comes in order, and is filtered by action.";
    extra "esencia-activity-logs", activity_logs:
        "Esencia Fest: the activity of a user is spread over ten shards, and read from all.";

    extra "crypto-reserve", reserve:
        "Crypto cards: funds are reserved if the version is the one that was read.";
    extra "crypto-reserve-by-arithmetic", reserve_by_arithmetic_is_refused:
        "Crypto cards: a condition cannot add.";
    extra "crypto-reserve-race", reserve_race:
        "Crypto cards: reservations at the same time never exceed the balance.";
    extra "crypto-release", release:
        "Crypto cards: a release lowers the reservation, and never the version.";
    extra "crypto-authorise", authorise:
        "Crypto cards: account, transaction and card's spend change together.",
        needs [Transactions];
    extra "crypto-authorise-twice", authorise_twice:
        "Crypto cards: a transaction id is authorised once.", needs [Transactions];
    extra "crypto-complete", complete:
        "Crypto cards: completing debits the balance and the reservation together.",
        needs [Transactions];
    extra "crypto-exact-money", exact_money: "Crypto cards: money is never rounded.";
    extra "crypto-indexes", indexes:
        "Crypto cards: the indexes list a user's accounts, an account's transactions and cards, \
         and what is in a status.";
}

/// Creates a table under the name that its document gives it.
async fn create(ctx: &Ctx, request: CreateTable) -> Table {
    let table = Table::new(&request);
    ctx.ok(ctx.store().create_table(request).await);
    table
}

/// A table with the keys `PK` and `SK`, and indexes on `<name>PK` and `<name>SK`.
fn single_table(name: &str, indexes: &[&str]) -> CreateTable {
    let request = CreateTable::new(name).partition_key("PK", KeyType::S).sort_key("SK", KeyType::S);
    indexes.iter().fold(request, |request, index| {
        let (partition, sort) = (format!("{index}PK"), format!("{index}SK"));
        let keys = SecondaryIndex::new(*index).partition_key(&*partition).sort_key(&*sort);
        request.attribute(partition, KeyType::S).attribute(sort, KeyType::S).global_index(keys)
    })
}

/// The key of an item of such a table.
fn pk_sk(pk: &str, sk: &str) -> Item {
    item! { "PK" => pk, "SK" => sk }
}

/// An item from DynamoDB JSON, as the documents show items.
fn from_json(json: serde_json::Value) -> Item {
    Item::from_json(&json).expect("the document shows an item")
}
