//! Money is exact, to the last digit.

use tabla::ErrorKind;
use tabla_crypto_cards::*;

use crate::stage::*;

/// A payment in a currency of the account's, of an amount that is small in USDT.
fn paid_in(transaction: &str, currency: Currency, amount: &str) -> Authorisation {
    Authorisation {
        user_currency: currency,
        amount_reserved: number(amount),
        ..payment(transaction, "0.01")
    }
}

#[tokio::test]
async fn tenths_add_up() {
    let bank = Bank::open().await;
    for name in ["tx-1", "tx-2", "tx-3"] {
        done(bank.pay(name, "0.1").await);
    }
    assert_eq!(bank.usdt().await.1, "0.3");
    for name in ["tx-1", "tx-2", "tx-3"] {
        let _ = bank.app.complete(&id(name), None).await.unwrap();
    }
    assert_eq!(bank.usdt().await, ("99.7".into(), "0".into(), 7));
}

#[tokio::test]
async fn the_smallest_unit_of_each_currency_counts() {
    let bank = Bank::open().await;
    for (currency, unit, left) in [
        (Currency::Btc, "0.00000001", "0.99999999"),
        (Currency::Eth, "0.000000000000000001", "1.999999999999999999"),
    ] {
        let account = id("acc-1");
        bank.app.set_payment_currency(&account, currency).await.unwrap().done().unwrap();
        let one = format!("one-{currency:?}");
        done(bank.app.authorise(&paid_in(&one, currency, unit)).await.unwrap());
        // All but that unit is free, and not a unit more.
        let whole = bank.account().await.balance(currency).to_string();
        let rejected = bank.app.authorise(&paid_in("too-much", currency, &whole)).await.unwrap();
        let free = Rejection::InsufficientFunds(number(left));
        assert_eq!(rejected, Authorised::Rejected(free));
        let rest = format!("rest-{currency:?}");
        done(bank.app.authorise(&paid_in(&rest, currency, left)).await.unwrap());
        assert_eq!(bank.account().await.reserved(currency), number(&whole));
        // Each is settled in its own currency, whatever the account pays with by then.
        bank.app.set_payment_currency(&account, Currency::Usdt).await.unwrap().done().unwrap();
        let _ = bank.app.complete(&id(&one), None).await.unwrap();
        let _ = bank.app.fail(&id(&rest), None).await.unwrap();
        let after = bank.account().await;
        assert_eq!(after.balance(currency), number(left));
        assert!(after.reserved(currency).is_zero());
    }
    assert_eq!(bank.usdt().await.0, "100");
}

#[tokio::test]
async fn a_sum_that_would_be_rounded_is_refused() {
    let bank = Bank::open().await;
    let read = bank.account().await;
    let much = number("99999999999999999900");
    bank.app.credit(&read, Currency::Eth, much).await.unwrap().done().unwrap();
    bank.app.set_payment_currency(&id("acc-1"), Currency::Eth).await.unwrap().done().unwrap();
    let large = paid_in("tx-1", Currency::Eth, "99999999999999999900");
    done(bank.app.authorise(&large).await.unwrap());
    // 20 digits before the point and 18 behind it are exact.
    let fits = paid_in("tx-2", Currency::Eth, "0.000000000000000001");
    done(bank.app.authorise(&fits).await.unwrap());
    let reserved = bank.account().await.reserved_eth;
    assert_eq!(reserved.to_string(), "99999999999999999900.000000000000000001");
    // One digit more is not.
    let before = bank.everything().await;
    let finer = paid_in("tx-3", Currency::Eth, "0.0000000000000000001");
    let error = bank.app.authorise(&finer).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Validation);
    assert_eq!(bank.everything().await, before);
}
