//! Arguments of query functions: values of partition keys, and values or ranges of sort keys.

use std::ops::{RangeFrom, RangeInclusive, RangeToInclusive};

/// A value of a key field: the value itself, a reference to it, or `&str` for a `String`.
#[diagnostic::on_unimplemented(
    message = "a key field of type `{T}` cannot have a value of type `{Self}`",
    label = "expected `{T}` or `&{T}`"
)]
pub trait KeyValue<T> {
    /// The value, owned.
    fn into_value(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T> KeyValue<T> for T {
    fn into_value(self) -> T {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Clone> KeyValue<T> for &T {
    fn into_value(self) -> T {
        self.clone()
    }
}

#[diagnostic::do_not_recommend]
impl KeyValue<String> for &str {
    fn into_value(self) -> String {
        self.to_owned()
    }
}

/// A restriction of a sort-key field: one value, or a range that includes its ends (`1..=9`, `1..`,
/// `..=9`).
///
/// After one value, the next field of the sort key can be restricted. A range is the last
/// restriction: DynamoDB reads one contiguous range of keys.
#[diagnostic::on_unimplemented(
    message = "a key field of type `{T}` cannot be restricted by a `{Self}`",
    label = "expected `{T}`, `&{T}` or an inclusive range of `{T}`",
    note = "a range of a key field includes its end: `a..=b`, `a..` or `..=b`"
)]
pub trait KeyBound<T> {
    /// Type of the query after this restriction: `Next` after a value, `End` after a range.
    type Then<Next, End>;

    /// The restriction as data.
    fn into_bound(self) -> Bound<T>;

    /// The query after this restriction.
    fn then<Query, Next, End>(
        query: Query,
        next: fn(Query) -> Next,
        end: fn(Query) -> End,
    ) -> Self::Then<Next, End>;
}

/// A restriction of a sort-key field, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound<T> {
    /// One value.
    Value(T),
    /// From the first value to the last; `None` is no limit.
    Range(Option<T>, Option<T>),
}

impl<T> Bound<T> {
    /// The same restriction of other values.
    pub(super) fn try_map<U>(
        self,
        mut map: impl FnMut(T) -> tabla_core::Result<U>,
    ) -> tabla_core::Result<Bound<U>> {
        Ok(match self {
            Self::Value(value) => Bound::Value(map(value)?),
            Self::Range(low, high) => {
                Bound::Range(low.map(&mut map).transpose()?, high.map(&mut map).transpose()?)
            }
        })
    }
}

macro_rules! value_bounds {
    ($([$($generics:tt)*] $type:ty => $value:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> KeyBound<$value> for $type {
            type Then<Next, End> = Next;

            fn into_bound(self) -> Bound<$value> {
                Bound::Value(KeyValue::<$value>::into_value(self))
            }

            fn then<Query, Next, End>(
                query: Query,
                next: fn(Query) -> Next,
                _: fn(Query) -> End,
            ) -> Next {
                next(query)
            }
        }
    )*};
}

value_bounds! {
    [T] T => T;
    [T: Clone] &T => T;
    [] &str => String;
}

/// First and last value of a range; `None` is no limit.
trait Ends<V> {
    fn ends(self) -> (Option<V>, Option<V>);
}

impl<V> Ends<V> for RangeInclusive<V> {
    fn ends(self) -> (Option<V>, Option<V>) {
        let (first, last) = self.into_inner();
        (Some(first), Some(last))
    }
}

impl<V> Ends<V> for RangeFrom<V> {
    fn ends(self) -> (Option<V>, Option<V>) {
        (Some(self.start), None)
    }
}

impl<V> Ends<V> for RangeToInclusive<V> {
    fn ends(self) -> (Option<V>, Option<V>) {
        (None, Some(self.end))
    }
}

macro_rules! range_bounds {
    ($($range:ident)*) => {$(
        range_bounds!([T] $range<T> => T);
        range_bounds!([T: Clone] $range<&T> => T);
        range_bounds!([] $range<&str> => String);
    )*};
    ([$($generics:tt)*] $range:ty => $value:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> KeyBound<$value> for $range {
            type Then<Next, End> = End;

            fn into_bound(self) -> Bound<$value> {
                let (low, high) = self.ends();
                Bound::Range(low.map(KeyValue::into_value), high.map(KeyValue::into_value))
            }

            fn then<Query, Next, End>(
                query: Query,
                _: fn(Query) -> Next,
                end: fn(Query) -> End,
            ) -> End {
                end(query)
            }
        }
    };
}

range_bounds!(RangeInclusive RangeFrom RangeToInclusive);
