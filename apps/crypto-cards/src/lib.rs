//! Payment cards on accounts in cryptocurrency.
//!
//! A user has accounts in USDT, BTC and ETH, and cards on them. The authorisation of a payment
//! reserves its amount on the account, records it under the provider's id, and counts it for the
//! card's daily limit, in one transaction. Its completion debits the balance and the reservation
//! together; its failure releases the reservation.
//!
//! Amounts are exact decimal numbers, in whole smallest units of their currency
//! ([`Currency::decimals`]). An authorisation can be sent any number of times, and the transaction
//! under its id decides the outcome.
//!
//! Rates, caches, rate limits and the exchange itself are not part of this crate: the caller has the
//! amount in each currency ([`Authorisation`]), and reports the status of the exchange.

mod accounts;
mod app;
mod authorise;
mod books;
pub mod drill;
mod entities;
mod money;
mod patterns;
mod race;
mod rules;
mod seed;
mod settle;
mod texts;
mod trade;

pub use accounts::{CryptoCards, Issued};
pub use app::CryptoCardsApp;
pub use authorise::Authorised;
pub use books::Books;
pub use entities::*;
pub use money::ARS_DECIMALS;
pub use patterns::*;
pub use rules::{Authorisation, Rejection};
pub use settle::Settled;
pub use texts::{CardNumberHash, LastFour};
