//! Document paths: an attribute and the elements of the nested lists and maps.

use std::collections::BTreeMap;
use std::fmt;

use crate::expr::ExpressionProblem;
use crate::limits;
use crate::{MapRef, ValueRef};

/// Document path: the name of a top-level attribute and the steps to a nested value.
///
/// Names are literal: a dot or a bracket is part of the name, and reserved words are allowed.
/// Builders of conditions and updates start from a path; see [`attr`].
///
/// ```
/// use tabla::attr;
///
/// let path = attr("orders").index(0).field("total");
/// assert_eq!(path.to_string(), "orders[0].total");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    root: String,
    steps: Vec<PathElement>,
}

/// Step of a [`Path`] from a map or a list to one of its elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathElement {
    /// Name of an element of a map.
    Field(String),
    /// Index of an element of a list, from 0.
    Index(u32),
}

/// Creates the path of a top-level attribute.
///
/// ```
/// use tabla::attr;
///
/// let condition = attr("status").eq("draft").and(attr("version").ge(3));
/// # let _ = condition;
/// ```
pub fn attr(name: impl Into<String>) -> Path {
    Path::attr(name)
}

impl Path {
    /// Creates the path of a top-level attribute.
    pub fn attr(name: impl Into<String>) -> Self {
        Self { root: name.into(), steps: Vec::new() }
    }

    /// Appends the name of an element of the map at this path.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>) -> Self {
        self.steps.push(PathElement::Field(name.into()));
        self
    }

    /// Appends the index of an element of the list at this path, from 0.
    #[must_use]
    pub fn index(mut self, index: u32) -> Self {
        self.steps.push(PathElement::Index(index));
        self
    }

    /// Name of the top-level attribute.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Steps after the top-level attribute.
    pub fn elements(&self) -> &[PathElement] {
        &self.steps
    }

    /// Name of the attribute, if the path has no further steps.
    pub fn as_attribute(&self) -> Option<&str> {
        self.steps.is_empty().then_some(self.root.as_str())
    }

    /// Number of elements, including the attribute: 3 for `a.b[0]`.
    pub fn depth(&self) -> usize {
        1 + self.steps.len()
    }

    /// Returns the value at this path; `None` if there is none.
    pub fn resolve<'a>(&self, item: impl Into<MapRef<'a>>) -> Option<ValueRef<'a>> {
        let mut value = item.into().get(&self.root)?;
        for step in &self.steps {
            value = match (step, value) {
                (PathElement::Field(name), ValueRef::M(map)) => map.get(name)?,
                (PathElement::Index(index), ValueRef::L(list)) => list.get(*index as usize)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// Formats the path as in DynamoDB's messages: `[a, [0], b]`.
    pub(crate) fn bracketed(&self) -> String {
        let mut text = format!("[{}", self.root);
        for step in &self.steps {
            match step {
                PathElement::Field(name) => text.push_str(&format!(", {name}")),
                PathElement::Index(index) => text.push_str(&format!(", [{index}]")),
            }
        }
        text.push(']');
        text
    }

    /// Checks the depth of the path, its names and its indexes.
    pub(crate) fn check(&self) -> Result<(), ExpressionProblem> {
        if self.root.is_empty() {
            return Err(empty_name());
        }
        for step in &self.steps {
            match step {
                PathElement::Field(name) if name.is_empty() => return Err(empty_name()),
                PathElement::Index(index) if *index > limits::LIST_INDEX => {
                    return Err(index_out_of_range(index));
                }
                _ => {}
            }
        }
        if self.depth() > limits::PATH_ELEMENTS {
            return Err(ExpressionProblem::new(format!(
                "The document path has too many nesting levels; nesting levels: {}",
                self.depth()
            )));
        }
        Ok(())
    }
}

/// Error of a list index above [`limits::LIST_INDEX`].
pub(crate) fn index_out_of_range(index: impl fmt::Display) -> ExpressionProblem {
    ExpressionProblem::new(format!(
        "List index is not within the allowable range; index: [{index}]"
    ))
}

fn empty_name() -> ExpressionProblem {
    ExpressionProblem::new("The document path has an empty attribute name")
}

/// Checks that paths are valid and that none is part of another.
///
/// DynamoDB checks the last path first.
pub(crate) fn check_paths<'p, I>(paths: I) -> Result<(), ExpressionProblem>
where
    I: IntoIterator<Item = &'p Path>,
    I::IntoIter: DoubleEndedIterator,
{
    let mut later: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for path in paths.into_iter().rev() {
        path.check()?;
        let same_root = later.entry(path.root()).or_default();
        same_root.iter().rev().try_for_each(|other| check_disjoint(path, other))?;
        same_root.push(path);
    }
    Ok(())
}

/// Checks that two paths of one update or projection do not overlap or conflict.
pub(crate) fn check_disjoint(one: &Path, two: &Path) -> Result<(), ExpressionProblem> {
    let Some(word) = clash(one, two) else { return Ok(()) };
    Err(ExpressionProblem::new(format!(
        "Two document paths {word} with each other; must remove or rewrite one of these paths; \
         path one: {}, path two: {}",
        one.bracketed(),
        two.bracketed()
    )))
}

/// DynamoDB's word for the relation of two paths: overlap, conflict, or none.
fn clash(one: &Path, two: &Path) -> Option<&'static str> {
    if one.root != two.root {
        return None;
    }
    for (a, b) in one.steps.iter().zip(&two.steps) {
        match (a, b) {
            (PathElement::Field(_), PathElement::Index(_))
            | (PathElement::Index(_), PathElement::Field(_)) => {
                return Some("conflict");
            }
            _ if a != b => return None,
            _ => {}
        }
    }
    Some("overlap")
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        for step in &self.steps {
            match step {
                PathElement::Field(name) => write!(f, ".{name}")?,
                PathElement::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl From<&str> for Path {
    fn from(name: &str) -> Self {
        Self::attr(name)
    }
}

impl From<String> for Path {
    fn from(name: String) -> Self {
        Self::attr(name)
    }
}

impl From<&Path> for Path {
    fn from(path: &Path) -> Self {
        path.clone()
    }
}
