//! Themes of businesses: drafts, versions, and the one that is published.
//!
//! A business has themes, numbered without gaps. One of them is published: the marker says which.
//! Publishing takes a draft to `published` for good and moves the marker, in one transaction, only
//! if the marker is where the publisher believes it to be; going back moves the marker alone.

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
