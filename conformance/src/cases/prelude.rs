//! What family files import with `use super::prelude::*`.

// A prelude offers more than each file takes.
#![allow(unused_imports)]

pub(super) use tabla_core::expr::{Projection, Update, attr};
pub(super) use tabla_core::ops::*;
pub(super) use tabla_core::{
    CancellationCode, ErrorKind, Item, KeyType, Map, Number, Set, Store, Value, ValueRef, assign,
    item, list, map,
};

pub(super) use crate::case::cases;
pub(super) use crate::{Ctx, Table, TableSpec};
