//! Projections: selection of the parts of an item that a read returns.

use std::collections::BTreeMap;

use crate::Item;
use crate::expr::path::{Path, PathElement};
use crate::limits;
use crate::{Map, Value};
use crate::{MapRef, ValueRef};

/// Attributes and nested values that a read returns, as document paths.
///
/// Key attributes are not included automatically. Elements of a list keep their order without gaps;
/// a missing value is omitted.
///
/// ```
/// use tabla::{Projection, attr, item};
///
/// let projection = Projection::new(["a", "b"]).path(attr("m").field("x"));
/// assert_eq!(projection.project(&item! { "a" => 1, "c" => 2 }), item! { "a" => 1 });
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection {
    pub(crate) paths: Vec<Path>,
}

impl Projection {
    /// Creates a projection of paths or attribute names.
    pub fn new<P: Into<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self { paths: paths.into_iter().map(Into::into).collect() }
    }

    /// Adds a path to the projection.
    #[must_use]
    pub fn path(mut self, path: impl Into<Path>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// Paths of the projection, in order.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Returns the parts of the item that the projection names.
    pub fn project<'a>(&self, item: impl Into<MapRef<'a>>) -> Item {
        project(&self.paths, item.into())
    }
}

/// Returns the parts of an item at these paths.
pub(crate) fn project<'p>(paths: impl IntoIterator<Item = &'p Path>, item: MapRef<'_>) -> Item {
    let mut roots: BTreeMap<&str, Selection<'_>> = BTreeMap::new();
    for path in paths {
        // No item is nested deeper than this, so such a path matches nothing.
        if path.depth() <= limits::PATH_ELEMENTS {
            roots.entry(path.root()).or_default().select(path.elements());
        }
    }
    let mut projected = Map::new();
    for (name, selection) in roots {
        if let Some(value) = item.get(name).and_then(|value| selection.take(value)) {
            projected.insert(name.to_owned(), value);
        }
    }
    Item::from(projected)
}

/// Selected parts of one value: all of it, or some of its elements.
#[derive(Default)]
struct Selection<'p> {
    whole: bool,
    fields: BTreeMap<&'p str, Selection<'p>>,
    indexes: BTreeMap<u32, Selection<'p>>,
}

impl<'p> Selection<'p> {
    fn select(&mut self, steps: &'p [PathElement]) {
        let mut selection = self;
        for step in steps {
            selection = match step {
                PathElement::Field(name) => selection.fields.entry(name).or_default(),
                PathElement::Index(index) => selection.indexes.entry(*index).or_default(),
            };
        }
        selection.whole = true;
    }

    /// Copies the selected parts; `None` if the value has none of them.
    fn take(&self, value: ValueRef<'_>) -> Option<Value> {
        if self.whole {
            return Some(value.to_value());
        }
        match value {
            ValueRef::M(map) => {
                let fields: Map = self
                    .fields
                    .iter()
                    .filter_map(|(name, inner)| {
                        Some(((*name).to_owned(), inner.take(map.get(name)?)?))
                    })
                    .collect();
                (!fields.is_empty()).then_some(Value::M(fields))
            }
            ValueRef::L(list) => {
                let elements: Vec<Value> = self
                    .indexes
                    .iter()
                    .filter_map(|(index, inner)| inner.take(list.get(*index as usize)?))
                    .collect();
                (!elements.is_empty()).then_some(Value::L(elements))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{attr, item};

    fn nested() -> Item {
        let inner = item! { "q" => 7, "r" => 8 }.into_map();
        item! {
            "a" => 1,
            "l" => Value::L(vec![0.into(), "x".into(), inner.clone().into()]),
            "m" => inner,
        }
    }

    #[test]
    fn projection_merges_siblings_and_closes_gaps_in_lists() {
        let projection = Projection::new([
            attr("l").index(2).field("q"),
            attr("l").index(0),
            attr("m").field("r"),
            attr("l").index(9),
        ]);
        let inner = Value::from(item! { "q" => 7 }.into_map());
        let expected = item! {
            "l" => Value::L(vec![0.into(), inner]),
            "m" => item! { "r" => 8 }.into_map(),
        };
        assert_eq!(projection.project(&nested()), expected);
        assert_eq!(projection.project(&nested().into_encoded()), expected);
    }

    #[test]
    fn missing_values_are_omitted() {
        for path in [
            attr("z"),
            attr("m").field("z"),
            attr("m").index(0),
            attr("l").field("x"),
            attr("l").index(1).field("x"),
            attr("a").field("x"),
        ] {
            assert!(Projection::new([&path]).project(&nested()).is_empty(), "{path}");
        }
    }

    #[test]
    fn path_of_100000_steps_matches_nothing() {
        let path = (0..100_000).fold(attr("l"), |path, _| path.index(0));
        assert!(Projection::new([path]).project(&nested()).is_empty());
    }
}
