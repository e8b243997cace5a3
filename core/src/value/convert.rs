//! Conversions from Rust's types to [`Value`].

use bytes::Bytes;

use super::{Map, Value};
use crate::{Item, Number, NumberError, Set, ValueRef};

macro_rules! from_numbers {
    ($($number:ty)*) => {$(
        impl From<$number> for Value {
            fn from(value: $number) -> Self {
                Value::N(Number::from(value))
            }
        }
    )*};
}

from_numbers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

macro_rules! from_variants {
    ($($from:ty => $variant:ident,)*) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Value::$variant(value.into())
            }
        }
    )*};
}

from_variants! {
    &str => S,
    &String => S,
    String => S,
    Number => N,
    Bytes => B,
    Vec<u8> => B,
    bool => Bool,
    Map => M,
    Item => M,
    Vec<Value> => L,
    Set<String> => Ss,
    Set<Number> => Ns,
    Set<Bytes> => Bs,
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Value::B(Bytes::copy_from_slice(value))
    }
}

impl<const N: usize> From<&[u8; N]> for Value {
    fn from(value: &[u8; N]) -> Self {
        Value::from(&value[..])
    }
}

impl<const N: usize> From<[Value; N]> for Value {
    fn from(values: [Value; N]) -> Self {
        Value::L(values.into())
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        value.to_value()
    }
}

impl TryFrom<f64> for Value {
    type Error = NumberError;

    /// Converts to the shortest decimal that parses to the same `f64`.
    fn try_from(value: f64) -> Result<Self, NumberError> {
        Number::try_from(value).map(Value::N)
    }
}

impl TryFrom<i128> for Value {
    type Error = NumberError;

    fn try_from(value: i128) -> Result<Self, NumberError> {
        Number::try_from(value).map(Value::N)
    }
}

impl TryFrom<u128> for Value {
    type Error = NumberError;

    fn try_from(value: u128) -> Result<Self, NumberError> {
        Number::try_from(value).map(Value::N)
    }
}
