//! Accounts and cards: creation and changes.

use tabla::entity::Outcome;
use tabla_crypto_cards::*;

use crate::stage::*;

#[tokio::test]
async fn account_is_opened_once() {
    let bank = Bank::open().await;
    let before = bank.everything().await;
    let mut again = new_account("acc-1");
    again.usdt = number("1000000");
    let lost = bank.app.open_account(again).await.unwrap();
    assert_eq!(lost, Outcome::Lost(Some(bank.account().await)));
    let mut poor = new_account("acc-2");
    poor.eth = number("-0.000000000000000001");
    assert!(bank.app.open_account(poor).await.is_err());
    assert_eq!(bank.everything().await, before);
}

#[tokio::test]
async fn account_that_was_read_is_credited_at_most_once() {
    let bank = Bank::open().await;
    let read = bank.account().await;
    let credited = bank.app.credit(&read, Currency::Btc, number("0.00000001")).await.unwrap();
    let credited = credited.done().unwrap();
    assert_eq!((credited.balance_btc, credited.version), (number("1.00000001"), 2));
    let again = bank.app.credit(&read, Currency::Btc, number("0.00000001")).await.unwrap();
    assert_eq!(again, Outcome::Lost(Some(credited.clone())));
    for amount in ["0", "-1"] {
        assert!(bank.app.credit(&credited, Currency::Btc, number(amount)).await.is_err());
    }
    assert_eq!(bank.account().await, credited);
}

#[tokio::test]
async fn closed_account_and_expired_card_stay_so() {
    let bank = Bank::open().await;
    let (account, card) = (id("acc-1"), id("card-1"));
    let closed = bank.app.set_account_status(&account, AccountStatus::Closed).await.unwrap();
    let closed = closed.done().unwrap();
    let back = bank.app.set_account_status(&account, AccountStatus::Active).await.unwrap();
    assert_eq!(back, Outcome::Lost(Some(closed.clone())));
    let credited = bank.app.credit(&closed, Currency::Usdt, number("1")).await.unwrap();
    assert_eq!(credited, Outcome::Lost(Some(closed)));
    let expired = bank.app.set_card_status(&card, CardStatus::Expired).await.unwrap();
    let expired = expired.done().unwrap();
    let back = bank.app.set_card_status(&card, CardStatus::Active).await.unwrap();
    assert_eq!(back, Outcome::Lost(Some(expired)));
    let missing = bank.app.set_card_status(&id("card-9"), CardStatus::Active).await.unwrap();
    assert_eq!(missing, Outcome::Lost(None));
    assert!(bank.app.set_daily_limit(&card, number("-1")).await.is_err());
}

#[tokio::test]
async fn card_needs_an_account_and_a_free_id() {
    let bank = Bank::open().await;
    let before = bank.everything().await;
    let again = bank.app.issue_card(new_card("card-1", "acc-1")).await.unwrap();
    assert_eq!(again, Issued::Exists(bank.card().await));
    let nowhere = bank.app.issue_card(new_card("card-2", "acc-9")).await.unwrap();
    assert_eq!(nowhere, Issued::NoAccount(None));
    assert_eq!(bank.everything().await, before);
    let closed = AccountStatus::Closed;
    bank.app.set_account_status(&id("acc-1"), closed).await.unwrap().done().unwrap();
    let on_closed = bank.app.issue_card(new_card("card-2", "acc-1")).await.unwrap();
    assert_eq!(on_closed, Issued::NoAccount(Some(bank.account().await)));
}
