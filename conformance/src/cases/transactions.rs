//! Transactions (36-39, 41-43).

use super::prelude::*;

cases! {
    Transactions;
}
