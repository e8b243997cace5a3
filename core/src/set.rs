//! Sets of strings, numbers or binaries: never empty, no duplicates, ordered by value.
//!
//! Borrowed views of sets are in `view`.

use std::borrow::Borrow;
use std::collections::{BTreeSet, btree_set};
use std::fmt;

use bytes::Bytes;

use crate::{Error, Number};

/// Set of strings, numbers or binaries, as in DynamoDB's types `SS`, `NS` and `BS`.
///
/// A set has at least one member and no two equal ones. Members are stored and returned in order:
/// strings and binaries by their bytes, numbers by value.
///
/// ```
/// use tabla::{Number, Set};
///
/// let set = Set::new([10, 9].map(Number::from))?;
/// assert_eq!(set.first(), &Number::from(9));
/// assert!(Set::new(["a".to_owned(), "a".to_owned()]).is_err());
/// # Ok::<(), tabla::SetError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set<T>(BTreeSet<T>);

/// Type that a set can hold: `String`, [`Number`] or [`Bytes`].
pub trait SetMember: Ord + Clone + private::Member {}

/// Error for members that cannot form a set: there are none, or two are equal.
///
/// The text is DynamoDB's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetError(SetErrorKind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum SetErrorKind {
    Empty(&'static str),
    Duplicate(String),
}

impl<T: SetMember> Set<T> {
    /// Creates a set from members in any order.
    ///
    /// # Errors
    ///
    /// There is no member, or two are equal. Numbers compare by value: `1` equals `1.0`.
    pub fn new(members: impl IntoIterator<Item = T>) -> Result<Self, SetError> {
        let members: Vec<T> = members.into_iter().collect();
        if members.is_empty() {
            return Err(SetError::of(&members));
        }
        let mut order: Vec<&T> = members.iter().collect();
        order.sort_unstable();
        if order.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(SetError::of(&members));
        }
        Ok(Set(members.into_iter().collect()))
    }

    /// Creates a set and drops duplicates; `None` if there are no members.
    pub fn merged(members: impl IntoIterator<Item = T>) -> Option<Self> {
        let set: BTreeSet<T> = members.into_iter().collect();
        (!set.is_empty()).then_some(Set(set))
    }

    /// Returns the union: all members of both sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Set(self.0.union(&other.0).cloned().collect())
    }

    /// Returns the members that `other` does not contain; `None` if there are none.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<Self> {
        let left: BTreeSet<T> = self.0.difference(&other.0).cloned().collect();
        (!left.is_empty()).then_some(Set(left))
    }
}

impl SetError {
    /// Creates the error for members that cannot form a set: there are none, or duplicates.
    pub(crate) fn of<T: SetMember>(members: &[T]) -> Self {
        Self(match members.is_empty() {
            true => SetErrorKind::Empty(T::EMPTY),
            false => SetErrorKind::Duplicate(T::duplicates(members)),
        })
    }

    /// Creates the error for strings, owned or borrowed, that cannot form a set.
    pub(crate) fn of_strings<S: Borrow<str>>(members: &[S]) -> Self {
        Self(match members.is_empty() {
            true => SetErrorKind::Empty(<String as private::Member>::EMPTY),
            false => SetErrorKind::Duplicate(private::duplicate_strings(members)),
        })
    }
}

impl<T: Ord> Set<T> {
    /// Number of members, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a set is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the value is a member of the set.
    pub fn contains<Q>(&self, value: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.0.contains(value)
    }

    /// Smallest member.
    pub fn first(&self) -> &T {
        self.0.first().expect("a set is never empty")
    }

    /// Iterates over the members in order.
    pub fn iter(&self) -> btree_set::Iter<'_, T> {
        self.0.iter()
    }
}

impl<T> IntoIterator for Set<T> {
    type Item = T;
    type IntoIter = btree_set::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Set<T> {
    type Item = &'a T;
    type IntoIter = btree_set::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: SetMember> TryFrom<Vec<T>> for Set<T> {
    type Error = SetError;

    fn try_from(members: Vec<T>) -> Result<Self, SetError> {
        Set::new(members)
    }
}

impl<T: SetMember, const N: usize> TryFrom<[T; N]> for Set<T> {
    type Error = SetError;

    fn try_from(members: [T; N]) -> Result<Self, SetError> {
        Set::new(members)
    }
}

impl<T: fmt::Debug> fmt::Debug for Set<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.0).finish()
    }
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            SetErrorKind::Empty(text) => f.write_str(text),
            SetErrorKind::Duplicate(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SetError {}

impl From<SetError> for Error {
    fn from(error: SetError) -> Self {
        Error::validation(error.to_string())
    }
}

impl SetMember for String {}
impl SetMember for Number {}
impl SetMember for Bytes {}

mod private {
    use std::borrow::Borrow;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer};

    use crate::{Number, ValueRef};

    /// Behavior that depends on a set's type: DynamoDB's texts, and deserialization of a member.
    pub trait Member: Sized {
        const EMPTY: &'static str;

        fn duplicates(members: &[Self]) -> String;

        fn lend(&self) -> ValueRef<'_>;

        fn deserialize_member<'de, D: Deserializer<'de>>(deserializer: D)
        -> Result<Self, D::Error>;
    }

    pub(super) fn duplicate_strings<S: Borrow<str>>(members: &[S]) -> String {
        format!(
            "One or more parameter values were invalid: Input collection [{}] contains duplicates.",
            members.join(", ")
        )
    }

    impl Member for String {
        // The grammar and the two spaces are DynamoDB's.
        const EMPTY: &'static str =
            "One or more parameter values were invalid: An string set  may not be empty";

        fn duplicates(members: &[Self]) -> String {
            duplicate_strings(members)
        }

        fn lend(&self) -> ValueRef<'_> {
            ValueRef::S(self)
        }

        fn deserialize_member<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Self, D::Error> {
            String::deserialize(deserializer)
        }
    }

    impl Member for Number {
        const EMPTY: &'static str =
            "One or more parameter values were invalid: An number set  may not be empty";

        fn duplicates(_: &[Self]) -> String {
            "Input collection contains duplicates".to_owned()
        }

        fn lend(&self) -> ValueRef<'_> {
            ValueRef::N(*self)
        }

        fn deserialize_member<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Self, D::Error> {
            Number::deserialize(deserializer)
        }
    }

    impl Member for Bytes {
        const EMPTY: &'static str =
            "One or more parameter values were invalid: Binary sets should not be empty";

        fn duplicates(members: &[Self]) -> String {
            let members: Vec<String> = members.iter().map(|m| STANDARD.encode(m)).collect();
            format!(
                "One or more parameter values were invalid: Input collection [{}]of type BS \
                 contains duplicates.",
                members.join(", ")
            )
        }

        fn lend(&self) -> ValueRef<'_> {
            ValueRef::B(self)
        }

        fn deserialize_member<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Self, D::Error> {
            Bytes::deserialize(deserializer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(members: &[&str]) -> Result<Set<String>, SetError> {
        Set::new(members.iter().map(|member| (*member).to_owned()))
    }

    #[test]
    fn members_are_ordered_by_value() {
        let set = strings(&["b", "a", "\u{e9}", "C", ""]).unwrap();
        assert_eq!(set.iter().collect::<Vec<_>>(), ["", "C", "a", "b", "\u{e9}"]);
        assert_eq!(set.first(), "");
        assert_eq!(set.len(), 5);
        assert!(set.contains("C") && !set.contains("c"));
        let numbers = Set::new(["10", "9", "-1", "0.5"].map(|text| text.parse().unwrap())).unwrap();
        let texts: Vec<String> = numbers.iter().map(Number::to_string).collect();
        assert_eq!(texts, ["-1", "0.5", "9", "10"]);
    }

    #[test]
    fn empty_sets_and_duplicates_fail_with_the_texts_of_dynamodb() {
        let cases = [
            (
                strings(&[]).unwrap_err(),
                "One or more parameter values were invalid: An string set  may not be empty",
            ),
            (
                Set::<Number>::new([]).unwrap_err(),
                "One or more parameter values were invalid: An number set  may not be empty",
            ),
            (
                Set::<Bytes>::new([]).unwrap_err(),
                "One or more parameter values were invalid: Binary sets should not be empty",
            ),
            (
                strings(&["b", "a", "b"]).unwrap_err(),
                "One or more parameter values were invalid: Input collection [b, a, b] contains \
                 duplicates.",
            ),
            (
                Set::new(["1", "1.0"].map(|text| text.parse::<Number>().unwrap())).unwrap_err(),
                "Input collection contains duplicates",
            ),
            (
                Set::new([Bytes::from("b"), Bytes::from("b")]).unwrap_err(),
                "One or more parameter values were invalid: Input collection [Yg==, Yg==]of type \
                 BS contains duplicates.",
            ),
        ];
        for (error, text) in cases {
            assert_eq!(error.to_string(), text);
            assert_eq!(Error::from(error).code(), "ValidationException");
        }
    }

    #[test]
    fn difference_without_members_is_none() {
        let one = strings(&["a", "b"]).unwrap();
        let other = strings(&["b", "c"]).unwrap();
        assert_eq!(one.union(&other), strings(&["a", "b", "c"]).unwrap());
        assert_eq!(one.difference(&other), strings(&["a"]).ok());
        assert_eq!(one.difference(&one), None);
        assert_eq!(Set::<String>::merged([]), None);
        assert_eq!(Set::merged(["a".to_owned(), "a".to_owned()]), strings(&["a"]).ok());
    }
}
