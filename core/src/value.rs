//! Attribute values as an owned tree: [`Value`] and its type, [`ValueKind`].
//!
//! Borrowed views of values are in `view`, serde in `structs`, DynamoDB JSON in `json`.

#[cfg(test)]
pub(crate) mod arbitrary;
mod convert;
mod validate;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use bytes::Bytes;

use crate::{Error, Number, Set, ValueRef};

pub(crate) use self::validate::{check_attribute, nesting_error};

/// Attributes of an item or of a map value, by name.
pub type Map = BTreeMap<String, Value>;

/// Attribute value of one of DynamoDB's ten types.
///
/// ```
/// use tabla::Value;
///
/// assert_eq!(Value::from("a"), Value::S("a".to_owned()));
/// assert_eq!(Value::from(1), Value::N("1.0".parse()?));
/// # Ok::<(), tabla::NumberError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// String, `S`. A key attribute cannot be empty.
    S(String),
    /// Number, `N`.
    N(Number),
    /// Binary data, `B`. A key attribute cannot be empty.
    B(Bytes),
    /// Boolean, `BOOL`.
    Bool(bool),
    /// Explicit null, `NULL`. An attribute that is null exists.
    Null,
    /// Map of attributes by name, `M`.
    M(Map),
    /// List of values of any types, `L`.
    L(Vec<Value>),
    /// Set of strings, `SS`.
    Ss(Set<String>),
    /// Set of numbers, `NS`.
    Ns(Set<Number>),
    /// Set of binaries, `BS`.
    Bs(Set<Bytes>),
}

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueKind {
    /// String, `S`.
    S,
    /// Number, `N`.
    N,
    /// Binary data, `B`.
    B,
    /// Boolean, `BOOL`.
    Bool,
    /// Explicit null, `NULL`.
    Null,
    /// Map, `M`.
    M,
    /// List, `L`.
    L,
    /// Set of strings, `SS`.
    Ss,
    /// Set of numbers, `NS`.
    Ns,
    /// Set of binaries, `BS`.
    Bs,
}

impl Value {
    /// Borrows the value as a view.
    pub fn as_ref(&self) -> ValueRef<'_> {
        ValueRef::from(self)
    }

    /// Type of the value.
    pub fn kind(&self) -> ValueKind {
        match self {
            Value::S(_) => ValueKind::S,
            Value::N(_) => ValueKind::N,
            Value::B(_) => ValueKind::B,
            Value::Bool(_) => ValueKind::Bool,
            Value::Null => ValueKind::Null,
            Value::M(_) => ValueKind::M,
            Value::L(_) => ValueKind::L,
            Value::Ss(_) => ValueKind::Ss,
            Value::Ns(_) => ValueKind::Ns,
            Value::Bs(_) => ValueKind::Bs,
        }
    }

    /// DynamoDB's code of the type: `S`, `N`, `B`, `BOOL`, `NULL`, `M`, `L`, `SS`, `NS` or `BS`.
    pub fn type_code(&self) -> &'static str {
        self.kind().code()
    }

    /// Size of the value as DynamoDB counts it in an item, in bytes.
    pub fn size(&self) -> usize {
        self.as_ref().size()
    }

    /// Number of nested lists and maps, this value included; 0 for other types.
    pub fn depth(&self) -> usize {
        self.as_ref().depth()
    }

    /// Text of a string; `None` for other types.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::S(value) => Some(value),
            _ => None,
        }
    }

    /// Value of a number; `None` for other types.
    pub fn as_number(&self) -> Option<Number> {
        match self {
            Value::N(value) => Some(*value),
            _ => None,
        }
    }

    /// Bytes of binary data; `None` for other types.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::B(value) => Some(value),
            _ => None,
        }
    }

    /// Value of a Boolean; `None` for other types.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Elements of a list; `None` for other types.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::L(value) => Some(value),
            _ => None,
        }
    }

    /// Attributes of a map; `None` for other types.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Value::M(value) => Some(value),
            _ => None,
        }
    }
}

impl ValueKind {
    /// All types, in the order of the enum.
    pub const ALL: [ValueKind; 10] = [
        ValueKind::S,
        ValueKind::N,
        ValueKind::B,
        ValueKind::Bool,
        ValueKind::Null,
        ValueKind::M,
        ValueKind::L,
        ValueKind::Ss,
        ValueKind::Ns,
        ValueKind::Bs,
    ];

    /// DynamoDB's code of the type: `S`, `N`, `B`, `BOOL`, `NULL`, `M`, `L`, `SS`, `NS` or `BS`.
    pub fn code(self) -> &'static str {
        match self {
            ValueKind::S => "S",
            ValueKind::N => "N",
            ValueKind::B => "B",
            ValueKind::Bool => "BOOL",
            ValueKind::Null => "NULL",
            ValueKind::M => "M",
            ValueKind::L => "L",
            ValueKind::Ss => "SS",
            ValueKind::Ns => "NS",
            ValueKind::Bs => "BS",
        }
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl FromStr for ValueKind {
    type Err = Error;

    /// Parses a type code in capital letters, such as `BOOL`.
    fn from_str(code: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|kind| kind.code() == code).ok_or_else(|| {
            Error::validation(format!(
                "unknown value type `{code}`; use S, N, B, BOOL, NULL, M, L, SS, NS or BS"
            ))
        })
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{list, map};

    #[test]
    fn type_code_parses_to_the_same_type() {
        for kind in ValueKind::ALL {
            assert_eq!(kind.code().parse::<ValueKind>().unwrap(), kind);
            assert_eq!(kind.to_string(), kind.code());
        }
        assert!("s".parse::<ValueKind>().is_err());
    }

    /// The sizes were measured on DynamoDB Local.
    #[test]
    fn size_of_each_type_matches_dynamodb_local() {
        let strings = |members: &[&str]| {
            Value::Ss(Set::new(members.iter().map(|member| (*member).to_owned())).unwrap())
        };
        let numbers = |members: &[&str]| {
            Value::Ns(Set::new(members.iter().map(|member| member.parse().unwrap())).unwrap())
        };
        let cases = [
            (Value::Null, 1),
            (Value::from(false), 1),
            (Value::from(""), 0),
            (Value::from("\u{e9}"), 2),
            (Value::from(b"abc"), 3),
            (list![], 3),
            (Value::M(Map::new()), 3),
            (list![1], 6),
            (list!["", ""], 5),
            (Value::M(map! { "ab" => "" }), 6),
            (Value::M(map! { "a" => list![] }), 8),
            (strings(&["a", "b"]), 2),
            (numbers(&["1", "2"]), 4),
            (numbers(&["100", "-42"]), 5),
            (Value::Bs(Set::new([Bytes::from("a")]).unwrap()), 1),
        ];
        for (value, size) in cases {
            assert_eq!(value.size(), size, "{value:?}");
            let item = crate::item! { "name" => &value };
            assert_eq!(item.size(), 4 + size);
            assert_eq!(item.into_encoded().size(), 4 + size);
        }
    }

    #[test]
    fn debug_output_is_dynamodb_json() {
        let value = Value::M(map! { "a" => list![1, "x", true, b"b"], "z" => Value::Null });
        assert_eq!(
            format!("{value:?}"),
            r#"{"M":{"a": {"L":[{"N":"1"}, {"S":"x"}, {"BOOL":true}, {"B":"Yg=="}]}, "z": {"NULL":true}}}"#
        );
    }
}
