//! Capacity units and item-collection metrics (58-60).

use super::prelude::*;

cases! {
    Capacity;
}
