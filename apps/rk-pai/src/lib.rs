//! Users, contracts, permissions and logs in one table with twelve indexes.
//!
//! Names of tables, indexes, attributes, entities and patterns are those of the document, in
//! Spanish. A link from the origin is written with each contract, so that the contracts of an origin
//! are a query. The email of a user is unique. An index carries all attributes in development, and
//! those that the patterns read in production: see [`Entorno`].

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
