//! Expressions as text: placeholders, and parsing into a tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::Value;
use crate::expr::lexer::word_length;
use crate::expr::lower::Lowering;
use crate::expr::syntax::Parser;
use crate::expr::{Condition, Projection, Update};
use crate::limits;
use crate::{Error, Result};

/// Names of the `#name` placeholders of a request: `ExpressionAttributeNames`.
pub type Names = BTreeMap<String, String>;

/// Values of the `:value` placeholders of a request: `ExpressionAttributeValues`.
pub type Values = BTreeMap<String, Value>;

/// Expression in a request: a tree, or a text with the placeholders of the request.
///
/// ```
/// use tabla::{Condition, Expr, attr};
///
/// let built: Expr<Condition> = attr("n").gt(3).into();
/// let written: Expr<Condition> = "n > :n".into();
/// assert_ne!(built, written);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Expr<T> {
    /// Expression as a tree.
    Tree(T),
    /// Expression as text.
    Text(String),
}

impl<T> From<&str> for Expr<T> {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<T> From<String> for Expr<T> {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Condition> for Expr<Condition> {
    fn from(tree: Condition) -> Self {
        Self::Tree(tree)
    }
}

impl From<Update> for Expr<Update> {
    fn from(tree: Update) -> Self {
        Self::Tree(tree)
    }
}

impl From<Projection> for Expr<Projection> {
    fn from(tree: Projection) -> Self {
        Self::Tree(tree)
    }
}

/// Request parameter that an expression belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpressionKind {
    /// Condition of a write, `ConditionExpression`.
    Condition,
    /// Filter of the items that a read returns, `FilterExpression`.
    Filter,
    /// Key condition of a query, `KeyConditionExpression`.
    KeyCondition,
    /// Changes of an update, `UpdateExpression`.
    Update,
    /// Attributes that a read returns, `ProjectionExpression`.
    Projection,
}

impl ExpressionKind {
    /// Name of the parameter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Condition => "ConditionExpression",
            Self::Filter => "FilterExpression",
            Self::KeyCondition => "KeyConditionExpression",
            Self::Update => "UpdateExpression",
            Self::Projection => "ProjectionExpression",
        }
    }
}

impl fmt::Display for ExpressionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reason for rejecting an expression: DynamoDB's message without the parameter's name.
#[derive(Debug, PartialEq)]
pub(crate) struct ExpressionProblem(String);

impl ExpressionProblem {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    pub(crate) fn of(self, kind: ExpressionKind) -> Error {
        Error::validation(format!("Invalid {kind}: {}", self.0))
    }
}

/// Placeholders of one request, shared by all of its expressions.
///
/// Parse each expression of the request, then call [`Placeholders::finish`]: an unused placeholder
/// is an error.
///
/// ```
/// use tabla::backend::Placeholders;
/// use tabla::expr::{ExpressionKind, Names, Values};
/// use tabla::attr;
///
/// let names = Names::from([("#s".to_owned(), "status".to_owned())]);
/// let values = Values::from([(":d".to_owned(), "draft".into())]);
/// let mut placeholders = Placeholders::new(&names, &values)?;
/// let condition = placeholders.parse_condition(ExpressionKind::Condition, "#s = :d")?;
/// placeholders.finish()?;
/// assert_eq!(condition, attr("status").eq("draft"));
/// # Ok::<(), tabla::Error>(())
/// ```
#[derive(Debug)]
pub struct Placeholders<'a> {
    names: &'a Names,
    values: &'a Values,
    used_names: BTreeSet<&'a str>,
    used_values: BTreeSet<&'a str>,
}

impl<'a> Placeholders<'a> {
    /// Checks the placeholders of a request; either map can be empty.
    ///
    /// # Errors
    /// With DynamoDB's message, if a key is not `#` or `:` followed by letters, digits and
    /// underscores, a key or a name is too long, a name is empty, a value is nested too deeply, or
    /// all placeholders together exceed [`limits::SUBSTITUTION_BYTES`].
    pub fn new(names: &'a Names, values: &'a Values) -> Result<Self> {
        for key in names.keys() {
            check_key("ExpressionAttributeNames", '#', key)?;
        }
        for (key, name) in names {
            if name.is_empty() {
                return Err(Error::validation(format!(
                    "ExpressionAttributeNames contains invalid value: Empty attribute name for \
                     key {key}"
                )));
            }
            if name.len() > limits::ATTRIBUTE_NAME_BYTES {
                return Err(Error::validation(format!(
                    "ExpressionAttributeNames contains invalid value: Attribute name is too \
                     large, must be less than 65536 bytes for key {key}"
                )));
            }
        }
        for key in values.keys() {
            check_key("ExpressionAttributeValues", ':', key)?;
        }
        for (key, value) in values {
            if value.depth() > limits::VALUE_DEPTH {
                return Err(Error::validation(format!(
                    "ExpressionAttributeValues contains invalid value: Nesting Levels have \
                     exceeded supported limits: Attributes in the item have nested levels beyond \
                     supported limit for key {key}"
                )));
            }
        }
        let names_size = names.iter().map(|(key, name)| key.len() + name.len()).sum::<usize>();
        let values_size = values.iter().map(|(key, value)| key.len() + value.size()).sum::<usize>();
        for (what, size) in [
            ("ExpressionAttributeNames", names_size),
            ("ExpressionAttributeValues", values_size),
            (
                "Combined size of ExpressionAttributeNames and ExpressionAttributeValues",
                names_size + values_size,
            ),
        ] {
            if size > limits::SUBSTITUTION_BYTES {
                return Err(Error::validation(format!("{what} exceeds max size")));
            }
        }
        Ok(Self { names, values, used_names: BTreeSet::new(), used_values: BTreeSet::new() })
    }

    /// Parses and validates a condition, filter or key condition.
    ///
    /// # Errors
    /// With DynamoDB's message for the first error in the text.
    pub fn parse_condition(&mut self, kind: ExpressionKind, text: &str) -> Result<Condition> {
        Parser::new(kind, text)
            .and_then(Parser::condition)
            .and_then(|(syntax, top)| Lowering::new(self, &syntax, kind)?.condition(top))
            .map_err(|problem| problem.of(kind))
    }

    /// Parses and validates an update.
    ///
    /// # Errors
    /// With DynamoDB's message for the first error in the text.
    pub fn parse_update(&mut self, text: &str) -> Result<Update> {
        let kind = ExpressionKind::Update;
        Parser::new(kind, text)
            .and_then(Parser::update)
            .and_then(|(syntax, actions, sections)| {
                Lowering::new(self, &syntax, kind)?.update(&actions, &sections)
            })
            .map_err(|problem| problem.of(kind))
    }

    /// Parses and validates a projection.
    ///
    /// # Errors
    /// With DynamoDB's message for the first error in the text.
    pub fn parse_projection(&mut self, text: &str) -> Result<Projection> {
        let kind = ExpressionKind::Projection;
        Parser::new(kind, text)
            .and_then(Parser::projection)
            .and_then(|(syntax, paths)| Lowering::new(self, &syntax, kind)?.projection(&paths))
            .map_err(|problem| problem.of(kind))
    }

    /// Returns a condition as a validated tree; parses it if it is text.
    ///
    /// # Errors
    /// An error of [`Placeholders::parse_condition`] or [`Condition::validate`].
    pub fn condition(&mut self, kind: ExpressionKind, expr: &Expr<Condition>) -> Result<Condition> {
        match expr {
            Expr::Text(text) => self.parse_condition(kind, text),
            Expr::Tree(tree) => tree.validate(kind).map(|()| tree.clone()),
        }
    }

    /// Returns an update as a validated tree; parses it if it is text.
    ///
    /// # Errors
    /// An error of [`Placeholders::parse_update`] or [`Update::validate`].
    pub fn update(&mut self, expr: &Expr<Update>) -> Result<Update> {
        match expr {
            Expr::Text(text) => self.parse_update(text),
            Expr::Tree(tree) => tree.validate().map(|()| tree.clone()),
        }
    }

    /// Returns a projection as a validated tree; parses it if it is text.
    ///
    /// # Errors
    /// An error of [`Placeholders::parse_projection`] or [`Projection::validate`].
    pub fn projection(&mut self, expr: &Expr<Projection>) -> Result<Projection> {
        match expr {
            Expr::Text(text) => self.parse_projection(text),
            Expr::Tree(tree) => tree.validate().map(|()| tree.clone()),
        }
    }

    /// Checks that the parsed expressions use all placeholders.
    ///
    /// # Errors
    /// With DynamoDB's message, which names all unused placeholders.
    pub fn finish(self) -> Result<()> {
        refuse_unused("ExpressionAttributeNames", self.names.keys(), &self.used_names)?;
        refuse_unused("ExpressionAttributeValues", self.values.keys(), &self.used_values)
    }

    /// Looks up a `#name` and marks it as used.
    pub(crate) fn name(&mut self, key: &str) -> Result<&'a str, ExpressionProblem> {
        match self.names.get_key_value(key) {
            Some((key, name)) => {
                self.used_names.insert(key);
                Ok(name)
            }
            None => Err(ExpressionProblem::new(format!(
                "An expression attribute name used in the document path is not defined; \
                 attribute name: {key}"
            ))),
        }
    }

    /// Looks up a `:value` and marks it as used.
    pub(crate) fn value(&mut self, key: &str) -> Result<&'a Value, ExpressionProblem> {
        match self.values.get_key_value(key) {
            Some((key, value)) => {
                self.used_values.insert(key);
                Ok(value)
            }
            None => Err(ExpressionProblem::new(format!(
                "An expression attribute value used in expression is not defined; attribute \
                 value: {key}"
            ))),
        }
    }
}

fn check_key(parameter: &str, mark: char, key: &str) -> Result<()> {
    let problem = if key.is_empty() {
        "The expression attribute map contains an empty key;".to_owned()
    } else if !key
        .strip_prefix(mark)
        .is_some_and(|rest| !rest.is_empty() && word_length(rest) == rest.len())
    {
        format!("Syntax error; key: \"{key}\"")
    } else if key.len() > limits::PLACEHOLDER_BYTES {
        let size = if mark == '#' { format!(" size of key: {}", key.len()) } else { String::new() };
        format!("The expression attribute map contains a key that is too long;{size}")
    } else {
        return Ok(());
    };
    Err(Error::validation(format!("{parameter} contains invalid key: {problem}")))
}

fn refuse_unused<'a>(
    parameter: &str,
    keys: impl Iterator<Item = &'a String>,
    used: &BTreeSet<&str>,
) -> Result<()> {
    let unused: Vec<&str> = keys.map(String::as_str).filter(|key| !used.contains(key)).collect();
    if unused.is_empty() {
        return Ok(());
    }
    Err(Error::validation(format!(
        "Value provided in {parameter} unused in expressions: keys: {{{}}}",
        unused.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attr;

    fn names<const N: usize>(pairs: [(&str, &str); N]) -> Names {
        pairs.into_iter().map(|(key, name)| (key.to_owned(), name.to_owned())).collect()
    }

    fn values<const N: usize>(keys: [&str; N]) -> Values {
        keys.into_iter().map(|key| (key.to_owned(), Value::from(1))).collect()
    }

    fn refusal(names: &Names, values: &Values) -> String {
        Placeholders::new(names, values).unwrap_err().message().to_owned()
    }

    #[test]
    fn malformed_placeholders_are_rejected() {
        let none = Values::new();
        assert_eq!(
            refusal(&names([("n", "a")]), &none),
            "ExpressionAttributeNames contains invalid key: Syntax error; key: \"n\""
        );
        assert_eq!(
            refusal(&names([("", "a")]), &none),
            "ExpressionAttributeNames contains invalid key: The expression attribute map contains \
             an empty key;"
        );
        assert_eq!(
            refusal(&names([("#n", "")]), &none),
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #n"
        );
        let long = format!("#{}", "n".repeat(255));
        assert_eq!(
            refusal(&names([(long.as_str(), "a")]), &none),
            "ExpressionAttributeNames contains invalid key: The expression attribute map contains \
             a key that is too long; size of key: 256"
        );
        let name = "n".repeat(65_536);
        assert_eq!(
            refusal(&names([("#n", name.as_str())]), &none),
            "ExpressionAttributeNames contains invalid value: Attribute name is too large, must \
             be less than 65536 bytes for key #n"
        );
        Placeholders::new(&names([("#n", &name[1..]), (&long[..255], "a"), ("#0", "a")]), &none)
            .unwrap();
        for key in [":", "#v", "v", ":a-b", ":é", "::"] {
            assert_eq!(
                refusal(&Names::new(), &values([key])),
                format!(
                    "ExpressionAttributeValues contains invalid key: Syntax error; key: \"{key}\""
                )
            );
        }
        let long = format!(":{}", "v".repeat(255));
        assert_eq!(
            refusal(&Names::new(), &values([long.as_str()])),
            "ExpressionAttributeValues contains invalid key: The expression attribute map \
             contains a key that is too long;"
        );
    }

    #[test]
    fn placeholder_values_too_deep_or_too_large_are_rejected() {
        let nested = |levels| (0..levels).fold(Value::from(1), |inner, _| Value::L(vec![inner]));
        let of = |value| Values::from([(":v".to_owned(), value)]);
        Placeholders::new(&Names::new(), &of(nested(32))).unwrap();
        assert_eq!(
            refusal(&Names::new(), &of(nested(33))),
            "ExpressionAttributeValues contains invalid value: Nesting Levels have exceeded \
             supported limits: Attributes in the item have nested levels beyond supported limit \
             for key :v"
        );
        Placeholders::new(&Names::new(), &of("x".repeat((2 << 20) - 2).into())).unwrap();
        Placeholders::new(&Names::new(), &of("x".repeat((2 << 20) - 1).into())).unwrap_err();
    }

    #[test]
    fn unused_placeholders_are_rejected() {
        let names = names([("#a", "a"), ("#t", "t"), ("#u", "u")]);
        let values = values([":t", ":u", ":v"]);
        let mut placeholders = Placeholders::new(&names, &values).unwrap();
        placeholders.parse_condition(ExpressionKind::Condition, "#a = :v").unwrap();
        assert_eq!(
            placeholders.finish().unwrap_err().message(),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#t, #u}"
        );
        let mut placeholders = Placeholders::new(&names, &values).unwrap();
        placeholders.parse_update("SET #a = :v REMOVE #t").unwrap();
        placeholders.parse_projection("#u").unwrap();
        assert_eq!(
            placeholders.finish().unwrap_err().message(),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:t, :u}"
        );
    }

    #[test]
    fn expression_over_4096_bytes_is_rejected() {
        let values = values([":v"]);
        let names = names([("#n", "n")]);
        let mut placeholders = Placeholders::new(&names, &values).unwrap();
        let padded = |text: &str, length: usize| text.to_owned() + &" ".repeat(length - text.len());
        for kind in
            [ExpressionKind::Condition, ExpressionKind::Filter, ExpressionKind::KeyCondition]
        {
            placeholders.parse_condition(kind, &padded("#n = :v", 4096)).unwrap();
            assert_eq!(
                placeholders.parse_condition(kind, &padded("#n = :v", 4097)).unwrap_err().message(),
                format!(
                    "Invalid {kind}: Expression size has exceeded the maximum allowed size; \
                     expression size: 4097"
                )
            );
        }
        placeholders.parse_update(&padded("SET a = :v", 4096)).unwrap();
        assert_eq!(
            placeholders.parse_update(&padded("SET a = :v", 4097)).unwrap_err().message(),
            "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;"
        );
        assert_eq!(
            placeholders.parse_projection(&padded("a", 4097)).unwrap_err().message(),
            "Invalid ProjectionExpression: Expression size has exceeded the maximum allowed size;"
        );
        assert_eq!(
            placeholders.parse_projection("").unwrap_err().message(),
            "Invalid ProjectionExpression: The expression can not be empty;"
        );
    }

    #[test]
    fn built_and_parsed_expressions_are_equal() {
        let names = Names::new();
        let values = values([":v"]);
        let mut placeholders = Placeholders::new(&names, &values).unwrap();
        let kind = ExpressionKind::Filter;
        let built = placeholders.condition(kind, &attr("a").eq(1).into()).unwrap();
        assert_eq!(placeholders.condition(kind, &"a = :v".into()).unwrap(), built);
        placeholders.condition(kind, &attr("a").lt(true).into()).unwrap_err();
        let built = placeholders.update(&Update::new().set("a", 1).into()).unwrap();
        assert_eq!(placeholders.update(&"SET a = :v".into()).unwrap(), built);
        placeholders.update(&Update::new().into()).unwrap_err();
        let built = placeholders.projection(&Projection::new(["a", "b"]).into()).unwrap();
        assert_eq!(placeholders.projection(&"a, b".to_owned().into()).unwrap(), built);
        placeholders.projection(&Projection::default().into()).unwrap_err();
        placeholders.finish().unwrap();
    }

    #[test]
    fn size_of_constant_becomes_a_constant() {
        let names = Names::new();
        let values = Values::from([(":s".to_owned(), Value::from("a😀é"))]);
        let mut placeholders = Placeholders::new(&names, &values).unwrap();
        let parsed = placeholders.parse_condition(ExpressionKind::Filter, "a > size(:s)").unwrap();
        // The emoji has two UTF-16 code units.
        assert_eq!(parsed, attr("a").gt(4));
    }

    #[test]
    fn chain_is_one_node_and_precedence_is_kept() {
        let names = Names::new();
        let values = values([":v"]);
        let parse = |text: &str| {
            Placeholders::new(&names, &values)
                .unwrap()
                .parse_condition(ExpressionKind::Condition, text)
                .unwrap()
        };
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| attr(name).eq(1));
        assert_eq!(
            parse("a = :v AND (b = :v AND c = :v)"),
            a.clone().and(b.clone()).and(c.clone())
        );
        assert_eq!(
            parse("a = :v OR b = :v AND NOT c = :v OR d = :v"),
            a.clone().or(b.clone().and(!c.clone())).or(d.clone())
        );
        assert_eq!(parse("(a = :v OR b = :v) AND c = :v"), a.clone().or(b.clone()).and(c.clone()));
        assert_eq!(parse("NOT (a = :v AND b = :v)"), !a.and(b));
        assert_eq!(parse("NOT NOT c = :v"), !!c);
        assert_eq!(parse("((d) = (:v))"), d);
    }
}
