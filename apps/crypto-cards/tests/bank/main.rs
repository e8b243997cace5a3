//! The bank: what is stored, what losers see, and what failures leave behind.
#![allow(clippy::unwrap_used)]

mod answers_lost;
mod authorising;
mod items;
mod keeping;
mod money;
mod races;
mod settling;
mod stage;
