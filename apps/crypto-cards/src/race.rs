//! Races for the funds of an account, an id, the daily limit of a card, and a transaction.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::try_join_all;
use tabla::entity::{Day, Db, Id};
use tabla::{Error, ErrorKind, Number, Result, RetryPolicy};
use tabla_kit::Race;

use crate::accounts::{CryptoCards, Issued};
use crate::authorise::Authorised;
use crate::books::Books;
use crate::entities::*;
use crate::rules::Rejection;
use crate::seed::{id, new_account, new_card, payment, scaled};
use crate::settle::Settled;

/// Callers that reserve funds of one account.
const CLIENTS: u32 = 200;
/// Callers for which the funds are enough.
const PAID: u32 = 120;
/// Calls with the same payment, or transaction.
const SENDS: u32 = 50;
/// Callers that pay with one card, and those within its daily limit.
const PAYERS: u32 = 60;
const WITHIN_LIMIT: u32 = 10;
/// Amount of each payment, in cents.
const CENTS: u64 = 125;

/// Policy with enough attempts that no caller is rejected for contention.
pub(crate) fn patient(db: &Db) -> RetryPolicy {
    RetryPolicy::contended(db.env().clone())
        .with_attempts(5000)
        .with_cap(Duration::from_millis(200))
}

/// Account and card of one race.
struct Stage {
    app: CryptoCards,
    account: Id,
    card: Id,
    deposit: Number,
    ids: Vec<Id>,
}

impl Stage {
    async fn new(db: &Db, name: &str, funds: u32, daily: u32) -> Result<Self> {
        let app = CryptoCards::new(db.clone()).with_retries(patient(db));
        let number = db.env().random.next_u64();
        let (account, card) =
            (id(format!("raced-{name}-{number:016x}"))?, id(format!("card-{name}-{number:016x}"))?);
        let deposit = scaled(CENTS * u64::from(funds), 2)?;
        let mut new = new_account(account.clone(), id("racer")?, Currency::Usdt)?;
        new.usdt = deposit;
        let opened = app.open_account(new).await?;
        check(opened.is_done(), "cannot open the account of the race")?;
        let mut new = new_card(db, card.clone(), account.clone(), number)?;
        new.daily_limit_usdt = scaled(CENTS * u64::from(daily), 2)?;
        let issued = app.issue_card(new).await?;
        check(matches!(issued, Issued::Done(_)), "cannot issue the card of the race")?;
        Ok(Self { app, account, card, deposit, ids: Vec::new() })
    }

    /// Creates the ids of the payments.
    fn ids(&mut self, count: u32) -> Result<Vec<Id>> {
        let ids = (0..count).map(|number| id(format!("{}-{number:03}", self.account)));
        self.ids = ids.collect::<Result<_>>()?;
        Ok(self.ids.clone())
    }

    async fn pay(&self, id: &Id) -> Result<Authorised> {
        let request = payment(id.clone(), self.card.clone(), Currency::Usdt, CENTS)?;
        self.app.authorise(&request).await
    }

    /// Books of the account, which must be right and add up to the deposit.
    async fn audit(&self) -> Result<Books> {
        let mut rows = Vec::new();
        for id in &self.ids {
            rows.extend(self.app.transaction(id).await?);
        }
        let account = self.app.account(&self.account).await?;
        let account = account.ok_or_else(|| wrong("the account does not exist"))?;
        let books = Books::new(account, &rows)?;
        if let Some(what) = books.wrong().first() {
            return Err(wrong(what));
        }
        check(
            books.total(Currency::Usdt)? == self.deposit,
            "the books do not add up to the deposit",
        )?;
        Ok(books)
    }
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Unexpected, what)
}

fn check(holds: bool, error: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(wrong(error)) }
}

fn count<T>(answers: &[T], is_it: impl Fn(&T) -> bool) -> usize {
    answers.iter().filter(|answer| is_it(answer)).count()
}

pub(crate) async fn race(db: &Db) -> Result<Vec<Race>> {
    Ok(vec![funds(db).await?, same_id(db).await?, day(db).await?, trade(db).await?, end(db).await?])
}

/// Callers reserve funds of one account, which are enough for some.
async fn funds(db: &Db) -> Result<Race> {
    let mut stage = Stage::new(db, "funds", PAID, CLIENTS).await?;
    let ids = stage.ids(CLIENTS)?;
    let answers = try_join_all(ids.iter().map(|id| stage.pay(id))).await?;
    let winners = count(&answers, |answer| matches!(answer, Authorised::Done(_)));
    check(
        winners == PAID as usize,
        "the number of winners is not that for which the funds are enough",
    )?;
    let poor = Authorised::Rejected(Rejection::InsufficientFunds(Number::ZERO));
    let losers = count(&answers, |answer| *answer == poor);
    check(winners + losers == answers.len(), "a loser does not get InsufficientFunds of 0")?;
    let books = stage.audit().await?;
    check(books.account.reserved_usdt == stage.deposit, "the deposit is not reserved completely")?;
    let left = format!("{} of {} reserved", books.account.reserved_usdt, stage.deposit);
    Ok(Race { name: "reserving funds", contenders: answers.len(), winners, left })
}

/// The provider sends one payment concurrently.
async fn same_id(db: &Db) -> Result<Race> {
    let mut stage = Stage::new(db, "id", 10, 10).await?;
    let ids = stage.ids(1)?;
    let answers = try_join_all((0..SENDS).map(|_| stage.pay(&ids[0]))).await?;
    let winners = count(&answers, |answer| matches!(answer, Authorised::Done(_)));
    check(winners == 1, "not exactly 1 call has authorised the payment")?;
    let others = count(&answers, |answer| matches!(answer, Authorised::Already(_)));
    check(winners + others == answers.len(), "a loser does not get Already")?;
    let books = stage.audit().await?;
    let left = format!("{} reserved, once", books.account.reserved_usdt);
    Ok(Race { name: "sending one payment again", contenders: answers.len(), winners, left })
}

/// Callers pay with one card, whose daily limit is enough for some.
async fn day(db: &Db) -> Result<Race> {
    let mut stage = Stage::new(db, "day", PAYERS, WITHIN_LIMIT).await?;
    let ids = stage.ids(PAYERS)?;
    let answers = try_join_all(ids.iter().map(|id| stage.pay(id))).await?;
    let winners = count(&answers, |answer| matches!(answer, Authorised::Done(_)));
    let losers = count(
        &answers,
        |answer| matches!(answer, Authorised::Rejected(Rejection::DailyLimit(left)) if left.is_zero()),
    );
    check(winners + losers == answers.len(), "a loser does not get DailyLimit of 0")?;
    stage.audit().await?;
    let card =
        stage.app.card(&stage.card).await?.ok_or_else(|| wrong("the card does not exist"))?;
    let mut days: BTreeMap<Day, u32> = BTreeMap::new();
    let rows = answers.iter().filter_map(Authorised::transaction);
    for day in rows.filter_map(|row| row.spend_day) {
        *days.entry(day).or_default() += 1;
    }
    check(
        days_are_spent(&days, losers),
        "the number of winners is not that within the daily limit",
    )?;
    let (last, paid) = days.last_key_value().ok_or_else(|| wrong("no payment is authorised"))?;
    let spent = card.spent_on(*last);
    let is_sum = spent == scaled(CENTS * u64::from(*paid), 2)?;
    check(is_sum, "the daily sum is not that of the payments")?;
    let left = format!("{spent} of {} spent", card.daily_limit_usdt);
    Ok(Race { name: "a card's day", contenders: answers.len(), winners, left })
}

/// Whether no day exceeds the limit, and one has reached it if there are losers. A race over midnight
/// has two days, and each may end before the limit is reached.
fn days_are_spent(days: &BTreeMap<Day, u32>, losers: usize) -> bool {
    days.values().all(|paid| *paid <= WITHIN_LIMIT)
        && (losers == 0 || days.values().any(|paid| *paid == WITHIN_LIMIT))
}

/// Callers begin the exchange of one transaction's funds.
async fn trade(db: &Db) -> Result<Race> {
    let mut stage = Stage::new(db, "trade", 10, 10).await?;
    let ids = stage.ids(1)?;
    let paid = stage.pay(&ids[0]).await?;
    check(matches!(paid, Authorised::Done(_)), "cannot authorise the transaction to exchange")?;
    let trades: Vec<Id> =
        (0..SENDS).map(|number| id(format!("trade-{number}"))).collect::<Result<_>>()?;
    let begun = trades.iter().map(|trade| stage.app.begin_trade(&ids[0], trade, "PENDING"));
    let answers = try_join_all(begun).await?;
    let winners = count(&answers, |answer| answer.is_done());
    check(winners == 1, "not exactly 1 caller has begun the exchange")?;
    let row = stage
        .app
        .transaction(&ids[0])
        .await?
        .ok_or_else(|| wrong("the transaction does not exist"))?;
    let won = trades.iter().zip(&answers).find(|(_, answer)| answer.is_done());
    check(
        won.map(|(trade, _)| trade) == row.trade_id.as_ref(),
        "the transaction does not have the exchange of the winner",
    )?;
    stage.audit().await?;
    let left = format!("{:?}", row.status);
    Ok(Race { name: "beginning an exchange", contenders: answers.len(), winners, left })
}

/// Half of the callers complete a transaction, and half fail it.
async fn end(db: &Db) -> Result<Race> {
    let mut stage = Stage::new(db, "end", 10, 10).await?;
    let ids = stage.ids(1)?;
    let paid = stage.pay(&ids[0]).await?;
    check(matches!(paid, Authorised::Done(_)), "cannot authorise the transaction to settle")?;
    let (app, id) = (&stage.app, &ids[0]);
    let settle = |number: u32| async move {
        match number % 2 {
            0 => app.complete(id, None).await,
            _ => app.fail(id, None).await,
        }
    };
    let answers = try_join_all((0..SENDS).map(settle)).await?;
    let winners = count(&answers, |answer| matches!(answer, Settled::Done(_)));
    check(winners == 1, "not exactly 1 caller has settled the transaction")?;
    let others = |answer: &Settled| matches!(answer, Settled::Already(_) | Settled::Otherwise(_));
    check(
        winners + count(&answers, others) == answers.len(),
        "a loser does not get the settled transaction",
    )?;
    let books = stage.audit().await?;
    check(books.account.reserved_usdt.is_zero(), "an amount is still reserved")?;
    let row =
        stage.app.transaction(id).await?.ok_or_else(|| wrong("the transaction does not exist"))?;
    let left = format!("{:?}, balance {}", row.status, books.account.balance_usdt);
    Ok(Race { name: "settling", contenders: answers.len(), winners, left })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn days<const N: usize>(paid: [u32; N]) -> BTreeMap<Day, u32> {
        let names = ["2025-08-18", "2025-08-19"].map(|day| day.parse().unwrap());
        names.into_iter().zip(paid).collect()
    }

    #[test]
    fn race_over_midnight_has_two_days() {
        assert!(days_are_spent(&days([10]), 50));
        assert!(days_are_spent(&days([4, 10]), 46), "the first day ended early");
        assert!(days_are_spent(&days([10, 5]), 45), "the last payers came late");
        assert!(days_are_spent(&days([4, 5]), 0));
        assert!(!days_are_spent(&days([9]), 51), "a payment below the limit was rejected");
        assert!(!days_are_spent(&days([4, 9]), 47));
        assert!(!days_are_spent(&days([11]), 49));
        assert!(!days_are_spent(&days([11, 10]), 39));
    }
}
