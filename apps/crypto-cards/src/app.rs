//! The app for the command line, the demo and the tests.

use async_trait::async_trait;
use tabla::entity::AppDesign;
use tabla::entity::lint::{Accepted, Rule};
use tabla::entity::{Db, Entity, Id, Pattern};
use tabla::{Error, ErrorKind, Result};
use tabla_kit::{Answer, App, Documented, Progress, Race};

use crate::accounts::{CryptoCards, Issued};
use crate::authorise::Authorised;
use crate::entities::*;
use crate::patterns::patterns;
use crate::seed::*;
use crate::settle::Settled;

/// The app `crypto-cards`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CryptoCardsApp;

#[async_trait]
impl App for CryptoCardsApp {
    fn design(&self) -> AppDesign {
        AppDesign::new(
            "crypto-cards",
            "cards that are paid with crypto money: accounts, and funds that are reserved",
        )
        .tables(vec![&crate::entities::ACCOUNTS, &TRANSACTIONS, &CARDS])
        .entities(vec![Account::design(), Transaction::design(), Card::design()])
        .patterns(patterns().into_iter().map(Pattern::from).collect())
        .accepted(vec![Accepted::new(
            Rule::HotPartition,
            "Transaction in status-transactions",
            "the document has the bare attribute as the key, which shards would change; \
                         a partition takes 1 000 changes of status a second, and the index is read \
                         to reconcile, in pages",
        )])
    }

    fn documented(&self) -> Vec<Documented> {
        patterns()
    }

    async fn seed(&self, db: &Db, scale: u32, progress: Progress<'_>) -> Result<()> {
        crate::seed::seed(db, scale, progress).await
    }

    async fn run(&self, db: &Db, pattern: &str) -> Result<Answer> {
        let app = CryptoCards::new(db.clone());
        match pattern {
            "account" | "accounts" | "card" | "cards" => find_accounts(&app, pattern).await,
            "transaction"
            | "transactions"
            | "transactions_between"
            | "transactions_in"
            | "stuck"
            | "books" => find_transactions(&app, pattern).await,
            "open_account"
            | "credit"
            | "set_account_status"
            | "set_payment_currency"
            | "issue_card"
            | "set_card_status"
            | "set_daily_limit" => change_accounts(&app, db, pattern).await,
            _ => pay(&app, pattern).await,
        }
    }

    async fn race(&self, db: &Db) -> Result<Vec<Race>> {
        crate::race::race(db).await
    }
}

async fn find_accounts(app: &CryptoCards, pattern: &str) -> Result<Answer> {
    let (account_id, user_id) = (account(0)?, user(0)?);
    match pattern {
        "account" => {
            let found = app.account(&account_id).await?;
            let version = found.as_ref().map(|account| account.version);
            // One write to open it, one for each authorisation, and one for each settlement.
            let expected = u64::from(1 + PAYMENTS + COMPLETED + FAILED);
            Answer::new(found.iter().len(), format!("version {}", version.unwrap_or_default()))
                .expect(version == Some(expected), "a version that counts every write")
        }
        "accounts" => {
            let found = app.accounts(&user_id, None).await?.items;
            let ids: Vec<&Id> = found.iter().map(|account| &account.account_id).collect();
            let shown = ids.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ");
            Answer::new(found.len(), shown)
                .expect(ids == [&account_id, &account(1)?], "both accounts, the older first")
        }
        "card" => {
            let found = app.card(&card(0, 0)?).await?;
            let is_right = found.as_ref().is_some_and(|card| card.account_id == account_id);
            let shown = found.as_ref().map(|card| format!("ends in {}", card.last_four));
            Answer::new(found.iter().len(), shown.unwrap_or_default())
                .expect(is_right, "a card of the account")
        }
        _ => {
            let found = app.cards(&account_id, None).await?.items;
            let status: Vec<CardStatus> = found.iter().map(|card| card.status).collect();
            Answer::new(found.len(), format!("{status:?}")).expect(
                status == [CardStatus::Blocked, CardStatus::Active],
                "two cards, the newer one blocked",
            )
        }
    }
}

async fn find_transactions(app: &CryptoCards, pattern: &str) -> Result<Answer> {
    let account_id = account(0)?;
    let numbers = |rows: &[Transaction], expected: &[u32]| -> Result<bool> {
        let expected: Vec<Id> =
            expected.iter().map(|number| transaction(0, *number)).collect::<Result<_>>()?;
        Ok(rows.iter().map(|row| &row.transaction_id).eq(&expected))
    };
    match pattern {
        "transaction" => {
            let found = app.transaction(&transaction(0, 0)?).await?;
            let status = found.as_ref().map(|row| row.status);
            Answer::new(found.iter().len(), format!("{status:?}"))
                .expect(status == Some(Status::Completed), "the first payment, completed")
        }
        "transactions" => {
            let rows = app.transactions(&account_id, None).await?.items;
            let is_right = numbers(&rows, &[7, 6, 5, 4, 3, 2, 1, 0])?;
            Answer::new(rows.len(), "newest first").expect(is_right, "all, newest first")
        }
        "transactions_between" => {
            let (from, to) = (moment(0, 2), moment(0, 4));
            let rows = app.transactions_between(&account_id, from, to, None).await?.items;
            let is_right = numbers(&rows, &[4, 3, 2])?;
            Answer::new(rows.len(), format!("{from} to {to}"))
                .expect(is_right, "those of the span, its ends included")
        }
        "transactions_in" => {
            let rows = app.transactions_in(Status::Completed, None).await?.items;
            let is_sorted = rows.is_sorted_by_key(|row| row.authorized_at);
            let is_right = is_sorted && rows.iter().all(|row| row.status == Status::Completed);
            let enough = rows.len() as u32 >= crate::seed::ACCOUNTS * COMPLETED;
            Answer::new(rows.len(), "completed, oldest first")
                .expect(is_right && enough, "completed ones, oldest first")
        }
        "stuck" => {
            let until = moment(0, COMPLETED + FAILED);
            let rows = app.stuck(Status::Trading, until, None).await?.items;
            Answer::new(rows.len(), format!("since {until}"))
                .expect(numbers(&rows, &[COMPLETED + FAILED])?, "the oldest exchange")
        }
        _ => {
            let books = app.books(&account_id).await?.ok_or_else(|| wrong("no account"))?;
            let open = books.open(currency(0));
            let is_right = books.wrong().is_empty()
                && !open.is_zero()
                && books.total(currency(0))? == 1000.into();
            Answer::new(1, format!("{open} reserved")).expect(is_right, "books that agree")
        }
    }
}

/// Ids of the account, card and payment that the writes use. The reads use others.
fn fresh() -> Result<(Id, Id, Id)> {
    Ok((id("acc-fresh")?, id("card-fresh")?, id("lemon-fresh")?))
}

async fn change_accounts(app: &CryptoCards, db: &Db, pattern: &str) -> Result<Answer> {
    let (account_id, card_id, _) = fresh()?;
    match pattern {
        "open_account" => {
            let new = new_account(account_id, id("user-fresh")?, Currency::Btc)?;
            let opened = app.open_account(new).await?.done();
            let version = opened.map(|account| account.version);
            Answer::new(1, "version 1").expect(version == Some(1), "a new account")
        }
        "credit" => {
            let read = app.account(&account_id).await?.ok_or_else(|| wrong("no account"))?;
            let credited = app.credit(&read, Currency::Btc, scaled(1, 8)?).await?.done();
            let balance = credited.map(|account| account.balance_btc);
            Answer::new(1, format!("{} BTC", balance.unwrap_or_default()))
                .expect(balance == Some(scaled(50_000_002, 8)?), "a satoshi more")
        }
        "set_account_status" => {
            let set = app.set_account_status(&account(1)?, AccountStatus::Suspended).await?.done();
            let is_right = set.is_some_and(|account| account.status == AccountStatus::Suspended);
            Answer::new(1, "suspended").expect(is_right, "a suspended account")
        }
        "set_payment_currency" => {
            let set = app.set_payment_currency(&account_id, Currency::Eth).await?.done();
            let is_right = set.is_some_and(|account| account.payment_currency == Currency::Eth);
            Answer::new(1, "pays with ETH").expect(is_right, "an account that pays with ETH")
        }
        "issue_card" => {
            let issued = app.issue_card(new_card(db, card_id, account_id, 4242)?).await?;
            let is_right = matches!(&issued, Issued::Done(card) if card.spent_usdt.is_zero());
            Answer::new(1, "ends in 4242").expect(is_right, "a new card")
        }
        "set_card_status" => {
            let set = app.set_card_status(&card(1, 0)?, CardStatus::Expired).await?.done();
            let is_right = set.is_some_and(|card| card.status == CardStatus::Expired);
            Answer::new(1, "expired").expect(is_right, "an expired card")
        }
        _ => {
            let set = app.set_daily_limit(&card_id, 500.into()).await?.done();
            let is_right = set.is_some_and(|card| card.daily_limit_usdt == 500.into());
            Answer::new(1, "500 USDT a day").expect(is_right, "another limit")
        }
    }
}

async fn pay(app: &CryptoCards, pattern: &str) -> Result<Answer> {
    let (_, card_id, transaction_id) = fresh()?;
    match pattern {
        "authorise" => {
            let request = payment(transaction_id, card_id, Currency::Eth, 49_999)?;
            let answer = app.authorise(&request).await?;
            let Authorised::Done(row) = &answer else {
                return Err(wrong(&format!("a payment is not authorised: {answer:?}")));
            };
            let is_right = row.amount_reserved == request.amount_reserved;
            Answer::new(3, format!("{} ETH reserved", row.amount_reserved))
                .expect(is_right, "exactly the amount")
        }
        "begin_trade" => {
            let begun = app.begin_trade(&transaction_id, &id("trade-1")?, "PENDING").await?.done();
            let is_right = begun.is_some_and(|row| row.status == Status::Trading);
            Answer::new(1, "TRADING").expect(is_right, "an exchange that has begun")
        }
        "retry_trade" => {
            let read = app.transaction(&transaction_id).await?;
            let read = read.ok_or_else(|| wrong("no transaction"))?;
            let again = app.retry_trade(&read, &id("trade-2")?, "PENDING").await?.done();
            let count = again.map(|row| row.retry_count);
            Answer::new(1, "tried again once").expect(count == Some(1), "one more try")
        }
        "complete" => {
            let settled = app.complete(&transaction_id, Some("FILLED")).await?;
            Answer::new(2, "COMPLETED").expect(is_done(&settled, Status::Completed), "completed")
        }
        "fail" => {
            let settled = app.fail(&transaction(0, PAYMENTS - 1)?, Some("REJECTED")).await?;
            Answer::new(3, "FAILED").expect(is_done(&settled, Status::Failed), "failed")
        }
        other => Err(Error::validation(format!("there is no pattern {other:?}"))),
    }
}

fn is_done(settled: &Settled, status: Status) -> bool {
    matches!(settled, Settled::Done(row) if row.status == status)
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Unexpected, what)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tabla::MemoryStore;
    use tabla::entity::{lint, listing};
    use tabla_conformance::interleave::InterleavingStore;

    use super::*;

    // Paused, so that the waits of losers take no time.
    #[tokio::test(start_paused = true)]
    async fn design_has_no_finding_and_every_pattern_the_right_answer() {
        let db = Db::new(Arc::new(InterleavingStore::new(MemoryStore::new())));
        let ran =
            tabla_kit::check(&CryptoCardsApp, &db).await.expect("every pattern and race passes");
        assert_eq!(ran.len(), CryptoCardsApp.design().patterns.len());
        let open: Vec<_> = lint::check(&CryptoCardsApp.design())
            .into_iter()
            .filter(|finding| finding.accepted.is_none())
            .collect();
        assert!(open.is_empty(), "{open:?}");
    }

    #[tokio::test]
    async fn seed_keeps_existing_data() {
        let db = Db::new(Arc::new(MemoryStore::new()));
        CryptoCardsApp.create_tables(&db).await.unwrap();
        let mut books = Vec::new();
        for _ in 0..2 {
            CryptoCardsApp.seed(&db, 1, &|_, _| {}).await.unwrap();
            let app = CryptoCards::new(db.clone());
            let of_account = app.books(&account(0).unwrap()).await.unwrap().unwrap();
            assert_eq!(of_account.wrong(), Vec::<String>::new());
            books.push(of_account);
        }
        assert_eq!(books[0], books[1]);
    }

    #[test]
    fn readme_lists_the_patterns() {
        let readme = include_str!("../README.md");
        let listed = listing::markdown(&CryptoCardsApp.design(), 1024).unwrap();
        let wanted = format!("<!-- patterns -->\n{listed}<!-- /patterns -->");
        assert!(readme.contains(&wanted), "the README should have\n{wanted}");
    }
}
