//! Access patterns. The document has no numbers for them. These are of accounts (A), transactions
//! (T), cards (C), reconciliation (R) and operations (O).

use tabla::entity::{EntityQuery, Id, KeyPart, Pattern, UtcTime};
use tabla_kit::{AtLine, Documented};

use crate::entities::*;

/// Accounts of a user, oldest first.
pub fn accounts(user: &Id) -> EntityQuery<Account> {
    Account::by_user(user).into_query()
}

/// Transactions of an account, newest first.
pub fn transactions(account: &Id) -> EntityQuery<Transaction> {
    Transaction::by_account(account).newest_first()
}

/// Transactions of an account from one moment to another, both included, newest first.
pub fn transactions_between(account: &Id, from: UtcTime, to: UtcTime) -> EntityQuery<Transaction> {
    Transaction::by_account(account).authorized_at(from..=to).newest_first()
}

/// Transactions in a status, oldest first.
pub fn transactions_in(status: Status) -> EntityQuery<Transaction> {
    Transaction::by_status(status).into_query()
}

/// Transactions in a status that were authorised up to a moment, oldest first.
pub fn stuck(status: Status, until: UtcTime) -> EntityQuery<Transaction> {
    Transaction::by_status(status).authorized_at(..=until)
}

/// Cards of an account, newest first.
pub fn cards(account: &Id) -> EntityQuery<Card> {
    Card::by_account(account).newest_first()
}

fn account() -> Id {
    Id::example("account_id")
}

fn moment() -> UtcTime {
    UtcTime::example("authorized_at")
}

/// All patterns.
pub(crate) fn patterns() -> Vec<Documented> {
    vec![
        Pattern::new("account", "an account with its version")
            .number("A1")
            .get::<Account>()
            .at_line(77),
        Pattern::new("accounts", "accounts of a user, oldest first")
            .number("A2")
            .find(|| accounts(&Id::example("user_id")).describe())
            .at_line(18),
        Pattern::new("transaction", "a transaction by the provider's id")
            .number("T1")
            .get::<Transaction>()
            .at_line(21),
        Pattern::new("transactions", "transactions of an account, newest first")
            .number("T2")
            .find(|| transactions(&account()).describe())
            .at_line(34),
        Pattern::new("transactions_between", "those of a span of time")
            .number("T2b")
            .find(|| transactions_between(&account(), moment(), moment()).describe())
            .at_line(34),
        Pattern::new("transactions_in", "transactions in a status, oldest first")
            .number("T3")
            .find(|| transactions_in(Status::Completed).describe())
            .at_line(35),
        Pattern::new("stuck", "transactions that have been open for too long")
            .number("T3b")
            .find(|| stuck(Status::Trading, moment()).describe())
            .at_line(35),
        Pattern::new("card", "a card").number("C1").get::<Card>().at_line(38),
        Pattern::new("cards", "cards of an account, newest first")
            .number("C2")
            .find(|| cards(&account()).describe())
            .at_line(51),
        Pattern::new("books", "an account against its transactions, to reconcile")
            .number("R1")
            .find(|| transactions(&account()).describe())
            .get::<Account>()
            .at_line(84),
        Pattern::new("open_account", "an account that was not there")
            .number("O1")
            .write(|write| write.create::<Account>())
            .at_line(5),
        Pattern::new("credit", "add to a balance that nobody else has changed")
            .number("O2")
            .get::<Account>()
            .write(|write| write.update::<Account>())
            .at_line(10),
        Pattern::new("set_account_status", "suspend, close or reactivate")
            .number("O3")
            .write(|write| write.update::<Account>())
            .at_line(13),
        Pattern::new("set_payment_currency", "what an account pays with")
            .number("O4")
            .write(|write| write.update::<Account>())
            .at_line(12),
        Pattern::new("issue_card", "a card of an account that is there")
            .number("O5")
            .transaction(|writes| writes.check::<Account>().create::<Card>())
            .at_line(37),
        Pattern::new("set_card_status", "block, expire or reactivate")
            .number("O6")
            .write(|write| write.update::<Card>())
            .at_line(46),
        Pattern::new("set_daily_limit", "how much can be paid on one day")
            .number("O7")
            .write(|write| write.update::<Card>())
            .at_line(47),
        Pattern::new("authorise", "reserve funds: account, transaction and card at once")
            .number("O8")
            .get::<Transaction>()
            .get::<Card>()
            .get::<Account>()
            .transaction(|writes| {
                writes.update::<Account>().create::<Transaction>().update::<Card>()
            })
            .at_line(79),
        Pattern::new("begin_trade", "the exchange of reserved funds begins")
            .number("O9")
            .write(|write| write.update::<Transaction>().changing(Transaction::STATUS))
            .at_line(29),
        Pattern::new("retry_trade", "the exchange is tried again")
            .number("O10")
            .get::<Transaction>()
            .write(|write| write.update::<Transaction>())
            .at_line(30),
        Pattern::new("complete", "debit the balance and the reservation together")
            .number("O11")
            .get::<Transaction>()
            .transaction(|writes| {
                writes.update::<Account>().update::<Transaction>().changing(Transaction::STATUS)
            })
            .at_line(31),
        Pattern::new("fail", "release the reservation, give the day back to the card")
            .number("O12")
            .get::<Transaction>()
            .get::<Card>()
            .transaction(|writes| {
                writes
                    .update::<Account>()
                    .update::<Transaction>()
                    .changing(Transaction::STATUS)
                    .update::<Card>()
            })
            .at_line(83),
    ]
}
