//! Scans, whole and in segments (51).

use super::prelude::*;

cases! {
    Scan;
}
