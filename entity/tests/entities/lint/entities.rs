//! How many entities a key gathers in one place.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla_entity::lint::{FEW_PARTITIONS, Rule};
use tabla_entity::{Entity, EntityDesign, Id, KeyPart, Sharded, TableDesign, UtcTime};

use super::{Order, PLAIN, SHOP, design, found};

/// What a rule finds in an entity alone.
fn found_in(rule: Rule, entity: &'static EntityDesign) -> Vec<String> {
    found(rule, &design((entity.table)(), &[entity], Vec::new()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, KeyPart)]
enum Status {
    Closed,
    Open,
    Paid,
}

/// Invoices in the partitions of their statuses: by shards, where there are any.
macro_rules! invoices {
    ($($name:ident $partition:literal)*) => {$(
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
        #[entity(
            table = SHOP,
            pk = "INVOICE#{id}",
            sk = "INVOICE",
            index(GSI1, pk = $partition, sk = "{at}")
        )]
        struct $name {
            #[entity(key_only)]
            id: Id,
            at: UtcTime,
            status: Status,
            #[entity(values = 4)]
            region: Id,
            kind: Id,
        }
    )*};
}

invoices! {
    InOne "INVOICES"
    ByStatus "STATUS#{status}"
    ByStatusInFive "STATUS#{status}{id:shard 5}"
    ByStatusInSix "STATUS#{status}{id:shard 6}"
    ByRegion "REGION#{region}"
    ByKind "KIND#{kind}#{status}"
}

#[test]
fn entities_are_spread_over_more_than_a_few_partitions() {
    let hot = |entity| found_in(Rule::HotPartition, entity);
    assert_eq!(FEW_PARTITIONS, 16);
    let one = "all of them are in the partition INVOICES: shards would spread it";
    assert_eq!(hot(InOne::design()), [format!("InOne in GSI1: {one}")]);
    let three =
        "all of them are in 3 partitions at most, STATUS#{status}: shards would spread them";
    assert_eq!(hot(ByStatus::design()), [format!("ByStatus in GSI1: {three}")]);
    // Fifteen are few, eighteen are not.
    assert!(hot(ByStatusInFive::design())[0].contains("in 15 partitions at most"));
    assert_eq!(hot(ByStatusInSix::design()), [""; 0]);
    // A field whose type does not tell may say how many values it has.
    assert!(hot(ByRegion::design())[0].contains("in 4 partitions at most"));
    // Of one field it is not known, and so of all of them.
    assert_eq!(hot(ByKind::design()), [""; 0]);
}

static BY_ATTRIBUTE: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("by-attribute")
        .partition_only("id")
        .index("by-status", "status", "at")
        .index("by-owner", "owner", "at")
});

/// Keys that are attributes as they are: of the one, the type tells how many values it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = BY_ATTRIBUTE,
    pk = id,
    index("by-status", pk = status, sk = at),
    index("by-owner", pk = owner, sk = at)
)]
struct Ticket {
    id: Id,
    status: Status,
    owner: Owner,
    at: UtcTime,
}

/// Somebody, by a type that is no part of keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Owner(String);

#[test]
fn attributes_with_few_values_make_few_partitions() {
    let hot = found_in(Rule::HotPartition, Ticket::design());
    assert!(
        matches!(&hot[..], [one] if one.starts_with("Ticket in by-status: all of them are in 3"))
    );
}

/// All members in one partition of the table; a setting of each kind; one item.
macro_rules! members {
    ($($name:ident $partition:literal $sort:literal)*) => {$(
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
        #[entity(table = PLAIN, pk = $partition, sk = $sort)]
        struct $name {
            id: Id,
            status: Status,
            shard: Sharded<20>,
        }
    )*};
}

members! {
    Gathered "MEMBERS" "MEMBER#{id}"
    Spread "MEMBERS{shard}" "MEMBER#{id}"
    Setting "SETTINGS" "SETTING#{status}"
    Single "CONFIG" "CONFIG"
}

#[test]
fn the_table_itself_has_more_than_a_few_partitions() {
    let hot = |entity| found_in(Rule::HotPartition, entity);
    let one = "Gathered: all of them are in the partition MEMBERS: shards would spread it";
    assert_eq!(hot(Gathered::design()), [one]);
    assert_eq!(hot(Spread::design()), [""; 0]);
    // Few items need no more.
    assert_eq!(hot(Setting::design()), [""; 0]);
    assert_eq!(hot(Single::design()), [""; 0]);
}

#[test]
fn a_partition_does_not_grow_for_ever() {
    let grows = |entity| found_in(Rule::UnboundedCollection, entity);
    let all = grows(Order::design());
    assert!(matches!(&all[..], [one] if one.starts_with("Order: a partition CUSTOMER#{customer}")));
    // Of a few statuses there are a few items; of what expires, as many as have not.
    assert_eq!(grows(Setting::design()), [""; 0]);
    assert_eq!(grows(Single::design()), [""; 0]);
    assert_eq!(grows(Expiring::design()), [""; 0]);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = PLAIN, pk = "USER#{user}", sk = "LOG#{at}#{id}")]
struct Logged {
    user: Id,
    at: UtcTime,
    id: Id,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = PLAIN, pk = "USER#{user}", sk = "LOG#{at}#{id}", ttl = expires)]
struct Expiring {
    user: Id,
    at: UtcTime,
    id: Id,
    expires: u64,
}

#[test]
fn a_log_expires() {
    let kept = |entity| found_in(Rule::LogWithoutTtl, entity);
    assert!(matches!(&kept(Logged::design())[..], [one] if one.contains("none ever expires")));
    assert_eq!(kept(Expiring::design()), [""; 0]);
    assert_eq!(kept(Order::design()), [""; 0], "orders are kept by number");
}
