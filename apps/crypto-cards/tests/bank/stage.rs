//! App with one account and one card.

use std::sync::Arc;
use std::time::Duration;

use tabla::entity::{Db, Id};
use tabla::env::{Env, ManualClock, Timestamp};
use tabla::ops::Scan;
use tabla::{Item, MemoryStore, Number, RetryPolicy, Store};
use tabla_crypto_cards::*;
use tabla_kit::App;
use tabla_kit::stage::Stage;

pub(crate) struct Bank {
    pub(crate) app: CryptoCards,
    pub(crate) db: Db,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: ManualClock,
}

pub(crate) fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

pub(crate) fn number(text: &str) -> Number {
    Number::parse(text).unwrap()
}

/// 2025-08-18T10:30:00Z
const NOW: u64 = 1_755_513_000;

pub(crate) fn new_account(account: &str) -> NewAccount {
    NewAccount {
        account_id: id(account),
        user_id: id("user-1"),
        payment_currency: Currency::Usdt,
        usdt: number("100"),
        btc: number("1"),
        eth: number("2"),
    }
}

pub(crate) fn new_card(card: &str, account: &str) -> NewCard {
    NewCard {
        card_id: id(card),
        account_id: id(account),
        card_number_hash: CardNumberHash::new("0123456789abcdef".repeat(4)).unwrap(),
        last_four: LastFour::new("4242").unwrap(),
        holder_name: "ANA LÓPEZ".to_owned(),
        expiry_date: "2027-08".parse().unwrap(),
        daily_limit_usdt: number("50"),
    }
}

/// ARS for an amount of USDT, at 1000 ARS for one, to the centavo.
fn ars(usdt: &str) -> Number {
    let text = number(&format!("{usdt}e3")).to_string();
    match text.split_once('.') {
        Some((whole, places)) if places.len() > 2 => number(&format!("{whole}.{}", &places[..2])),
        _ => number(&text),
    }
}

/// A payment of an amount of USDT with `card-1`.
pub(crate) fn payment(transaction: &str, usdt: &str) -> Authorisation {
    Authorisation {
        transaction_id: id(transaction),
        card_id: id("card-1"),
        amount_ars: ars(usdt),
        amount_usdt: number(usdt),
        exchange_rate: number("1000"),
        user_currency: Currency::Usdt,
        amount_reserved: number(usdt),
    }
}

fn time() -> (ManualClock, Env) {
    let clock = ManualClock::new(Timestamp::from_secs(NOW));
    (clock.clone(), Env::test(clock, 7))
}

impl Bank {
    /// `acc-1` with 100 USDT, 1 BTC and 2 ETH, and `card-1` with 50 USDT a day.
    pub(crate) async fn open() -> Self {
        let (clock, env) = time();
        let store = Stage::new(&env).await.store();
        Self::on(store, clock, env).await
    }

    /// The same in memory, for 200 clients. The tests of `apps/kit` run them on the other stores.
    pub(crate) async fn in_memory() -> Self {
        let (clock, env) = time();
        let store = Arc::new(MemoryStore::with_env(env.clone()));
        Self::on(store, clock, env).await
    }

    async fn on(store: Arc<dyn Store>, clock: ManualClock, env: Env) -> Self {
        let db = Db::with_env(store.clone(), env);
        CryptoCardsApp.create_tables(&db).await.unwrap();
        let app = CryptoCards::new(db.clone());
        app.open_account(new_account("acc-1")).await.unwrap().done().unwrap();
        let issued = app.issue_card(new_card("card-1", "acc-1")).await.unwrap();
        assert!(matches!(issued, Issued::Done(_)));
        Self { app, db, store, clock }
    }

    /// The app through another store on the same data, with this number of attempts.
    pub(crate) fn through(&self, store: Arc<dyn Store>, attempts: u32) -> CryptoCards {
        let retries = RetryPolicy::default()
            .with_attempts(attempts)
            .with_base(Duration::from_millis(1))
            .with_cap(Duration::from_millis(8))
            .with_env(self.db.env().clone());
        CryptoCards::new(self.db.on(store)).with_retries(retries)
    }

    /// The app with a clock that is this number of days ahead.
    pub(crate) fn on_day(&self, day: u64) -> CryptoCards {
        let clock = ManualClock::new(Timestamp::from_secs(NOW + day * 24 * 3600));
        CryptoCards::new(Db::with_env(self.store.clone(), Env::test(clock, 7 + day)))
    }

    pub(crate) async fn pay(&self, transaction: &str, usdt: &str) -> Authorised {
        self.app.authorise(&payment(transaction, usdt)).await.unwrap()
    }

    pub(crate) async fn account(&self) -> Account {
        self.app.account(&id("acc-1")).await.unwrap().unwrap()
    }

    pub(crate) async fn card(&self) -> Card {
        self.app.card(&id("card-1")).await.unwrap().unwrap()
    }

    pub(crate) async fn row(&self, transaction: &str) -> Option<Transaction> {
        self.app.transaction(&id(transaction)).await.unwrap()
    }

    /// Balance, reservation and version.
    pub(crate) async fn usdt(&self) -> (String, String, u64) {
        let account = self.account().await;
        (account.balance_usdt.to_string(), account.reserved_usdt.to_string(), account.version)
    }

    /// All items of all tables.
    pub(crate) async fn everything(&self) -> Vec<Item> {
        let mut items = Vec::new();
        for table in ["accounts", "transactions", "cards"] {
            items.extend(self.store.scan(Scan::new(table)).await.unwrap().items);
        }
        items
    }
}

/// Transaction of an authorised payment.
pub(crate) fn done(answer: Authorised) -> Transaction {
    match answer {
        Authorised::Done(row) => row,
        other => panic!("not authorised: {other:?}"),
    }
}
