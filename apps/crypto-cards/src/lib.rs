//! Cards that are paid with crypto money.
//!
//! A user has accounts in USDT, BTC and ETH, and cards on them. A payment with a card is
//! authorised: its amount is reserved on the account, recorded under the provider's id, and counted
//! to the card's day, in one transaction. It is completed, which debits the balance and the
//! reservation together, or it fails, which releases the reservation.
//!
//! Money is exact decimal numbers, never floating point, in whole smallest units of its currency
//! ([`Currency::decimals`]). The same authorisation can be sent any
//! number of times, and what the table says of its id is the last word; an answer that was lost is
//! looked up there.
//!
//! Rates, caches, rate limits and the exchange itself are not here: whoever authorises says what
//! the amount is in each currency ([`Authorisation`]), and reports what the exchange says.

mod accounts;
mod app;
mod authorise;
mod books;
pub mod drill;
mod entities;
mod judge;
mod money;
mod patterns;
mod race;
mod seed;
mod settle;
mod texts;
mod trade;

pub use accounts::{CryptoCards, Issued, NewAccount, NewCard};
pub use app::CryptoCardsApp;
pub use authorise::Authorised;
pub use books::Books;
pub use entities::*;
pub use judge::{Authorisation, Rejection};
pub use money::ARS_DECIMALS;
pub use patterns::*;
pub use settle::Settled;
pub use texts::{CardNumberHash, LastFour};
