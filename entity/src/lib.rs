//! Typed entities: a single-table design, declared once.
//!
//! A design document has entities, key templates, indexes and numbered access patterns. Here an
//! entity is a struct that derives [`Entity`]; its keys are made from its fields and read back, in
//! the table and in every index, and an update that changes a field rewrites the keys that the
//! field stands in. A [`Db`] creates, replaces, saves, updates and deletes entities, each with an
//! [`Outcome`] to match on.
//!
//! ```
//! use std::sync::{Arc, LazyLock};
//!
//! use serde::{Deserialize, Serialize};
//! use tabla::MemoryStore;
//! use tabla::entity::{Db, Entity, Id, Outcome, TableDesign};
//!
//! static SHOP: LazyLock<TableDesign> =
//!     LazyLock::new(|| TableDesign::new("shop").key("PK", "SK").index("GSI1", "GSI1PK", "GSI1SK"));
//!
//! #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
//! #[entity(
//!     table = SHOP,
//!     tag("type" = "ORDER"),
//!     pk = "CUSTOMER#{customer}",
//!     sk = "ORDER#{number:08}",
//!     index(GSI1, query = by_status, pk = "STATUS#{status:checked}", sk = "ORDER#{number:08}")
//! )]
//! struct Order {
//!     #[entity(key_only)]
//!     customer: Id,
//!     number: u32,
//!     status: String,
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = Db::new(Arc::new(MemoryStore::new()));
//! db.create_table(&SHOP).await?;
//! let order = Order { customer: Id::new("ana")?, number: 7, status: "open".into() };
//! assert!(matches!(db.create(order.clone()).await?, Outcome::Done(_)));
//!
//! // The key of the index follows the field.
//! let paid = order.change().set(Order::STATUS, "paid").when(Order::STATUS.eq("open"));
//! assert!(matches!(db.update(paid).await?, Outcome::Done(_)));
//! let found = db.page(Order::by_status("paid").number(..=9)).await?;
//! assert_eq!(found.items, [Order { status: "paid".into(), ..order }]);
//! # Ok::<(), tabla::Error>(()) }).unwrap();
//! ```
//!
//! The [`guide`] shows one feature after the other.

mod app_design;
mod asked;
mod change;
mod collection;
mod db;
mod design;
pub mod export;
mod field;
pub mod format;
mod get;
pub mod guide;
mod key_argument;
pub mod lint;
pub mod listing;
mod numeric;
mod optimistic;
mod outcome;
mod pages;
mod part;
mod pattern;
mod query;
mod record;
mod rekey;
mod shape;
mod shard;
mod tables;
mod template;
mod text;
mod time;
mod trace;
mod transaction;
mod unique;
mod units;
mod view;
mod writes;

// The derive macros name this crate, inside of it too.
#[allow(unused_extern_crates)]
extern crate self as tabla_entity;

/// For the code that [`checked_text!`] makes.
#[doc(hidden)]
pub use serde as __serde;
/// For the code that the macros make: whoever derives need not depend on `tabla-core`.
#[doc(hidden)]
pub use tabla_core as __core;

use std::any::Any;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use tabla_entity_derive::{Entity, KeyPart, View};

pub use self::app_design::AppDesign;
pub use self::asked::compare;
pub use self::change::Change;
pub use self::collection::{Collected, Collection};
pub use self::db::Db;
pub use self::design::{
    EntityDesign, FieldDesign, IndexDesign, IndexKeys, KeyDesign, KeySource, TableDesign,
    UniqueDesign,
};
pub use self::field::{Check, Field};
pub use self::get::Each;
pub use self::key_argument::{Bound, KeyBound, KeyValue};
pub use self::numeric::{NumberRange, Numeric};
pub use self::optimistic::Optimistic;
pub use self::outcome::Outcome;
pub use self::pages::{Page, Unreadable};
pub use self::part::{Digits, Id, KeyPart, SEPARATOR};
pub use self::pattern::{Call, Operation, Pattern};
pub use self::query::EntityQuery;
pub use self::record::RecordExt;
pub use self::shape::Reading;
pub use self::shard::Sharded;
pub use self::template::{Fields, Part, Piece, Template};
pub use self::time::{Day, Month, UtcMillis, UtcTime};
pub use self::trace::{Touch, Touched, Trace, Traced};
pub use self::transaction::{Cancellation, Commit, Step, Transaction};
pub use self::view::{View, attribute_of, read_view};
pub use self::writes::{GuardDesign, WriteDesign, WriteKind, Writes};

use tabla_core::{Error, Result};
use tabla_core::{Item, Value};

/// A struct that is stored as an item: derive it.
///
/// # Attributes of the struct
///
/// - `table = TABLE`: the static [`TableDesign`] of its table.
/// - `tag("type" = "ORDER")`: an attribute that names the type of the item. Without it, items are
///   recognised by their keys.
/// - `pk = "CUSTOMER#{customer}"`, `sk = "ORDER#{number:08}"`: templates of the table's key; or
///   `pk = customer_id`, a field whose attribute is the key itself.
/// - `query = of_customer`: name of the function that queries the table.
/// - `index(GSI1, pk = …, sk = …, when = field, query = by_status)`: the same for an index. An entity
///   is in the index only while the optional fields of the templates, and the one after `when`, have
///   values. A name that is no identifier is a string: `index("by-status", …)`. `{@pk}` and `{@sk}`
///   stand for the table's templates.
/// - `ttl = field`, `revision = field`, `created_at = field`, `updated_at = field`.
/// - `unique(email, pk = "EMAIL#{email}", sk = "UNIQUE")`: no two entities have the same value. A
///   guard item with this key stands for the value, and expires when the entity does.
///
/// # Generated functions
///
/// For the struct `Order` of the [crate's example](crate):
///
/// | function | result |
/// |---|---|
/// | `Order::key(id, 7)` | `OrderKey`. The arguments are the fields of the table's key, in the order of the templates. |
/// | `Order::of(id)` | Query of the table. The arguments are the fields of the partition key; without any, the function is called `all`. `query = name` renames it. |
/// | `Order::by_status("paid")` | Query of the index. Without `query = name`, its name is that of the index in snake case: `gsi1`; of `by-status`, `by_status`. |
/// | `order.change()` | [`Change`] of an entity that was read. |
/// | `key.change()` | [`Change`] of the entity with this key, which need not be read. |
/// | `Order::STATUS` | [`Field`], for conditions, filters and changes. There is one constant for each field. |
///
/// A query is passed to [`Db::page`], [`Db::all`] or [`Db::stream`]. It has a method for each field
/// of the sort key, with the name of the field. The methods are called in the order of the template,
/// from the first field on, each with one value or with a range that includes its ends (`1..=9`,
/// `1..`, `..=9`). After a range, no field can be restricted. Then follow the options of
/// [`EntityQuery`], such as `filter`, `limit` and `descending`.
///
/// Arguments are values or references; a `String` field also takes `&str`. A field with `as` is given
/// as the other type: `{at:as Day}` takes a `Day`, in the partition key also the type of the field.
/// A field that only chooses a shard of the partition is no argument: the query reads all shards.
///
/// # In templates
///
/// `{field}` is the field's [`KeyPart`]; `{field:08}` a number of eight digits, `{field:desc08}`
/// the same with larger ones first; `{field:as Day}` the part of another type that is made of the
/// field; `{field:checked}` text that is refused if it has the separator, `{field:escaped}` text
/// whose separators are escaped; `{field:unordered}` a number that does not sort; `{field:shard 10}`
/// the field's shard, see [`Sharded`].
///
/// # Attributes of a field
///
/// `#[entity(key_only)]`: it has no attribute of its own. `#[entity(immutable)]`: it never changes,
/// so that an update need not look at it. `#[entity(null)]`: its attribute is NULL while it has no
/// value, instead of absent. `#[entity(values = 8)]`: it has about so many values, which its type
/// does not tell: [`lint`] warns of keys that make few partitions.
pub trait Entity: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// The fields that its key is made of.
    type Key: EntityKey<Entity = Self>;

    /// What was declared.
    fn design() -> &'static EntityDesign;

    /// The fields of its key.
    fn to_key(&self) -> Self::Key;

    /// A field.
    fn field(&self, name: &str) -> Option<&dyn Any>;

    /// Sets what the layer sets by itself before a write.
    fn stamp(&mut self, stamp: &Stamp);

    /// How often it was written, if it counts that.
    fn revision(&self) -> Option<u64>;

    /// The entity as an item, with its keys.
    ///
    /// # Errors
    /// A field cannot stand in a key, or cannot be a value of DynamoDB's.
    fn to_item(&self) -> Result<Item> {
        let design = Self::design();
        let mut item = Item::from_struct(self)?;
        for field in design.fields {
            let is_absent =
                field.optional && item.get(field.attribute).is_some_and(|v| v.is_null());
            if is_absent && !field.keeps_null {
                item.remove(field.attribute);
            }
        }
        design.write_keys(&|name| self.field(name), &mut item)?;
        for field in design.fields.iter().filter(|field| field.key_only) {
            item.remove(field.attribute);
        }
        if let Some((attribute, value)) = design.tag {
            item.insert(attribute, value);
        }
        Ok(item)
    }

    /// The entity of an item, straight from how the item is held.
    ///
    /// # Errors
    /// The item is of another kind, lacks an attribute or has one of another type.
    fn from_item(item: &Item) -> Result<Self> {
        read_fields(Self::design(), Self::design().name, item)
    }
}

/// The fields of an entity, or of a view of this name, from an item.
fn read_fields<T: DeserializeOwned>(design: &EntityDesign, name: &str, item: &Item) -> Result<T> {
    let wrong = |why: &dyn std::fmt::Display| {
        Error::corrupt(format!("an item cannot be read as {name}: {why}"))
    };
    if let Some((attribute, value)) = design.tag
        && item.get(attribute).and_then(|found| found.as_str()) != Some(value)
    {
        return Err(wrong(&format_args!("its {attribute} is not {value}")));
    }
    let injected = key_only_fields(design, item).map_err(|error| wrong(&error))?;
    item.to_struct_with(&injected).map_err(|error| wrong(&error))
}

/// The fields of an entity's key.
pub trait EntityKey: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Whose key this is.
    type Entity: Entity;

    /// A field.
    fn field(&self, name: &str) -> Option<&dyn Any>;

    /// The key as DynamoDB has it.
    ///
    /// # Errors
    /// A field cannot stand in a key.
    fn to_item(&self) -> Result<Item>;

    /// The fields of an item's key.
    ///
    /// # Errors
    /// The key is not of the entity's templates.
    fn from_item(item: &Item) -> Result<Self>;
}

/// A query: what a query function of an entity returns, or an [`EntityQuery`].
pub trait IntoQuery {
    /// Entity that the query finds.
    type Entity: Entity;

    /// What is read of each entity: the entity itself, or a [`View`] of it.
    type View: View<Of = Self::Entity>;

    /// The query.
    fn into_query(self) -> EntityQuery<Self::Entity, Self::View>;
}

/// What the layer sets by itself in an entity before it writes it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stamp {
    /// Now.
    pub now: UtcMillis,
    /// Whether the entity is new.
    pub is_new: bool,
}

/// The values that only the key has, by the attribute that they would have.
fn key_only_fields(design: &EntityDesign, item: &Item) -> Result<Vec<(&'static str, Value)>> {
    if !design.fields.iter().any(|field| field.key_only) {
        return Ok(Vec::new());
    }
    let mut values = read_key(design, item)?;
    values.retain(|(name, _)| design.field(name).is_some_and(|field| field.key_only));
    for (name, _) in &mut values {
        *name = design.attribute(name);
    }
    // A field may stand in both halves of the key.
    values.dedup_by(|one, other| one.0 == other.0);
    Ok(values)
}

/// The fields that can be read from the table's key of an item.
///
/// # Errors
/// The key is not of the entity's templates.
pub fn read_key(design: &EntityDesign, item: &Item) -> Result<Vec<(&'static str, Value)>> {
    let table = (design.table)();
    let mut values: Vec<(&'static str, Value)> = Vec::new();
    let sources = [
        (Some(&design.partition), Some(&table.partition)),
        (design.sort.as_ref(), table.sort.as_ref()),
    ];
    for (source, key) in sources {
        let (Some(source), Some(key)) = (source, key) else { continue };
        let found = item
            .get(&key.attribute)
            .ok_or_else(|| Error::validation(format!("it has no key {}", key.attribute)))?;
        let read = match source {
            KeySource::Attribute(field) => vec![(*field, found.to_value())],
            KeySource::Template(template) => {
                let text = found.as_str().ok_or_else(|| {
                    Error::validation(format!("its key {} is not text", key.attribute))
                })?;
                template.read(text)?
            }
        };
        for (field, value) in read {
            if !values.iter().any(|(known, _)| *known == field) {
                values.push((field, value));
            }
        }
    }
    Ok(values)
}

/// The example in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
