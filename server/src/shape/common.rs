//! Shapes that several operations share.

use super::Shape::{self, Binary, Boolean, Choice, List, Map, Text};
use super::{Structure, optional};

/// As long as one likes.
pub(super) const ANY: usize = usize::MAX;

pub(super) static NOTHING: Structure = Structure { class: "Input", members: &[] };

pub(super) static TEXT: Shape = Text { min: 0, max: ANY };
pub(super) static FLAG: Shape = Boolean;

/// A table's name or ARN. That a name has 3 to 255 characters of a few is not seen here.
pub(super) static TABLE: Shape = Text { min: 1, max: 1024 };
/// The lengths of tables' names where they are the names of a map.
pub(super) const TABLES: Option<(usize, usize)> = Some((1, 1024));
pub(super) static INDEX_NAME: Shape = Shape::Name { min: 3, max: 255 };
pub(super) static TABLE_NAME: Shape = Shape::Name { min: 3, max: 255 };

pub(super) static VALUE: Shape = Shape::Value;
pub(super) static VALUES: Shape = List { of: &VALUE, min: 0, max: ANY };
/// An item, its key, or the values of an expression.
pub(super) static ITEM: Shape = Map { of: &VALUE, min: 0, max: ANY, names: None };

/// What a [`Shape::Value`] is.
pub(super) static ATTRIBUTE_VALUE: Structure = Structure {
    class: "AttributeValue",
    members: &[
        optional("SS", &TEXTS),
        optional("BS", &BINARIES),
        optional("B", &BINARY),
        optional("S", &TEXT),
        optional("NULL", &FLAG),
        optional("NS", &TEXTS),
        optional("BOOL", &FLAG),
        optional("L", &VALUES),
        optional("M", &ITEM),
        optional("N", &TEXT),
    ],
};

static BINARY: Shape = Binary;
static BINARIES: Shape = List { of: &BINARY, min: 0, max: ANY };
pub(super) static TEXTS: Shape = List { of: &TEXT, min: 0, max: ANY };

/// Names of attributes that are asked for.
pub(super) static ATTRIBUTES: Shape = List { of: &TEXT, min: 1, max: ANY };
/// What the `#…` of an expression stand for.
pub(super) static NAMES: Shape = Map { of: &TEXT, min: 0, max: ANY, names: None };

pub(super) static AND_OR: Shape = Choice(&["OR", "AND"]);
pub(super) static CAPACITY: Shape = Choice(&["INDEXES", "TOTAL", "NONE"]);
pub(super) static METRICS: Shape = Choice(&["SIZE", "NONE"]);
pub(super) static ON_FAILURE: Shape = Choice(&["ALL_OLD", "NONE"]);
pub(super) static COMPARISON: Shape = Choice(&[
    "IN",
    "NULL",
    "BETWEEN",
    "LT",
    "NOT_CONTAINS",
    "EQ",
    "GT",
    "NOT_NULL",
    "NE",
    "LE",
    "BEGINS_WITH",
    "GE",
    "CONTAINS",
]);
