//! Expiry of items (55).

use super::prelude::*;

cases! {
    Ttl;
}
