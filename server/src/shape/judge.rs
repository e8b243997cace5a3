//! Whether a request has the shape of its operation.

use std::fmt::{Display, Write};

use tabla::schema::Constraints;
use tabla::{Error, Result};

use super::node::{self, Node};
use super::{Member, Need, Shape, Structure, input};
use crate::operation::Operation;

/// Looks for what is wrong with the shape of a request, which the service tells before all else:
/// first text that is no JSON, or something of the wrong type, and then all constraints that are
/// broken.
///
/// # Errors
///
/// What the service answers to a request of this shape.
pub(crate) fn judge(operation: Operation, body: &[u8]) -> Result<()> {
    let input = input(operation);
    let Node::Structure(given) = node::read(input, body)? else { return Ok(()) };
    for (number, member) in input.members.iter().enumerate() {
        if let Need::First(missing) = member.need
            && find(&given, number).is_none()
        {
            return Err(Error::validation(missing));
        }
    }
    let mut judge = Judge::default();
    judge.structure(input, &given);
    judge.found.finish()
}

/// A member that is there and not null.
fn find(given: &[(usize, Node)], number: usize) -> Option<&Node> {
    let (_, node) = given.iter().find(|(found, _)| *found == number)?;
    (!matches!(node, Node::Absent)).then_some(node)
}

/// The constraints found broken, and the place that is looked at.
#[derive(Debug, Default)]
struct Judge {
    found: Constraints,
    path: String,
}

impl Judge {
    fn structure(&mut self, structure: &Structure, given: &[(usize, Node)]) {
        for (number, member) in structure.members.iter().enumerate() {
            let node = find(given, number);
            if self.found.is_full() {
                return;
            }
            if node.is_none() && !member.need.is_needed() {
                continue;
            }
            self.at(lower_first(member.name), |judge| match node {
                Some(node) => judge.node(member.shape, node),
                None => judge.found.missing(&judge.path),
            });
        }
    }

    fn node(&mut self, shape: &Shape, node: &Node) {
        let Self { found, path } = self;
        match (shape, node) {
            (Shape::Text { min, max }, Node::Text(text)) => found.length(text, path, *min, *max),
            (Shape::Name { min, max }, Node::Text(text)) => found.name(text, path, *min, *max),
            (Shape::Choice(choices), Node::Text(text)) => found.choice(text, path, choices),
            (Shape::Integer { min, max } | Shape::Long { min, max }, Node::Number(number)) => {
                found.at_least(*number, &path, *min);
                found.at_most(*number, &path, *max);
            }
            (Shape::Structure(structure), Node::Structure(given)) => {
                self.structure(structure, given);
            }
            (Shape::List { of, min, max }, Node::List(elements)) => {
                match is_shown(of) {
                    true => {
                        found.count(elements.len(), Some(&shown(of, elements)), path, *min, *max)
                    }
                    false => found.count(elements.len(), None, path, *min, *max),
                }
                self.elements(of, elements);
            }
            (Shape::Map { of, min, max, names }, Node::Map(entries)) => {
                found.count(entries.len(), None, &path, *min, *max);
                let is_broken = |(min, max), length| !(min..=max).contains(&length);
                if let Some(bounds) = *names
                    && entries.iter().any(|(name, _)| is_broken(bounds, name.len()))
                {
                    found.violated_unseen(&path, each("Map keys", bounds));
                }
                self.entries(of, entries);
            }
            _ => {}
        }
    }

    fn elements(&mut self, of: &Shape, elements: &[Node]) {
        for (number, element) in (1..).zip(elements) {
            if self.found.is_full() {
                return;
            }
            self.at(format_args!("{number}.member"), |judge| match (of, element) {
                // There is nothing that a null could stand for in a list.
                (Shape::Structure(_), Node::Absent) => judge.found.missing(&judge.path),
                _ => judge.node(of, element),
            });
        }
    }

    fn entries(&mut self, of: &Shape, entries: &[(String, Node)]) {
        // The lengths of lists in a map are told of the map.
        if let Shape::List { of, min, max } = of {
            let is_broken = |node: &Node| matches!(node, Node::List(elements) if !(*min..=*max).contains(&elements.len()));
            if entries.iter().any(|(_, node)| is_broken(node)) {
                self.found.violated_unseen(&self.path, each("Map value", (*min, *max)));
            }
            for (name, node) in entries {
                if let Node::List(elements) = node {
                    self.at(format_args!("{name}.member"), |judge| judge.elements(of, elements));
                }
            }
            return;
        }
        for (name, node) in entries {
            if self.found.is_full() {
                return;
            }
            self.at(format_args!("{name}.member"), |judge| judge.node(of, node));
        }
    }

    /// Looks at a part of the place that is looked at.
    fn at(&mut self, part: impl Display, look: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        let dot = if self.path.is_empty() { "" } else { "." };
        write!(self.path, "{dot}{part}").expect("a text takes anything");
        look(self);
        self.path.truncate(length);
    }
}

/// The rule for all lengths in a map.
fn each(what: &str, (min, max): (usize, usize)) -> String {
    format!(
        "{what} must satisfy constraint: [Member must have length less than or equal to {max}, \
         Member must have length greater than or equal to {min}]"
    )
}

/// The service writes the names of members with a small letter.
fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// Whether a list of these is shown where it is told of. What may hold items is not.
fn is_shown(of: &Shape) -> bool {
    match of {
        Shape::Text { .. } | Shape::Name { .. } | Shape::Choice(_) => true,
        Shape::Structure(structure) => structure
            .members
            .iter()
            .all(|member| !matches!(member.shape, Shape::Structure(_)) && is_shown(member.shape)),
        _ => false,
    }
}

/// A list as the service shows it.
fn shown(of: &Shape, elements: &[Node]) -> String {
    let elements: Vec<String> = elements.iter().map(|element| shown_element(of, element)).collect();
    format!("[{}]", elements.join(", "))
}

fn shown_element(of: &Shape, element: &Node) -> String {
    match (of, element) {
        (_, Node::Text(text)) => text.clone(),
        (Shape::Structure(structure), Node::Structure(given)) => {
            let member = |(number, member): (usize, &Member)| {
                let value = match find(given, number) {
                    Some(node) => shown_element(member.shape, node),
                    None => "null".to_owned(),
                };
                format!("{}={value}", lower_first(member.name))
            };
            let members: Vec<String> = structure.members.iter().enumerate().map(member).collect();
            format!("{}({})", structure.class, members.join(", "))
        }
        _ => "null".to_owned(),
    }
}
