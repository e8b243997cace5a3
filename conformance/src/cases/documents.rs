//! Requests that the design documents of the apps give.

use super::prelude::*;

cases! {
    Documents;
}
