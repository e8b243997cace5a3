//! The rules that hold for every expression, parsed or built.

use std::fmt;

use crate::Result;
use crate::expr::condition::{Condition, Operand};
use crate::expr::path::{Path, check_paths};
use crate::expr::projection::Projection;
use crate::expr::text::{ExpressionKind, Problem};
use crate::expr::update::{SetOperand, SetValue, Source, Update};
use crate::limits;
use crate::{Value, ValueKind};

impl Condition {
    /// Checks a built condition by the rules that parsing applies to a text.
    ///
    /// # Errors
    /// With DynamoDB's message for the first rule that is broken.
    pub fn validate(&self, kind: ExpressionKind) -> Result<()> {
        let mut operators = 0;
        self.check(&mut operators)
            .and_then(|()| check_operators(operators))
            .map_err(|problem| problem.of(kind))
    }

    fn check(&self, operators: &mut usize) -> Result<(), Problem> {
        match self {
            Self::And(branches) | Self::Or(branches) => {
                for branch in branches {
                    branch.check(operators)?;
                }
                *operators += branches.len() - 1;
            }
            Self::Not(branch) => {
                branch.check(operators)?;
                *operators += 1;
            }
            Self::TooDeep => *operators += limits::EXPRESSION_OPERATORS + 1,
            leaf => {
                *operators += 1;
                for operand in leaf.operands() {
                    *operators += usize::from(matches!(operand, Operand::Size(_)));
                }
                for path in leaf.leaf_paths() {
                    path.check()?;
                }
                check_leaf(leaf)?;
            }
        }
        Ok(())
    }

    /// The operands of a condition that has no conditions below it.
    fn operands(&self) -> Vec<&Operand> {
        match self {
            Self::Compare { left, right, .. } => vec![left, right],
            Self::Between { value, low, high } => vec![value, low, high],
            Self::In { value, list } => std::iter::once(value).chain(list).collect(),
            Self::AttributeType(operand, _) => vec![operand],
            Self::BeginsWith(left, right) | Self::Contains(left, right) => vec![left, right],
            _ => Vec::new(),
        }
    }

    fn leaf_paths(&self) -> Vec<&Path> {
        match self {
            Self::AttributeExists(path) | Self::AttributeNotExists(path) => vec![path],
            other => other
                .operands()
                .into_iter()
                .filter_map(|operand| match operand {
                    Operand::Path(path) | Operand::Size(path) => Some(path),
                    Operand::Value(_) => None,
                })
                .collect(),
        }
    }

    /// Every path that the condition reads, from left to right.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            Self::And(branches) | Self::Or(branches) => {
                branches.iter().flat_map(Self::paths).collect()
            }
            Self::Not(branch) => branch.paths(),
            leaf => leaf.leaf_paths(),
        }
    }
}

impl Update {
    /// Checks a built update by the rules that parsing applies to a text.
    ///
    /// # Errors
    /// With DynamoDB's message for the first rule that is broken.
    pub fn validate(&self) -> Result<()> {
        self.check().map_err(|problem| problem.of(ExpressionKind::Update))
    }

    fn check(&self) -> Result<(), Problem> {
        if self.is_empty() {
            return Err(Problem::new("The expression can not be empty;"));
        }
        check_paths(self.touched().collect::<Vec<_>>())?;
        // As with the paths, the last action is looked at first.
        self.delete.iter().rev().try_for_each(|(_, value)| check_delete(value))?;
        self.add.iter().rev().try_for_each(|(_, value)| check_add(value))?;
        let mut operators = 0;
        for (_, value) in self.set.iter().rev() {
            operators += usize::from(!matches!(value, SetValue::Operand(_)));
            for operand in value.operands() {
                operators += operand.candidates.len();
                operand.candidates.iter().try_for_each(Path::check)?;
                if let Source::Path(path) = &operand.last {
                    path.check()?;
                }
            }
            check_set(value)?;
        }
        check_operators(operators)
    }
}

impl Projection {
    /// Checks a built projection by the rules that parsing applies to a text.
    ///
    /// # Errors
    /// With DynamoDB's message for the first rule that is broken.
    pub fn validate(&self) -> Result<()> {
        self.check().map_err(|problem| problem.of(ExpressionKind::Projection))
    }

    fn check(&self) -> Result<(), Problem> {
        if self.paths.is_empty() {
            return Err(Problem::new("The expression can not be empty;"));
        }
        check_paths(&self.paths)
    }
}

/// Refuses too many operators. DynamoDB stops counting at the first one too many.
pub(crate) fn check_operators(count: usize) -> Result<(), Problem> {
    if count <= limits::EXPRESSION_OPERATORS {
        return Ok(());
    }
    Err(Problem::new(format!(
        "The expression contains too many operators; operator count: {}",
        limits::EXPRESSION_OPERATORS + 1
    )))
}

/// Checks the operands of a condition that has no conditions below it.
pub(crate) fn check_leaf(leaf: &Condition) -> Result<(), Problem> {
    match leaf {
        Condition::Compare { op, left, right } => {
            check_distinct(op.as_str(), left, [right])?;
            if !matches!(op.as_str(), "=" | "<>") {
                check_ordered(op.as_str(), [left, right])?;
            }
            Ok(())
        }
        Condition::Between { value, low, high } => {
            check_distinct("BETWEEN", value, [low, high])?;
            check_ordered("BETWEEN", [value, low, high])?;
            check_bounds(low, high)
        }
        Condition::In { value, list } => {
            if list.len() > limits::IN_OPERANDS {
                return Err(Problem::new(format!(
                    "The IN operator is provided with too many operands; number of operands: {}",
                    list.len()
                )));
            }
            if list.is_empty() {
                return Err(Problem::new(
                    "Incorrect number of operands for operator or function; operator or \
                     function: IN, number of operands: 0",
                ));
            }
            check_distinct("IN", value, list)
        }
        Condition::BeginsWith(operand, prefix) => {
            check_distinct("begins_with", operand, [prefix])?;
            for kind in [operand, prefix].into_iter().filter_map(constant_kind) {
                if !matches!(kind, ValueKind::S | ValueKind::B) {
                    return Err(wrong_type("begins_with", kind));
                }
            }
            Ok(())
        }
        Condition::Contains(operand, part) => check_distinct("contains", operand, [part]),
        _ => Ok(()),
    }
}

/// Refuses an operator whose first operand is a path that it is compared with.
pub(crate) fn check_distinct<'o>(
    operator: &str,
    first: &Operand,
    others: impl IntoIterator<Item = &'o Operand>,
) -> Result<(), Problem> {
    match first {
        Operand::Path(path) if others.into_iter().any(|other| other == first) => {
            Err(not_distinct(operator, path))
        }
        _ => Ok(()),
    }
}

fn not_distinct(operator: &str, path: &Path) -> Problem {
    Problem::new(format!(
        "The first operand must be distinct from the remaining operands for this operator or \
         function; operator: {operator}, first operand: {}",
        path.bracketed()
    ))
}

/// Only strings, numbers and binaries have an order.
fn check_ordered<const N: usize>(operator: &str, operands: [&Operand; N]) -> Result<(), Problem> {
    for kind in operands.into_iter().filter_map(constant_kind) {
        if !matches!(kind, ValueKind::S | ValueKind::N | ValueKind::B) {
            return Err(wrong_type(operator, kind));
        }
    }
    Ok(())
}

fn check_bounds(low: &Operand, high: &Operand) -> Result<(), Problem> {
    let (Operand::Value(low), Operand::Value(high)) = (low, high) else { return Ok(()) };
    let rule = match low.as_ref().compare(high.as_ref()) {
        None => "same data type for lower and upper bounds",
        Some(std::cmp::Ordering::Greater) => {
            "upper bound to be greater than or equal to lower bound"
        }
        Some(_) => return Ok(()),
    };
    Err(Problem::new(format!(
        "The BETWEEN operator requires {rule}; lower bound operand: AttributeValue: {}, upper \
         bound operand: AttributeValue: {}",
        shown(low),
        shown(high)
    )))
}

/// A bound as DynamoDB shows it in its messages.
fn shown(value: &Value) -> String {
    match value {
        Value::S(text) => format!("{{S:{text}}}"),
        Value::N(number) => format!("{{N:{number}}}"),
        // DynamoDB prints the buffer, not its bytes.
        Value::B(bytes) => {
            let length = bytes.len();
            format!("{{B:java.nio.HeapByteBuffer[pos=0 lim={length} cap={length}]}}")
        }
        other => format!("{other:?}"),
    }
}

/// The type of an operand that is known before any item is read.
fn constant_kind(operand: &Operand) -> Option<ValueKind> {
    match operand {
        Operand::Path(_) => None,
        Operand::Value(value) => Some(value.kind()),
        Operand::Size(_) => Some(ValueKind::N),
    }
}

pub(crate) fn wrong_type(operator: &str, kind: impl fmt::Display) -> Problem {
    Problem::new(format!(
        "Incorrect operand type for operator or function; operator or function: {operator}, \
         operand type: {kind}"
    ))
}

/// Checks the operands of one `SET`.
pub(crate) fn check_set(value: &SetValue) -> Result<(), Problem> {
    for operand in value.operands() {
        if let (Some(last), Source::Path(path)) = (operand.candidates.last(), &operand.last) {
            if last == path {
                return Err(not_distinct("if_not_exists", path));
            }
        }
    }
    let (operator, wanted) = match value {
        SetValue::Operand(_) => return Ok(()),
        SetValue::Plus(..) => ("+", ValueKind::N),
        SetValue::Minus(..) => ("-", ValueKind::N),
        SetValue::ListAppend(..) => ("list_append", ValueKind::L),
    };
    for operand in value.operands() {
        match operand {
            SetOperand { candidates, last: Source::Value(value) }
                if candidates.is_empty() && value.kind() != wanted =>
            {
                return Err(wrong_type(operator, value.kind()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks the operand of one `ADD`.
pub(crate) fn check_add(value: &Value) -> Result<(), Problem> {
    match value.kind() {
        ValueKind::N | ValueKind::Ss | ValueKind::Ns | ValueKind::Bs => Ok(()),
        kind => Err(wrong_section_type("ADD", kind)),
    }
}

/// Checks the operand of one `DELETE`.
pub(crate) fn check_delete(value: &Value) -> Result<(), Problem> {
    match value.kind() {
        ValueKind::Ss | ValueKind::Ns | ValueKind::Bs => Ok(()),
        kind => Err(wrong_section_type("DELETE", kind)),
    }
}

fn wrong_section_type(section: &str, kind: ValueKind) -> Problem {
    let kind = match kind {
        ValueKind::S => "STRING",
        ValueKind::N => "NUMBER",
        ValueKind::B => "BINARY",
        ValueKind::Bool => "BOOLEAN",
        ValueKind::Null => "NULL",
        ValueKind::M => "MAP",
        ValueKind::L => "LIST",
        ValueKind::Ss => "STRING_SET",
        ValueKind::Ns => "NUMBER_SET",
        ValueKind::Bs => "BINARY_SET",
    };
    Problem::new(format!(
        "Incorrect operand type for operator or function; operator: {section}, operand type: \
         {kind}, typeSet: ALLOWED_FOR_{section}_OPERAND"
    ))
}
