//! Tests of the app: stored items, outcomes of races, and effects of failures.
#![allow(clippy::unwrap_used)]

mod authorising;
mod items;
mod keeping;
mod lost_responses;
mod money;
mod races;
mod settling;
mod stage;
