//! Validation rules of expressions, parsed or built, that do not depend on an item.

use std::fmt;

use crate::Result;
use crate::expr::condition::{Condition, Operand};
use crate::expr::path::{Path, check_paths};
use crate::expr::projection::Projection;
use crate::expr::text::{ExpressionKind, ExpressionProblem};
use crate::expr::update::{SetFallback, SetOperand, SetValue, Update};
use crate::limits;
use crate::{Value, ValueKind};

impl Condition {
    /// Validates a built condition by the rules for parsed ones.
    ///
    /// # Errors
    /// With DynamoDB's message for the first rule that is violated.
    pub fn validate(&self, kind: ExpressionKind) -> Result<()> {
        let mut operators = 0;
        self.check(&mut operators)
            .and_then(|()| if self.is_limited() { check_operators(operators) } else { Ok(()) })
            .map_err(|problem| problem.of(kind))
    }

    fn check(&self, operators: &mut usize) -> Result<(), ExpressionProblem> {
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
            leaf => *operators += leaf.check_operands()?,
        }
        Ok(())
    }

    /// Checks a leaf of the condition tree; returns its number of operators.
    fn check_operands(&self) -> Result<usize, ExpressionProblem> {
        for path in self.leaf_paths() {
            path.check()?;
        }
        check_leaf(self)?;
        let sizes = self.operands().into_iter().filter(|it| matches!(it, Operand::Size(_)));
        Ok(1 + sizes.count())
    }

    /// Operands of a leaf of the condition tree.
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

    /// Returns every path that the condition reads, from left to right.
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        self.collect_paths(&mut paths);
        paths
    }

    fn collect_paths<'c>(&'c self, paths: &mut Vec<&'c Path>) {
        match self {
            Self::And(branches) | Self::Or(branches) => {
                branches.iter().for_each(|branch| branch.collect_paths(paths));
            }
            Self::Not(branch) => branch.collect_paths(paths),
            leaf => paths.extend(leaf.leaf_paths()),
        }
    }
}

impl Update {
    /// Validates a built update by the rules for parsed ones.
    ///
    /// # Errors
    /// With DynamoDB's message for the first rule that is violated.
    pub fn validate(&self) -> Result<()> {
        self.check().map_err(|problem| problem.of(ExpressionKind::Update))
    }

    fn check(&self) -> Result<(), ExpressionProblem> {
        if self.is_empty() {
            return Err(ExpressionProblem::new("The expression can not be empty;"));
        }
        check_paths(self.touched().collect::<Vec<_>>())?;
        // As with paths, DynamoDB checks the last action first.
        self.delete.iter().rev().try_for_each(|(_, value)| check_delete(value))?;
        self.add.iter().rev().try_for_each(|(_, value)| check_add(value))?;
        let mut operators = 0;
        for (_, value) in self.set.iter().rev() {
            operators += usize::from(!matches!(value, SetValue::Operand(_)));
            for operand in value.operands() {
                operators += operand.candidates.len();
                operand.candidates.iter().try_for_each(Path::check)?;
                if let SetFallback::Path(path) = &operand.last {
                    path.check()?;
                }
            }
            check_set(value)?;
        }
        check_operators(operators)
    }
}

impl Projection {
    /// Validates a built projection by the rules for parsed ones.
    ///
    /// # Errors
    /// With DynamoDB's message for the first rule that is violated.
    pub fn validate(&self) -> Result<()> {
        self.check().map_err(|problem| problem.of(ExpressionKind::Projection))
    }

    fn check(&self) -> Result<(), ExpressionProblem> {
        if self.paths.is_empty() {
            return Err(ExpressionProblem::new("The expression can not be empty;"));
        }
        check_paths(&self.paths)
    }
}

/// Checks the number of operators. DynamoDB stops counting at the first one too many.
pub(crate) fn check_operators(count: usize) -> Result<(), ExpressionProblem> {
    if count <= limits::EXPRESSION_OPERATORS {
        return Ok(());
    }
    Err(ExpressionProblem::new(format!(
        "The expression contains too many operators; operator count: {}",
        limits::EXPRESSION_OPERATORS + 1
    )))
}

/// Checks the operands of a leaf of the condition tree.
pub(crate) fn check_leaf(leaf: &Condition) -> Result<(), ExpressionProblem> {
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
                return Err(ExpressionProblem::new(format!(
                    "The IN operator is provided with too many operands; number of operands: {}",
                    list.len()
                )));
            }
            if list.is_empty() {
                return Err(ExpressionProblem::new(
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

/// Rejects an operator whose first operand is a path that is also another operand.
pub(crate) fn check_distinct<'o>(
    operator: &str,
    first: &Operand,
    others: impl IntoIterator<Item = &'o Operand>,
) -> Result<(), ExpressionProblem> {
    match first {
        Operand::Path(path) if others.into_iter().any(|other| other == first) => {
            Err(not_distinct(operator, path))
        }
        _ => Ok(()),
    }
}

fn not_distinct(operator: &str, path: &Path) -> ExpressionProblem {
    ExpressionProblem::new(format!(
        "The first operand must be distinct from the remaining operands for this operator or \
         function; operator: {operator}, first operand: {}",
        path.bracketed()
    ))
}

/// Checks that constant operands are strings, numbers or binaries, which have an order.
fn check_ordered<const N: usize>(
    operator: &str,
    operands: [&Operand; N],
) -> Result<(), ExpressionProblem> {
    for kind in operands.into_iter().filter_map(constant_kind) {
        if !matches!(kind, ValueKind::S | ValueKind::N | ValueKind::B) {
            return Err(wrong_type(operator, kind));
        }
    }
    Ok(())
}

fn check_bounds(low: &Operand, high: &Operand) -> Result<(), ExpressionProblem> {
    let (Operand::Value(low), Operand::Value(high)) = (low, high) else { return Ok(()) };
    let rule = match low.as_ref().compare(high.as_ref()) {
        None => "same data type for lower and upper bounds",
        Some(std::cmp::Ordering::Greater) => {
            "upper bound to be greater than or equal to lower bound"
        }
        Some(_) => return Ok(()),
    };
    Err(ExpressionProblem::new(format!(
        "The BETWEEN operator requires {rule}; lower bound operand: AttributeValue: {}, upper \
         bound operand: AttributeValue: {}",
        shown(low),
        shown(high)
    )))
}

/// Formats a bound as in DynamoDB's messages.
fn shown(value: &Value) -> String {
    match value {
        Value::S(text) => format!("{{S:{text}}}"),
        Value::N(number) => format!("{{N:{number}}}"),
        // DynamoDB prints the buffer instead of its bytes.
        Value::B(bytes) => {
            let length = bytes.len();
            format!("{{B:java.nio.HeapByteBuffer[pos=0 lim={length} cap={length}]}}")
        }
        other => format!("{other:?}"),
    }
}

/// Type of an operand, if it does not depend on the item.
fn constant_kind(operand: &Operand) -> Option<ValueKind> {
    match operand {
        Operand::Path(_) => None,
        Operand::Value(value) => Some(value.kind()),
        Operand::Size(_) => Some(ValueKind::N),
    }
}

pub(crate) fn wrong_type(operator: &str, kind: impl fmt::Display) -> ExpressionProblem {
    ExpressionProblem::new(format!(
        "Incorrect operand type for operator or function; operator or function: {operator}, \
         operand type: {kind}"
    ))
}

/// Checks the operands of a `SET` action.
pub(crate) fn check_set(value: &SetValue) -> Result<(), ExpressionProblem> {
    for operand in value.operands() {
        if let (Some(last), SetFallback::Path(path)) = (operand.candidates.last(), &operand.last)
            && last == path
        {
            return Err(not_distinct("if_not_exists", path));
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
            SetOperand { candidates, last: SetFallback::Value(value) }
                if candidates.is_empty() && value.kind() != wanted =>
            {
                return Err(wrong_type(operator, value.kind()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks the operand of an `ADD` action.
pub(crate) fn check_add(value: &Value) -> Result<(), ExpressionProblem> {
    match value.kind() {
        ValueKind::N | ValueKind::Ss | ValueKind::Ns | ValueKind::Bs => Ok(()),
        kind => Err(wrong_section_type("ADD", kind)),
    }
}

/// Checks the operand of a `DELETE` action.
pub(crate) fn check_delete(value: &Value) -> Result<(), ExpressionProblem> {
    match value.kind() {
        ValueKind::Ss | ValueKind::Ns | ValueKind::Bs => Ok(()),
        kind => Err(wrong_section_type("DELETE", kind)),
    }
}

fn wrong_section_type(section: &str, kind: ValueKind) -> ExpressionProblem {
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
    ExpressionProblem::new(format!(
        "Incorrect operand type for operator or function; operator: {section}, operand type: \
         {kind}, typeSet: ALLOWED_FOR_{section}_OPERAND"
    ))
}

#[cfg(test)]
mod tests {
    use crate::expr::{ExpressionKind, Operand};
    use crate::{Condition, Number, Projection, Set, Update, Value, attr};

    fn refusal(condition: Condition) -> String {
        condition.validate(ExpressionKind::Filter).unwrap_err().message().to_owned()
    }

    #[test]
    fn condition_over_300_operators_is_rejected() {
        let of = |count: usize, make: fn() -> Condition| {
            Condition::any((0..count).map(|_| make())).unwrap().validate(ExpressionKind::Filter)
        };
        // Each comparison and each `OR` is one operator; there is one `OR` less than comparisons.
        of(150, || attr("a").eq(1)).unwrap();
        of(151, || attr("a").eq(1)).unwrap_err();
        of(150, || attr("a").between(1, 2)).unwrap();
        of(150, || attr("a").is_in([1, 2, 3, 4])).unwrap();
        of(151, || attr("a").exists()).unwrap_err();
        // `size` and `NOT` are operators too.
        of(100, || attr("a").size().eq(1)).unwrap();
        of(101, || attr("a").size().eq(1)).unwrap_err();
        of(100, || !attr("a").eq(1)).unwrap();
        assert_eq!(
            of(500, || !attr("a").eq(1)).unwrap_err().message(),
            "Invalid FilterExpression: The expression contains too many operators; operator \
             count: 301"
        );
    }

    #[test]
    fn in_list_over_100_operands_is_rejected() {
        attr("a").is_in(0..100).validate(ExpressionKind::Filter).unwrap();
        assert_eq!(
            refusal(attr("a").is_in(0..101)),
            "Invalid FilterExpression: The IN operator is provided with too many operands; number \
             of operands: 101"
        );
        attr("a").is_in(Vec::<i32>::new()).validate(ExpressionKind::Filter).unwrap_err();
    }

    #[test]
    fn built_conditions_with_invalid_operands_are_rejected() {
        let wrong = "Invalid FilterExpression: Incorrect operand type for operator or function; \
                     operator or function:";
        assert_eq!(refusal(attr("a").lt(true)), format!("{wrong} <, operand type: BOOL"));
        assert_eq!(
            refusal(attr("a").begins_with(1)),
            format!("{wrong} begins_with, operand type: N")
        );
        assert_eq!(
            refusal(Condition::BeginsWith(attr("a").size().into(), "x".into())),
            format!("{wrong} begins_with, operand type: N")
        );
        assert_eq!(
            refusal(attr("m").field("x").eq(attr("m").field("x"))),
            "Invalid FilterExpression: The first operand must be distinct from the remaining \
             operands for this operator or function; operator: =, first operand: [m, x]"
        );
        assert_eq!(
            refusal(attr("a").between(5, 1)),
            "Invalid FilterExpression: The BETWEEN operator requires upper bound to be greater \
             than or equal to lower bound; lower bound operand: AttributeValue: {N:5}, upper bound \
             operand: AttributeValue: {N:1}"
        );
        assert_eq!(
            refusal(attr("a").between(5, "x")),
            "Invalid FilterExpression: The BETWEEN operator requires same data type for lower and \
             upper bounds; lower bound operand: AttributeValue: {N:5}, upper bound operand: \
             AttributeValue: {S:x}"
        );
        let bytes = |byte: u8| Operand::Value(Value::B(vec![byte].into()));
        assert!(
            refusal(attr("a").between(bytes(9), bytes(1)))
                .contains("{B:java.nio.HeapByteBuffer[pos=0 lim=1 cap=1]}, upper bound operand")
        );
        attr("a").between(attr("b"), 1).validate(ExpressionKind::Filter).unwrap();
        attr("a").size().eq(attr("a").size()).validate(ExpressionKind::Filter).unwrap();
    }

    #[test]
    fn path_over_32_elements_is_rejected() {
        let deep = |elements: usize| (1..elements).fold(attr("a"), |path, _| path.index(0));
        deep(32).exists().validate(ExpressionKind::Filter).unwrap();
        assert_eq!(
            refusal(deep(33).exists()),
            "Invalid FilterExpression: The document path has too many nesting levels; nesting \
             levels: 33"
        );
        Update::new().set(deep(33), 1).validate().unwrap_err();
        Update::new().set("a", deep(33)).validate().unwrap_err();
        Update::new().set("a", deep(33).if_not_exists(1)).validate().unwrap_err();
        Projection::new([deep(33)]).validate().unwrap_err();
        assert_eq!(
            refusal(attr("a").index(1 << 31).exists()),
            "Invalid FilterExpression: List index is not within the allowable range; index: \
             [2147483648]"
        );
        attr("").exists().validate(ExpressionKind::Filter).unwrap_err();
        attr("a").field("").exists().validate(ExpressionKind::Filter).unwrap_err();
    }

    #[test]
    fn built_updates_with_invalid_operands_are_rejected() {
        let refusal = |update: Update| update.validate().unwrap_err().message().to_owned();
        assert_eq!(
            refusal(Update::new()),
            "Invalid UpdateExpression: The expression can not be empty;"
        );
        assert_eq!(
            refusal(Update::new().set("m", 1).remove(attr("m").field("x"))),
            "Invalid UpdateExpression: Two document paths overlap with each other; must remove or \
             rewrite one of these paths; path one: [m], path two: [m, x]"
        );
        assert_eq!(
            refusal(Update::new().set(attr("m").field("x"), 1).set(attr("m").index(0), 1)),
            "Invalid UpdateExpression: Two document paths conflict with each other; must remove or \
             rewrite one of these paths; path one: [m, x], path two: [m, [0]]"
        );
        assert_eq!(
            refusal(Update::new().set("a", attr("n").plus("x"))),
            "Invalid UpdateExpression: Incorrect operand type for operator or function; operator \
             or function: +, operand type: S"
        );
        assert_eq!(
            refusal(Update::new().set("a", attr("l").prepend(1))),
            "Invalid UpdateExpression: Incorrect operand type for operator or function; operator \
             or function: list_append, operand type: N"
        );
        assert_eq!(
            refusal(Update::new().add("a", "x")),
            "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: \
             ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND"
        );
        assert_eq!(
            refusal(Update::new().delete("a", 1)),
            "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: \
             DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND"
        );
        assert_eq!(
            refusal(Update::new().set("a", attr("b").if_not_exists(attr("b")))),
            "Invalid UpdateExpression: The first operand must be distinct from the remaining \
             operands for this operator or function; operator: if_not_exists, first operand: [b]"
        );
        let set = Value::Ns(Set::new([Number::from(1)]).unwrap());
        Update::new().delete("a", set.clone()).add("b", set).validate().unwrap();
        // A plain assignment is no operator; a sum is one.
        let sums = |count: usize| {
            (0..count).fold(Update::new(), |update, name| {
                update.set(format!("a{name}"), attr("n").plus(1))
            })
        };
        sums(300).validate().unwrap();
        sums(301).validate().unwrap_err();
        (0..1000).fold(Update::new(), |u, name| u.set(format!("a{name}"), 1)).validate().unwrap();
    }

    #[test]
    fn last_pair_of_overlapping_paths_is_reported() {
        let projection = Projection::new(["a", "b", "a", "b"]);
        assert_eq!(
            projection.validate().unwrap_err().message(),
            "Invalid ProjectionExpression: Two document paths overlap with each other; must \
             remove or rewrite one of these paths; path one: [b], path two: [b]"
        );
        Projection::new(["a"])
            .path(attr("m").index(1))
            .path(attr("m").index(0))
            .validate()
            .unwrap();
        Projection::default().validate().unwrap_err();
    }
}
