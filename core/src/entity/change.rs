//! Changes of some fields of an entity, which keep its keys true.

use std::any::Any;
use std::collections::BTreeMap;

use serde::Serialize;

use super::design::{EntityDesign, FieldDesign, IndexKeys, KeySource};
use super::field::undeclared;
use super::{Check, Entity, EntityKey, Field, UtcMillis};
use crate::error::Result;
use crate::expr::{Condition, Path, Update};
use crate::{Item, Value, attr};

/// A change of some fields of an entity.
///
/// A change of an entity that was read ([`Change::of`]) rewrites every index key that a changed
/// field stands in, and holds only if the other fields of that key are what they were when it was
/// read. A change of an entity that was not read ([`Change::at`]) can do so only if it sets all
/// fields of such a key that are not in the table's key, too; otherwise it is refused.
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
    failure: Option<crate::Error>,
}

impl<E: Entity> Change<E> {
    /// A change of an entity that was read.
    pub fn of(entity: &E) -> Self {
        Self { read: Some(Box::new(entity.clone())), ..Self::at(entity.key()) }
    }

    /// A change of the entity with this key, whatever it is.
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

    fn fail(&mut self, error: crate::Error) {
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

    /// Adds to a number.
    pub fn add<T>(mut self, field: Field<E, T>, amount: impl Into<crate::Number>) -> Self {
        self.computed.push(field.name);
        self.update = self.update.add(field.path(), Value::N(amount.into()));
        self
    }

    /// Appends to a list, which may not be there yet.
    pub fn append<T, I: Serialize>(mut self, field: Field<E, T>, elements: &[I]) -> Self {
        self.computed.push(field.name);
        match Value::from_struct(elements) {
            Ok(list) => {
                let present = field.path().if_not_exists(Value::L(Vec::new()));
                self.update = self.update.set(field.path(), present.append(list));
            }
            Err(error) => self.fail(error),
        }
        self
    }

    /// Sets what a path leads to, inside of a field.
    pub fn set_inside<T>(
        mut self,
        field: Field<E, T>,
        path: impl FnOnce(Path) -> Path,
        value: impl Serialize,
    ) -> Self {
        self.computed.push(field.name);
        match Value::from_struct(&value) {
            Ok(value) => self.update = self.update.set(path(field.path()), value),
            Err(error) => self.fail(error),
        }
        self
    }

    /// Holds only if this does, too.
    pub fn when(mut self, check: Check<E>) -> Self {
        match check.on_attributes() {
            Ok(condition) => {
                self.condition = Some(match self.condition.take() {
                    Some(present) => present.and(condition),
                    None => condition,
                });
            }
            Err(error) => self.fail(error),
        }
        self
    }

    /// The fields that are changed.
    pub(super) fn changed(&self) -> impl Iterator<Item = &'static str> {
        self.values.keys().chain(&self.computed).copied()
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
        let (rewritten, pinned) = self.rewritten(design)?;
        conditions.extend(pinned);
        for (attribute, value) in rewritten {
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
            if let Some(read) = self.read.as_ref().and_then(|entity| entity.revision()) {
                let unchanged = attr(attribute).eq(read);
                self.condition = Some(match self.condition.take() {
                    Some(condition) => unchanged.and(condition),
                    None => unchanged,
                });
            }
        }
        Ok(())
    }

    /// The keys of all indexes that have to be written again. Indexes may share an attribute, which
    /// one expression sets once, and which stays while one of them needs it.
    fn rewritten(&self, design: &EntityDesign) -> Result<AllRewritten> {
        let (mut open, mut rest): (Vec<&IndexKeys>, Vec<&IndexKeys>) = design
            .indexes
            .iter()
            .partition(|keys| self.changed().any(|name| is_concerned(keys, name)));
        let (mut rewritten, mut conditions) = (BTreeMap::new(), Vec::new());
        open.reverse();
        while let Some(keys) = open.pop() {
            let (values, pinned) = self.index(design, keys)?;
            conditions.extend(pinned);
            for (attribute, value) in values {
                if value.is_none() {
                    let needs = |other: &&IndexKeys| is_written(design, other, attribute);
                    let (sharing, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(needs);
                    open.extend(sharing);
                    rest = others;
                }
                let present: &mut Option<Value> = rewritten.entry(attribute).or_default();
                *present = value.or(present.take());
            }
        }
        // The key of the table may be that of an index, too, and never changes.
        rewritten.retain(|attribute, _| !(design.table)().is_key(attribute));
        Ok((rewritten, conditions))
    }

    /// The keys of an index that has to be written again, and what must not have changed for them
    /// to be right.
    fn index(&self, design: &EntityDesign, keys: &IndexKeys) -> Result<Rewritten> {
        let sources = || std::iter::once(&keys.partition).chain(&keys.sort);
        let is_concerned = |name: &str| is_concerned(keys, name);
        let changed = self.changed().find(|name| is_concerned(name));
        if let Some(computed) = self.computed.iter().find(|name| is_concerned(name)) {
            return Err(undeclared(
                design.name,
                format_args!(
                    "`{computed}` stands in the key of index {}: set it to a value, so that the key \
                 can be written with it",
                    keys.index
                ),
            ));
        }
        let mut pinned = Vec::new();
        let mut needed: Vec<&'static str> = sources()
            .filter(|source| source.template().is_some())
            .flat_map(KeySource::fields)
            .collect();
        needed.extend(keys.when);
        needed.sort_unstable();
        needed.dedup();
        for name in needed {
            let is_known = self.values.contains_key(name) || self.key.field(name).is_some();
            if is_known {
                continue;
            }
            let Some(read) = &self.read else {
                return Err(undeclared(
                    design.name,
                    format_args!(
                        "a change of `{}` rewrites the key of index {}, which also has `{name}`: read \
                     the entity and use Change::of, or set `{name}` too",
                        changed.unwrap_or("another index"),
                        keys.index
                    ),
                ));
            };
            let field = design.field(name).expect("the macro has found it");
            if !field.immutable {
                pinned.push(unchanged(field, &Item::from_struct(&**read)?));
            }
        }
        // The attributes tell only whether the field after `when` has a value.
        let mut attributes = Item::new();
        if let Some(when) = keys.when {
            let has_value = match self.values.get(when) {
                Some(value) => value.is_some(),
                None => match &self.read {
                    Some(read) => Item::from_struct(&**read)?
                        .get(design.attribute(when))
                        .is_some_and(|value| !value.is_null()),
                    None => true,
                },
            };
            if has_value {
                attributes.insert(design.attribute(when), true);
            }
        }
        let cleared = |name: &str| self.values.get(name).is_some_and(Option::is_none);
        if needed_is_cleared(keys, &cleared) {
            let table = (design.table)();
            let index = table.find_index(keys.index);
            let own = index
                .into_iter()
                .flat_map(|index| std::iter::once(&index.partition).chain(&index.sort));
            let sources = sources().map(|source| source.template().is_some());
            let gone = own.zip(sources).filter(|(_, is_template)| *is_template);
            return Ok((gone.map(|(key, _)| (key.attribute.as_str(), None)).collect(), pinned));
        }
        let after = |name: &str| self.after(name);
        Ok((design.index_keys(keys, &after, &attributes)?, pinned))
    }
}

/// Whether the keys of an index have to be written again if this field changes.
fn is_concerned(keys: &IndexKeys, name: &str) -> bool {
    let mut sources = std::iter::once(&keys.partition).chain(&keys.sort);
    keys.when == Some(name)
        || sources.any(|source| source.template().is_some_and(|own| own.has(name)))
}

/// Whether a template of these keys makes this attribute.
fn is_written(design: &EntityDesign, keys: &IndexKeys, attribute: &str) -> bool {
    let Some(index) = (design.table)().find_index(keys.index) else { return false };
    let own = std::iter::once(&index.partition).chain(&index.sort);
    let sources = std::iter::once(&keys.partition).chain(&keys.sort);
    own.zip(sources).any(|(key, source)| key.attribute == attribute && source.template().is_some())
}

fn needed_is_cleared(keys: &IndexKeys, cleared: &dyn Fn(&str) -> bool) -> bool {
    let sources = std::iter::once(&keys.partition).chain(&keys.sort);
    let mut fields =
        sources.filter(|source| source.template().is_some()).flat_map(KeySource::fields);
    fields.any(cleared) || keys.when.is_some_and(cleared)
}

type AllRewritten = (BTreeMap<&'static str, Option<Value>>, Vec<Condition>);

type Rewritten = (Vec<(&'static str, Option<Value>)>, Vec<Condition>);

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
        Some(value) => attribute.eq(value.to_value()),
        // What was written before the field was there has no attribute.
        None if field.keeps_null => attribute.clone().not_exists().or(attribute.eq(Value::Null)),
        None => attribute.not_exists(),
    }
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
