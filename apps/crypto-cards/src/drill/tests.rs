//! That the audit notices: books and answers that are forged.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use tabla::MemoryStore;
use tabla_kit::App;

use super::audit::Snapshot;
use super::*;
use crate::app::CryptoCardsApp;

/// What is there after everybody has paid, one after the other, and what they were told.
async fn held() -> (Audit, Ledger) {
    let db = Db::new(Arc::new(MemoryStore::new()));
    CryptoCardsApp.create_tables(&db).await.unwrap();
    let drill = Drill::new(&db, 40, 2);
    drill.open().await.unwrap();
    let mut ledger = Ledger::default();
    for client in 0..drill.clients() {
        drill.client(client, |told| ledger.note(told)).await.unwrap();
    }
    (drill.audit().await.unwrap(), ledger)
}

/// A transaction in this status.
fn find(audit: &Audit, status: Status) -> Transaction {
    let mut rows = audit.accounts.iter().flat_map(|snapshot| &snapshot.rows);
    rows.find(|row| row.status == status).expect("there are some in each status").clone()
}

#[tokio::test]
async fn all_ends_come_about_and_are_right() {
    let (audit, ledger) = held().await;
    assert_eq!(audit.wrong(&ledger), Vec::<String>::new());
    for status in [Status::Authorized, Status::Trading, Status::Completed, Status::Failed] {
        find(&audit, status);
    }
    let (authorised, rejected) = ledger.authorised_and_rejected();
    assert!(authorised > 0 && rejected > 0, "{authorised} and {rejected}");
}

/// Changes what was read, by a cent if it is money.
type Forge = fn(&mut Snapshot, Number);

#[tokio::test]
async fn forged_books_are_noticed() {
    let cent = || scaled(1, 2).unwrap();
    let forgeries: [(&str, Forge); 10] = [
        ("the balance in Usdt is", |of, cent| of.account.balance_usdt = cent.negated()),
        ("Usdt are reserved", |of, cent| {
            of.account.reserved_usdt = of.account.balance_usdt.checked_add(cent).unwrap();
        }),
        ("and open transactions have", |of, cent| {
            of.account.reserved_usdt = of.account.reserved_usdt.checked_add(cent).unwrap();
        }),
        ("are not all there", |of, cent| {
            of.account.balance_usdt = of.account.balance_usdt.checked_add(cent).unwrap();
        }),
        ("done twice, or not at all", |of, _| of.account.version += 1),
        ("and open transactions have", |of, _| {
            of.rows.retain(|row| row.status != Status::Authorized);
        }),
        ("not the sum of its payments", |of, cent| {
            of.card.spent_usdt = of.card.spent_usdt.checked_add(cent).unwrap();
        }),
        ("more than its limit", |of, cent| {
            of.card.daily_limit_usdt = of.card.spent_usdt.checked_sub(cent).unwrap();
        }),
        ("not what was asked for", |of, cent| of.rows[0].amount_ars = cent),
        ("the index of its transactions has others", |of, cent| {
            of.indexed.as_mut().unwrap().account.reserved_btc = cent;
        }),
    ];
    let (audit, ledger) = held().await;
    for (what, forge) in forgeries {
        let mut forged = audit.clone();
        forge(&mut forged.accounts[1], cent());
        let wrong = forged.wrong(&ledger);
        assert!(wrong.iter().any(|found| found.contains(what)), "{what} is not in {wrong:#?}");
    }
}

#[tokio::test]
async fn answers_that_are_not_so_are_noticed() {
    let (audit, ledger) = held().await;
    let told = |row: &Transaction, done, status| Told {
        client: 0,
        transaction: row.transaction_id.clone(),
        done,
        status: Some(status),
    };
    let (open, completed) = (find(&audit, Status::Authorized), find(&audit, Status::Completed));
    let missing = Transaction { transaction_id: id("never").unwrap(), ..open.clone() };
    let forgeries = [
        ("became Authorized twice", told(&open, Some(Status::Authorized), Status::Authorized)),
        ("became Completed twice", told(&completed, Some(Status::Completed), Status::Completed)),
        // It cannot have failed as well.
        ("became Failed twice", told(&completed, Some(Status::Failed), Status::Failed)),
        ("was Completed to 0, and is Authorized", told(&open, None, Status::Completed)),
        ("was Trading to 0, and is Authorized", told(&open, None, Status::Trading)),
        ("was Failed to 0, and is Completed", told(&completed, None, Status::Failed)),
        ("and is gone", told(&missing, None, Status::Authorized)),
    ];
    for (what, lie) in forgeries {
        let mut forged = ledger.clone();
        forged.note(lie);
        let wrong = audit.wrong(&forged);
        assert!(wrong.iter().any(|found| found.contains(what)), "{what} is not in {wrong:#?}");
    }
}
