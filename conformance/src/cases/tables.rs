//! Creating, changing and deleting tables (53, 54, 61).

use super::prelude::*;

cases! {
    Tables;
}
