//! Updates applied to items.

use std::collections::BTreeMap;

use crate::expr::path::{Path, Step};
use crate::expr::projection::project;
use crate::expr::update::{SetOperand, SetValue, Source, Update};
use crate::{Error, Item, Map, MapRef, Result, Value, ValueRef};

impl Update {
    /// The item after the update, with every part of it reading the item before.
    ///
    /// For a missing item, pass one that holds its key. The result is not measured: size, nesting
    /// and key attributes are the caller's to check.
    ///
    /// # Errors
    /// If a path leads nowhere, a needed attribute is missing, an operand has the wrong type, or
    /// a number leaves DynamoDB's range: a validation error with DynamoDB's message.
    pub fn apply(&self, item: &Item) -> Result<Item> {
        let before = item.view();
        let mut edits: BTreeMap<&str, Edit<'_>> = BTreeMap::new();
        for (path, value) in &self.set {
            place(&mut edits, path, Edit::Set(value.of(before)?));
        }
        for path in &self.remove {
            place(&mut edits, path, Edit::Remove);
        }
        for (path, value) in &self.add {
            place(&mut edits, path, Edit::Set(added(path.resolve(before), value)?));
        }
        for (path, members) in &self.delete {
            if let Some(value) = path.resolve(before) {
                let edit = deleted(value, members)?.map_or(Edit::Remove, Edit::Set);
                place(&mut edits, path, edit);
            }
        }
        // DynamoDB looks at what to write before it looks at where.
        for path in self.touched() {
            check_parent(path, before)?;
        }
        let mut map = item.to_map();
        edit_map(&mut map, edits);
        Ok(Item::from(map))
    }

    /// The parts of an item that the update touches: what `UPDATED_OLD` returns of the item
    /// before, and `UPDATED_NEW` of the item after.
    ///
    /// A nested path gives the nested fragment, as on AWS.
    pub fn touched_parts(&self, item: &Item) -> Item {
        project(self.touched(), item.view())
    }
}

/// What happens to one value.
enum Edit<'p> {
    Set(Value),
    Remove,
    Fields(BTreeMap<&'p str, Edit<'p>>),
    Elements(BTreeMap<u32, Edit<'p>>),
}

/// A path can be written to if what it is an element of is there, and of the right type.
fn check_parent(path: &Path, item: MapRef<'_>) -> Result<()> {
    let Some((last, steps)) = path.steps().split_last() else { return Ok(()) };
    let mut parent = item.get(path.root());
    for step in steps {
        parent = match (step, parent) {
            (Step::Field(name), Some(ValueRef::M(map))) => map.get(name),
            (Step::Index(index), Some(ValueRef::L(list))) => list.get(*index as usize),
            _ => None,
        };
    }
    match (last, parent) {
        (Step::Field(_), Some(ValueRef::M(_))) | (Step::Index(_), Some(ValueRef::L(_))) => Ok(()),
        _ => Err(Error::validation(
            "The document path provided in the update expression is invalid for update",
        )),
    }
}

/// Files an edit under its path. Of two paths that clash, which validation refuses, one wins.
fn place<'p>(edits: &mut BTreeMap<&'p str, Edit<'p>>, path: &'p Path, edit: Edit<'p>) {
    let Some((last, steps)) = path.steps().split_last() else {
        edits.insert(path.root(), edit);
        return;
    };
    let above = std::iter::once(None).chain(steps.iter().map(Some));
    let below = steps.iter().chain([last]);
    let mut slot: Option<&mut Edit<'p>> = None;
    for (step, next) in above.zip(below) {
        let empty = || match next {
            Step::Field(_) => Edit::Fields(BTreeMap::new()),
            Step::Index(_) => Edit::Elements(BTreeMap::new()),
        };
        slot = match (step, slot) {
            (None, _) => Some(edits.entry(path.root()).or_insert_with(empty)),
            (Some(Step::Field(name)), Some(Edit::Fields(fields))) => {
                Some(fields.entry(name).or_insert_with(empty))
            }
            (Some(Step::Index(index)), Some(Edit::Elements(elements))) => {
                Some(elements.entry(*index).or_insert_with(empty))
            }
            _ => None,
        };
        if slot.is_none() {
            return;
        }
    }
    match (last, slot) {
        (Step::Field(name), Some(Edit::Fields(fields))) => {
            fields.insert(name, edit);
        }
        (Step::Index(index), Some(Edit::Elements(elements))) => {
            elements.insert(*index, edit);
        }
        _ => {}
    }
}

fn edit_map(map: &mut Map, edits: BTreeMap<&str, Edit<'_>>) {
    for (name, edit) in edits {
        match edit {
            Edit::Set(value) => {
                map.insert(name.to_owned(), value);
            }
            Edit::Remove => {
                map.remove(name);
            }
            nested => {
                if let Some(value) = map.get_mut(name) {
                    edit_inside(value, nested);
                }
            }
        }
    }
}

fn edit_list(list: &mut Vec<Value>, edits: BTreeMap<u32, Edit<'_>>) {
    let length = list.len();
    let mut removed = Vec::new();
    for (index, edit) in edits {
        let index = index as usize;
        match edit {
            // Past the end, elements are appended in the order of their indexes, without gaps.
            Edit::Set(value) if index >= length => list.push(value),
            Edit::Set(value) => list[index] = value,
            Edit::Remove if index < length => removed.push(index),
            Edit::Remove => {}
            nested => {
                if let Some(value) = list.get_mut(index).filter(|_| index < length) {
                    edit_inside(value, nested);
                }
            }
        }
    }
    // Last, and from the end, so that every index means a place in the list as it was.
    for index in removed.into_iter().rev() {
        list.remove(index);
    }
}

/// The depth of this recursion is that of the item, which has at most 32 levels.
fn edit_inside(value: &mut Value, edit: Edit<'_>) {
    match (value, edit) {
        (Value::M(map), Edit::Fields(edits)) => edit_map(map, edits),
        (Value::L(list), Edit::Elements(edits)) => edit_list(list, edits),
        _ => {}
    }
}

impl SetValue {
    fn of(&self, item: MapRef<'_>) -> Result<Value> {
        match self {
            Self::Operand(operand) => Ok(operand.of(item)?.to_value()),
            Self::Plus(left, right) => {
                let left = number(left.of(item)?)?;
                Ok(Value::N(left.checked_add(number(right.of(item)?)?)?))
            }
            Self::Minus(left, right) => {
                let left = number(left.of(item)?)?;
                Ok(Value::N(left.checked_sub(number(right.of(item)?)?)?))
            }
            Self::ListAppend(left, right) => match (left.of(item)?, right.of(item)?) {
                (ValueRef::L(left), ValueRef::L(right)) => {
                    Ok(Value::L(left.iter().chain(right.iter()).map(ValueRef::to_value).collect()))
                }
                _ => Err(wrong_type()),
            },
        }
    }
}

impl SetOperand {
    fn of<'v>(&'v self, item: MapRef<'v>) -> Result<ValueRef<'v>> {
        // DynamoDB reads the last resort even if it is not needed.
        let last = match &self.last {
            Source::Value(value) => value.as_ref(),
            Source::Path(path) => path.resolve(item).ok_or_else(|| {
                Error::validation(
                    "The provided expression refers to an attribute that does not exist in the \
                     item",
                )
            })?,
        };
        Ok(self.candidates.iter().find_map(|path| path.resolve(item)).unwrap_or(last))
    }
}

/// What `ADD` makes of a value; of a missing one, what is added.
fn added(value: Option<ValueRef<'_>>, more: &Value) -> Result<Value> {
    let Some(value) = value else { return Ok(more.clone()) };
    Ok(match (value.to_value(), more) {
        (Value::N(number), Value::N(more)) => Value::N(number.checked_add(*more)?),
        (Value::Ss(set), Value::Ss(more)) => Value::Ss(set.union(more)),
        (Value::Ns(set), Value::Ns(more)) => Value::Ns(set.union(more)),
        (Value::Bs(set), Value::Bs(more)) => Value::Bs(set.union(more)),
        _ => return Err(wrong_type()),
    })
}

/// What `DELETE` leaves of a set, if anything.
fn deleted(value: ValueRef<'_>, members: &Value) -> Result<Option<Value>> {
    Ok(match (value.to_value(), members) {
        (Value::Ss(set), Value::Ss(members)) => set.difference(members).map(Value::Ss),
        (Value::Ns(set), Value::Ns(members)) => set.difference(members).map(Value::Ns),
        (Value::Bs(set), Value::Bs(members)) => set.difference(members).map(Value::Bs),
        _ => return Err(wrong_type()),
    })
}

fn number(value: ValueRef<'_>) -> Result<crate::Number> {
    value.as_number().ok_or_else(wrong_type)
}

fn wrong_type() -> Error {
    Error::validation("An operand in the update expression has an incorrect data type")
}
