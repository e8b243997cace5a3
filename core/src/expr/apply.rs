//! Application of updates to items.

use std::collections::BTreeMap;

use crate::expr::path::{Path, PathElement};
use crate::expr::projection::project;
use crate::expr::update::{SetFallback, SetOperand, SetValue, Update};
use crate::view::CONTAINER_SIZE;
use crate::{Error, Item, Map, MapRef, Result, Value, ValueRef, limits};

impl Update {
    /// Applies the update and returns the new item. Every action reads the item as it was before.
    ///
    /// For a missing item, pass an item that has only its key. The caller checks the size of the
    /// new item, its nesting and its key attributes. Values that are too large for any item are not
    /// built, because an update can copy one attribute to as many others as it has paths.
    ///
    /// # Errors
    /// A validation error with DynamoDB's message: a path is invalid, an attribute that is read is
    /// missing, an operand has the wrong type, a number leaves DynamoDB's range, or the values that
    /// are set exceed 400 KB together.
    pub fn apply(&self, item: &Item) -> Result<Item> {
        let before = item.view();
        // No item is nested deeper than this, and the edits below are as deep as the paths.
        if self.touched().any(|path| path.depth() > limits::PATH_ELEMENTS) {
            return Err(invalid_path());
        }
        let mut edits: BTreeMap<&str, Edit<'_>> = BTreeMap::new();
        let mut budget = SizeBudget::new(limits::ITEM_SIZE);
        for (path, value) in &self.set {
            place(&mut edits, path, Edit::Set(value.of(before, &mut budget)?));
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
        // DynamoDB checks the values before the paths.
        for path in self.touched() {
            check_parent(path, before)?;
        }
        if budget.is_exceeded() {
            return Err(too_large());
        }
        let mut attributes = BTreeMap::new();
        for (name, edit) in edits {
            match edit {
                Edit::Set(value) => {
                    attributes.insert(name, Some(value));
                }
                Edit::Remove => {
                    attributes.insert(name, None);
                }
                nested => {
                    if let Some(value) = before.get(name) {
                        let mut value = value.to_value();
                        edit_inside(&mut value, nested);
                        attributes.insert(name, Some(value));
                    }
                }
            }
        }
        item.edited(&attributes)
    }

    /// Returns the parts of an item that the update touches: those of the item before for
    /// `UPDATED_OLD`, those of the item after for `UPDATED_NEW`.
    ///
    /// A nested path results in a nested fragment, as on AWS.
    pub fn touched_parts(&self, item: &Item) -> Item {
        project(self.touched(), item.view())
    }
}

/// Limit on the total bytes of the values that one update sets.
///
/// Paths do not overlap, so all of these values would be in the new item.
struct SizeBudget {
    /// Remaining bytes; `None` after the limit was exceeded.
    left: Option<usize>,
}

impl SizeBudget {
    fn new(bytes: usize) -> Self {
        Self { left: Some(bytes) }
    }

    fn is_exceeded(&self) -> bool {
        self.left.is_none()
    }

    /// Builds a value of this size; over the limit, it returns NULL instead.
    ///
    /// An update over the limit is never applied. Its later actions are still checked, because
    /// their errors take precedence.
    fn build(&mut self, size: impl FnOnce() -> usize, value: impl FnOnce() -> Value) -> Value {
        self.left = self.left.and_then(|left| left.checked_sub(size()));
        if self.is_exceeded() { Value::Null } else { value() }
    }
}

/// Error of an update whose item would exceed the size limit.
pub(crate) fn too_large() -> Error {
    Error::validation("Item size to update has exceeded the maximum allowed size")
}

/// Change of one value, or of values inside it.
enum Edit<'p> {
    Set(Value),
    Remove,
    Fields(BTreeMap<&'p str, Edit<'p>>),
    Elements(BTreeMap<u32, Edit<'p>>),
}

/// Checks that the parent of the path's last element exists and has the right type.
fn check_parent(path: &Path, item: MapRef<'_>) -> Result<()> {
    let Some((last, steps)) = path.elements().split_last() else { return Ok(()) };
    let mut parent = item.get(path.root());
    for step in steps {
        parent = match (step, parent) {
            (PathElement::Field(name), Some(ValueRef::M(map))) => map.get(name),
            (PathElement::Index(index), Some(ValueRef::L(list))) => list.get(*index as usize),
            _ => None,
        };
    }
    match (last, parent) {
        (PathElement::Field(_), Some(ValueRef::M(_)))
        | (PathElement::Index(_), Some(ValueRef::L(_))) => Ok(()),
        _ => Err(invalid_path()),
    }
}

fn invalid_path() -> Error {
    Error::validation("The document path provided in the update expression is invalid for update")
}

/// Adds an edit under its path. Of two paths that overlap, which validation rejects, one wins.
fn place<'p>(edits: &mut BTreeMap<&'p str, Edit<'p>>, path: &'p Path, edit: Edit<'p>) {
    let Some((last, steps)) = path.elements().split_last() else {
        edits.insert(path.root(), edit);
        return;
    };
    let above = std::iter::once(None).chain(steps.iter().map(Some));
    let below = steps.iter().chain([last]);
    let mut slot: Option<&mut Edit<'p>> = None;
    for (step, next) in above.zip(below) {
        let empty = || match next {
            PathElement::Field(_) => Edit::Fields(BTreeMap::new()),
            PathElement::Index(_) => Edit::Elements(BTreeMap::new()),
        };
        slot = match (step, slot) {
            (None, _) => Some(edits.entry(path.root()).or_insert_with(empty)),
            (Some(PathElement::Field(name)), Some(Edit::Fields(fields))) => {
                Some(fields.entry(name).or_insert_with(empty))
            }
            (Some(PathElement::Index(index)), Some(Edit::Elements(elements))) => {
                Some(elements.entry(*index).or_insert_with(empty))
            }
            _ => None,
        };
        if slot.is_none() {
            return;
        }
    }
    match (last, slot) {
        (PathElement::Field(name), Some(Edit::Fields(fields))) => {
            fields.insert(name, edit);
        }
        (PathElement::Index(index), Some(Edit::Elements(elements))) => {
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
    // Removed last and from the end, so that every index refers to the list before the update.
    for index in removed.into_iter().rev() {
        list.remove(index);
    }
}

/// Applies an edit inside a value. It recurses at most 32 levels, the depth of an item.
fn edit_inside(value: &mut Value, edit: Edit<'_>) {
    match (value, edit) {
        (Value::M(map), Edit::Fields(edits)) => edit_map(map, edits),
        (Value::L(list), Edit::Elements(edits)) => edit_list(list, edits),
        _ => {}
    }
}

impl SetValue {
    fn of(&self, item: MapRef<'_>, budget: &mut SizeBudget) -> Result<Value> {
        match self {
            Self::Operand(operand) => {
                let value = operand.of(item)?;
                Ok(budget.build(|| value.size(), || value.to_value()))
            }
            Self::Plus(left, right) => {
                let left = number(left.of(item)?)?;
                Ok(Value::N(left.checked_add(number(right.of(item)?)?)?))
            }
            Self::Minus(left, right) => {
                let left = number(left.of(item)?)?;
                Ok(Value::N(left.checked_sub(number(right.of(item)?)?)?))
            }
            Self::ListAppend(left, right) => match (left.of(item)?, right.of(item)?) {
                (left @ ValueRef::L(first), right @ ValueRef::L(second)) => {
                    let elements = || first.iter().chain(second.iter()).map(ValueRef::to_value);
                    let size = || left.size() + right.size() - CONTAINER_SIZE;
                    Ok(budget.build(size, || Value::L(elements().collect())))
                }
                _ => Err(wrong_type()),
            },
        }
    }
}

impl SetOperand {
    fn of<'v>(&'v self, item: MapRef<'v>) -> Result<ValueRef<'v>> {
        // DynamoDB reads the fallback even if it is not needed.
        let last = match &self.last {
            SetFallback::Value(value) => value.as_ref(),
            SetFallback::Path(path) => path.resolve(item).ok_or_else(|| {
                Error::validation(
                    "The provided expression refers to an attribute that does not exist in the \
                     item",
                )
            })?,
        };
        Ok(self.candidates.iter().find_map(|path| path.resolve(item)).unwrap_or(last))
    }
}

/// Returns the result of `ADD` on a value; without a value, that is the operand.
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

/// Returns the result of `DELETE` on a set; `None` if no member is left.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Set, attr, item};

    fn list(elements: impl IntoIterator<Item = i32>) -> Value {
        Value::L(elements.into_iter().map(Value::from).collect())
    }

    fn strings<const N: usize>(members: [&str; N]) -> Value {
        Value::Ss(Set::new(members.map(str::to_owned)).unwrap())
    }

    fn map<const N: usize>(fields: [(&str, Value); N]) -> Value {
        Value::M(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn refusal(update: Update, item: &Item) -> String {
        update.apply(item).unwrap_err().message().to_owned()
    }

    #[test]
    fn update_values_over_400_kb_are_rejected_before_they_are_built() {
        let item = item! { "k" => "v", "l" => Value::L(vec![Value::Null; 150_000]) };
        let appended = (0..185).fold(Update::new(), |update, number| {
            update.set(format!("a{number}").as_str(), attr("l").append(attr("l")))
        });
        let too_large = "Item size to update has exceeded the maximum allowed size";
        assert_eq!(refusal(appended.clone(), &item), too_large);
        let copied = (0..185).fold(Update::new(), |update, number| {
            update.set(format!("a{number}").as_str(), attr("l"))
        });
        assert_eq!(refusal(copied, &item), too_large);
        // An error of a single action takes precedence, wherever the action is.
        let wrong = "An operand in the update expression has an incorrect data type";
        assert_eq!(refusal(appended.clone().set("z", attr("k").plus(1)), &item), wrong);
        let nowhere = "The document path provided in the update expression is invalid for update";
        assert_eq!(refusal(appended.remove(attr("k").field("x")), &item), nowhere);
        // Values of exactly the limit are built.
        let half = Value::L(vec![Value::Null; limits::ITEM_SIZE / 4 - 1]);
        let item = item! { "l" => half };
        let fits = Update::new().set("l", attr("l").append(attr("l")));
        let updated = fits.apply(&item).unwrap();
        assert_eq!(updated.get("l").unwrap().size(), limits::ITEM_SIZE - 1);
        let over = Update::new().set("l", attr("l").append(attr("l"))).set("m", "xx");
        assert_eq!(refusal(over, &item), too_large);
    }

    #[test]
    fn list_indexes_refer_to_the_list_before_the_update() {
        let item = item! { "l" => list(0..4) };
        let update = Update::new()
            .set(attr("l").index(2), 20)
            .remove(attr("l").index(0))
            .remove(attr("l").index(1));
        assert_eq!(update.apply(&item).unwrap(), item! { "l" => list([20, 3]) });
    }

    #[test]
    fn set_past_the_end_appends_in_order_of_index() {
        let item = item! { "l" => list(0..2) };
        let update = Update::new()
            .set(attr("l").index(9), 9)
            .set(attr("l").index(5), 5)
            .remove(attr("l").index(0))
            .remove(attr("l").index(7));
        assert_eq!(update.apply(&item).unwrap(), item! { "l" => list([1, 5, 9]) });
        let update = Update::new().add(attr("l").index(9), 7);
        assert_eq!(update.apply(&item).unwrap(), item! { "l" => list([0, 1, 7]) });
    }

    #[test]
    fn nested_update_keeps_sibling_attributes() {
        let inner = |x: i32| map([("x", x.into()), ("y", list(0..2))]);
        let item = item! { "m" => inner(1), "l" => Value::L(vec![inner(2)]) };
        let update = Update::new()
            .set(attr("m").field("x"), attr("l").index(0).field("x"))
            .remove(attr("l").index(0).field("x"))
            .set(attr("l").index(0).field("y").index(0), 7);
        let expected = item! {
            "m" => inner(2),
            "l" => Value::L(vec![map([("y", list([7, 1]))])]),
        };
        assert_eq!(update.apply(&item).unwrap(), expected);
    }

    #[test]
    fn path_with_missing_parent_is_rejected() {
        let item = item! { "n" => 1, "l" => list(0..1), "m" => map([]) };
        for path in [
            attr("z").field("x"),
            attr("n").field("x"),
            attr("n").index(0),
            attr("l").field("x"),
            attr("m").index(0),
            attr("m").field("x").field("y"),
            attr("l").index(5).field("x"),
            (0..100_000).fold(attr("l"), |path, _| path.index(0)),
        ] {
            for update in [
                Update::new().set(&path, 1),
                Update::new().remove(&path),
                Update::new().add(&path, 1),
                Update::new().delete(&path, strings(["a"])),
            ] {
                assert_eq!(
                    refusal(update, &item),
                    "The document path provided in the update expression is invalid for update"
                );
            }
        }
        for path in [attr("z"), attr("m").field("x"), attr("l").index(5)] {
            assert_eq!(Update::new().remove(&path).apply(&item).unwrap(), item);
            assert_eq!(Update::new().delete(&path, strings(["a"])).apply(&item).unwrap(), item);
        }
    }

    #[test]
    fn missing_or_mistyped_operand_is_rejected() {
        let item = item! { "n" => 1, "s" => "x", "l" => list(0..1) };
        let missing =
            "The provided expression refers to an attribute that does not exist in the item";
        let wrong = "An operand in the update expression has an incorrect data type";
        assert_eq!(refusal(Update::new().set("a", attr("z")), &item), missing);
        assert_eq!(refusal(Update::new().set("a", attr("z").plus(1)), &item), missing);
        assert_eq!(refusal(Update::new().set("a", attr("z").append(list([]))), &item), missing);
        // The fallback is read even when it is not needed.
        let unneeded = Update::new().set("a", attr("n").if_not_exists(attr("z")));
        assert_eq!(refusal(unneeded, &item), missing);
        assert_eq!(refusal(Update::new().set("a", attr("s").plus(1)), &item), wrong);
        assert_eq!(refusal(Update::new().set("a", attr("n").append(list([]))), &item), wrong);
        assert_eq!(refusal(Update::new().add("s", 1), &item), wrong);
        assert_eq!(refusal(Update::new().add("n", strings(["a"])), &item), wrong);
        assert_eq!(refusal(Update::new().delete("s", strings(["a"])), &item), wrong);
        let huge: Value = Value::N("9E125".parse().unwrap());
        let item = item! { "n" => huge.clone() };
        Update::new().add("n", huge).apply(&item).unwrap_err();
    }

    #[test]
    fn list_append_extends_either_end() {
        let item = item! { "l" => list([2]) };
        let update = Update::new()
            .set("l", attr("l").append(list([3])))
            .set("p", attr("l").prepend(list([1])))
            .set("new", attr("new").if_not_exists(list([])).append(list([1])));
        let expected = item! { "l" => list([2, 3]), "p" => list([1, 2]), "new" => list([1]) };
        assert_eq!(update.apply(&item).unwrap(), expected);
    }

    #[test]
    fn add_creates_attributes_and_delete_removes_empty_sets() {
        let update = Update::new().add("n", 5).add("s", strings(["a"]));
        let item = update.apply(&Item::new()).unwrap();
        assert_eq!(item, item! { "n" => 5, "s" => strings(["a"]) });
        let update = Update::new().set("n", attr("n").minus(7)).delete("s", strings(["a", "b"]));
        assert_eq!(update.apply(&item).unwrap(), item! { "n" => -2 });
    }

    #[test]
    fn touched_parts_are_nested_fragments() {
        let item = item! {
            "n" => 1,
            "other" => 2,
            "m" => map([("x", 1.into()), ("y", 2.into())]),
            "l" => list(0..3),
        };
        let update =
            Update::new().set(attr("m").field("x"), 9).add(attr("l").index(2), 1).remove("n");
        let updated = update.apply(&item).unwrap();
        assert_eq!(
            update.touched_parts(&item),
            item! { "n" => 1, "m" => map([("x", 1.into())]), "l" => list([2]) }
        );
        assert_eq!(
            update.touched_parts(&updated),
            item! { "m" => map([("x", 9.into())]), "l" => list([3]) }
        );
        assert!(Update::new().remove("z").touched_parts(&item).is_empty());
    }

    #[test]
    fn overlapping_paths_do_not_panic() {
        let item = item! { "m" => map([("x", 1.into())]) };
        for update in [
            Update::new().set("m", 1).set(attr("m").field("x"), 2),
            Update::new().set(attr("m").field("x"), 2).remove("m"),
            Update::new().set(attr("m").field("x").field("y"), 2).set(attr("m").index(0), 1),
        ] {
            update.validate().unwrap_err();
            let _ = update.apply(&item);
        }
    }
}
