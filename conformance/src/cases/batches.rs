//! Batches of reads and writes (35).

use super::prelude::*;

cases! {
    Batches;
}
