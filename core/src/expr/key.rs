//! Key conditions: conversion of a condition to the keys that a query reads.

use crate::expr::condition::{CompareOp, Condition, Operand};
use crate::expr::path::Path;
use crate::{Error, KeyType, Result, Value, ValueKind};

/// Key attributes of a table or index, in order.
#[derive(Clone, Copy, Debug)]
pub struct KeySpec<'a> {
    /// Partition key attributes: one, or up to four in an index.
    pub partition: &'a [(String, KeyType)],
    /// Sort key attributes: none or one, or up to four in an index.
    pub sort: &'a [(String, KeyType)],
}

/// Keys that a query reads: one partition, and a range of its sort keys.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyQuery {
    /// Value of each partition key attribute, in order.
    pub partition: Vec<Value>,
    /// Values that the first sort key attributes must equal, in order; may be empty.
    pub sort_prefix: Vec<Value>,
    /// Range of the sort key attribute after the prefix, if the condition has one.
    pub sort_range: Option<SortRange>,
}

/// Range of one sort key attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum SortRange {
    /// Values less than this one.
    Less(Value),
    /// Values up to this one, included.
    AtMost(Value),
    /// Values greater than this one.
    Greater(Value),
    /// Values from this one on, included.
    AtLeast(Value),
    /// Values from the first to the second, both included.
    Between(Value, Value),
    /// Strings or binaries with this prefix.
    BeginsWith(Value),
}

/// Test of one key attribute in a key condition.
enum KeyTest {
    Equal(Value),
    Range(SortRange),
}

impl Condition {
    /// Converts a key condition to the keys that a query reads.
    ///
    /// Validate the condition first ([`Condition::validate`]; parsing does it). This checks only
    /// the rules for key conditions, and not whether a key value is empty or too long.
    ///
    /// # Errors
    /// With DynamoDB's message, if this is not a key condition for these keys. Every partition key
    /// attribute must equal a value. Sort key attributes can be tested from the first on, without a
    /// gap. All of them but the last one tested must equal a value; the last can be in a range.
    pub fn to_key_query(&self, key: &KeySpec<'_>) -> Result<KeyQuery> {
        for path in self.paths() {
            key.check_scalar(path)?;
        }
        let mut tests: Vec<(&str, KeyTest)> = Vec::new();
        let parts = match self {
            Self::And(branches) => &**branches,
            other => std::slice::from_ref(other),
        };
        for part in parts {
            let (name, test) = key_test(part)?;
            if tests.iter().any(|(earlier, _)| *earlier == name) {
                return Err(Error::validation(
                    "KeyConditionExpressions must only contain one condition per key",
                ));
            }
            tests.push((name, test));
        }
        if tests.len() > (key.partition.len() + key.sort.len()).max(2) {
            return Err(Error::validation("Conditions can be of length 1 or 2 only"));
        }
        key.query(tests)
    }
}

const NOT_SUPPORTED: &str = "Query key condition not supported";

fn missed(attribute: &str) -> Error {
    Error::validation(format!("Query condition missed key schema element: {attribute}"))
}

impl KeySpec<'_> {
    /// Assigns the tests to the key attributes.
    fn query(&self, mut tests: Vec<(&str, KeyTest)>) -> Result<KeyQuery> {
        if tests.len() > self.partition.len() + self.sort.len() {
            return Err(Error::validation(NOT_SUPPORTED));
        }
        let mut take = |name: &str| {
            let position = tests.iter().position(|(tested, _)| *tested == name)?;
            Some(tests.swap_remove(position).1)
        };
        let mut partition = Vec::new();
        for (name, kind) in self.partition {
            let test = take(name).ok_or_else(|| missed(name))?;
            test.check_type(*kind)?;
            let KeyTest::Equal(value) = test else { return Err(Error::validation(NOT_SUPPORTED)) };
            partition.push(value);
        }
        let mut sort_prefix = Vec::new();
        let mut sort_range = None;
        for (name, kind) in self.sort {
            let Some(test) = take(name) else { break };
            test.check_type(*kind)?;
            match test {
                KeyTest::Equal(value) => sort_prefix.push(value),
                KeyTest::Range(range) => {
                    sort_range = Some(range);
                    break;
                }
            }
        }
        if tests.is_empty() {
            return Ok(KeyQuery { partition, sort_prefix, sort_range });
        }
        match self.sort.get(sort_prefix.len()) {
            // A later attribute is tested, but this one is not.
            Some((name, _)) if sort_range.is_none() => Err(missed(name)),
            // No test can follow a range, or the last attribute of the key.
            _ => Err(Error::validation(NOT_SUPPORTED)),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.partition.iter().chain(self.sort).any(|(key, _)| key == name)
    }

    fn check_scalar(&self, path: &Path) -> Result<()> {
        if path.elements().is_empty() || !self.has(path.root()) {
            return Ok(());
        }
        Err(Error::validation(format!(
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not \
             allowed: Key: {}",
            path.root()
        )))
    }
}

/// Returns the key attribute of one part of a key condition, and its test.
fn key_test(condition: &Condition) -> Result<(&str, KeyTest)> {
    let (name, test) = match condition {
        Condition::Compare { op: CompareOp::Ne, .. } => return Err(bad_operator("<>")),
        Condition::Compare { op, left, right } => {
            let name = only_attribute([left, right])?
                .ok_or_else(|| bad_condition("No key attribute specified"))?;
            let (op, value) = match (left, right) {
                (Operand::Value(value), _) => (op.mirrored(), value),
                (_, Operand::Value(value)) => (*op, value),
                _ => return Err(Error::validation(NOT_SUPPORTED)),
            };
            let value = value.clone();
            let range = match op {
                CompareOp::Lt => SortRange::Less(value),
                CompareOp::Le => SortRange::AtMost(value),
                CompareOp::Gt => SortRange::Greater(value),
                CompareOp::Ge => SortRange::AtLeast(value),
                CompareOp::Eq | CompareOp::Ne => return Ok((name, KeyTest::Equal(value))),
            };
            (name, range)
        }
        Condition::Between { value, low, high } => {
            let name = first_attribute("BETWEEN", value, &[low, high])?;
            let (Operand::Value(low), Operand::Value(high)) = (low, high) else {
                return Err(Error::validation(NOT_SUPPORTED));
            };
            (name, SortRange::Between(low.clone(), high.clone()))
        }
        Condition::BeginsWith(operand, prefix) => {
            let name = first_attribute("begins_with", operand, &[prefix])?;
            let Operand::Value(prefix) = prefix else {
                return Err(Error::validation(NOT_SUPPORTED));
            };
            (name, SortRange::BeginsWith(prefix.clone()))
        }
        Condition::In { .. } => return Err(bad_operator("IN")),
        Condition::AttributeExists(_) => return Err(bad_operator("attribute_exists")),
        Condition::AttributeNotExists(_) => return Err(bad_operator("attribute_not_exists")),
        Condition::AttributeType(..) => return Err(bad_operator("attribute_type")),
        Condition::Contains(..) => return Err(bad_operator("contains")),
        Condition::Or(_) => return Err(bad_operator("OR")),
        Condition::And(_) | Condition::Not(_) | Condition::TooDeep => {
            return Err(bad_operator("NOT"));
        }
    };
    Ok((name, KeyTest::Range(test)))
}

fn bad_operator(operator: &str) -> Error {
    Error::validation(format!("Invalid operator used in KeyConditionExpression: {operator}"))
}

fn bad_condition(problem: &str) -> Error {
    Error::validation(format!("Invalid condition in KeyConditionExpression: {problem}"))
}

/// Returns the only attribute among the operands; `None` if there is none. Several are an error.
fn only_attribute<'o>(operands: impl IntoIterator<Item = &'o Operand>) -> Result<Option<&'o str>> {
    let mut found = None;
    for operand in operands {
        let path = match operand {
            Operand::Value(_) => continue,
            Operand::Size(_) => {
                return Err(Error::validation(
                    "KeyConditionExpressions cannot contain nested operations",
                ));
            }
            Operand::Path(path) => path,
        };
        let name = path.as_attribute().ok_or_else(|| {
            Error::validation("KeyConditionExpressions cannot have conditions on nested attributes")
        })?;
        if found.replace(name).is_some() {
            return Err(bad_condition("Multiple attribute names used in one condition"));
        }
    }
    Ok(found)
}

/// Returns the attribute that is the first operand of `BETWEEN` or `begins_with`.
fn first_attribute<'o>(
    operator: &str,
    first: &'o Operand,
    others: &[&'o Operand],
) -> Result<&'o str> {
    let misplaced = || {
        bad_condition(&format!(
            "{operator} operator must have the key attribute as its first operand"
        ))
    };
    if matches!(first, Operand::Value(_)) {
        return Err(misplaced());
    }
    only_attribute([first].into_iter().chain(others.iter().copied()))?.ok_or_else(misplaced)
}

impl KeyTest {
    /// Values that the attribute is compared with.
    fn values(&self) -> Vec<&Value> {
        match self {
            Self::Equal(value)
            | Self::Range(
                SortRange::Less(value)
                | SortRange::AtMost(value)
                | SortRange::Greater(value)
                | SortRange::AtLeast(value)
                | SortRange::BeginsWith(value),
            ) => vec![value],
            Self::Range(SortRange::Between(low, high)) => vec![low, high],
        }
    }

    fn check_type(&self, kind: KeyType) -> Result<()> {
        let kind = ValueKind::from(kind);
        // A prefix of a number is meaningless. Other prefixes have the type of the key.
        let prefix_of_number =
            kind == ValueKind::N && matches!(self, Self::Range(SortRange::BeginsWith(_)));
        if !prefix_of_number && self.values().into_iter().all(|value| value.kind() == kind) {
            return Ok(());
        }
        Err(Error::validation(
            "One or more parameter values were invalid: Condition parameter type does not match \
             schema type",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attr;

    fn keys<const N: usize>(names: [&str; N]) -> Vec<(String, KeyType)> {
        names.into_iter().map(|name| (name.to_owned(), KeyType::S)).collect()
    }

    fn query(condition: &Condition, partition: &[&str], sort: &[&str]) -> Result<KeyQuery> {
        let keys = |names: &[&str]| -> Vec<(String, KeyType)> {
            names.iter().map(|name| ((*name).to_owned(), KeyType::S)).collect()
        };
        condition.to_key_query(&KeySpec { partition: &keys(partition), sort: &keys(sort) })
    }

    fn refusal(condition: Condition, partition: &[&str], sort: &[&str]) -> String {
        query(&condition, partition, sort).unwrap_err().message().to_owned()
    }

    #[test]
    fn key_condition_becomes_partition_and_range() {
        let partition = || attr("p").eq("k");
        let range = |condition: Condition| {
            let query = query(&partition().and(condition), &["p"], &["s"]).unwrap();
            assert_eq!(query.partition, [Value::from("k")]);
            assert!(query.sort_prefix.is_empty());
            query.sort_range.unwrap()
        };
        assert_eq!(range(attr("s").lt("x")), SortRange::Less("x".into()));
        assert_eq!(range(attr("s").le("x")), SortRange::AtMost("x".into()));
        assert_eq!(range(attr("s").gt("x")), SortRange::Greater("x".into()));
        assert_eq!(range(attr("s").ge("x")), SortRange::AtLeast("x".into()));
        assert_eq!(range(attr("s").begins_with("x")), SortRange::BeginsWith("x".into()));
        assert_eq!(range(attr("s").between("x", "y")), SortRange::Between("x".into(), "y".into()));
        let mirrored =
            Condition::Compare { op: CompareOp::Lt, left: "x".into(), right: attr("s").into() };
        assert_eq!(range(mirrored), SortRange::Greater("x".into()));

        let whole = query(&partition(), &["p"], &["s"]).unwrap();
        assert_eq!(whole.sort_range, None);
        let one = query(&attr("s").eq("x").and(partition()), &["p"], &["s"]).unwrap();
        assert_eq!(one.sort_prefix, [Value::from("x")]);
        assert_eq!(one.sort_range, None);
    }

    #[test]
    fn composite_keys_take_a_leading_run_of_attributes() {
        let all = |names: &[&str]| {
            Condition::all(names.iter().map(|name| attr(*name).eq(format!("={name}")))).unwrap()
        };
        let key = (&["a", "b"][..], &["x", "y", "z"][..]);
        let found = query(&all(&["y", "b", "x", "a", "z"]), key.0, key.1).unwrap();
        assert_eq!(found.partition, [Value::from("=a"), Value::from("=b")]);
        assert_eq!(found.sort_prefix, [Value::from("=x"), Value::from("=y"), Value::from("=z")]);
        let found = query(&all(&["a", "b", "x"]).and(attr("y").gt("1")), key.0, key.1).unwrap();
        assert_eq!(found.sort_prefix, [Value::from("=x")]);
        assert_eq!(found.sort_range, Some(SortRange::Greater("1".into())));
        // Required: every partition key attribute, a leading run of sort key attributes, and a
        // range only at the end.
        let missed = |attribute: &str| missed(attribute).message().to_owned();
        assert_eq!(refusal(all(&["a", "x"]), key.0, key.1), missed("b"));
        assert_eq!(refusal(all(&["a", "b", "y"]), key.0, key.1), missed("x"));
        assert_eq!(refusal(all(&["a", "b", "x", "z"]), key.0, key.1), missed("y"));
        assert_eq!(
            refusal(all(&["a", "b", "y"]).and(attr("x").lt("1")), key.0, key.1),
            NOT_SUPPORTED
        );
        assert_eq!(refusal(all(&["a"]).and(attr("b").gt("1")), key.0, key.1), NOT_SUPPORTED);
    }

    #[test]
    fn second_condition_without_a_sort_key_is_rejected() {
        query(&attr("p").eq("k"), &["p"], &[]).unwrap();
        let both = attr("p").eq("k").and(attr("a").eq("x"));
        assert_eq!(refusal(both.clone(), &["p"], &[]), NOT_SUPPORTED);
        assert_eq!(refusal(both, &["p"], &["s"]), missed("s").message());
    }

    #[test]
    fn range_of_partition_key_is_rejected() {
        assert_eq!(refusal(attr("p").begins_with("k"), &["p"], &["s"]), NOT_SUPPORTED);
        assert_eq!(refusal(attr("p").gt("k"), &["p"], &["s"]), NOT_SUPPORTED);
    }

    #[test]
    fn unsupported_operators_are_named_in_the_error() {
        let with = |condition: Condition| refusal(attr("p").eq("k").and(condition), &["p"], &["s"]);
        let bad = "Invalid operator used in KeyConditionExpression:";
        assert_eq!(with(attr("s").ne("x")), format!("{bad} <>"));
        assert_eq!(with(attr("s").is_in(["x"])), format!("{bad} IN"));
        assert_eq!(with(attr("s").contains("x")), format!("{bad} contains"));
        assert_eq!(with(attr("s").exists()), format!("{bad} attribute_exists"));
        assert_eq!(with(attr("s").not_exists()), format!("{bad} attribute_not_exists"));
        assert_eq!(with(attr("s").has_type(ValueKind::S)), format!("{bad} attribute_type"));
        assert_eq!(with(!attr("s").eq("x")), format!("{bad} NOT"));
        assert_eq!(with(attr("s").eq("x").or(attr("s").eq("y"))), format!("{bad} OR"));
        assert_eq!(
            with(attr("s").size().eq(1)),
            "KeyConditionExpressions cannot contain nested operations"
        );
        assert_eq!(
            with(attr("s").eq(attr("a"))),
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one \
             condition"
        );
        assert_eq!(
            with(attr("s").field("x").eq("x")),
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not \
             allowed: Key: s"
        );
        assert_eq!(
            with(attr("a").field("x").eq("x")),
            "KeyConditionExpressions cannot have conditions on nested attributes"
        );
        assert_eq!(
            with(attr("p").eq("k")),
            "KeyConditionExpressions must only contain one condition per key"
        );
        assert_eq!(
            with(attr("s").eq("x").and(attr("a").eq("x"))),
            "Conditions can be of length 1 or 2 only"
        );
        let reversed =
            Condition::Between { value: "x".into(), low: attr("s").into(), high: "y".into() };
        assert_eq!(
            with(reversed),
            "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key \
             attribute as its first operand"
        );
    }

    #[test]
    fn value_of_another_type_than_the_key_is_rejected() {
        let mismatch = "One or more parameter values were invalid: Condition parameter type does \
                        not match schema type";
        assert_eq!(refusal(attr("p").eq(1), &["p"], &["s"]), mismatch);
        let with = |condition: Condition| attr("p").eq("k").and(condition);
        assert_eq!(refusal(with(attr("s").eq(1)), &["p"], &["s"]), mismatch);
        assert_eq!(refusal(with(attr("s").between(1, 2)), &["p"], &["s"]), mismatch);
        let number = [("s".to_owned(), KeyType::N)];
        let spec = KeySpec { partition: &keys(["p"]), sort: &number };
        let error = with(attr("s").begins_with("1")).to_key_query(&spec).unwrap_err();
        assert_eq!(error.message(), mismatch);
    }
}
