//! How the data are found. The document numbers none of its patterns: these numbers are ours, of
//! accounts (A), transactions (T), cards (C) and operations (O).

use tabla::entity::{Entity, Find, Id, KeyPart, Pattern, UtcTime};

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
pub(crate) fn patterns() -> Vec<Pattern> {
    vec![
        Pattern::new("account", "an account with its version")
            .number("A1")
            .line(77)
            .get::<Account>(),
        Pattern::new("accounts", "accounts of a user, oldest first")
            .number("A2")
            .line(18)
            .find(|| accounts(&Id::example("user_id")).describe()),
        Pattern::new("transaction", "a transaction by the provider's id")
            .number("T1")
            .line(21)
            .get::<Transaction>(),
        Pattern::new("transactions", "transactions of an account, newest first")
            .number("T2")
            .line(34)
            .find(|| transactions(&account()).describe()),
        Pattern::new("transactions_between", "those of a span of time")
            .number("T2b")
            .line(34)
            .find(|| transactions_between(&account(), moment(), moment()).describe()),
        Pattern::new("transactions_in", "transactions in a status, oldest first")
            .number("T3")
            .line(35)
            .find(|| transactions_in(Status::Completed).describe()),
        Pattern::new("stuck", "transactions that have been open for too long")
            .number("T3b")
            .line(35)
            .find(|| stuck(Status::Trading, moment()).describe()),
        Pattern::new("card", "a card").number("C1").line(38).get::<Card>(),
        Pattern::new("cards", "cards of an account, newest first")
            .number("C2")
            .line(51)
            .find(|| cards(&account()).describe()),
        Pattern::new("books", "an account against its transactions, to reconcile")
            .number("R1")
            .line(84)
            .find(|| transactions(&account()).describe())
            .get::<Account>(),
        Pattern::new("open_account", "an account that was not there")
            .number("O1")
            .line(5)
            .write(|write| write.create::<Account>()),
        Pattern::new("credit", "add to a balance that nobody else has changed")
            .number("O2")
            .line(10)
            .get::<Account>()
            .write(|write| write.update::<Account>()),
        Pattern::new("set_account_status", "suspend, close or reactivate")
            .number("O3")
            .line(13)
            .write(|write| write.update::<Account>()),
        Pattern::new("set_payment_currency", "what an account pays with")
            .number("O4")
            .line(12)
            .write(|write| write.update::<Account>()),
        Pattern::new("issue_card", "a card of an account that is there")
            .number("O5")
            .line(37)
            .transaction(|writes| writes.check::<Account>().create::<Card>()),
        Pattern::new("set_card_status", "block, expire or reactivate")
            .number("O6")
            .line(46)
            .write(|write| write.update::<Card>()),
        Pattern::new("set_daily_limit", "how much can be paid on one day")
            .number("O7")
            .line(47)
            .write(|write| write.update::<Card>()),
        Pattern::new("authorise", "reserve funds: account, transaction and card at once")
            .number("O8")
            .line(76)
            .get::<Transaction>()
            .get::<Card>()
            .get::<Account>()
            .transaction(|writes| {
                writes.update::<Account>().create::<Transaction>().update::<Card>()
            }),
        Pattern::new("begin_trade", "the exchange of reserved funds begins")
            .number("O9")
            .line(29)
            .write(|write| write.update::<Transaction>().changing(Transaction::STATUS)),
        Pattern::new("retry_trade", "the exchange is tried again")
            .number("O10")
            .line(30)
            .get::<Transaction>()
            .write(|write| write.update::<Transaction>()),
        Pattern::new("complete", "debit the balance and the reservation together")
            .number("O11")
            .line(31)
            .get::<Transaction>()
            .transaction(|writes| {
                writes.update::<Account>().update::<Transaction>().changing(Transaction::STATUS)
            }),
        Pattern::new("fail", "release the reservation, give the day back to the card")
            .number("O12")
            .line(82)
            .get::<Transaction>()
            .get::<Card>()
            .transaction(|writes| {
                writes
                    .update::<Account>()
                    .update::<Transaction>()
                    .changing(Transaction::STATUS)
                    .update::<Card>()
            }),
    ]
}
