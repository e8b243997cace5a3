//! Fields by name and type, and conditions on them.

use std::marker::PhantomData;

use serde::Serialize;

use super::Entity;
use super::design::FieldDesign;
use tabla_core::Value;
use tabla_core::env::Timestamp;
use tabla_core::expr::{CompareOp, Condition, Path, attr};
use tabla_core::{Error, Result};

/// A field of an entity, which `#[derive(Entity)]` makes a constant of: `Theme::STATUS`. `T` is the
/// type of its value: of an `Option`, what is in it.
pub struct Field<E, T> {
    /// The field.
    pub name: &'static str,
    /// The attribute that holds it.
    pub attribute: &'static str,
    types: PhantomData<fn() -> (E, T)>,
}

impl<E, T> Clone for Field<E, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, T> Copy for Field<E, T> {}

impl<E, T> std::fmt::Debug for Field<E, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A condition on an entity.
#[must_use]
pub struct Check<E> {
    condition: Result<Condition>,
    entity: PhantomData<fn() -> E>,
}

impl<E> std::fmt::Debug for Check<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.condition.fmt(f)
    }
}

impl<E, T> Field<E, T> {
    /// The field of this name; the macro's to call.
    pub const fn new(name: &'static str, attribute: &'static str) -> Self {
        Self { name, attribute, types: PhantomData }
    }

    /// Its path in expressions.
    pub fn path(self) -> Path {
        attr(self.attribute)
    }
}

impl<E: Entity, T> Field<E, T> {
    /// Holds if the field has a value.
    pub fn exists(self) -> Check<E> {
        let has_value = E::design().field(self.name).map(FieldDesign::has_value);
        self.check(Ok(has_value.unwrap_or_else(|| self.path().exists())))
    }

    /// Holds if it has none.
    pub fn not_exists(self) -> Check<E> {
        match E::design().field(self.name).is_some_and(|field| field.keeps_null) {
            true => !self.exists(),
            false => self.check(Ok(self.path().not_exists())),
        }
    }
}

impl<E: Entity, T> Field<E, T> {
    /// The condition on the attribute, as one on the field.
    fn check(self, condition: Result<Condition>) -> Check<E> {
        Check::of(condition.map(|condition| match E::design().field(self.name) {
            Some(field) => field.or_default(condition),
            None => condition,
        }))
    }
}

impl<E: Entity, T: Serialize> Field<E, T> {
    fn compare(self, op: CompareOp, value: impl Into<T>) -> Check<E> {
        let value = Value::from_struct(&value.into());
        self.check(value.map(|value| self.path().compare(op, value)))
    }

    /// Holds if the field has this value.
    pub fn eq(self, value: impl Into<T>) -> Check<E> {
        self.compare(CompareOp::Eq, value)
    }

    /// Holds if it has another value, or none.
    pub fn ne(self, value: impl Into<T>) -> Check<E> {
        self.compare(CompareOp::Ne, value)
    }

    /// Holds if its value is less.
    pub fn lt(self, value: impl Into<T>) -> Check<E> {
        self.compare(CompareOp::Lt, value)
    }

    /// Holds if its value is not greater.
    pub fn le(self, value: impl Into<T>) -> Check<E> {
        self.compare(CompareOp::Le, value)
    }

    /// Holds if its value is greater.
    pub fn gt(self, value: impl Into<T>) -> Check<E> {
        self.compare(CompareOp::Gt, value)
    }

    /// Holds if its value is not less.
    pub fn ge(self, value: impl Into<T>) -> Check<E> {
        self.compare(CompareOp::Ge, value)
    }

    /// Holds if it has one of these values.
    pub fn is_in(self, values: impl IntoIterator<Item = impl Into<T>>) -> Check<E> {
        let values = values.into_iter().map(|value| Value::from_struct(&value.into()));
        let values: Result<Vec<Value>> = values.collect();
        self.check(values.map(|values| self.path().is_in(values)))
    }

    /// Holds if its list, set or text has this in it.
    pub fn contains(self, part: impl Serialize) -> Check<E> {
        let part = Value::from_struct(&part);
        self.check(part.map(|part| self.path().contains(part)))
    }

    /// Holds if its text begins with this.
    pub fn begins_with(self, prefix: impl Into<String>) -> Check<E> {
        self.check(Ok(self.path().begins_with(prefix.into())))
    }
}

impl<E> Check<E> {
    fn of(condition: Result<Condition>) -> Self {
        Self { condition, entity: PhantomData }
    }

    /// Holds if both do.
    pub fn and(self, other: Self) -> Self {
        self.with(other, Condition::and)
    }

    /// Holds if one of them does.
    pub fn or(self, other: Self) -> Self {
        self.with(other, Condition::or)
    }

    fn with(self, other: Self, join: fn(Condition, Condition) -> Condition) -> Self {
        Self::of(self.condition.and_then(|one| Ok(join(one, other.condition?))))
    }

    /// The condition itself.
    ///
    /// # Errors
    /// A value cannot be one of DynamoDB's.
    pub fn build(self) -> Result<Condition> {
        self.condition
    }
}

impl<E: Entity> Check<E> {
    /// The condition, if it is on attributes: of a field that only the key has, none would hold.
    pub(super) fn on_attributes(self) -> Result<Condition> {
        let condition = self.build()?;
        let design = E::design();
        let is_read =
            |attribute: &str| condition.paths().iter().any(|path| path.root() == attribute);
        let without = design.fields.iter().find(|field| {
            field.key_only && !(design.table)().is_key(field.attribute) && is_read(field.attribute)
        });
        match without {
            None => Ok(condition),
            Some(field) => Err(undeclared(
                design.name,
                format_args!(
                    "`{}` is in the key alone, and no condition can be on it: give it with the key",
                    field.name
                ),
            )),
        }
    }
}

impl<E> std::ops::Not for Check<E> {
    type Output = Self;

    fn not(self) -> Self {
        Self::of(self.condition.map(|condition| !condition))
    }
}

/// Holds for an entity that has not expired at this moment, in seconds.
pub(super) fn not_expired<E: Entity>(now: u64) -> Option<Condition> {
    let design = E::design();
    let field = design.field(design.ttl?)?;
    Some(tabla_core::not_expired(field.attribute, Timestamp::from_secs(now)))
}

/// The error for what a design does not have.
pub(super) fn undeclared(design: &str, what: impl std::fmt::Display) -> Error {
    Error::validation(format!("{design}: {what}"))
}
