//! Stored items and their index entries.

use std::time::Duration;

use tabla::ops::{GetItem, PutItem, Query};
use tabla::{Item, Store, attr, item};
use tabla_crypto_cards::*;

use crate::stage::*;

async fn stored(bank: &Bank, table: &str, key: Item) -> Item {
    bank.store.get(GetItem::new(table, key)).await.unwrap().item.unwrap()
}

#[tokio::test]
async fn items_have_the_attributes_of_the_document() {
    let bank = Bank::open().await;
    done(bank.pay("tx-1", "30.10").await);
    let account = item! {
        "account_id" => "acc-1",
        "user_id" => "user-1",
        "balance_usdt" => 100,
        "balance_btc" => 1,
        "balance_eth" => 2,
        "reserved_usdt" => number("30.1"),
        "reserved_btc" => 0,
        "reserved_eth" => 0,
        "payment_currency" => "USDT",
        "status" => "ACTIVE",
        "version" => 2,
        "created_at" => "2025-08-18T10:30:00Z",
        "updated_at" => "2025-08-18T10:30:00Z",
    };
    assert_eq!(stored(&bank, "accounts", item! { "account_id" => "acc-1" }).await, account);
    let card = item! {
        "card_id" => "card-1",
        "account_id" => "acc-1",
        "card_number_hash" => "0123456789abcdef".repeat(4),
        "last_four" => "4242",
        "holder_name" => "ANA LÓPEZ",
        "expiry_date" => "2027-08",
        "status" => "ACTIVE",
        "daily_limit_usdt" => 50,
        "spent_usdt" => number("30.1"),
        "spent_day" => "2025-08-18",
        "created_at" => "2025-08-18T10:30:00Z",
    };
    assert_eq!(stored(&bank, "cards", item! { "card_id" => "card-1" }).await, card);
    // A field without a value has no attribute.
    let authorised = item! {
        "transaction_id" => "tx-1",
        "account_id" => "acc-1",
        "card_id" => "card-1",
        "amount_ars" => 30_100,
        "amount_usdt" => number("30.1"),
        "amount_reserved" => number("30.1"),
        "exchange_rate" => 1000,
        "user_currency" => "USDT",
        "status" => "AUTHORIZED",
        "retry_count" => 0,
        "spend_day" => "2025-08-18",
        "authorized_at" => "2025-08-18T10:30:00Z",
    };
    let key = item! { "transaction_id" => "tx-1" };
    assert_eq!(stored(&bank, "transactions", key.clone()).await, authorised);
    bank.app.begin_trade(&id("tx-1"), &id("trade-1"), "PENDING").await.unwrap().done().unwrap();
    let trading = authorised
        .with("status", "TRADING")
        .with("trade_id", "trade-1")
        .with("trade_status", "PENDING");
    assert_eq!(stored(&bank, "transactions", key.clone()).await, trading);
    let _ = bank.app.complete(&id("tx-1"), Some("FILLED")).await.unwrap();
    let completed = trading
        .with("status", "COMPLETED")
        .with("trade_status", "FILLED")
        .with("completed_at", "2025-08-18T10:30:00Z");
    assert_eq!(stored(&bank, "transactions", key).await, completed);
}

#[tokio::test]
async fn statuses_and_currencies_have_the_documented_texts() {
    fn spelled(values: &[impl serde::Serialize]) -> Vec<String> {
        let text = |value| match tabla::Value::from_struct(value).unwrap() {
            tabla::Value::S(text) => text,
            other => panic!("{other:?}"),
        };
        values.iter().map(text).collect()
    }
    assert_eq!(spelled(&Currency::ALL), ["USDT", "BTC", "ETH"]);
    let accounts = [AccountStatus::Active, AccountStatus::Suspended, AccountStatus::Closed];
    assert_eq!(spelled(&accounts), ["ACTIVE", "SUSPENDED", "CLOSED"]);
    let transactions = [Status::Authorized, Status::Trading, Status::Completed, Status::Failed];
    assert_eq!(spelled(&transactions), ["AUTHORIZED", "TRADING", "COMPLETED", "FAILED"]);
    let cards = [CardStatus::Active, CardStatus::Blocked, CardStatus::Expired];
    assert_eq!(spelled(&cards), ["ACTIVE", "BLOCKED", "EXPIRED"]);
}

#[tokio::test]
async fn tables_have_the_documented_keys_and_indexes() {
    let shown = |table: &tabla::entity::TableDesign| {
        let index = |index: &tabla::entity::IndexDesign| {
            let sort = index.sort.as_ref().unwrap();
            format!("{}: {}, {}", index.name, index.partition.attribute, sort.attribute)
        };
        let indexes: Vec<String> = table.indexes.iter().map(index).collect();
        assert!(table.sort.is_none() && table.ttl.is_none());
        (table.name.clone(), table.partition.attribute.clone(), indexes.join("; "))
    };
    let text = |one: &str, two: &str, three: &str| (one.into(), two.into(), three.into());
    assert_eq!(
        shown(&ACCOUNTS),
        text("accounts", "account_id", "user-accounts: user_id, created_at")
    );
    assert_eq!(
        shown(&TRANSACTIONS),
        text(
            "transactions",
            "transaction_id",
            "account-transactions: account_id, authorized_at; \
             status-transactions: status, authorized_at"
        )
    );
    assert_eq!(shown(&CARDS), text("cards", "card_id", "account-cards: account_id, created_at"));
}

#[tokio::test]
async fn index_queries_follow_the_status_in_order_of_time() {
    let bank = Bank::open().await;
    let mut moments = Vec::new();
    // The order of the ids is not that of time.
    for name in ["tx-c", "tx-a", "tx-b"] {
        moments.push(done(bank.pay(name, "1").await).authorized_at);
        bank.clock.advance(Duration::from_secs(10));
    }
    let _ = bank.app.complete(&id("tx-a"), None).await.unwrap();
    let names = |rows: Vec<Transaction>| -> Vec<String> {
        rows.into_iter().map(|row| row.transaction_id.to_string()).collect()
    };
    let account = id("acc-1");
    let all = bank.app.transactions(&account, None).await.unwrap().items;
    assert_eq!(names(all), ["tx-b", "tx-a", "tx-c"]);
    let between = bank.app.transactions_between(&account, moments[1], moments[2], None);
    assert_eq!(names(between.await.unwrap().items), ["tx-b", "tx-a"]);
    let open = bank.app.transactions_in(Status::Authorized, None).await.unwrap().items;
    assert_eq!(names(open), ["tx-c", "tx-b"]);
    let completed = bank.app.transactions_in(Status::Completed, None).await.unwrap().items;
    assert_eq!(names(completed), ["tx-a"]);
    let stuck = bank.app.stuck(Status::Authorized, moments[1], None).await.unwrap().items;
    assert_eq!(names(stuck), ["tx-c"]);
    // The keys of the index are the attributes themselves.
    let raw =
        Query::new("transactions", attr("status").eq("COMPLETED")).index("status-transactions");
    assert_eq!(bank.store.query(raw).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn page_continues_after_the_last_one() {
    let bank = Bank::open().await;
    for number in 0..5 {
        done(bank.pay(&format!("tx-{number}"), "1").await);
        bank.clock.advance(Duration::from_secs(1));
    }
    let mut names = Vec::new();
    let mut cursor = None;
    loop {
        let query = transactions(&id("acc-1")).limit(2).after(cursor);
        let page = bank.db.page(query).await.unwrap();
        names.extend(page.items.into_iter().map(|row| row.transaction_id.to_string()));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(names, ["tx-4", "tx-3", "tx-2", "tx-1", "tx-0"]);
}

#[tokio::test]
async fn items_of_another_program_lack_the_added_attributes() {
    let bank = Bank::open().await;
    let row = done(bank.pay("tx-1", "30").await);
    let key = item! { "transaction_id" => "tx-1" };
    let mut foreign = stored(&bank, "transactions", key).await;
    for attribute in ["amount_reserved", "spend_day"] {
        foreign.remove(attribute);
    }
    bank.store.put(PutItem::new("transactions", foreign)).await.unwrap();
    let expected = Transaction { amount_reserved: number("0"), spend_day: None, ..row };
    assert_eq!(bank.row("tx-1").await, Some(expected.clone()));
    // The amount to debit or release is not known.
    let before = bank.everything().await;
    let account = Some(Box::new(bank.account().await));
    let unknown = Settled::Reconcile { transaction: expected, account };
    assert_eq!(bank.app.complete(&id("tx-1"), None).await.unwrap(), unknown);
    assert_eq!(bank.app.fail(&id("tx-1"), None).await.unwrap(), unknown);
    assert_eq!(bank.everything().await, before);

    let mut card = stored(&bank, "cards", item! { "card_id" => "card-1" }).await;
    for attribute in ["spent_usdt", "spent_day"] {
        card.remove(attribute);
    }
    bank.store.put(PutItem::new("cards", card)).await.unwrap();
    let second = done(bank.pay("tx-2", "20").await);
    let card = bank.card().await;
    assert_eq!((card.spent_usdt, card.spent_day), (number("20"), second.spend_day));
}
