//! Conditions and filters: their text, their limits, their truth (13-21).

use super::prelude::*;

cases! {
    Conditions;
}
