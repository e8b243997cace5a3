//! Exact amounts.

use tabla::ErrorKind;
use tabla_crypto_cards::*;

use crate::stage::*;

/// A payment in a currency of the account, with a small amount in USDT.
fn paid_in(transaction: &str, currency: Currency, amount: &str) -> Authorisation {
    Authorisation {
        user_currency: currency,
        amount_reserved: number(amount),
        ..payment(transaction, "0.01")
    }
}

#[tokio::test]
async fn tenths_are_added_exactly() {
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
async fn smallest_unit_of_each_currency_counts() {
    let bank = Bank::open().await;
    for (currency, unit, left) in [
        (Currency::Btc, "0.00000001", "0.99999999"),
        (Currency::Eth, "0.000000000000000001", "1.999999999999999999"),
    ] {
        let account = id("acc-1");
        bank.app.set_payment_currency(&account, currency).await.unwrap().done().unwrap();
        let one = format!("one-{currency:?}");
        done(bank.app.authorise(&paid_in(&one, currency, unit)).await.unwrap());
        // The rest is available, without that unit.
        let whole = bank.account().await.balance(currency).to_string();
        let rejected = bank.app.authorise(&paid_in("too-much", currency, &whole)).await.unwrap();
        let free = Rejection::InsufficientFunds(number(left));
        assert_eq!(rejected, Authorised::Rejected(free));
        let rest = format!("rest-{currency:?}");
        done(bank.app.authorise(&paid_in(&rest, currency, left)).await.unwrap());
        assert_eq!(bank.account().await.reserved(currency), number(&whole));
        // Each payment is settled in its own currency, after a change of the payment currency.
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
async fn sum_with_too_many_digits_is_refused() {
    let bank = Bank::open().await;
    let read = bank.account().await;
    let much = number("99999999999999999900");
    bank.app.credit(&read, Currency::Eth, much).await.unwrap().done().unwrap();
    bank.app.set_payment_currency(&id("acc-1"), Currency::Eth).await.unwrap().done().unwrap();
    let large = paid_in("tx-1", Currency::Eth, "99999999999999999900");
    done(bank.app.authorise(&large).await.unwrap());
    // 20 digits before the point and 18 after it fit.
    let fits = paid_in("tx-2", Currency::Eth, "0.000000000000000001");
    done(bank.app.authorise(&fits).await.unwrap());
    let reserved = bank.account().await.reserved_eth;
    assert_eq!(reserved.to_string(), "99999999999999999900.000000000000000001");
    // One more digit does not fit.
    let before = bank.everything().await;
    let finer = paid_in("tx-3", Currency::Eth, "0.0000000000000000001");
    let error = bank.app.authorise(&finer).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Validation);
    assert_eq!(bank.everything().await, before);
    // The completion debits every digit.
    for name in ["tx-1", "tx-2"] {
        let settled = bank.app.complete(&id(name), None).await.unwrap();
        assert!(matches!(settled, Settled::Done(_)), "{settled:?}");
    }
    assert_eq!(bank.account().await.balance_eth, number("1.999999999999999999"));
}

#[tokio::test]
async fn amount_with_too_many_places_is_refused() {
    let bank = Bank::open().await;
    bank.app.set_payment_currency(&id("acc-1"), Currency::Eth).await.unwrap().done().unwrap();
    let before = bank.everything().await;
    let third = format!("0.{}", "3".repeat(38));
    let cases = [
        ("amount_reserved", paid_in("tx-1", Currency::Eth, &third), "ETH has 18 decimal places"),
        ("amount_reserved", paid_in("tx-1", Currency::Eth, "1e-19"), "ETH has 18 decimal places"),
        (
            "amount_reserved",
            paid_in("tx-1", Currency::Eth, "1e20"),
            "it has over 20 digits before the point",
        ),
        (
            "amount_usdt",
            Authorisation { amount_usdt: number("0.0000001"), ..payment("tx-1", "1") },
            "USDT has 6 decimal places",
        ),
        (
            "amount_ars",
            Authorisation { amount_ars: number("9.999"), ..payment("tx-1", "1") },
            "ARS has 2 decimal places",
        ),
    ];
    for (name, mut request, text) in cases {
        if request.user_currency == Currency::Usdt {
            request.amount_reserved = request.amount_usdt;
        }
        let error = bank.app.authorise(&request).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Validation, "{error}");
        let message = error.message();
        assert!(message.starts_with(name) && message.contains(text), "{message}");
    }
    assert_eq!(bank.everything().await, before);
    // Another payment of the account is authorised and completed.
    done(bank.app.authorise(&paid_in("tx-2", Currency::Eth, "0.5")).await.unwrap());
    let settled = bank.app.complete(&id("tx-2"), None).await.unwrap();
    assert!(matches!(settled, Settled::Done(_)), "{settled:?}");
}

#[tokio::test]
async fn balance_credit_and_limit_fit_their_currency() {
    let bank = Bank::open().await;
    let before = bank.everything().await;
    for (currency, fine, large) in [
        (Currency::Usdt, "0.0000001", "1e32"),
        (Currency::Btc, "0.000000001", "1e30"),
        (Currency::Eth, "1e-19", "1e20"),
    ] {
        for amount in [fine, large] {
            let mut new = new_account("acc-2");
            match currency {
                Currency::Usdt => new.usdt = number(amount),
                Currency::Btc => new.btc = number(amount),
                Currency::Eth => new.eth = number(amount),
            }
            let error = bank.app.open_account(new).await.unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Validation, "{currency:?} {amount}");
            let read = bank.account().await;
            let error = bank.app.credit(&read, currency, number(amount)).await.unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Validation, "{currency:?} {amount}");
        }
    }
    // The amount fits, and the balance with it does not.
    let read = bank.account().await;
    let most = number("99999999999999999999");
    let error = bank.app.credit(&read, Currency::Eth, most).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Validation);
    let mut card = new_card("card-2", "acc-1");
    card.daily_limit_usdt = number("0.0000001");
    assert!(bank.app.issue_card(card).await.is_err());
    assert!(bank.app.set_daily_limit(&id("card-1"), number("0.0000001")).await.is_err());
    assert_eq!(bank.everything().await, before);
}

#[tokio::test]
async fn authorised_payment_is_known_with_other_places() {
    let bank = Bank::open().await;
    let row = done(bank.pay("tx-1", "10").await);
    // The provider sends it again, converted with other places.
    let again = Authorisation {
        amount_usdt: number("9.9999999"),
        amount_reserved: number("9.9999999"),
        ..payment("tx-1", "10")
    };
    assert_eq!(bank.app.authorise(&again).await.unwrap(), Authorised::Already(row));
}

#[tokio::test]
async fn every_authorised_payment_can_be_completed() {
    let bank = Bank::open().await;
    bank.app.set_daily_limit(&id("card-1"), number("1e30")).await.unwrap().done().unwrap();
    let places = ["1", "0.1", "0.12", "0.123456", "0.00000001", "1e-18", "0.999999999999999999"];
    for currency in Currency::ALL {
        let read = bank.account().await;
        bank.app.credit(&read, currency, number("10")).await.unwrap().done().unwrap();
        bank.app.set_payment_currency(&id("acc-1"), currency).await.unwrap().done().unwrap();
        let mut authorised = Vec::new();
        for (number_of, amount) in places.into_iter().enumerate() {
            let name = format!("{currency:?}-{number_of}");
            let mut request = paid_in(&name, currency, amount);
            if currency == Currency::Usdt {
                request.amount_usdt = request.amount_reserved;
            }
            // Amounts that do not fit are refused.
            if let Ok(Authorised::Done(_)) = bank.app.authorise(&request).await {
                authorised.push(name);
            }
        }
        assert!(authorised.len() > 1, "{currency:?}");
        for name in authorised {
            let settled = bank.app.complete(&id(&name), None).await.unwrap();
            assert!(matches!(settled, Settled::Done(_)), "{settled:?}");
        }
        assert!(bank.account().await.reserved(currency).is_zero());
    }
}
