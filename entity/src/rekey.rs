//! Which keys of indexes a change has to write again, and what must still be so when it does.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{has_value, unchanged};
use super::design::{EntityDesign, FieldDesign, IndexKeys};
use super::field::undeclared;
use super::template::Template;
use super::{Change, Entity, EntityKey};
use tabla_core::expr::Condition;
use tabla_core::{Error, Result};
use tabla_core::{Item, Value};

/// What a change makes of the keys of indexes.
pub(super) struct Rekeyed {
    /// The attributes that are written again; without a value where they are taken away.
    pub(super) values: BTreeMap<&'static str, Option<Value>>,
    /// What must not have changed since the entity was read for them to be right.
    pub(super) conditions: Vec<Condition>,
}

/// What must not have changed of a field. The value says whether there is one, too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pin {
    /// Whether it has a value.
    Presence,
    /// Its value.
    Value,
}

/// The keys of indexes that this change has to write again.
///
/// An attribute is written if a changed field stands in its template, and then needs the other
/// fields of that template. The other half of the key is left alone, so that who changes the one
/// does not lose to who changes the other. Both halves come and go together: a half is written
/// alone only where the entity was in the index and still is.
///
/// # Errors
/// A key has a field that is computed, or one that is not known because nothing was read.
pub(super) fn rekeyed<E: Entity>(change: &Change<E>) -> Result<Rekeyed> {
    let design = E::design();
    let before = change.read.as_ref().map(|read| Item::from_struct(&**read)).transpose()?;
    let mut rekeying = Rekeying {
        change,
        design,
        before,
        written: BTreeMap::new(),
        kept: BTreeSet::new(),
        removed: BTreeSet::new(),
        pins: BTreeMap::new(),
    };
    let (concerned, others): (Vec<&IndexKeys>, Vec<&IndexKeys>) =
        design.indexes.iter().partition(|keys| rekeying.cause(keys).is_some());
    for keys in concerned {
        rekeying.index(keys)?;
    }
    rekeying.spare_shared(&others)?;
    Ok(rekeying.finish())
}

struct Rekeying<'c, E: Entity> {
    change: &'c Change<E>,
    design: &'static EntityDesign,
    /// What was read, as attributes.
    before: Option<Item>,
    written: BTreeMap<&'static str, Value>,
    /// Attributes of indexes that the entity stays in.
    kept: BTreeSet<&'static str>,
    /// Attributes of indexes that it leaves. Another may need one.
    removed: BTreeSet<&'static str>,
    pins: BTreeMap<&'static str, Pin>,
}

impl<E: Entity> Rekeying<'_, E> {
    /// A changed field that stands in a key of this index, or decides whether there is one.
    fn cause(&self, keys: &IndexKeys) -> Option<&'static str> {
        self.change.changed().find(|name| keys.is_written_from(name))
    }

    /// The attributes that this index has of templates. The key of the table may be that of an
    /// index, too, and never changes.
    fn templates(&self, keys: &IndexKeys) -> Result<Vec<(&'static str, Template)>> {
        let mut templates = self.design.index_templates(keys)?;
        templates.retain(|(attribute, _)| !(self.design.table)().is_key(attribute));
        Ok(templates)
    }

    /// The fields without whose values the entity is not in the index.
    fn deciding(
        &self,
        keys: &IndexKeys,
        templates: &[(&'static str, Template)],
    ) -> Vec<&'static FieldDesign> {
        let parts = templates.iter().flat_map(|(_, template)| template.parts());
        let mut names: Vec<&'static str> = parts.map(|part| part.field).chain(keys.when).collect();
        names.sort_unstable();
        names.dedup();
        let fields = names.into_iter().filter_map(|name| self.design.field(name));
        fields.filter(|field| field.optional).collect()
    }

    /// One index that a changed field has to do with.
    fn index(&mut self, keys: &IndexKeys) -> Result<()> {
        let change = self.change;
        let templates = self.templates(keys)?;
        let deciding = self.deciding(keys, &templates);
        let parts = templates.iter().flat_map(|(_, template)| template.parts());
        let own = parts.map(|part| part.field).chain(keys.when);
        if let Some(computed) = change.computes(own) {
            return Err(undeclared(
                self.design.name,
                format_args!(
                    "`{computed}` stands in the key of index {}: set it to a value, so that the \
                     key can be written with it",
                    keys.index
                ),
            ));
        }
        if deciding.iter().any(|field| change.clears(field.name)) {
            self.removed.extend(templates.iter().map(|(attribute, _)| attribute));
            return Ok(());
        }
        let (set, left): (Vec<&FieldDesign>, Vec<&FieldDesign>) =
            deciding.iter().copied().partition(|field| change.sets(field.name));
        let stays = match &self.before {
            Some(before) => {
                if let Some(missing) = left.iter().find(|field| !has_value(field, before)) {
                    // It was not in the index, and is not afterwards.
                    self.pin(missing, Pin::Presence);
                    return Ok(());
                }
                set.iter().all(|field| has_value(field, before))
            }
            // Every field that decides has to be known.
            None => match left.first() {
                Some(field) => return Err(self.unknown(keys, field.name)),
                None => set.is_empty(),
            },
        };
        // Who comes to be in the index writes all of its key, whatever was set before.
        let pinned = if stays { &deciding } else { &left };
        for field in pinned {
            self.pin(field, Pin::Presence);
        }
        for (attribute, template) in templates {
            if stays && !change.changed().any(|name| template.has(name)) {
                self.kept.insert(attribute);
                continue;
            }
            for part in template.parts() {
                self.know(keys, part.field)?;
            }
            let text = template.render(&|name| change.after(name))?.ok_or_else(|| {
                Error::validation(format!(
                    "{} has no value for its key {template}",
                    self.design.name
                ))
            })?;
            self.written.insert(attribute, Value::S(text));
        }
        Ok(())
    }

    /// Indexes may share an attribute, which stays while one of them needs it.
    fn spare_shared(&mut self, others: &[&IndexKeys]) -> Result<()> {
        for keys in others {
            let templates = self.templates(keys)?;
            let is_removed = |(attribute, _): &(&str, Template)| {
                self.removed.contains(attribute) && !self.written.contains_key(attribute)
            };
            if !templates.iter().any(is_removed) {
                continue;
            }
            let deciding = self.deciding(keys, &templates);
            let missing = match (&self.before, deciding.first()) {
                (Some(before), _) => deciding.iter().find(|field| !has_value(field, before)),
                (None, Some(field)) => return Err(self.unknown(keys, field.name)),
                (None, None) => None,
            };
            if let Some(missing) = missing {
                self.pin(missing, Pin::Presence);
                continue;
            }
            for field in &deciding {
                self.pin(field, Pin::Presence);
            }
            self.kept.extend(templates.iter().map(|(attribute, _)| attribute));
        }
        Ok(())
    }

    /// A field of a key that is written: it is in the table's key, or set, or stays as it was read.
    fn know(&mut self, keys: &IndexKeys, name: &'static str) -> Result<()> {
        if self.change.sets(name) || self.change.key.field(name).is_some() {
            return Ok(());
        }
        if self.before.is_none() {
            return Err(self.unknown(keys, name));
        }
        let field = self.design.field(name).expect("the macro has found it");
        self.pin(field, Pin::Value);
        Ok(())
    }

    fn pin(&mut self, field: &'static FieldDesign, pin: Pin) {
        if !field.immutable {
            let present = self.pins.entry(field.name).or_insert(pin);
            *present = pin.max(*present);
        }
    }

    fn unknown(&self, keys: &IndexKeys, name: &str) -> Error {
        let index = keys.index;
        let what = match self.cause(keys) {
            Some(cause) => {
                format!("a change of `{cause}` rewrites the key of index {index}, which")
            }
            None => format!("it takes an attribute away that may be a key of index {index}, which"),
        };
        undeclared(
            self.design.name,
            format_args!(
                "{what} also has `{name}`: read the entity and use `entity.change()`, or set `{name}` too"
            ),
        )
    }

    fn finish(self) -> Rekeyed {
        let Self { design, before, written, kept, removed, pins, .. } = self;
        let is_gone = |attribute: &&'static str| {
            !kept.contains(attribute) && !written.contains_key(attribute)
        };
        let gone: Vec<&'static str> = removed.into_iter().filter(is_gone).collect();
        let values = written.into_iter().map(|(attribute, value)| (attribute, Some(value)));
        let values = values.chain(gone.into_iter().map(|attribute| (attribute, None))).collect();
        let before = before.unwrap_or_default();
        let condition = |(name, pin): (&'static str, Pin)| {
            let field = design.field(name).expect("it was pinned");
            match pin {
                Pin::Presence if has_value(field, &before) => field.has_value(),
                Pin::Presence | Pin::Value => unchanged(field, &before),
            }
        };
        Rekeyed { values, conditions: pins.into_iter().map(condition).collect() }
    }
}
