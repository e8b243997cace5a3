//! Conversion of the syntax tree to the expression tree, in the order of DynamoDB's checks.
//!
//! Reserved names, list indexes and functions are checked first, then placeholders and operands,
//! and last the number of operators.

use crate::expr::condition::{Condition, Operand};
use crate::expr::evaluate::size_of;
use crate::expr::lexer::Keyword;
use crate::expr::path::{Path, check_disjoint, index_out_of_range};
use crate::expr::projection::Projection;
use crate::expr::reserved::is_reserved;
use crate::expr::syntax::{ExprContext, Mention, Node, NodeId, Part, Syntax, UpdateClause};
use crate::expr::text::{ExpressionKind, ExpressionProblem, Placeholders};
use crate::expr::update::{SetFallback, SetOperand, SetValue, Update};
use crate::expr::validate;
use crate::limits;
use crate::{Value, ValueKind};

/// Conversion of one syntax tree, with the placeholders of its request.
pub(crate) struct Lowering<'s, 't, 'p, 'a> {
    placeholders: &'p mut Placeholders<'a>,
    syntax: &'s Syntax<'t>,
}

/// Syntax node after its conversion.
enum Lowered {
    Operand(Operand),
    Condition(Condition),
    /// Moved into its parent.
    Taken,
}

impl<'s, 't, 'p, 'a> Lowering<'s, 't, 'p, 'a> {
    /// Starts the conversion with the checks of names and functions, which come before all others.
    pub(crate) fn new(
        placeholders: &'p mut Placeholders<'a>,
        syntax: &'s Syntax<'t>,
        kind: ExpressionKind,
    ) -> Result<Self, ExpressionProblem> {
        for mention in &syntax.mentions {
            match *mention {
                Mention::Bare(name) if is_reserved(name) => {
                    return Err(ExpressionProblem::new(format!(
                        "Attribute name is a reserved keyword; reserved keyword: {name}"
                    )));
                }
                Mention::Bare(_) => {}
                Mention::Index(digits) => {
                    list_index(digits)?;
                }
                Mention::Call { name, place } => check_call(kind, name, place)?,
            }
        }
        Ok(Self { placeholders, syntax })
    }

    pub(crate) fn condition(mut self, top: NodeId) -> Result<Condition, ExpressionProblem> {
        // Children precede their parents, so one pass from the left converts every node. No node is
        // shared, so a parent can move its children.
        let mut lowered: Vec<Lowered> = Vec::with_capacity(self.syntax.nodes.len());
        let syntax = self.syntax;
        for node in &syntax.nodes {
            let meaning = self.condition_node(node, &mut lowered)?;
            lowered.push(meaning);
        }
        validate::check_operators(self.syntax.operators)?;
        Ok(take_condition(&mut lowered, top))
    }

    fn condition_node(
        &mut self,
        node: &Node<'_>,
        lowered: &mut [Lowered],
    ) -> Result<Lowered, ExpressionProblem> {
        let leaf = match node {
            Node::Path(parts) => return Ok(Lowered::Operand(Operand::Path(self.path(parts)?))),
            Node::Value(key) => {
                return Ok(Lowered::Operand(Operand::Value(self.placeholders.value(key)?.clone())));
            }
            Node::Call { name, arguments } => {
                let operands =
                    arguments.iter().map(|id| take_operand(lowered, *id)).collect::<Vec<_>>();
                if *name == "size" {
                    return size(operands).map(Lowered::Operand);
                }
                call(name, operands)?
            }
            Node::Compare { op, left, right } => Condition::Compare {
                op: *op,
                left: take_operand(lowered, *left),
                right: take_operand(lowered, *right),
            },
            Node::Between { value, low, high } => Condition::Between {
                value: take_operand(lowered, *value),
                low: take_operand(lowered, *low),
                high: take_operand(lowered, *high),
            },
            Node::In { value, list } => Condition::In {
                value: take_operand(lowered, *value),
                list: list.iter().map(|id| take_operand(lowered, *id)).collect(),
            },
            Node::And(left, right) => {
                let left = take_condition(lowered, *left);
                return Ok(Lowered::Condition(left.and(take_condition(lowered, *right))));
            }
            Node::Or(left, right) => {
                let left = take_condition(lowered, *left);
                return Ok(Lowered::Condition(left.or(take_condition(lowered, *right))));
            }
            Node::Not(inner) => {
                return Ok(Lowered::Condition(!take_condition(lowered, *inner)));
            }
            Node::Sum { .. } => unreachable!("the parser accepts sums only in updates"),
        };
        validate::check_leaf(&leaf)?;
        Ok(Lowered::Condition(leaf))
    }

    pub(crate) fn projection(mut self, paths: &[NodeId]) -> Result<Projection, ExpressionProblem> {
        Ok(Projection { paths: self.disjoint_paths(paths.iter().copied())? })
    }

    pub(crate) fn update(
        mut self,
        actions: &[UpdateClause<'_>],
        sections: &[Keyword],
    ) -> Result<Update, ExpressionProblem> {
        for (position, section) in sections.iter().enumerate() {
            if sections[..position].contains(section) {
                return Err(ExpressionProblem::new(format!(
                    "The \"{}\" section can only be used once in an update expression;",
                    section.as_str()
                )));
            }
        }
        let paths = self.disjoint_paths(actions.iter().map(|action| match action {
            UpdateClause::Set(path, _)
            | UpdateClause::Remove(path)
            | UpdateClause::Add(path, _)
            | UpdateClause::Delete(path, _) => *path,
        }))?;
        let mut update = Update::new();
        // DynamoDB checks the last action first.
        for (action, path) in actions.iter().zip(paths).rev() {
            match action {
                UpdateClause::Set(_, value) => {
                    let value = self.set_value(*value)?;
                    validate::check_set(&value)?;
                    update.set.push((path, value));
                }
                UpdateClause::Remove(_) => update.remove.push(path),
                UpdateClause::Add(_, key) => {
                    let value = self.placeholders.value(key)?.clone();
                    validate::check_add(&value)?;
                    update.add.push((path, value));
                }
                UpdateClause::Delete(_, key) => {
                    let value = self.placeholders.value(key)?.clone();
                    validate::check_delete(&value)?;
                    update.delete.push((path, value));
                }
            }
        }
        update.set.reverse();
        update.remove.reverse();
        update.add.reverse();
        update.delete.reverse();
        validate::check_operators(self.syntax.operators)?;
        Ok(update)
    }

    fn set_value(&mut self, id: NodeId) -> Result<SetValue, ExpressionProblem> {
        match &self.syntax.nodes[id] {
            Node::Sum { minus, left, right } => {
                let left = self.set_operand(*left)?;
                let right = self.set_operand(*right)?;
                Ok(if *minus { left.minus(right) } else { left.plus(right) })
            }
            Node::Call { name: "list_append", arguments } => {
                let [left, right] = two("list_append", arguments)?;
                let left = self.set_operand(left)?;
                Ok(left.append(self.set_operand(right)?))
            }
            _ => Ok(SetValue::Operand(self.set_operand(id)?)),
        }
    }

    fn set_operand(&mut self, mut id: NodeId) -> Result<SetOperand, ExpressionProblem> {
        let mut candidates = Vec::new();
        let last = loop {
            match &self.syntax.nodes[id] {
                Node::Path(parts) => break SetFallback::Path(self.path(parts)?),
                Node::Value(key) => {
                    break SetFallback::Value(self.placeholders.value(key)?.clone());
                }
                Node::Call { name, arguments } => {
                    let [first, second] = two(name, arguments)?;
                    let Node::Path(parts) = &self.syntax.nodes[first] else {
                        return Err(requires_path(name));
                    };
                    candidates.push(self.path(parts)?);
                    id = second;
                }
                _ => unreachable!("the parser accepts only paths, values and calls as operands"),
            }
        };
        Ok(SetOperand { candidates, last })
    }

    /// Converts paths of which none may be part of another. DynamoDB checks the last one first.
    fn disjoint_paths(
        &mut self,
        ids: impl DoubleEndedIterator<Item = NodeId>,
    ) -> Result<Vec<Path>, ExpressionProblem> {
        let mut paths: Vec<Path> = Vec::new();
        for id in ids.rev() {
            let Node::Path(parts) = &self.syntax.nodes[id] else {
                unreachable!("the parser accepts only paths here")
            };
            let path = self.path(parts)?;
            paths.iter().rev().try_for_each(|later| check_disjoint(&path, later))?;
            paths.push(path);
        }
        paths.reverse();
        Ok(paths)
    }

    fn path(&mut self, parts: &[Part<'_>]) -> Result<Path, ExpressionProblem> {
        let mut path: Option<Path> = None;
        for part in parts {
            let name = match *part {
                Part::Bare(name) => name,
                Part::Alias(key) => self.placeholders.name(key)?,
                Part::Index(digits) => {
                    let index = list_index(digits)?;
                    path = path.map(|path| path.index(index));
                    continue;
                }
            };
            path = Some(match path {
                None => Path::attr(name),
                Some(path) => path.field(name),
            });
        }
        let path = path.expect("a path begins with a name");
        path.check()?;
        Ok(path)
    }
}

fn list_index(digits: &str) -> Result<u32, ExpressionProblem> {
    match digits.parse() {
        Ok(index) if index <= limits::LIST_INDEX => Ok(index),
        _ => Err(index_out_of_range(digits)),
    }
}

const CONDITION_FUNCTIONS: [&str; 5] =
    ["attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"];

/// Checks that a function is allowed in its context.
fn check_call(
    kind: ExpressionKind,
    name: &str,
    place: ExprContext,
) -> Result<(), ExpressionProblem> {
    let of_updates = matches!(name, "if_not_exists" | "list_append");
    let of_conditions = name == "size" || CONDITION_FUNCTIONS.contains(&name);
    let in_update = kind == ExpressionKind::Update;
    let problem = if !of_updates && !of_conditions {
        "Invalid function name"
    } else if of_conditions && in_update {
        "The function is not allowed in an update expression"
    } else if of_updates && !in_update {
        "The function is not allowed in a condition expression"
    } else {
        let misplaced = match name {
            "if_not_exists" => false,
            "list_append" => place == ExprContext::Operand,
            "size" => place == ExprContext::Top,
            _ => place == ExprContext::Operand,
        };
        if !misplaced {
            return Ok(());
        }
        "The function is not allowed to be used this way in an expression"
    };
    Err(ExpressionProblem::new(format!("{problem}; function: {name}")))
}

fn take_operand(lowered: &mut [Lowered], id: NodeId) -> Operand {
    match std::mem::replace(&mut lowered[id], Lowered::Taken) {
        Lowered::Operand(operand) => operand,
        _ => unreachable!("`check_call` accepts only operands here"),
    }
}

fn take_condition(lowered: &mut [Lowered], id: NodeId) -> Condition {
    match std::mem::replace(&mut lowered[id], Lowered::Taken) {
        Lowered::Condition(condition) => condition,
        _ => unreachable!("`check_call` accepts only conditions here"),
    }
}

/// Converts `size`: of a path, or of a constant, which becomes a constant.
fn size(operands: Vec<Operand>) -> Result<Operand, ExpressionProblem> {
    let [operand] = exactly("size", operands)?;
    match operand {
        Operand::Path(path) => Ok(Operand::Size(path)),
        Operand::Size(_) => Err(validate::wrong_type("size", ValueKind::N)),
        Operand::Value(value) => match size_of(value.as_ref()) {
            Some(size) => Ok(Operand::Value(Value::N(size))),
            None => Err(validate::wrong_type("size", value.kind())),
        },
    }
}

/// Converts a function call to a condition.
fn call(name: &str, operands: Vec<Operand>) -> Result<Condition, ExpressionProblem> {
    match name {
        "attribute_exists" | "attribute_not_exists" => {
            let [operand] = exactly(name, operands)?;
            let Operand::Path(path) = operand else { return Err(requires_path(name)) };
            Ok(match name {
                "attribute_exists" => Condition::AttributeExists(path),
                _ => Condition::AttributeNotExists(path),
            })
        }
        "attribute_type" => {
            let [operand, kind] = exactly(name, operands)?;
            validate::check_distinct(name, &operand, [&kind])?;
            Ok(Condition::AttributeType(operand, type_name(&kind)?))
        }
        _ => {
            let [operand, other] = exactly(name, operands)?;
            Ok(match name {
                "begins_with" => Condition::BeginsWith(operand, other),
                _ => Condition::Contains(operand, other),
            })
        }
    }
}

fn type_name(operand: &Operand) -> Result<ValueKind, ExpressionProblem> {
    match operand {
        Operand::Value(Value::S(name)) => name.parse().map_err(|_| {
            ExpressionProblem::new(format!(
                "Invalid attribute type name found; type: {name}, valid types: \
                 {{N,BS,L,B,NULL,M,S,SS,NS,BOOL}}"
            ))
        }),
        Operand::Value(other) => Err(validate::wrong_type("attribute_type", other.kind())),
        Operand::Size(_) => Err(validate::wrong_type("attribute_type", ValueKind::N)),
        Operand::Path(_) => {
            // DynamoDB lists the types that a path may have, including its internal ones.
            Err(validate::wrong_type(
                "attribute_type",
                "{DECIMAL,HDS,N,DOUBLESET,NULL,DOUBLE,INT,B,DICT,HD,L,INTSET,FLOAT,BOOL,FS,\
                 DECIMALSET,S,SS,BS,M,NS}",
            ))
        }
    }
}

fn exactly<const N: usize>(
    name: &str,
    operands: Vec<Operand>,
) -> Result<[Operand; N], ExpressionProblem> {
    operands.try_into().map_err(|operands: Vec<Operand>| wrong_count(name, operands.len()))
}

fn two(name: &str, arguments: &[NodeId]) -> Result<[NodeId; 2], ExpressionProblem> {
    arguments.try_into().map_err(|_| wrong_count(name, arguments.len()))
}

fn wrong_count(name: &str, count: usize) -> ExpressionProblem {
    ExpressionProblem::new(format!(
        "Incorrect number of operands for operator or function; operator or function: {name}, \
         number of operands: {count}"
    ))
}

fn requires_path(name: &str) -> ExpressionProblem {
    ExpressionProblem::new(format!(
        "Operator or function requires a document path; operator or function: {name}"
    ))
}
