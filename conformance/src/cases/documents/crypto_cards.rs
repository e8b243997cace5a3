//! Accounts, transactions and cards of the crypto card app.

use super::super::prelude::*;
use super::super::transactions::retry_on_conflict;
use super::create;

fn money(text: &str) -> Number {
    Number::parse(text).expect("the amount is a number")
}

fn index(request: CreateTable, name: &str, partition: &str, sort: &str) -> CreateTable {
    let index = SecondaryIndex::new(name).partition_key(partition).sort_key(sort);
    request.attribute(partition, KeyType::S).attribute(sort, KeyType::S).global_index(index)
}

async fn accounts(ctx: &Ctx) -> Table {
    let keys = CreateTable::new("accounts").partition_key("account_id", KeyType::S);
    create(ctx, index(keys, "user-accounts", "user_id", "created_at")).await
}

async fn transactions(ctx: &Ctx) -> Table {
    let keys = CreateTable::new("transactions")
        .partition_key("transaction_id", KeyType::S)
        .attribute("account_id", KeyType::S)
        .attribute("status", KeyType::S)
        .attribute("authorized_at", KeyType::S);
    let by = |name: &str, partition: &str| {
        SecondaryIndex::new(name).partition_key(partition).sort_key("authorized_at")
    };
    let request = keys
        .global_index(by("account-transactions", "account_id"))
        .global_index(by("status-transactions", "status"));
    create(ctx, request).await
}

async fn cards(ctx: &Ctx) -> Table {
    let keys = CreateTable::new("cards").partition_key("card_id", KeyType::S);
    create(ctx, index(keys, "account-cards", "account_id", "created_at")).await
}

fn account_key() -> Item {
    item! { "account_id" => "acc-1" }
}

fn account(balance: &str, reserved: &str, version: u32) -> Item {
    account_key()
        .with("user_id", "user-1")
        .with("created_at", "2025-01-01T00:00:00Z")
        .with("status", "ACTIVE")
        .with("balance_usdt", money(balance))
        .with("reserved_usdt", money(reserved))
        .with("version", version)
}

/// Returns a reservation of an amount on an account that was read at this version.
fn reserve_request(table: &Table, amount: &str, version: u32) -> UpdateItem {
    UpdateItem::new(table, account_key())
        .update("SET reserved_usdt = reserved_usdt + :amount, version = version + :one")
        .condition("version = :version AND #status = :active")
        .name("#status", "status")
        .value(":amount", money(amount))
        .value(":one", 1)
        .value(":version", version)
        .value(":active", "ACTIVE")
}

pub(super) async fn funds_are_reserved_at_the_read_version(ctx: Ctx) {
    let table = accounts(&ctx).await;
    ctx.put(&table, account("100", "10.50", 7)).await;
    let request = reserve_request(&table, "0.25", 7).return_values(ReturnValues::UpdatedNew);
    let answer = ctx.update(request.clone()).await;
    let updated = item! { "reserved_usdt" => money("10.75"), "version" => 8 };
    assert_eq!(answer.attributes, Some(updated));
    // The version has changed: read and decide again.
    let lost = ctx.store().update(request.return_item_on_failure()).await;
    let current = ctx.expect_condition_failed(lost);
    assert_eq!(current, Some(account("100", "10.75", 8)));
    ctx.put(&table, account("100", "10.75", 9).with("status", "SUSPENDED")).await;
    ctx.expect_condition_failed(ctx.store().update(reserve_request(&table, "1", 9)).await);
    let suspended = account("100", "10.75", 9).with("status", "SUSPENDED");
    ctx.expect_table(&table, &[suspended]).await;
}

pub(super) async fn arithmetic_in_condition_is_rejected(ctx: Ctx) {
    let table = accounts(&ctx).await;
    ctx.put(&table, account("100", "0", 1)).await;
    let request = UpdateItem::new(&table, account_key())
        .update("SET reserved_usdt = reserved_usdt + :amount")
        .condition("balance_usdt >= :amount + reserved_usdt")
        .value(":amount", 5);
    ctx.expect_validation(
        ctx.store().update(request).await,
        "Invalid ConditionExpression: Syntax error; token: \"+\", near: \":amount + reserved_usdt\"",
    );
    ctx.expect_table(&table, &[account("100", "0", 1)]).await;
}

fn number(item: &Item, attribute: &str) -> u32 {
    let number = item.get(attribute).and_then(|value| value.as_number());
    number.expect("valid number").to_string().parse().expect("the number fits")
}

/// Reserves 10 as often as the balance allows, with optimistic retries; returns the number of times.
async fn reserve_tens(ctx: Ctx, table: Table) -> u32 {
    let mut reserved = 0;
    loop {
        let account = ctx.get(&table, account_key()).await.expect("the account exists");
        let free = number(&account, "balance_usdt") - number(&account, "reserved_usdt");
        if free < 10 {
            return reserved;
        }
        let request = reserve_request(&table, "10", number(&account, "version"));
        match ctx.store().update(request).await {
            Ok(_) => reserved += 1,
            lost => {
                ctx.expect_condition_failed(lost);
            }
        }
    }
}

pub(super) async fn concurrent_reservations_stay_within_the_balance(ctx: Ctx) {
    let table = accounts(&ctx).await;
    ctx.put(&table, account("105", "0", 0)).await;
    let callers = (0..4).map(|_| reserve_tens(ctx.clone(), table.clone()));
    let reserved: u32 = ctx.at_once(callers).await.into_iter().sum();
    assert_eq!(reserved, 10);
    ctx.expect_table(&table, &[account("105", "100", 10)]).await;
}

pub(super) async fn release_lowers_the_reservation(ctx: Ctx) {
    let table = accounts(&ctx).await;
    ctx.put(&table, account("100", "10.75", 8)).await;
    let request = |amount: &str, version: u32| {
        UpdateItem::new(&table, account_key())
            .update("SET reserved_usdt = reserved_usdt - :amount, version = version + :one")
            .condition("version = :version AND reserved_usdt >= :amount")
            .value(":amount", money(amount))
            .value(":one", 1)
            .value(":version", version)
    };
    ctx.update(request("0.75", 8)).await;
    ctx.expect_table(&table, &[account("100", "10", 9)]).await;
    ctx.expect_condition_failed(ctx.store().update(request("10.01", 9)).await);
    ctx.expect_condition_failed(ctx.store().update(request("1", 8)).await);
    ctx.expect_table(&table, &[account("100", "10", 9)]).await;
}

/// Three tables with an account at version 1 and a card.
struct Bank {
    accounts: Table,
    transactions: Table,
    cards: Table,
}

impl Bank {
    async fn open(ctx: &Ctx) -> Self {
        let bank = Self {
            accounts: accounts(ctx).await,
            transactions: transactions(ctx).await,
            cards: cards(ctx).await,
        };
        ctx.put(&bank.accounts, account("100", "0", 1)).await;
        ctx.put(&bank.cards, card("0")).await;
        bank
    }

    /// Returns an authorization: it reserves the amount, records it, and adds it to the card's
    /// daily spend.
    fn authorise(&self, id: &str, amount: &str, version: u32) -> TransactWriteItems {
        let record = PutItem::new(&self.transactions, transaction(id, amount, "AUTHORIZED"))
            .condition("attribute_not_exists(transaction_id)");
        let limit = money("50").checked_sub(money(amount)).expect("the difference is in range");
        let spend = UpdateItem::new(&self.cards, item! { "card_id" => "card-1" })
            .update("SET spent_usdt = spent_usdt + :amount")
            .condition("#status = :active AND spent_usdt <= :limit")
            .name("#status", "status")
            .value(":amount", money(amount))
            .value(":active", "ACTIVE")
            .value(":limit", limit);
        TransactWriteItems::new()
            .item(reserve_request(&self.accounts, amount, version))
            .item(record)
            .item(spend)
    }

    async fn expect(&self, ctx: &Ctx, account: Item, transactions: &[Item], card: Item) {
        ctx.expect_table(&self.accounts, &[account]).await;
        ctx.expect_table(&self.transactions, transactions).await;
        ctx.expect_table(&self.cards, &[card]).await;
    }
}

fn transaction(id: &str, amount: &str, status: &str) -> Item {
    item! { "transaction_id" => id }
        .with("account_id", "acc-1")
        .with("card_id", "card-1")
        .with("amount_usdt", money(amount))
        .with("status", status)
        .with("authorized_at", "2025-03-01T12:00:00Z")
}

fn card(spent: &str) -> Item {
    item! { "card_id" => "card-1" }
        .with("account_id", "acc-1")
        .with("status", "ACTIVE")
        .with("created_at", "2025-01-01T00:00:00Z")
        .with("daily_limit_usdt", 50)
        .with("spent_usdt", money(spent))
}

pub(super) async fn account_transaction_and_spend_change_together(ctx: Ctx) {
    let bank = Bank::open(&ctx).await;
    ctx.ok(ctx.store().transact_write(bank.authorise("tx-1", "30.10", 1)).await);
    let first = transaction("tx-1", "30.10", "AUTHORIZED");
    let recorded = std::slice::from_ref(&first);
    bank.expect(&ctx, account("100", "30.10", 2), recorded, card("30.10")).await;
    // Over the daily limit of the card, the last operation fails, and nothing is reserved or
    // recorded.
    let result = ctx.store().transact_write(bank.authorise("tx-2", "20", 2)).await;
    ctx.expect_canceled(result, &["None", "None", "ConditionalCheckFailed"]);
    bank.expect(&ctx, account("100", "30.10", 2), recorded, card("30.10")).await;
    // With a stale account version, the first operation fails.
    let result = ctx.store().transact_write(bank.authorise("tx-2", "5", 1)).await;
    ctx.expect_canceled(result, &["ConditionalCheckFailed", "None", "None"]);
    bank.expect(&ctx, account("100", "30.10", 2), recorded, card("30.10")).await;
    // Both failures are reported together.
    let result = ctx.store().transact_write(bank.authorise("tx-2", "20", 1)).await;
    let codes = ["ConditionalCheckFailed", "None", "ConditionalCheckFailed"];
    ctx.expect_canceled(result, &codes);
    bank.expect(&ctx, account("100", "30.10", 2), recorded, card("30.10")).await;
}

pub(super) async fn transaction_id_is_authorized_once(ctx: Ctx) {
    let bank = Bank::open(&ctx).await;
    // The provider sends the same authorization several times concurrently.
    let calls = (0..3).map(|_| {
        let (store, request) = (ctx.store(), bank.authorise("tx-1", "10", 1));
        async move {
            match retry_on_conflict(|| store.transact_write(request.clone())).await {
                Ok(_) => true,
                Err(error) if error.is_condition_failed() => false,
                Err(error) => panic!("unexpected error of an authorization: {error:?}"),
            }
        }
    });
    let authorised = ctx.at_once(calls).await.into_iter().filter(|done| *done).count();
    assert_eq!(authorised, 1);
    let result = ctx.store().transact_write(bank.authorise("tx-1", "10", 2)).await;
    ctx.expect_canceled(result, &["None", "ConditionalCheckFailed", "None"]);
    let recorded = [transaction("tx-1", "10", "AUTHORIZED")];
    bank.expect(&ctx, account("100", "10", 2), &recorded, card("10")).await;
}

pub(super) async fn completion_debits_balance_and_reservation(ctx: Ctx) {
    let bank = Bank::open(&ctx).await;
    ctx.ok(ctx.store().transact_write(bank.authorise("tx-1", "30.10", 1)).await);
    let complete = |version: u32| {
        let debit = UpdateItem::new(&bank.accounts, account_key())
            .update(
                "SET balance_usdt = balance_usdt - :amount, \
                 reserved_usdt = reserved_usdt - :amount, version = version + :one",
            )
            .condition("version = :version")
            .value(":amount", money("30.10"))
            .value(":one", 1)
            .value(":version", version);
        let finish = UpdateItem::new(&bank.transactions, item! { "transaction_id" => "tx-1" })
            .update("SET #status = :completed")
            .condition("#status = :authorized")
            .name("#status", "status")
            .value(":completed", "COMPLETED")
            .value(":authorized", "AUTHORIZED");
        TransactWriteItems::new().item(debit).item(finish)
    };
    let status = |status: &str| {
        Query::new(&bank.transactions, attr("status").eq(status)).index("status-transactions")
    };
    let authorised = [transaction("tx-1", "30.10", "AUTHORIZED")];
    ctx.expect_query(status("AUTHORIZED"), &authorised).await;
    ctx.ok(ctx.store().transact_write(complete(2)).await);
    let completed = [transaction("tx-1", "30.10", "COMPLETED")];
    bank.expect(&ctx, account("69.90", "0", 3), &completed, card("30.10")).await;
    // A repetition would debit twice; the condition on the transaction's status prevents it.
    let result = ctx.store().transact_write(complete(3)).await;
    ctx.expect_canceled(result, &["None", "ConditionalCheckFailed"]);
    bank.expect(&ctx, account("69.90", "0", 3), &completed, card("30.10")).await;
    ctx.expect_query(status("COMPLETED"), &completed).await;
    ctx.expect_query(status("AUTHORIZED"), &[]).await;
}

pub(super) async fn money_is_never_rounded(ctx: Ctx) {
    let table = accounts(&ctx).await;
    ctx.put(&table, account("0.1", "0", 0)).await;
    let add = |amount: &str| {
        UpdateItem::new(&table, account_key())
            .update("SET balance_usdt = balance_usdt + :amount")
            .value(":amount", money(amount))
            .return_values(ReturnValues::UpdatedNew)
    };
    for (amount, balance) in [
        ("0.2", "0.3"),
        ("-0.3", "0"),
        ("0.000000000000000001", "0.000000000000000001"),
        ("99999999999999999999", "99999999999999999999.000000000000000001"),
        ("-99999999999999999999", "0.000000000000000001"),
    ] {
        let answer = ctx.update(add(amount)).await;
        assert_eq!(answer.attributes, Some(item! { "balance_usdt" => money(balance) }));
    }
    ctx.expect_table(&table, &[account("0.000000000000000001", "0", 0)]).await;
}

pub(super) async fn indexes_list_accounts_transactions_and_cards(ctx: Ctx) {
    let accounts = accounts(&ctx).await;
    let second =
        account("5", "0", 1).with("account_id", "acc-2").with("created_at", "2025-02-01T00:00:00Z");
    let stranger = account("5", "0", 1).with("account_id", "acc-3").with("user_id", "user-2");
    ctx.put_all(&accounts, [second.clone(), stranger, account("1", "0", 1)]).await;
    let of_user = Query::new(&accounts, attr("user_id").eq("user-1")).index("user-accounts");
    ctx.expect_query(of_user, &[account("1", "0", 1), second]).await;

    let transactions = transactions(&ctx).await;
    let at = |id: &str, status: &str, at: &str| {
        transaction(id, "1", status).with("authorized_at", format!("2025-03-0{at}T00:00:00Z"))
    };
    let history = [
        at("t3", "COMPLETED", "1"),
        at("t1", "FAILED", "2"),
        at("t2", "COMPLETED", "3"),
        at("t0", "TRADING", "4"),
    ];
    ctx.put_all(&transactions, history.iter().rev().cloned()).await;
    let since = attr("authorized_at").ge("2025-03-02");
    let of_account = Query::new(&transactions, attr("account_id").eq("acc-1").and(since))
        .index("account-transactions");
    ctx.expect_query(of_account, &history[1..]).await;
    let completed = Query::new(&transactions, "#status = :status")
        .index("status-transactions")
        .name("#status", "status")
        .value(":status", "COMPLETED");
    ctx.expect_query(completed, &[history[0].clone(), history[2].clone()]).await;

    let cards = cards(&ctx).await;
    let newer = card("0").with("card_id", "card-0").with("created_at", "2025-02-01T00:00:00Z");
    ctx.put_all(&cards, [newer.clone(), card("0")]).await;
    let of_account = Query::new(&cards, attr("account_id").eq("acc-1")).index("account-cards");
    ctx.expect_query(of_account.descending(), &[newer, card("0")]).await;
}
