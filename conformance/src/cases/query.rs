//! Queries (44, 45, 48-50, 52).

use super::prelude::*;

cases! {
    Query;
}
