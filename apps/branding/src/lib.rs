//! Themes of businesses: drafts, versions, and the published one.
//!
//! A business has themes, numbered without gaps. Its marker names the published theme. Publishing
//! changes a draft to `published` permanently and moves the marker, in one transaction, if the marker
//! is at the version that the publisher expects. A rollback moves the marker alone.

mod app;
mod entities;
mod operations;
mod patterns;

pub use app::BrandingApp;
pub use entities::*;
pub use operations::{Branding, Moved};
pub use patterns::*;

#[cfg(test)]
mod tests;
