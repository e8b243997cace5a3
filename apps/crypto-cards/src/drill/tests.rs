//! Forged books and responses, which the audit must find.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use tabla::MemoryStore;
use tabla_kit::App;

use super::audit::Snapshot;
use super::*;
use crate::app::CryptoCardsApp;

/// Audit and responses after all clients have run, one after the other.
async fn held() -> (Audit, Ledger) {
    let db = Db::new(Arc::new(MemoryStore::new()));
    CryptoCardsApp.create_tables(&db).await.unwrap();
    let drill = Drill::new(&db, 40, 2);
    drill.open().await.unwrap();
    let mut ledger = Ledger::default();
    for client in 0..drill.clients() {
        drill.client(client, |response| ledger.note(response)).await.unwrap();
    }
    (drill.audit().await.unwrap(), ledger)
}

/// A transaction in a status.
fn find(audit: &Audit, status: Status) -> Transaction {
    let mut rows = audit.accounts.iter().flat_map(|snapshot| &snapshot.rows);
    rows.find(|row| row.status == status).expect("a transaction in each status").clone()
}

#[tokio::test]
async fn drill_has_every_status_and_passes_the_audit() {
    let (audit, ledger) = held().await;
    assert_eq!(audit.wrong(&ledger), Vec::<String>::new());
    for status in [Status::Authorized, Status::Trading, Status::Completed, Status::Failed] {
        find(&audit, status);
    }
    let (authorised, rejected) = ledger.authorised_and_rejected();
    assert!(authorised > 0 && rejected > 0, "{authorised} and {rejected}");
}

/// Changes a snapshot; amounts change by a cent.
type Forge = fn(&mut Snapshot, Number);

#[tokio::test]
async fn forged_books_fail_the_audit() {
    let cent = || scaled(1, 2).unwrap();
    let forgeries: [(&str, Forge); 10] = [
        ("the balance in Usdt is", |of, cent| of.account.balance_usdt = cent.negated()),
        ("Usdt are reserved", |of, cent| {
            of.account.reserved_usdt = of.account.balance_usdt.checked_add(cent).unwrap();
        }),
        ("and open transactions have", |of, cent| {
            of.account.reserved_usdt = of.account.reserved_usdt.checked_add(cent).unwrap();
        }),
        ("are not the deposit", |of, cent| {
            of.account.balance_usdt = of.account.balance_usdt.checked_add(cent).unwrap();
        }),
        ("applied twice, or never", |of, _| of.account.version += 1),
        ("and open transactions have", |of, _| {
            of.rows.retain(|row| row.status != Status::Authorized);
        }),
        ("not the sum of its payments", |of, cent| {
            of.card.spent_usdt = of.card.spent_usdt.checked_add(cent).unwrap();
        }),
        ("more than its limit", |of, cent| {
            of.card.daily_limit_usdt = of.card.spent_usdt.checked_sub(cent).unwrap();
        }),
        ("not the requested payment", |of, cent| of.rows[0].amount_ars = cent),
        ("the index has other transactions", |of, cent| {
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
async fn forged_responses_fail_the_audit() {
    let (audit, ledger) = held().await;
    let response = |row: &Transaction, done, status| Told {
        client: 0,
        transaction: row.transaction_id.clone(),
        done,
        status: Some(status),
    };
    let (open, completed) = (find(&audit, Status::Authorized), find(&audit, Status::Completed));
    let missing = Transaction { transaction_id: id("never").unwrap(), ..open.clone() };
    let forgeries = [
        ("became Authorized twice", response(&open, Some(Status::Authorized), Status::Authorized)),
        (
            "became Completed twice",
            response(&completed, Some(Status::Completed), Status::Completed),
        ),
        // A completed payment cannot have failed.
        ("became Failed twice", response(&completed, Some(Status::Failed), Status::Failed)),
        ("was Completed to 0, and is Authorized", response(&open, None, Status::Completed)),
        ("was Trading to 0, and is Authorized", response(&open, None, Status::Trading)),
        ("was Failed to 0, and is Completed", response(&completed, None, Status::Failed)),
        ("and does not exist", response(&missing, None, Status::Authorized)),
    ];
    for (what, lie) in forgeries {
        let mut forged = ledger.clone();
        forged.note(lie);
        let wrong = audit.wrong(&forged);
        assert!(wrong.iter().any(|found| found.contains(what)), "{what} is not in {wrong:#?}");
    }
}
