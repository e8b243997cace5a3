//! Views of maps, lists and sets, with their iterators.

use std::cmp::Ordering;
use std::collections::{btree_map, btree_set};
use std::fmt;
use std::slice;

use bytes::Bytes;

use super::ValueRef;
use crate::codec::wire;
use crate::{Map, Number, Set, Value, number};

/// Borrowed view of a map, or of an item's attributes.
#[derive(Clone, Copy)]
pub struct MapRef<'a>(Backing<'a, Map>);

/// Borrowed view of a list.
#[derive(Clone, Copy)]
pub struct ListRef<'a>(Backing<'a, [Value]>);

/// Borrowed view of a set of strings; never empty.
#[derive(Clone, Copy)]
pub struct StringSetRef<'a>(Backing<'a, Set<String>>);

/// Borrowed view of a set of numbers; never empty.
#[derive(Clone, Copy)]
pub struct NumberSetRef<'a>(Backing<'a, Set<Number>>);

/// Borrowed view of a set of binaries; never empty.
#[derive(Clone, Copy)]
pub struct BinarySetRef<'a>(Backing<'a, Set<Bytes>>);

/// Iterator over the attributes of a map, ordered by the bytes of their names.
#[derive(Clone)]
pub struct MapIter<'a>(ContainerIter<'a, btree_map::Iter<'a, String, Value>>);

/// Iterator over the values of a list, in order.
#[derive(Clone)]
pub struct ListIter<'a>(ContainerIter<'a, slice::Iter<'a, Value>>);

/// Iterator over the members of a set of strings, ordered by their bytes.
#[derive(Clone)]
pub struct StringSetIter<'a>(ContainerIter<'a, btree_set::Iter<'a, String>>);

/// Iterator over the members of a set of numbers, in ascending order.
#[derive(Clone)]
pub struct NumberSetIter<'a>(ContainerIter<'a, btree_set::Iter<'a, Number>>);

/// Iterator over the members of a set of binaries, ordered by their bytes.
#[derive(Clone)]
pub struct BinarySetIter<'a>(ContainerIter<'a, btree_set::Iter<'a, Bytes>>);

/// Data behind a view of a container: a tree or encoded bytes.
enum Backing<'a, T: ?Sized> {
    Tree(&'a T),
    Encoded(Elements<'a>),
}

/// Elements of an encoded container that have not been read yet.
#[derive(Clone, Copy)]
struct Elements<'a> {
    count: usize,
    bytes: &'a [u8],
}

/// Iterator over a container in either representation.
#[derive(Clone)]
enum ContainerIter<'a, I> {
    Tree(I),
    Encoded(Elements<'a>),
}

impl<T: ?Sized> Clone for Backing<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Backing<'_, T> {}

impl<'a> Elements<'a> {
    /// Reads the next element. The first unreadable one ends the iteration.
    fn step<T>(&mut self, read: impl FnOnce(&'a [u8]) -> Option<(T, &'a [u8])>) -> Option<T> {
        if self.count == 0 {
            return None;
        }
        match read(self.bytes) {
            Some((element, rest)) => {
                self.count -= 1;
                self.bytes = rest;
                Some(element)
            }
            None => {
                self.count = 0;
                None
            }
        }
    }
}

impl<I: Iterator> ContainerIter<'_, I> {
    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            ContainerIter::Tree(elements) => elements.size_hint(),
            ContainerIter::Encoded(elements) => (elements.count, Some(elements.count)),
        }
    }
}

impl<'a> MapRef<'a> {
    pub(crate) fn encoded(count: usize, bytes: &'a [u8]) -> Self {
        MapRef(Backing::Encoded(Elements { count, bytes }))
    }

    /// Value of the attribute with this name; `None` if there is none.
    ///
    /// On encoded bytes, the search skips the attributes before it without reading their values.
    pub fn get(&self, name: &str) -> Option<ValueRef<'a>> {
        let mut elements = match self.0 {
            Backing::Tree(map) => return map.get(name).map(ValueRef::from),
            Backing::Encoded(elements) => elements,
        };
        let name = name.as_bytes();
        let first = name.first();
        while elements.count > 0 {
            let (found, rest) = wire::take_block(elements.bytes)?;
            // Most names differ in their first byte, which needs no call of memcmp.
            match found.first().cmp(&first).then_with(|| found.cmp(name)) {
                Ordering::Less => {
                    elements.bytes = wire::skip_value(rest)?;
                    elements.count -= 1;
                }
                Ordering::Equal => return Some(ValueRef::read(rest)?.0),
                Ordering::Greater => return None,
            }
        }
        None
    }

    /// Looks up several attributes by distinct names; returns the values in the order of the names.
    ///
    /// On encoded bytes, this is one pass over the attributes.
    pub(crate) fn get_each<'n>(
        &self,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Vec<Option<ValueRef<'a>>> {
        let Backing::Encoded(mut elements) = self.0 else {
            return names.map(|name| self.get(name)).collect();
        };
        let mut values: Vec<Option<ValueRef<'a>>> = names.clone().map(|_| None).collect();
        let mut missing = values.len();
        while elements.count > 0 && missing > 0 {
            let Some((found, rest)) = wire::take_block(elements.bytes) else { break };
            let wanted = names.clone().position(|name| name.as_bytes() == found);
            let after = match wanted {
                Some(wanted) => ValueRef::read(rest).map(|(value, rest)| {
                    values[wanted] = Some(value);
                    missing -= 1;
                    rest
                }),
                None => wire::skip_value(rest),
            };
            let Some(after) = after else { break };
            elements.bytes = after;
            elements.count -= 1;
        }
        values
    }

    /// Whether an attribute of this name exists.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Iterates over the attributes, ordered by the bytes of their names.
    pub fn iter(&self) -> MapIter<'a> {
        MapIter(match self.0 {
            Backing::Tree(map) => ContainerIter::Tree(map.iter()),
            Backing::Encoded(elements) => ContainerIter::Encoded(elements),
        })
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        match self.0 {
            Backing::Tree(map) => map.len(),
            Backing::Encoded(elements) => elements.count,
        }
    }

    /// Whether the map has no attributes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies the attributes into an owned tree.
    pub fn to_map(&self) -> Map {
        match self.0 {
            Backing::Tree(map) => map.clone(),
            Backing::Encoded(_) => {
                self.iter().map(|(name, value)| (name.to_owned(), value.to_value())).collect()
            }
        }
    }

    /// Sum of the sizes of names and values: DynamoDB's item size if these are an
    /// item's attributes.
    pub(crate) fn attributes_size(&self) -> usize {
        self.iter().map(|(name, value)| name.len() + value.size()).sum()
    }
}

impl<'a> ListRef<'a> {
    /// Value at an index, from 0; `None` past the end.
    pub fn get(&self, index: usize) -> Option<ValueRef<'a>> {
        match self.0 {
            Backing::Tree(list) => list.get(index).map(ValueRef::from),
            Backing::Encoded(Elements { count, mut bytes }) => {
                if index >= count {
                    return None;
                }
                for _ in 0..index {
                    bytes = wire::skip_value(bytes)?;
                }
                Some(ValueRef::read(bytes)?.0)
            }
        }
    }

    /// Iterates over the values in order.
    pub fn iter(&self) -> ListIter<'a> {
        ListIter(match self.0 {
            Backing::Tree(list) => ContainerIter::Tree(list.iter()),
            Backing::Encoded(elements) => ContainerIter::Encoded(elements),
        })
    }

    /// Whether an element equals the value.
    pub fn contains(&self, value: ValueRef<'_>) -> bool {
        self.iter().any(|element| element == value)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self.0 {
            Backing::Tree(list) => list.len(),
            Backing::Encoded(elements) => elements.count,
        }
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl StringSetRef<'_> {
    /// Whether the string is a member of the set.
    pub fn contains(&self, member: &str) -> bool {
        match self.0 {
            Backing::Tree(set) => set.contains(member),
            Backing::Encoded(_) => self.iter().any(|found| found == member),
        }
    }
}

impl NumberSetRef<'_> {
    /// Whether the number is a member of the set.
    pub fn contains(&self, member: Number) -> bool {
        match self.0 {
            Backing::Tree(set) => set.contains(&member),
            Backing::Encoded(_) => self.iter().any(|found| found == member),
        }
    }
}

impl BinarySetRef<'_> {
    /// Whether the binary is a member of the set.
    pub fn contains(&self, member: &[u8]) -> bool {
        match self.0 {
            Backing::Tree(set) => set.contains(member),
            Backing::Encoded(_) => self.iter().any(|found| found == member),
        }
    }
}

impl<'a> Iterator for MapIter<'a> {
    type Item = (&'a str, ValueRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            ContainerIter::Tree(entries) => {
                entries.next().map(|(name, value)| (name.as_str(), ValueRef::from(value)))
            }
            ContainerIter::Encoded(elements) => elements.step(|bytes| {
                let (name, rest) = wire::take_block(bytes)?;
                let (value, rest) = ValueRef::read(rest)?;
                Some(((std::str::from_utf8(name).ok()?, value), rest))
            }),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'a> Iterator for ListIter<'a> {
    type Item = ValueRef<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            ContainerIter::Tree(values) => values.next().map(ValueRef::from),
            ContainerIter::Encoded(elements) => elements.step(ValueRef::read),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'a> Iterator for StringSetIter<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            ContainerIter::Tree(members) => members.next().map(String::as_str),
            ContainerIter::Encoded(elements) => elements.step(|bytes| {
                let (member, rest) = wire::take_block(bytes)?;
                Some((std::str::from_utf8(member).ok()?, rest))
            }),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'a> Iterator for NumberSetIter<'a> {
    type Item = Number;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            ContainerIter::Tree(members) => members.next().copied(),
            ContainerIter::Encoded(elements) => elements.step(number::decode),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'a> Iterator for BinarySetIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            ContainerIter::Tree(members) => members.next().map(|member| &member[..]),
            ContainerIter::Encoded(elements) => elements.step(wire::take_block),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// Implements the methods and traits that all views of containers share.
macro_rules! views {
    ($($view:ident, $iter:ident, $tree:ty;)*) => {$(
        impl<'a> $view<'a> {
            /// Reads the content of an encoded container: its element count and its elements.
            pub(super) fn content(bytes: &'a [u8]) -> Option<Self> {
                let (count, bytes) = wire::take_varint(bytes)?;
                Some($view(Backing::Encoded(Elements { count, bytes })))
            }
        }

        impl<'a> From<&'a $tree> for $view<'a> {
            fn from(tree: &'a $tree) -> Self {
                $view(Backing::Tree(tree))
            }
        }

        impl<'a> IntoIterator for $view<'a> {
            type Item = <$iter<'a> as Iterator>::Item;
            type IntoIter = $iter<'a>;

            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }

        impl ExactSizeIterator for $iter<'_> {}

        impl PartialEq for $view<'_> {
            // Names and members have the same order in both representations, so one parallel pass
            // suffices.
            fn eq(&self, other: &Self) -> bool {
                match (self.0, other.0) {
                    (Backing::Tree(one), Backing::Tree(other)) => one == other,
                    // The encoding is canonical: equal values have equal bytes.
                    (Backing::Encoded(one), Backing::Encoded(other)) => {
                        one.count == other.count && one.bytes == other.bytes
                    }
                    _ => self.len() == other.len() && self.iter().eq(other.iter()),
                }
            }
        }

        impl Eq for $view<'_> {}
    )*};
}

views! {
    MapRef, MapIter, Map;
    ListRef, ListIter, [Value];
    StringSetRef, StringSetIter, Set<String>;
    NumberSetRef, NumberSetIter, Set<Number>;
    BinarySetRef, BinarySetIter, Set<Bytes>;
}

/// Implements the methods and traits that all views of sets share.
macro_rules! set_views {
    ($($view:ident, $iter:ident;)*) => {$(
        impl<'a> $view<'a> {
            /// Iterates over the members in order.
            pub fn iter(&self) -> $iter<'a> {
                $iter(match self.0 {
                    Backing::Tree(set) => ContainerIter::Tree(set.iter()),
                    Backing::Encoded(elements) => ContainerIter::Encoded(elements),
                })
            }

            /// Number of members, at least 1.
            #[expect(clippy::len_without_is_empty, reason = "a set is never empty")]
            pub fn len(&self) -> usize {
                match self.0 {
                    Backing::Tree(set) => set.len(),
                    Backing::Encoded(elements) => elements.count,
                }
            }
        }

        impl fmt::Debug for $view<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_set().entries(self.iter()).finish()
            }
        }
    )*};
}

set_views! {
    StringSetRef, StringSetIter;
    NumberSetRef, NumberSetIter;
    BinarySetRef, BinarySetIter;
}

impl fmt::Debug for MapRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl fmt::Debug for ListRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
