//! What must hold however calls interleave.

use super::prelude::*;

cases! {
    Laws;
}
