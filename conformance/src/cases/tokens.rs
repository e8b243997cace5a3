//! Client request tokens (40).

use super::prelude::*;

cases! {
    Tokens;
}
