//! Shapes that several operations share.

use super::Shape::{self, Binary, Boolean, Choice, List, Map, Text};
use super::{Structure, optional};

/// Maximum of a length without a limit.
pub(super) const ANY: usize = usize::MAX;

pub(super) static NOTHING: Structure = Structure { class: "Input", members: &[] };

pub(super) static TEXT: Shape = Text { min: 0, max: ANY };
pub(super) static FLAG: Shape = Boolean;

/// Name or ARN of a table. Core validates the length and the characters of a name.
pub(super) static TABLE: Shape = Text { min: 1, max: 1024 };
/// Lengths of table names that are the names of a map.
pub(super) const TABLES: Option<(usize, usize)> = Some((1, 1024));
pub(super) static INDEX_NAME: Shape = Shape::Name { min: 3, max: 255 };
pub(super) static TABLE_NAME: Shape = Shape::Name { min: 3, max: 255 };

pub(super) static VALUE: Shape = Shape::Value;
pub(super) static VALUES: Shape = List { of: &VALUE, min: 0, max: ANY };
/// Item, key, or values of an expression.
pub(super) static ITEM: Shape = Map { of: &VALUE, min: 0, max: ANY, names: None };

/// Structure of a [`Shape::Value`].
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

/// List of attribute names.
pub(super) static ATTRIBUTES: Shape = List { of: &TEXT, min: 1, max: ANY };
/// Values of the `#…` placeholders of an expression.
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
