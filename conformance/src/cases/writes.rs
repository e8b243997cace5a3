//! Put, update and delete of one item (29-34).

use super::prelude::*;

cases! {
    Writes;
}
