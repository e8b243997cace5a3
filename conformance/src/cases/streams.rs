//! Streams of changes (56, 57).

use super::prelude::*;

cases! {
    Streams;
}
