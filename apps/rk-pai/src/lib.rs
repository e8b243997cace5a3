//! Users, contracts, permissions and their log: one table with twelve indexes.
//!
//! Names of the document (tables, indexes, attributes, entities, patterns) are spelled as there,
//! in Spanish. A contract is written together with its link to its origin, so that the contracts of
//! an origin are a query; the email of a user is theirs alone. What the indexes carry depends on
//! the [`Entorno`]: everything while developing, what the patterns read in production.

mod app;
mod catalogues;
mod contract_operations;
mod contracts;
mod declarations;
mod email;
mod operations;
mod patterns;
mod table;
mod users;
mod views;

pub use app::RkPaiApp;
pub use catalogues::*;
pub use contract_operations::{ContratoCreated, ContratoMoved};
pub use contracts::*;
pub use email::Email;
pub use operations::{Registrable, RkPai};
pub use patterns::*;
pub use table::{Entorno, RK_PAI, indexes};
pub use users::*;
pub use views::*;

/// The example in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
