//! A user's panel: goals, products, network and media, in one table.
//!
//! A user is an item collection, which one query reads over all its pages. Users are found by
//! their unique code, members of networks by level and status, of one user or of all, and products
//! by badge. An upload has two steps: a pending asset, which expires, and a confirmation, which
//! links the asset to its user.

mod app;
mod entities;
mod operations;
mod patterns;
#[cfg(test)]
mod tests;

pub use app::GamificacionApp;
pub use entities::*;
pub use operations::{Added, Completed, Confirmed, Created, Gamificacion, Settings};
pub use patterns::*;
