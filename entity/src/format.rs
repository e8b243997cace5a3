//! How the fields of an entity are written into keys and read back: what `#[derive(Entity)]` puts
//! into its templates.

use std::any::Any;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use super::query::Argument;

use super::part::{Digits, KeyPart, SEPARATOR};
use super::{Sharded, UtcMillis};
use tabla_core::{Error, Result};
use tabla_core::{Item, Value};

/// Appends the text of a field; `false` if the field has no value, and so the key none.
pub type Write = fn(&dyn Any, &mut String) -> Result<bool>;

/// Reads the value of a field, as its attribute would hold it, from its text.
pub type Read = fn(&str) -> Result<Value>;

fn field<T: Any>(value: &dyn Any) -> Result<&T> {
    value.downcast_ref().ok_or_else(|| {
        Error::validation(format!("a field is not of type {}", std::any::type_name::<T>()))
    })
}

/// Whether two attributes are the same, at compile time.
pub const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Writes a field that may have no value.
pub fn optional<T: Any>(value: &dyn Any, out: &mut String, write: Write) -> Result<bool> {
    match field::<Option<T>>(value) {
        Ok(Some(value)) => write(value, out),
        Ok(None) => Ok(false),
        // An update sets the value itself.
        Err(_) => write(value, out),
    }
}

/// Writes a part as it is.
pub fn plain<T: KeyPart>(value: &dyn Any, out: &mut String) -> Result<bool> {
    field::<T>(value)?.write_key(out)?;
    Ok(true)
}

/// Reads a part that was written as it is.
pub fn read_plain<T: KeyPart + Serialize>(text: &str) -> Result<Value> {
    Value::from_struct(&T::read_key(text)?)
}

/// Writes text that must not have the separator.
pub fn checked<T: KeyPart>(value: &dyn Any, out: &mut String) -> Result<bool> {
    let start = out.len();
    field::<T>(value)?.write_key(out)?;
    if out[start..].contains(SEPARATOR) {
        return Err(Error::validation(format!(
            "{:?} cannot stand in a key: it has {SEPARATOR:?}, which separates the parts",
            &out[start..]
        )));
    }
    Ok(true)
}

/// Writes text with the separator escaped.
pub fn escaped<T: KeyPart>(value: &dyn Any, out: &mut String) -> Result<bool> {
    let mut text = String::new();
    field::<T>(value)?.write_key(&mut text)?;
    for character in text.chars() {
        match character {
            SEPARATOR => out.push_str("%23"),
            '%' => out.push_str("%25"),
            other => out.push(other),
        }
    }
    Ok(true)
}

/// Reads text whose separators were escaped.
pub fn read_escaped<T: KeyPart + Serialize>(text: &str) -> Result<Value> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        plain.push_str(&rest[..at]);
        plain.push(match rest.get(at..at + 3) {
            Some("%23") => SEPARATOR,
            Some("%25") => '%',
            _ => return Err(Error::validation(format!("{text:?} is not escaped as keys are"))),
        });
        rest = &rest[at + 3..];
    }
    plain.push_str(rest);
    Value::from_struct(&T::read_key(&plain)?)
}

/// The largest number of this many digits.
fn largest(width: usize) -> u64 {
    10_u64.checked_pow(width as u32).map_or(u64::MAX, |end| end - 1)
}

fn digits<T: Digits + Any>(value: &dyn Any, width: usize) -> Result<u64> {
    let number = field::<T>(value)?.to_digits();
    if number > largest(width) {
        return Err(Error::validation(format!(
            "{number} does not fit the {width} digits that its key has for it"
        )));
    }
    Ok(number)
}

fn read_digits<T: Digits>(text: &str, width: usize, descending: bool) -> Result<T> {
    let refuse = || Error::validation(format!("{text:?} is not a number of {width} digits"));
    if text.len() != width || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse());
    }
    let number: u64 = text.parse().map_err(|_| refuse())?;
    let number = if descending { largest(width) - number } else { number };
    T::from_digits(number).ok_or_else(refuse)
}

/// Writes a number with leading zeros.
pub fn padded<T: Digits + Any, const WIDTH: usize>(
    value: &dyn Any,
    out: &mut String,
) -> Result<bool> {
    let number = digits::<T>(value, WIDTH)?;
    out.push_str(&format!("{number:0WIDTH$}"));
    Ok(true)
}

/// Reads a number with leading zeros.
pub fn read_padded<T: Digits + Serialize, const WIDTH: usize>(text: &str) -> Result<Value> {
    Value::from_struct(&read_digits::<T>(text, WIDTH, false)?)
}

/// Writes a number so that larger ones come first.
pub fn descending<T: Digits + Any, const WIDTH: usize>(
    value: &dyn Any,
    out: &mut String,
) -> Result<bool> {
    let number = largest(WIDTH) - digits::<T>(value, WIDTH)?;
    out.push_str(&format!("{number:0WIDTH$}"));
    Ok(true)
}

/// Reads a number that was written so.
pub fn read_descending<T: Digits + Serialize, const WIDTH: usize>(text: &str) -> Result<Value> {
    Value::from_struct(&read_digits::<T>(text, WIDTH, true)?)
}

/// Writes a field as a part of another type, which is made of it.
pub fn converted<T: Any + Clone, P: KeyPart + From<T>>(
    value: &dyn Any,
    out: &mut String,
) -> Result<bool> {
    P::from(field::<T>(value)?.clone()).write_key(out)?;
    Ok(true)
}

/// Writes the shard of a field.
pub fn sharded<T: KeyPart, const N: u32>(value: &dyn Any, out: &mut String) -> Result<bool> {
    let mut text = String::new();
    field::<T>(value)?.write_key(&mut text)?;
    Sharded::<N>::by(text).write_key(out)?;
    Ok(true)
}

/// How many values a type has: `Values::<T>::COUNT`, of any type, while [`Uncounted`] is in scope.
#[derive(Debug)]
pub struct Values<T>(PhantomData<T>);

impl<T: KeyPart> Values<T> {
    /// As its part says.
    pub const COUNT: Option<u32> = T::VALUES;
}

/// What is said of a type that is no part: a constant of the type itself comes before one of a
/// trait, so that this is taken only where there is no other.
pub trait Uncounted {
    /// Nothing is known.
    const COUNT: Option<u32> = None;
}

impl<T> Uncounted for Values<T> {}

/// The smaller of two numbers, where they are known.
pub const fn fewer(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    match (one, other) {
        (Some(one), Some(other)) if one < other => Some(one),
        (_, Some(other)) => Some(other),
        (one, None) => one,
    }
}

/// The moment of a write, as the field holds it.
pub fn moment<T: From<UtcMillis>>(now: UtcMillis) -> T {
    T::from(now)
}

pub use super::read_key;

/// A field of a key that was read: from the key, or else from the item.
pub fn key_field<T: DeserializeOwned>(
    values: &[(&'static str, Value)],
    name: &str,
    item: &Item,
    attribute: &str,
) -> Result<T> {
    if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
        return value.to_struct();
    }
    match item.get(attribute) {
        Some(value) => value.to_struct(),
        None => Err(Error::validation(format!("the key does not tell `{name}`"))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::UtcTime;
    use super::*;

    fn text(write: Write, value: &dyn Any) -> Result<String> {
        let mut text = String::new();
        write(value, &mut text).map(|written| {
            assert!(written);
            text
        })
    }

    fn back<T: DeserializeOwned>(read: Read, text: &str) -> T {
        read(text).unwrap().to_struct().unwrap()
    }

    proptest! {
        #[test]
        fn numbers_with_a_width_sort_and_read_back(one: u32, other: u32) {
            let (write, read): (Write, Read) = (padded::<u32, 10>, read_padded::<u32, 10>);
            let (a, b) = (text(write, &one).unwrap(), text(write, &other).unwrap());
            prop_assert_eq!(a.cmp(&b), one.cmp(&other));
            prop_assert_eq!(back::<u32>(read, &a), one);
        }

        #[test]
        fn descending_numbers_sort_the_other_way_and_read_back(
            one in 0..=largest(19), other in 0..=largest(19),
        ) {
            let (write, read): (Write, Read) = (descending::<u64, 19>, read_descending::<u64, 19>);
            let (a, b) = (text(write, &one).unwrap(), text(write, &other).unwrap());
            prop_assert_eq!(a.len(), 19);
            prop_assert_eq!(a.cmp(&b), other.cmp(&one));
            prop_assert_eq!(back::<u64>(read, &a), one);
        }

        #[test]
        fn descending_moments_sort_the_other_way_and_read_back(
            one in 0..253_402_300_800_000_u64, other in 0..253_402_300_800_000_u64,
        ) {
            let (x, y) = (UtcMillis::from_millis(one), UtcMillis::from_millis(other));
            let write: Write = descending::<UtcMillis, 15>;
            let (a, b) = (text(write, &x).unwrap(), text(write, &y).unwrap());
            prop_assert_eq!(a.cmp(&b), y.cmp(&x));
            prop_assert_eq!(back::<UtcMillis>(read_descending::<UtcMillis, 15>, &a), x);
            let (x, y) = (x.second(), y.second());
            let write: Write = descending::<UtcTime, 12>;
            let (a, b) = (text(write, &x).unwrap(), text(write, &y).unwrap());
            prop_assert_eq!(a.cmp(&b), y.cmp(&x));
            prop_assert_eq!(back::<UtcTime>(read_descending::<UtcTime, 12>, &a), x);
        }

        #[test]
        fn escaped_texts_are_distinct_and_read_back(
            one in "[#%235a]{1,5}", other in "[#%235a]{1,5}",
        ) {
            let write: Write = escaped::<String>;
            let (a, b) = (text(write, &one).unwrap(), text(write, &other).unwrap());
            prop_assert!(!a.contains(SEPARATOR));
            prop_assert_eq!(a == b, one == other);
            prop_assert_eq!(back::<String>(read_escaped::<String>, &a), one);
        }

        #[test]
        fn checked_texts_have_no_separator(one in "[#a-c]{1,4}") {
            match text(checked::<String>, &one) {
                Ok(written) => prop_assert_eq!(&written, &one),
                Err(_) => prop_assert!(one.contains(SEPARATOR)),
            }
        }
    }

    #[test]
    fn what_was_not_written_so_is_refused() {
        assert!(read_escaped::<String>("a%b").is_err());
        assert!(read_escaped::<String>("a%2").is_err());
        assert!(read_escaped::<String>("a%24").is_err());
        assert!(read_escaped::<String>("%é").is_err());
        assert!(read_escaped::<String>("").is_err());
        for text in ["", "1", "001", "+1", "1é", "a1"] {
            assert!(read_padded::<u8, 2>(text).is_err(), "{text}");
            assert!(read_descending::<u8, 2>(text).is_err(), "{text}");
        }
        assert!(read_padded::<u8, 3>("256").is_err());
        assert_eq!(back::<u8>(read_padded::<u8, 3>, "255"), 255);
        assert!(text(padded::<u8, 2>, &100_u8).is_err());
        assert!(text(descending::<u64, 19>, &u64::MAX).is_err());
        assert!(text(escaped::<String>, &String::new()).is_err());
    }

    #[test]
    fn a_field_without_a_value_is_not_written() {
        let mut out = String::new();
        let write: Write = |value, out| optional::<u8>(value, out, plain::<u8>);
        assert!(!write(&None::<u8>, &mut out).unwrap() && out.is_empty());
        assert!(write(&Some(1_u8), &mut out).unwrap());
        assert!(write(&2_u8, &mut out).unwrap());
        assert_eq!(out, "12");
        assert!(write(&"no number", &mut out).is_err());
    }
}
