//! A user's panel: goals, products, network and media, in one table.
//!
//! Everything about a user is in one partition and comes back whole with one read, however many
//! pages it takes. Users are found by their code, which is theirs alone; the members of their
//! networks by level and status, within a user and overall; products by badge. A file is uploaded
//! in two steps: a pending asset that expires by itself, and a confirmation that links it to its
//! user.

mod app;
mod entities;
mod operations;
mod patterns;
#[cfg(test)]
mod tests;

pub use app::GamificacionApp;
pub use entities::*;
pub use operations::{Added, Completed, Confirmed, Created, Gamificacion, Settings, Upload};
pub use patterns::*;
