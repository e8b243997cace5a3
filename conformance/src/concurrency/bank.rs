//! Bank test: transfers between accounts must keep the total.

use std::sync::Arc;

use tabla_core::env::{Random, SeededRandom};
use tabla_core::ops::*;
use tabla_core::{
    Error, ErrorKind, Item, KeyType, Requirement, Store, Update, ValueRef, attr, item,
};

use super::call_outcome::{RetryOutcome, retry_on_conflict};
use super::explain::Violation;
use super::recorder::at_once;
use super::tables::create_table;

/// Opening balance of each account.
const OPENING: i64 = 100;

/// Counts of a run of [`bank_transfers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BankReport {
    /// Transfers that were committed.
    pub transfers: usize,
    /// Transfers rejected because the balance was too low.
    pub refused: usize,
    /// Transfers whose outcome is unknown, because the response was lost.
    pub unknown: usize,
    /// Calls repeated after a conflict, throttling or an unreachable store.
    pub conflicts: usize,
    /// Transactional reads of all accounts.
    pub snapshots: usize,
}

/// Runs tasks that make `transfers` transfers each between accounts, and read all accounts
/// in between.
///
/// Each transfer is a transaction that takes from one account, if its balance suffices, and gives
/// to one or two others. In every snapshot and at the end, the total must be unchanged and no
/// account overdrawn. At the end, each balance must be the sum of its transfers.
///
/// # Errors
/// [`Violation::Invariant`] if an invariant is broken, [`Violation::Store`] if a call fails for
/// another reason than a conflict or a lost response.
///
/// # Panics
/// If there is no store, or if `accounts` is not from 3 to 100, the limit of a transaction.
pub async fn bank_transfers(
    stores: &[Arc<dyn Store>],
    accounts: usize,
    tasks: usize,
    transfers: usize,
) -> Result<BankReport, Violation> {
    assert!(
        (3..=100).contains(&accounts),
        "bank_transfers: {accounts} accounts is not from 3 to 100"
    );
    let first = stores.first().expect("bank_transfers needs at least one store");
    first.capabilities().require(&[Requirement::Transactions])?;
    let request = |name| CreateTable::new(name).partition_key("pk", KeyType::S);
    let table = create_table(&**first, "bank", request).await?;
    let mut report = BankReport::default();
    for number in 0..accounts {
        open(&**first, &table, number, &mut report.conflicts).await?;
    }

    let tellers = (0..tasks).map(|task| {
        let teller = Teller {
            store: Arc::clone(&stores[task % stores.len()]),
            table: table.clone(),
            accounts,
            random: SeededRandom::new(task as u64),
            moved: vec![0; accounts],
            report: BankReport::default(),
        };
        teller.work(transfers)
    });
    let mut expected = vec![OPENING; accounts];
    for teller in at_once(tellers).await {
        let teller = teller?;
        report.add(teller.report);
        for (expected, moved) in expected.iter_mut().zip(&teller.moved) {
            *expected += moved;
        }
    }

    for store in stores {
        let balances = balances(&**store, &table, accounts, &mut report.conflicts).await?;
        check(&balances)?;
        if report.unknown == 0 && balances != expected {
            let text =
                format!("the balances are {balances:?}; by the transfers they are {expected:?}");
            return Err(Violation::Invariant(text));
        }
    }
    first.delete_table(DeleteTable::new(table)).await?;
    Ok(report)
}

impl BankReport {
    fn add(&mut self, other: Self) {
        let Self { transfers, refused, unknown, conflicts, snapshots } = other;
        self.transfers += transfers;
        self.refused += refused;
        self.unknown += unknown;
        self.conflicts += conflicts;
        self.snapshots += snapshots;
    }
}

/// Task that makes transfers.
struct Teller {
    store: Arc<dyn Store>,
    table: String,
    accounts: usize,
    random: SeededRandom,
    /// Sum of the committed transfers, per account.
    moved: Vec<i64>,
    report: BankReport,
}

impl Teller {
    async fn work(mut self, transfers: usize) -> Result<Self, Violation> {
        for _ in 0..transfers {
            self.transfer().await?;
            // Drawn, so that snapshots of some tasks overlap transfers of others.
            if self.below(4) == 0 {
                let conflicts = &mut self.report.conflicts;
                check(&balances(&*self.store, &self.table, self.accounts, conflicts).await?)?;
                self.report.snapshots += 1;
            }
            tokio::task::yield_now().await;
        }
        Ok(self)
    }

    fn below(&self, bound: usize) -> usize {
        (self.random.next_u64() % bound as u64) as usize
    }

    async fn transfer(&mut self) -> Result<(), Violation> {
        let from = self.below(self.accounts);
        let to = (from + 1 + self.below(self.accounts - 1)) % self.accounts;
        // Large enough that balances often do not suffice.
        let amount = 1 + self.below(OPENING as usize) as i64;
        let mut changes = vec![(to, amount), (from, -amount)];
        let other = self.below(self.accounts);
        if other != from && other != to && amount > 1 {
            changes[0].1 -= 1;
            changes.push((other, 1));
        }
        let request = changes.iter().fold(TransactWriteItems::new(), |request, (number, by)| {
            let update = UpdateItem::new(&self.table, key(*number))
                .update(Update::new().add("balance", *by));
            request.item(match by {
                ..0 => update.condition(attr("balance").ge(-by)),
                _ => update.condition(attr("pk").exists()),
            })
        });
        let store = &self.store;
        let answer =
            retry_on_conflict(&mut self.report.conflicts, || store.transact_write(request.clone()))
                .await?;
        match answer {
            RetryOutcome::Done(_) => {
                self.report.transfers += 1;
                for (number, by) in changes {
                    self.moved[number] += by;
                }
            }
            RetryOutcome::Refused => self.report.refused += 1,
            RetryOutcome::Unknown => self.report.unknown += 1,
        }
        Ok(())
    }
}

fn key(number: usize) -> Item {
    item! { "pk" => format!("account-{number}") }
}

/// Creates an account once, even if responses are lost.
async fn open(
    store: &dyn Store,
    table: &str,
    number: usize,
    conflicts: &mut usize,
) -> Result<(), Violation> {
    const ATTEMPTS: usize = 100;
    let account = key(number).with("balance", OPENING);
    let request = PutItem::new(table, account).condition(attr("pk").not_exists());
    for _ in 0..ATTEMPTS {
        match retry_on_conflict(conflicts, || store.put(request.clone())).await? {
            RetryOutcome::Done(_) | RetryOutcome::Refused => return Ok(()),
            RetryOutcome::Unknown => {}
        }
    }
    let text = format!("cannot create account {number}: {ATTEMPTS} responses were lost");
    Err(Violation::Store(Error::new(ErrorKind::Unavailable, text)))
}

/// Balances of all accounts at one moment.
async fn balances(
    store: &dyn Store,
    table: &str,
    accounts: usize,
    conflicts: &mut usize,
) -> Result<Vec<i64>, Violation> {
    let reads = (0..accounts).map(|number| GetItem::new(table, key(number)));
    let request = TransactGetItems::new(reads);
    let RetryOutcome::Done(answer) =
        retry_on_conflict(conflicts, || store.transact_get(request.clone())).await?
    else {
        return Err(Violation::Store(Error::validation(
            "a read returned a failed condition or a lost response",
        )));
    };
    let balance = |item: &Option<Item>| {
        let number = item.as_ref()?.get("balance").and_then(ValueRef::as_number)?;
        number.to_i64()
    };
    let balances: Option<Vec<i64>> = answer.responses.iter().map(balance).collect();
    balances.ok_or_else(|| {
        Violation::Invariant(format!("an account has no balance: {:?}", answer.responses))
    })
}

fn check(balances: &[i64]) -> Result<(), Violation> {
    let total = OPENING * balances.len() as i64;
    let sum: i64 = balances.iter().sum();
    if sum != total {
        let text = format!("the total is {sum} instead of {total}: {balances:?}");
        return Err(Violation::Invariant(text));
    }
    if balances.iter().any(|balance| *balance < 0) {
        return Err(Violation::Invariant(format!("an account is overdrawn: {balances:?}")));
    }
    Ok(())
}
