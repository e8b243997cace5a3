//! How the data are found. The document numbers none of its patterns: these numbers are ours, of
//! accounts (A), transactions (T), cards (C) and operations (O).

use tabla::entity::{Entity, Find, Id, KeyPart, Pattern, UtcTime};
use tabla_kit::{AtLine, Documented};

use crate::entities::*;

/// The accounts of a user, oldest first.
pub fn accounts(user: &Id) -> Find<Account> {
    Account::find_by("user-accounts").with(Account::USER_ID, user)
}

/// The transactions of an account, newest first.
pub fn transactions(account: &Id) -> Find<Transaction> {
    Transaction::find_by("account-transactions").with(Transaction::ACCOUNT_ID, account).descending()
}

/// The transactions of an account that were authorised between these moments, which belong to
/// them; newest first.
pub fn transactions_between(account: &Id, from: UtcTime, to: UtcTime) -> Find<Transaction> {
    transactions(account).between(Transaction::AUTHORIZED_AT, from, to)
}

/// The transactions in a status, oldest first.
pub fn transactions_in(status: Status) -> Find<Transaction> {
    Transaction::find_by("status-transactions").with(Transaction::STATUS, status)
}

/// The transactions that are in a status and were authorised no later than this, oldest first: if
/// it is an open one, they are stuck.
pub fn stuck(status: Status, until: UtcTime) -> Find<Transaction> {
    transactions_in(status).to(Transaction::AUTHORIZED_AT, until)
}

/// The cards of an account, newest first.
pub fn cards(account: &Id) -> Find<Card> {
    Card::find_by("account-cards").with(Card::ACCOUNT_ID, account).descending()
}

fn account() -> Id {
    Id::example("account_id")
}

fn moment() -> UtcTime {
    UtcTime::example("authorized_at")
}

/// All of them.
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
