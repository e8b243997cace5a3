//! Conditions and transactions: money moves between two accounts, and none is lost.

use std::sync::Arc;

use tabla::ops::{CreateTable, PutItem, TransactWriteItems, UpdateItem};
use tabla::{
    CancellationCode, ConditionalOutcome, Item, KeyType, Store, StoreExt, Update, attr, item,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bank.db");
    let store = tabla::open(&format!("sqlite:{}", path.display())).await?;
    store.create_table(CreateTable::new("accounts").partition_key("id", KeyType::S)).await?;

    // The condition opens an account only once. Without it, put replaces the item.
    let new = attr("id").not_exists();
    for account in [item! { "id" => "ana", "euros" => 50 }, item! { "id" => "bo", "euros" => 0 }] {
        let opened = store.put_if("accounts", account, new.clone()).await?;
        assert_eq!(opened, ConditionalOutcome::Written);
    }
    // If the condition fails, the outcome has the current item.
    let again = store.put_if("accounts", item! { "id" => "ana", "euros" => 999 }, new).await?;
    let ConditionalOutcome::ConditionFailed { current: Some(current) } = again else {
        panic!("ana has an account")
    };
    println!("ana has an account already, with {} euros", euros(&current));

    // A transaction: both accounts change, or neither does.
    transfer(&store, "ana", "bo", 30).await?;
    println!("30 euros are moved: {}", balances(&store).await?);
    assert_eq!(balances(&store).await?, "ana 20, bo 30");

    let error = transfer(&store, "ana", "bo", 30).await.expect_err("ana has 20 euros");
    // The error has one reason for each operation of the transaction, in their order.
    let reasons = error.cancellation_reasons();
    assert_eq!(reasons[0].code, CancellationCode::ConditionalCheckFailed);
    assert_eq!(reasons[1].code, CancellationCode::None);
    println!("30 more are refused: {}", balances(&store).await?);
    assert_eq!(balances(&store).await?, "ana 20, bo 30");

    // In the plain operation on a single item, a failed condition is an error.
    let close = PutItem::new("accounts", item! { "id" => "bo", "closed" => true });
    let error = store.put(close.condition(attr("euros").eq(0))).await.expect_err("bo has 30 euros");
    assert!(error.is_condition_failed());
    println!("bo's account stays open: {}", error.message());
    Ok(())
}

/// Moves money in a transaction, which fails if the account `from` has too little.
async fn transfer(store: &Arc<dyn Store>, from: &str, to: &str, euros: i64) -> tabla::Result<()> {
    let take = UpdateItem::new("accounts", item! { "id" => from })
        .update(Update::new().set("euros", attr("euros").minus(euros)))
        .condition(attr("euros").ge(euros));
    let give = UpdateItem::new("accounts", item! { "id" => to })
        .update(Update::new().set("euros", attr("euros").plus(euros)))
        .condition(attr("id").exists());
    store.transact_write(TransactWriteItems::new().item(take).item(give)).await?;
    Ok(())
}

async fn balances(store: &Arc<dyn Store>) -> tabla::Result<String> {
    let mut all = Vec::new();
    for id in ["ana", "bo"] {
        let account = store.get_item("accounts", item! { "id" => id }).await?;
        all.push(format!("{id} {}", euros(&account.expect("the account is open"))));
    }
    Ok(all.join(", "))
}

fn euros(account: &Item) -> String {
    let euros = account.get("euros").and_then(|value| value.as_number());
    euros.expect("an account has euros").to_string()
}
