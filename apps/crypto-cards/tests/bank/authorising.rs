//! Authorisations and rejections.

use std::sync::Arc;
use std::time::Duration;

use tabla::Store;
use tabla::entity::EntityKey;
use tabla::ops::DeleteItem;
use tabla_conformance::fault::Operation;
use tabla_conformance::interleave::{CallHook, InterleavingStore};
use tabla_crypto_cards::*;

use crate::stage::*;

#[tokio::test]
async fn payment_is_reserved_recorded_and_counted() {
    let bank = Bank::open().await;
    let row = done(bank.pay("tx-1", "30.10").await);
    assert_eq!(bank.row("tx-1").await, Some(row.clone()));
    assert_eq!((row.status, row.retry_count), (Status::Authorized, 0));
    assert_eq!((row.account_id, row.amount_reserved), (id("acc-1"), number("30.1")));
    assert_eq!(row.authorized_at.to_string(), "2025-08-18T10:30:00Z");
    assert_eq!(bank.usdt().await, ("100".into(), "30.1".into(), 2));
    let card = bank.card().await;
    assert_eq!((card.spent_usdt, card.spent_day), (number("30.1"), row.spend_day));
    // The daily limit has exactly 19.90 left.
    done(bank.pay("tx-2", "19.90").await);
    assert_eq!(bank.usdt().await, ("100".into(), "50".into(), 3));
    assert_eq!(bank.card().await.spent_usdt, number("50"));
}

/// Requires that a payment is rejected for this reason, and that nothing is written.
async fn rejects(bank: &Bank, request: &Authorisation, why: Rejection) {
    let before = bank.everything().await;
    let answer = bank.app.authorise(request).await.unwrap();
    assert_eq!(answer, Authorised::Rejected(why));
    assert_eq!(bank.everything().await, before);
}

#[tokio::test]
async fn rejection_has_its_reason_and_writes_nothing() {
    let bank = Bank::open().await;
    let request = payment("tx-1", "40");
    let unknown = Authorisation { card_id: id("card-9"), ..request.clone() };
    rejects(&bank, &unknown, Rejection::UnknownCard).await;
    let in_btc = Authorisation {
        user_currency: Currency::Btc,
        amount_reserved: number("0.0004"),
        ..request.clone()
    };
    rejects(&bank, &in_btc, Rejection::OtherCurrency(Currency::Usdt)).await;
    rejects(&bank, &payment("tx-1", "50.000001"), Rejection::DailyLimit(number("50"))).await;
    bank.app.set_daily_limit(&id("card-1"), number("1000")).await.unwrap().done().unwrap();
    let poor = Rejection::InsufficientFunds(number("100"));
    rejects(&bank, &payment("tx-1", "100.000001"), poor).await;
    done(bank.pay("tx-0", "60.5").await);
    // The reserved amount is not available.
    rejects(&bank, &request, Rejection::InsufficientFunds(number("39.5"))).await;
    // A limit below the daily sum leaves zero.
    bank.app.set_daily_limit(&id("card-1"), number("60")).await.unwrap().done().unwrap();
    rejects(&bank, &payment("tx-1", "1"), Rejection::DailyLimit(number("0"))).await;
    let suspended = AccountStatus::Suspended;
    bank.app.set_account_status(&id("acc-1"), suspended).await.unwrap().done().unwrap();
    rejects(&bank, &request, Rejection::AccountNotActive(suspended)).await;
    bank.app.set_card_status(&id("card-1"), CardStatus::Blocked).await.unwrap().done().unwrap();
    rejects(&bank, &request, Rejection::CardNotActive(CardStatus::Blocked)).await;
    let key = Account::key(id("acc-1")).to_item().unwrap();
    bank.store.delete(DeleteItem::new("accounts", key)).await.unwrap();
    rejects(&bank, &request, Rejection::UnknownAccount).await;
}

#[tokio::test]
async fn card_is_valid_to_the_end_of_its_last_month() {
    let bank = Bank::open().await;
    let last = bank.card().await.expiry_date.end();
    bank.clock.advance(Duration::from_secs(last.as_secs() - 1_755_513_000));
    done(bank.pay("tx-1", "1").await);
    bank.clock.advance(Duration::from_secs(1));
    rejects(&bank, &payment("tx-2", "1"), Rejection::CardExpired).await;
}

#[tokio::test]
async fn amount_that_is_not_above_zero_is_refused() {
    let bank = Bank::open().await;
    let before = bank.everything().await;
    let good = payment("tx-1", "1");
    for wrong in [
        payment("tx-1", "0"),
        payment("tx-1", "-1"),
        Authorisation { amount_ars: number("0"), ..good.clone() },
        Authorisation { exchange_rate: number("0"), ..good.clone() },
        Authorisation { amount_reserved: number("-1"), ..good.clone() },
        // In USDT, the amounts are the same.
        Authorisation { amount_reserved: number("0.999999"), ..good.clone() },
    ] {
        let error = bank.app.authorise(&wrong).await.unwrap_err();
        assert_eq!(error.kind(), &tabla::ErrorKind::Validation, "{wrong:?}");
    }
    assert_eq!(bank.everything().await, before);
}

#[tokio::test]
async fn payment_is_authorised_once() {
    let bank = Bank::open().await;
    let row = done(bank.pay("tx-1", "10").await);
    let before = bank.everything().await;
    assert_eq!(bank.pay("tx-1", "10").await, Authorised::Already(row.clone()));
    // The rate has changed since the first call. It is the same payment.
    let moved = Authorisation {
        amount_usdt: number("10.2"),
        amount_reserved: number("10.2"),
        exchange_rate: number("980.4"),
        ..payment("tx-1", "10")
    };
    let again = bank.app.authorise(&moved).await.unwrap();
    assert_eq!(again, Authorised::Already(row.clone()));
    // Another amount, or another card, is another payment under the same id.
    assert_eq!(bank.pay("tx-1", "11").await, Authorised::Mismatch(row.clone()));
    let other = Authorisation { card_id: id("card-2"), ..payment("tx-1", "10") };
    assert_eq!(bank.app.authorise(&other).await.unwrap(), Authorised::Mismatch(row));
    assert_eq!(bank.everything().await, before);
    // The settled payment is authorised, too.
    let Settled::Done(completed) = bank.app.complete(&id("tx-1"), None).await.unwrap() else {
        panic!("it is open")
    };
    assert_eq!(bank.pay("tx-1", "10").await, Authorised::Already(completed));
}

#[tokio::test]
async fn daily_limit_is_per_day() {
    let bank = Bank::open().await;
    done(bank.pay("tx-1", "50").await);
    rejects(&bank, &payment("tx-2", "0.01"), Rejection::DailyLimit(number("0"))).await;
    let next = bank.on_day(1);
    let row = done(next.authorise(&payment("tx-2", "20")).await.unwrap());
    let card = bank.card().await;
    assert_eq!((card.spent_usdt, card.spent_day), (number("20"), row.spend_day));
    assert_eq!(row.spend_day.unwrap().to_string(), "2025-08-19");
    // The clock of another caller is a day behind. The limit of that day is reached.
    rejects(&bank, &payment("tx-3", "25"), Rejection::DailyLimit(number("0"))).await;
}

/// Requires this rest of the daily limit: a cent more is rejected.
async fn left(bank: &Bank, day: u64, usdt: &str) {
    let before = bank.everything().await;
    let more = number(usdt).checked_add(number("0.01")).unwrap().to_string();
    let answer = bank.on_day(day).authorise(&payment("more", &more)).await.unwrap();
    assert_eq!(answer, Authorised::Rejected(Rejection::DailyLimit(number(usdt))), "day {day}");
    assert_eq!(bank.everything().await, before);
}

#[tokio::test]
async fn clock_a_year_ahead_leaves_the_limit_of_each_day() {
    let bank = Bank::open().await;
    let read = bank.account().await;
    bank.app.credit(&read, Currency::Usdt, number("1000")).await.unwrap().done().unwrap();
    let pay = |day: u64, name: &'static str, usdt: &'static str| {
        let app = bank.on_day(day);
        async move { done(app.authorise(&payment(name, usdt)).await.unwrap()) }
    };
    pay(0, "before", "20").await;
    let ahead = pay(365, "ahead", "40").await;
    assert_eq!(ahead.spend_day.unwrap().to_string(), "2026-08-18");
    // The clock is right again, and today has the rest of its limit.
    left(&bank, 0, "30").await;
    let today = pay(0, "today", "30").await;
    assert_eq!(today.spend_day.unwrap().to_string(), "2025-08-18");
    // Each day that follows has a limit of its own, and none before it is begun again, wherever the
    // clock goes.
    for (day, name) in (1..).zip(["one", "two", "three", "four", "five"]) {
        left(&bank, day, "50").await;
        pay(day, name, "10").await;
        left(&bank, day, "40").await;
        left(&bank, 0, "0").await;
        left(&bank, 365, "10").await;
    }
    pay(365, "again", "10").await;
    left(&bank, 365, "0").await;
    left(&bank, 3, "40").await;
}

#[tokio::test]
async fn card_keeps_the_sums_of_31_days() {
    let bank = Bank::open().await;
    bank.app.set_daily_limit(&id("card-1"), number("1")).await.unwrap().done().unwrap();
    let last = Card::DAYS as u64;
    for day in 0..=last {
        let request = payment(&format!("day-{day}"), "1");
        done(bank.on_day(day).authorise(&request).await.unwrap());
    }
    // The first day is dropped, and payments on it are rejected.
    assert_eq!(bank.card().await.days().len(), Card::DAYS);
    for day in 0..=last {
        left(&bank, day, "0").await;
    }
    // A failed payment is subtracted from its day, and dropped days stay dropped.
    let _ = bank.app.fail(&id("day-5"), None).await.unwrap();
    left(&bank, 0, "0").await;
    left(&bank, 5, "1").await;
    done(bank.on_day(5).authorise(&payment("again", "1")).await.unwrap());
    left(&bank, 5, "0").await;
    done(bank.on_day(last + 1).authorise(&payment("next", "1")).await.unwrap());
    assert_eq!(bank.card().await.days().len(), Card::DAYS);
}

/// Outcome of a payment of 40 USDT, if this happens between its reads and its write.
async fn when<F>(bank: &Bank, what: impl Fn(CryptoCards) -> F + Send + Sync + 'static) -> Authorised
where
    F: Future<Output = ()> + Send + 'static,
{
    let app = bank.app.clone();
    let store = InterleavingStore::new(bank.store.clone()).with_hook_at(
        Operation::TransactWrite,
        1,
        move || what(app.clone()),
    );
    bank.through(Arc::new(store), 5).authorise(&payment("tx-1", "40")).await.unwrap()
}

#[tokio::test]
async fn change_between_read_and_write_is_detected() {
    let bank = Bank::open().await;
    let answer = when(&bank, |app| async move {
        let suspended = AccountStatus::Suspended;
        app.set_account_status(&id("acc-1"), suspended).await.unwrap().done().unwrap();
    });
    let suspended = Rejection::AccountNotActive(AccountStatus::Suspended);
    assert_eq!(answer.await, Authorised::Rejected(suspended));

    let bank = Bank::open().await;
    let answer = when(&bank, |app| async move {
        app.set_card_status(&id("card-1"), CardStatus::Blocked).await.unwrap().done().unwrap();
    });
    let blocked = Rejection::CardNotActive(CardStatus::Blocked);
    assert_eq!(answer.await, Authorised::Rejected(blocked));

    let bank = Bank::open().await;
    let answer = when(&bank, |app| async move {
        app.set_daily_limit(&id("card-1"), number("39.99")).await.unwrap().done().unwrap();
    });
    let limit = Rejection::DailyLimit(number("39.99"));
    assert_eq!(answer.await, Authorised::Rejected(limit));

    // A payment with another card of the account changes the account only.
    let bank = Bank::open().await;
    let mut second = new_card("card-2", "acc-1");
    second.daily_limit_usdt = number("1000");
    let _ = bank.app.issue_card(second).await.unwrap();
    let answer = when(&bank, |app| async move {
        let other = Authorisation { card_id: id("card-2"), ..payment("tx-2", "60.01") };
        done(app.authorise(&other).await.unwrap());
    });
    let poor = Rejection::InsufficientFunds(number("39.99"));
    assert_eq!(answer.await, Authorised::Rejected(poor));
    assert_eq!(bank.row("tx-1").await, None);
    assert_eq!(bank.usdt().await, ("100".into(), "60.01".into(), 2));

    // A change that leaves enough funds: a further attempt authorises the payment.
    let bank = Bank::open().await;
    let answer = when(&bank, |app| async move {
        let read = app.account(&id("acc-1")).await.unwrap().unwrap();
        app.credit(&read, Currency::Eth, number("1")).await.unwrap().done().unwrap();
    });
    done(answer.await);
    assert_eq!(bank.usdt().await, ("100".into(), "40".into(), 3));
}

#[tokio::test]
async fn concurrent_call_with_the_same_payment_is_the_same_payment() {
    let bank = Bank::open().await;
    let answer = when(&bank, |app| async move {
        done(app.authorise(&payment("tx-1", "40")).await.unwrap());
    });
    let answer = answer.await;
    assert_eq!(answer, Authorised::Already(bank.row("tx-1").await.unwrap()));
    assert_eq!(bank.usdt().await, ("100".into(), "40".into(), 2));
}

#[tokio::test]
async fn payment_authorised_by_a_concurrent_call_is_not_rejected() {
    let bank = Bank::open().await;
    let app = bank.app.clone();
    // After the transaction was read, a call with the same payment reaches the daily limit.
    let store =
        InterleavingStore::new(bank.store.clone()).with_hook_at(Operation::Get, 2, move || {
            let app = app.clone();
            async move { drop(done(app.authorise(&payment("tx-1", "50")).await.unwrap())) }
        });
    let app = bank.through(Arc::new(store), 5);
    let answer = app.authorise(&payment("tx-1", "50")).await.unwrap();
    assert_eq!(answer, Authorised::Already(bank.row("tx-1").await.unwrap()));
    assert_eq!(bank.usdt().await, ("100".into(), "50".into(), 2));
}

#[tokio::test]
async fn payment_without_a_successful_attempt_is_rejected() {
    let bank = Bank::open().await;
    let app = bank.app.clone();
    let before: CallHook = Arc::new(move |call| {
        let app = app.clone();
        Box::pin(async move {
            if call == Operation::TransactWrite {
                let read = app.account(&id("acc-1")).await.unwrap().unwrap();
                app.credit(&read, Currency::Eth, number("1")).await.unwrap().done().unwrap();
            }
            Ok(())
        })
    });
    let through =
        bank.through(Arc::new(InterleavingStore::new(bank.store.clone()).with_hook(before)), 4);
    let answer = through.authorise(&payment("tx-1", "40")).await.unwrap();
    assert_eq!(answer, Authorised::Rejected(Rejection::Contention));
    assert_eq!(bank.row("tx-1").await, None);
    // Four attempts, with a wait between two.
    assert_eq!(bank.usdt().await, ("100".into(), "0".into(), 5));
    assert!(bank.clock.sleeps().len() <= 4 && !bank.clock.sleeps().is_empty());
}
