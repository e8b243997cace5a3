//! Key conditions: from a condition to the range of keys that a query reads.

use crate::expr::condition::{CompareOp, Condition, Operand};
use crate::{Error, KeyType, Result, Value, ValueKind};

/// The key attributes of a table or index, in order.
#[derive(Clone, Copy, Debug)]
pub struct KeySpec<'a> {
    /// The partition key: one attribute, or up to four in an index.
    pub partition: &'a [(String, KeyType)],
    /// The sort key: none, one attribute, or up to four in an index.
    pub sort: &'a [(String, KeyType)],
}

/// The keys that a query reads: one partition, and a range of its sort keys.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyQuery {
    /// The value of each partition key attribute, in order.
    pub partition: Vec<Value>,
    /// The values that the first sort key attributes must equal, in order; maybe none.
    pub sort_prefix: Vec<Value>,
    /// What holds for the sort key attribute after those; nothing else is asked.
    pub sort_range: Option<SortRange>,
}

/// A range of one sort key attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum SortRange {
    /// Less than this.
    Less(Value),
    /// This or less.
    AtMost(Value),
    /// Greater than this.
    Greater(Value),
    /// This or greater.
    AtLeast(Value),
    /// From the first to the second, both included.
    Between(Value, Value),
    /// Strings or binaries that begin with this.
    BeginsWith(Value),
}

/// What a key condition says about one attribute.
enum Test {
    Equal(Value),
    Range(SortRange),
}

impl Condition {
    /// The keys that a query with this key condition reads.
    ///
    /// # Errors
    /// With DynamoDB's message, if this is not a key condition for these keys: every partition
    /// key attribute must be equal to a value, the sort key attributes may be from the first on,
    /// and the last one that is named may be in a range instead.
    pub fn to_key_query(&self, key: &KeySpec<'_>) -> Result<KeyQuery> {
        let parts = match self {
            Self::And(branches) => branches.iter().collect(),
            other => vec![other],
        };
        let mut tests: Vec<(&str, Test)> = Vec::new();
        for part in parts {
            let (name, test) = key_test(part)?;
            if tests.iter().any(|(earlier, _)| *earlier == name) {
                return Err(invalid(
                    "KeyConditionExpressions must only contain one condition per key",
                ));
            }
            tests.push((name, test));
        }
        let mut take = |(name, kind): &(String, KeyType)| -> Result<Option<Test>> {
            let Some(position) = tests.iter().position(|(tested, _)| tested == name) else {
                return Ok(None);
            };
            let (_, test) = tests.swap_remove(position);
            check_type(&test, *kind)?;
            Ok(Some(test))
        };
        let mut query =
            KeyQuery { partition: Vec::new(), sort_prefix: Vec::new(), sort_range: None };
        for attribute in key.partition {
            match take(attribute)? {
                Some(Test::Equal(value)) => query.partition.push(value),
                Some(Test::Range(_)) => return Err(Error::validation(NOT_SUPPORTED)),
                None => return Err(missing(&attribute.0)),
            }
        }
        for attribute in key.sort {
            let Some(test) = take(attribute)? else { break };
            match test {
                Test::Equal(value) => query.sort_prefix.push(value),
                Test::Range(range) => {
                    query.sort_range = Some(range);
                    break;
                }
            }
        }
        if tests.is_empty() { Ok(query) } else { Err(Error::validation(NOT_SUPPORTED)) }
    }
}

const NOT_SUPPORTED: &str = "Query key condition not supported";

fn invalid(problem: &str) -> Error {
    Error::validation(format!("Invalid KeyConditionExpression: {problem}"))
}

fn missing(name: &str) -> Error {
    Error::validation(format!("Query condition missed key schema element: {name}"))
}

fn key_test(condition: &Condition) -> Result<(&str, Test)> {
    match condition {
        Condition::Compare { op, left, right } => {
            let (op, name, value) = match (left, right) {
                (Operand::Value(value), Operand::Path(_)) => (op.mirrored(), name(right)?, value),
                (left, Operand::Value(value)) => (*op, name(left)?, value),
                _ => return Err(Error::validation(NOT_SUPPORTED)),
            };
            let value = value.clone();
            let test = match op {
                CompareOp::Eq => Test::Equal(value),
                CompareOp::Lt => Test::Range(SortRange::Less(value)),
                CompareOp::Le => Test::Range(SortRange::AtMost(value)),
                CompareOp::Gt => Test::Range(SortRange::Greater(value)),
                CompareOp::Ge => Test::Range(SortRange::AtLeast(value)),
                CompareOp::Ne => return Err(operator_not_supported("<>")),
            };
            Ok((name, test))
        }
        Condition::Between { value, low: Operand::Value(low), high: Operand::Value(high) } => {
            Ok((name(value)?, Test::Range(SortRange::Between(low.clone(), high.clone()))))
        }
        Condition::BeginsWith(operand, Operand::Value(prefix)) => {
            Ok((name(operand)?, Test::Range(SortRange::BeginsWith(prefix.clone()))))
        }
        Condition::Between { .. } | Condition::BeginsWith(..) => {
            Err(Error::validation(NOT_SUPPORTED))
        }
        Condition::In { .. } => Err(operator_not_supported("IN")),
        Condition::AttributeExists(_) => Err(operator_not_supported("attribute_exists")),
        Condition::AttributeNotExists(_) => Err(operator_not_supported("attribute_not_exists")),
        Condition::AttributeType(..) => Err(operator_not_supported("attribute_type")),
        Condition::Contains(..) => Err(operator_not_supported("contains")),
        Condition::Or(_) => Err(operator_not_supported("OR")),
        Condition::Not(_) | Condition::TooDeep => Err(operator_not_supported("NOT")),
        Condition::And(_) => Err(Error::validation(NOT_SUPPORTED)),
    }
}

fn operator_not_supported(operator: &str) -> Error {
    invalid(&format!("Invalid operator used in KeyConditionExpression: {operator}"))
}

fn name(operand: &Operand) -> Result<&str> {
    match operand {
        Operand::Path(path) => path.as_attribute().ok_or_else(|| {
            invalid("KeyConditionExpressions cannot have conditions on nested attributes")
        }),
        _ => Err(Error::validation(NOT_SUPPORTED)),
    }
}

fn check_type(test: &Test, kind: KeyType) -> Result<()> {
    let kind = ValueKind::from(kind);
    let fits = match test {
        Test::Equal(value) => value.kind() == kind,
        Test::Range(
            SortRange::Less(value)
            | SortRange::AtMost(value)
            | SortRange::Greater(value)
            | SortRange::AtLeast(value)
            | SortRange::BeginsWith(value),
        ) => value.kind() == kind,
        Test::Range(SortRange::Between(low, high)) => low.kind() == kind && high.kind() == kind,
    };
    if fits {
        return Ok(());
    }
    Err(Error::validation(
        "One or more parameter values were invalid: Condition parameter type does not match \
         schema type",
    ))
}
