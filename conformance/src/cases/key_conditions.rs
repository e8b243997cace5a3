//! Key conditions (28).

use super::prelude::*;

cases! {
    KeyConditions;
}
