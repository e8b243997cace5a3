use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use tabla::MemoryStore;
use tabla::entity::{Db, Entity, Id, KeyPart, TableDesign, UtcTime};

static SHOP: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("shop")
        .key("PK", "SK")
        .index("by-status", "statusPK", "statusSK")
        .index("by-due", "duePK", "dueSK")
        .ttl("expiresAt")
});

/// Who buys. No two of them have the same address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = SHOP,
    tag("type" = "CUSTOMER"),
    pk = "CUSTOMER#{customer}",
    sk = "PROFILE",
    created_at = since,
    revision = revision,
    unique(email, pk = "EMAIL#{email:checked}", sk = "OWNER")
)]
struct Customer {
    #[entity(key_only)]
    customer: Id,
    name: String,
    email: String,
    #[entity(immutable)]
    since: UtcTime,
    revision: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, KeyPart)]
#[serde(rename_all = "lowercase")]
enum Status {
    Cart,
    Open,
    Paid,
}

/// What was bought, or lies in the cart. What is to be paid by a day is in the index for that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = SHOP,
    tag("type" = "ORDER"),
    pk = "CUSTOMER#{customer}",
    sk = "ORDER#{number:08}",
    index("by-status", pk = "STATUS#{status}", sk = "ORDER#{number:08}"),
    index("by-due", pk = "DUE", sk = "{due}#{number:08}"),
    ttl = expires_at
)]
struct Order {
    customer: Id,
    number: u32,
    status: Status,
    total: u32,
    due: Option<UtcTime>,
    expires_at: Option<u64>,
}

fn customer(name: &str, email: &str) -> Customer {
    Customer {
        customer: Id::new(name).expect("a name without #"),
        name: name.to_uppercase(),
        email: email.to_owned(),
        since: UtcTime::default(),
        revision: 0,
    }
}

fn order(customer: &str, number: u32, status: Status) -> Order {
    let customer = Id::new(customer).expect("a name without #");
    Order { customer, number, status, total: 10 * number, due: None, expires_at: None }
}

async fn shop() -> tabla::Result<Db> {
    let db = Db::new(Arc::new(MemoryStore::new()));
    db.create_table(&SHOP).await?;
    Ok(db)
}
