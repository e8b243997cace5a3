//! Update expressions (23-27).

use super::prelude::*;

cases! {
    Updates;
}
