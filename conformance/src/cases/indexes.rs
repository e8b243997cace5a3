//! Index entries: which there are, what they carry, how they follow the item (34, 49, 54).

use super::prelude::*;

cases! {
    Indexes;
}
