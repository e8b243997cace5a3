//! Pages and the keys between them (46, 47).

use super::prelude::*;

cases! {
    Pagination;
}
