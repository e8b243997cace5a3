//! Changes of some fields of an entity, which keep its keys true.

use std::any::Any;
use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::design::{EntityDesign, FieldDesign};
use super::field::undeclared;
use super::numeric::{Guard, Numeric};
use super::rekey::{Rekeyed, rekeyed};
use super::{Check, Entity, EntityKey, Field, UtcMillis};
use tabla_core::Result;
use tabla_core::expr::{Condition, Update};
use tabla_core::{Item, Value, attr};

/// A change of some fields of an entity.
///
/// A change rewrites every attribute of an index key that a changed field stands in. If the entity
/// was read (`entity.change()`), it holds only if the other fields of that attribute's template are
/// what they were, and the entity is still in the index, or still is not; the other half of the key
/// is left alone, and so are those who change it at the same time. A change of an entity that was
/// not read (`key.change()`) has to set all fields of such a template that are not in the table's
/// key, and those that decide whether the entity is in the index; otherwise it is refused.
#[must_use]
pub struct Change<E: Entity> {
    pub(super) key: E::Key,
    pub(super) read: Option<Box<E>>,
    /// The fields that are set, as the entity holds them.
    set: BTreeMap<&'static str, Box<dyn Any + Send + Sync>>,
    /// The same as values; `None` where a field is cleared.
    values: BTreeMap<&'static str, Option<Value>>,
    update: Update,
    /// Fields that are changed by what they were.
    computed: Vec<&'static str>,
    condition: Option<Condition>,
    failure: Option<tabla_core::Error>,
}

impl<E: Entity> Change<E> {
    /// Change of an entity that was read. For generated code: `entity.change()`.
    #[doc(hidden)]
    pub fn of(entity: &E) -> Self {
        Self { read: Some(Box::new(entity.clone())), ..Self::at(entity.to_key()) }
    }

    /// Change of the entity with this key. For generated code: `key.change()`.
    #[doc(hidden)]
    pub fn at(key: E::Key) -> Self {
        Self {
            key,
            read: None,
            set: BTreeMap::new(),
            values: BTreeMap::new(),
            update: Update::new(),
            computed: Vec::new(),
            condition: None,
            failure: None,
        }
    }

    fn fail(&mut self, error: tabla_core::Error) {
        self.failure.get_or_insert(error);
    }

    /// Sets a field.
    pub fn set<T>(mut self, field: Field<E, T>, value: impl Into<T>) -> Self
    where
        T: Serialize + Any + Send + Sync,
    {
        let value = value.into();
        match Value::from_struct(&value) {
            Ok(stored) => {
                self.values.insert(field.name, Some(stored));
                self.set.insert(field.name, Box::new(value));
            }
            Err(error) => self.fail(error),
        }
        self
    }

    /// Takes the value of a field away.
    pub fn clear<T>(mut self, field: Field<E, T>) -> Self {
        self.values.insert(field.name, None);
        self.set.remove(field.name);
        self
    }

    /// Adds an amount to a number; a negative one subtracts. A field without a value counts as zero.
    ///
    /// - Where no index key is made of the field, the store adds: concurrent increments all count,
    ///   and nothing need have been read.
    /// - Where one is, or where a missing attribute stands for another number than zero, the sum of
    ///   the number that was read and the amount is set, with the key, on the condition that the
    ///   number is still what was read.
    ///
    /// The change holds only if the field's type can hold the sum: to a `u32`, neither a fraction
    /// nor what leads below zero or beyond `u32::MAX` is added. Otherwise it fails, as it does when
    /// a condition fails.
    pub fn increment<T>(mut self, field: Field<E, T>, amount: impl Into<tabla_core::Number>) -> Self
    where
        T: Numeric + Serialize + DeserializeOwned + Any + Send + Sync,
    {
        let amount = amount.into();
        let design = E::design();
        let starts_elsewhere = design.field(field.name).is_some_and(FieldDesign::starts_elsewhere);
        if is_in_index_key(design, field.name) || starts_elsewhere {
            if let Err(error) = self.set_sum(field, amount) {
                self.fail(error);
            }
            return self;
        }
        self.computed.push(field.name);
        self.update = self.update.add(field.path(), Value::N(amount));
        match T::range().guard(field.path(), amount) {
            Guard::Always => {}
            Guard::If(condition) => self.require(condition),
            Guard::Never => self.require(!present(E::design())),
        }
        self
    }

    /// Sets the sum of what was read and an amount, if the field is what was read.
    fn set_sum<T>(&mut self, field: Field<E, T>, amount: tabla_core::Number) -> Result<()>
    where
        T: Numeric + Serialize + DeserializeOwned + Any + Send + Sync,
    {
        let design = E::design();
        let Some(read) = &self.read else {
            return Err(undeclared(
                design.name,
                format_args!(
                    "`{0}` {1}: read the entity and use its change(), so that the sum can be written, \
                     or set `{0}` to a value",
                    field.name,
                    match is_in_index_key(design, field.name) {
                        true => "is part of an index key",
                        false => "has a default other than zero",
                    }
                ),
            ));
        };
        let own = design.field(field.name).expect("the macro has found it");
        let held = read.field(field.name).expect("the macro has found it");
        let number = match held.downcast_ref::<T>() {
            Some(number) => Some(number),
            None => held.downcast_ref::<Option<T>>().and_then(Option::as_ref),
        };
        let mut before = Item::new();
        let number = match number.map(Value::from_struct).transpose()? {
            Some(value) => {
                before.insert(field.attribute, value.clone());
                value.as_number().unwrap_or_default()
            }
            None => tabla_core::Number::ZERO,
        };
        self.require(unchanged(own, &before));
        let sum = number.checked_add(amount).ok().filter(|sum| T::range().contains(*sum));
        match sum {
            Some(sum) => {
                let sum = Value::N(sum);
                self.set.insert(field.name, Box::new(sum.to_struct::<T>()?));
                self.values.insert(field.name, Some(sum));
            }
            None => self.require(!present(design)),
        }
        Ok(())
    }

    /// Adds a condition to those that the change needs.
    fn require(&mut self, condition: Condition) {
        self.condition = Some(match self.condition.take() {
            Some(present) => present.and(condition),
            None => condition,
        });
    }

    /// Appends to a list, which may not be there yet.
    pub fn append<I: Serialize>(
        mut self,
        field: Field<E, Vec<I>>,
        elements: impl IntoIterator<Item = impl Into<I>>,
    ) -> Self {
        self.computed.push(field.name);
        let elements: Vec<I> = elements.into_iter().map(Into::into).collect();
        match Value::from_struct(&elements) {
            Ok(list) => {
                let default = E::design().field(field.name).and_then(|field| field.default);
                let default = default.and_then(|default| default().ok());
                let present = field.path().if_not_exists(default.unwrap_or(Value::L(Vec::new())));
                self.update = self.update.set(field.path(), present.append(list));
            }
            Err(error) => self.fail(error),
        }
        self
    }

    /// Holds only if this does, too.
    pub fn when(mut self, check: Check<E>) -> Self {
        match check.on_attributes() {
            Ok(condition) => self.require(condition),
            Err(error) => self.fail(error),
        }
        self
    }

    /// The fields that are changed.
    pub(super) fn changed(&self) -> impl Iterator<Item = &'static str> {
        self.values.keys().chain(&self.computed).copied()
    }

    /// Whether a field is given a value.
    pub(super) fn sets(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// The value that a field is given.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name).and_then(Option::as_ref)
    }

    /// Whether the value of a field is taken away.
    pub(super) fn clears(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(Option::is_none)
    }

    /// A field among these that is changed by what it was.
    pub(super) fn computes(
        &self,
        mut fields: impl Iterator<Item = &'static str>,
    ) -> Option<&'static str> {
        fields.find(|name| self.computed.contains(name))
    }

    /// A field as it is after the change, as far as that is known.
    pub(super) fn after(&self, name: &str) -> Option<&dyn Any> {
        if let Some(value) = self.set.get(name) {
            return Some(&**value);
        }
        if self.values.contains_key(name) {
            return None;
        }
        let read = self.read.as_ref().and_then(|entity| entity.field(name));
        read.or_else(|| self.key.field(name))
    }

    /// The key, the update and the condition.
    pub(super) fn build(mut self, now: UtcMillis) -> Result<Built> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let design = E::design();
        for name in self.changed() {
            check_may_change(design, name)?;
        }
        let needed = |name: &&str| {
            self.clears(name) && !design.field(name).is_some_and(|field| field.optional)
        };
        if let Some(name) = self.changed().find(needed) {
            return Err(undeclared(
                design.name,
                format_args!("`{name}` is no Option, and always has a value: set it to one"),
            ));
        }
        self.stamp(design, now)?;
        let key = self.key.to_item()?;
        let mut conditions = vec![present(design)];
        let mut update = std::mem::take(&mut self.update);
        for (name, value) in &self.values {
            let path = attr(design.attribute(name));
            update = match value {
                Some(value) => update.set(path, value.clone()),
                None if design.field(name).is_some_and(|field| field.keeps_null) => {
                    update.set(path, Value::Null)
                }
                None => update.remove(path),
            };
        }
        let Rekeyed { values, conditions: pinned } = rekeyed(&self)?;
        conditions.extend(pinned);
        for (attribute, value) in values {
            update = match value {
                Some(value) => update.set(attr(attribute), value),
                None => update.remove(attr(attribute)),
            };
        }
        conditions.extend(self.condition.take());
        let condition = Condition::all(conditions).expect("there is at least one");
        Ok(Built { key, update, condition })
    }

    /// Sets what the layer sets by itself.
    fn stamp(&mut self, design: &EntityDesign, now: UtcMillis) -> Result<()> {
        if let Some(updated) = design.updated
            && !self.values.contains_key(updated)
        {
            let field = design.field(updated).expect("the macro has found it");
            let (value, text): (Box<dyn Any + Send + Sync>, String) = match field.millis {
                true => (Box::new(now), now.to_string()),
                false => (Box::new(now.second()), now.second().to_string()),
            };
            self.set.insert(updated, value);
            self.values.insert(updated, Some(Value::S(text)));
        }
        if let Some(revision) = design.revision {
            let attribute = design.attribute(revision);
            self.update = std::mem::take(&mut self.update).add(attr(attribute), Value::N(1.into()));
            match self.read.as_ref().and_then(|entity| entity.revision()) {
                Some(read) => {
                    check_countable(design, read)?;
                    let own = design.field(revision).expect("the macro has found it");
                    let unchanged = own.or_default(attr(attribute).eq(read));
                    self.condition = Some(match self.condition.take() {
                        Some(condition) => unchanged.and(condition),
                        None => unchanged,
                    });
                }
                // No item has been written 2^64 times.
                None if design.revision_limit == u64::MAX => {}
                None => {
                    let attribute = attr(attribute);
                    let below = attribute.clone().lt(design.revision_limit);
                    self.require(attribute.not_exists().or(below));
                }
            }
        }
        Ok(())
    }
}

/// Refuses one more write of an entity that has counted as many as its field can hold.
pub(super) fn check_countable(design: &EntityDesign, revision: u64) -> Result<()> {
    match design.revision {
        Some(name) if revision >= design.revision_limit => Err(undeclared(
            design.name,
            format_args!("`{name}` has counted {revision} writes, and cannot hold more: widen it"),
        )),
        _ => Ok(()),
    }
}

/// A change, ready to be sent.
pub(super) struct Built {
    pub(super) key: Item,
    pub(super) update: Update,
    pub(super) condition: Condition,
}

/// Holds if the entity is there.
pub(super) fn present(design: &EntityDesign) -> Condition {
    attr(&(design.table)().partition.attribute).exists()
}

/// Holds if the attribute of a field is what it was.
pub(super) fn unchanged(field: &FieldDesign, before: &Item) -> Condition {
    let attribute = attr(field.attribute);
    match before.get(field.attribute).filter(|value| !value.is_null()) {
        Some(value) => field.or_default(attribute.eq(value.to_value())),
        // What was written before the field was there has no attribute.
        None if field.keeps_null => attribute.clone().not_exists().or(attribute.eq(Value::Null)),
        None => attribute.not_exists(),
    }
}

/// Whether a field has a value among these attributes.
pub(super) fn has_value(field: &FieldDesign, attributes: &Item) -> bool {
    attributes.get(field.attribute).is_some_and(|value| !value.is_null())
}

impl FieldDesign {
    /// A condition on the attribute, as one on the field: where the attribute is missing, it holds
    /// if it holds for the field's default.
    pub(super) fn or_default(&self, condition: Condition) -> Condition {
        let Some(Ok(default)) = self.default.map(|default| default()) else { return condition };
        let holds = condition.evaluate(&Item::new().with(self.attribute, default));
        match (holds, condition.evaluate(&Item::new())) {
            (true, false) => condition.or(attr(self.attribute).not_exists()),
            (false, true) => condition.and(attr(self.attribute).exists()),
            _ => condition,
        }
    }

    /// Whether a missing attribute stands for a number other than zero.
    fn starts_elsewhere(&self) -> bool {
        let default = self.default.and_then(|default| default().ok());
        default.is_some_and(|default| !matches!(default, Value::N(number) if number.is_zero()))
    }

    /// Holds if the field has a value.
    pub(super) fn has_value(&self) -> Condition {
        let attribute = attr(self.attribute);
        match self.keeps_null {
            true => attribute.clone().exists().and(attribute.ne(Value::Null)),
            false => attribute.exists(),
        }
    }
}

/// Whether an index key is written from this field.
fn is_in_index_key(design: &EntityDesign, name: &str) -> bool {
    design.indexes.iter().any(|keys| keys.is_written_from(name))
}

fn check_may_change(design: &EntityDesign, name: &str) -> Result<()> {
    let in_key = std::iter::once(&design.partition).chain(&design.sort).any(|key| key.has(name));
    if in_key {
        return Err(undeclared(design.name, format_args!("`{name}` is part of the key")));
    }
    if design.field(name).is_some_and(|field| field.immutable) {
        return Err(undeclared(design.name, format_args!("`{name}` is immutable")));
    }
    if design.revision == Some(name) {
        return Err(undeclared(design.name, format_args!("`{name}` counts by itself")));
    }
    Ok(())
}
