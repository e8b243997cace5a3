//! Imports of the family files, for `use super::prelude::*`.

// No file uses all of these imports.
#![allow(unused_imports)]

pub(super) use tabla_core::expr::{Projection, Update, attr};
pub(super) use tabla_core::ops::*;
pub(super) use tabla_core::{
    CancellationCode, ErrorKind, Item, KeyType, Map, Number, Set, Store, Value, ValueRef, assign,
    item, list, map,
};

pub(super) use crate::case::cases;
pub(super) use crate::{Ctx, Table, TableSpec};
