//! Tables and entities as data: what a design declares once, and everything else reads.

use std::fmt;

use super::template::{Fields, Template};
use tabla_core::KeyType;
use tabla_core::ops::{
    BillingMode, CreateTable, IndexProjection, SecondaryIndex, SseSpecification, StreamViewType,
};
use tabla_core::{Error, Result, assign};
use tabla_core::{Item, Value, ValueKind, ValueRef};

/// A table of a design.
///
/// ```
/// use std::sync::LazyLock;
/// use tabla::entity::TableDesign;
///
/// static BRANDING: LazyLock<TableDesign> =
///     LazyLock::new(|| TableDesign::new("branding").key("PK", "SK").ttl("timeToArchive"));
/// assert_eq!(BRANDING.create("branding-test").table, "branding-test");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TableDesign {
    /// The documented name. What the table is called where it runs is the database's to say.
    pub name: String,
    /// The partition key.
    pub partition: KeyDesign,
    /// The sort key, if there is one.
    pub sort: Option<KeyDesign>,
    /// The indexes, all of them global.
    pub indexes: Vec<IndexDesign>,
    /// The attribute that says when an item expires.
    pub ttl: Option<String>,
    /// What the table's stream shows.
    pub stream: Option<StreamViewType>,
    /// Encryption at rest, where the service offers it.
    pub sse: Option<SseSpecification>,
    /// Whether point-in-time recovery is wanted: schemas for the service say so.
    pub recovery: bool,
    /// Whether there is one such table for each period, with the period after its name.
    pub periods: bool,
}

/// A key attribute of a design.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyDesign {
    /// The attribute.
    pub attribute: String,
    /// Its type.
    pub kind: KeyType,
}

/// An index of a design.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IndexDesign {
    /// Its name.
    pub name: String,
    /// Its partition key.
    pub partition: KeyDesign,
    /// Its sort key, if there is one.
    pub sort: Option<KeyDesign>,
    /// What it carries.
    pub projection: IndexProjection,
}

fn text(attribute: &str) -> KeyDesign {
    KeyDesign { attribute: attribute.to_owned(), kind: KeyType::S }
}

impl TableDesign {
    /// A table of this name, with the key `PK`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            partition: text("PK"),
            sort: None,
            indexes: Vec::new(),
            ttl: None,
            stream: None,
            sse: None,
            recovery: false,
            periods: false,
        }
    }

    /// With this partition key and this sort key, both text.
    #[must_use]
    pub fn key(mut self, partition: &str, sort: &str) -> Self {
        self.partition = text(partition);
        self.sort = Some(text(sort));
        self
    }

    /// With this partition key alone, text.
    #[must_use]
    pub fn partition_only(mut self, partition: &str) -> Self {
        self.partition = text(partition);
        self.sort = None;
        self
    }

    /// With a global index on these attributes, both text, that carries everything.
    #[must_use]
    pub fn index(self, name: &str, partition: &str, sort: &str) -> Self {
        self.index_with(name, partition, Some(sort), IndexProjection::all())
    }

    /// With a global index on these attributes that carries this.
    #[must_use]
    pub fn index_with(
        mut self,
        name: &str,
        partition: &str,
        sort: Option<&str>,
        projection: IndexProjection,
    ) -> Self {
        let (partition, sort) = (text(partition), sort.map(text));
        self.indexes.push(IndexDesign { name: name.to_owned(), partition, sort, projection });
        self
    }

    /// With items that expire at the time in this attribute.
    #[must_use]
    pub fn ttl(mut self, attribute: &str) -> Self {
        self.ttl = Some(attribute.to_owned());
        self
    }

    /// With a stream of its changes.
    #[must_use]
    pub fn stream(mut self, view_type: StreamViewType) -> Self {
        self.stream = Some(view_type);
        self
    }

    /// With these settings of encryption at rest.
    #[must_use]
    pub fn sse(mut self, sse: SseSpecification) -> Self {
        self.sse = Some(sse);
        self
    }

    /// With point-in-time recovery.
    #[must_use]
    pub fn recovery(mut self) -> Self {
        self.recovery = true;
        self
    }

    /// One table for each period, such as a month.
    #[must_use]
    pub fn by_period(mut self) -> Self {
        self.periods = true;
        self
    }

    /// The request that creates it under this name.
    pub fn create(&self, name: impl Into<String>) -> CreateTable {
        let mut request =
            CreateTable::new(name).partition_key(&self.partition.attribute, self.partition.kind);
        if let Some(sort) = &self.sort {
            request = request.sort_key(&sort.attribute, sort.kind);
        }
        for index in &self.indexes {
            let keys = std::iter::once(&index.partition).chain(&index.sort);
            for key in keys {
                request = request.attribute(&key.attribute, key.kind);
            }
            let mut created = SecondaryIndex::new(&index.name)
                .partition_key(&index.partition.attribute)
                .projection(index.projection.clone());
            if let Some(sort) = &index.sort {
                created = created.sort_key(&sort.attribute);
            }
            request = request.global_index(created);
        }
        if let Some(view_type) = self.stream {
            request = request.stream(view_type);
        }
        assign!(request, { billing_mode: Some(BillingMode::PayPerRequest), sse: self.sse.clone() })
    }

    /// The index of this name.
    pub fn find_index(&self, name: &str) -> Option<&IndexDesign> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// Whether this attribute is in the table's key.
    pub(super) fn is_key(&self, attribute: &str) -> bool {
        std::iter::once(&self.partition).chain(&self.sort).any(|key| key.attribute == attribute)
    }

    /// The key of an item.
    pub(super) fn key_of(&self, item: &Item) -> Item {
        let keys = std::iter::once(&self.partition).chain(&self.sort);
        keys.filter_map(|key| Some((key.attribute.as_str(), item.get(&key.attribute)?.to_value())))
            .fold(Item::new(), |key, (attribute, value)| key.with(attribute, value))
    }

    /// The attributes of the table's key and of this index's.
    pub(super) fn key_attributes<'d>(
        &'d self,
        index: Option<&'d IndexDesign>,
    ) -> impl Iterator<Item = &'d str> {
        let own = std::iter::once(&self.partition).chain(&self.sort);
        let index = index
            .into_iter()
            .flat_map(|index| std::iter::once(&index.partition).chain(&index.sort));
        own.chain(index).map(|key| key.attribute.as_str())
    }
}

/// An entity of a design, as `#[derive(Entity)]` declares it.
#[derive(Debug)]
pub struct EntityDesign {
    /// The struct's name.
    pub name: &'static str,
    /// The table that it is in.
    pub table: fn() -> &'static TableDesign,
    /// The attribute that says what an item is, and its value.
    pub tag: Option<(&'static str, &'static str)>,
    /// Where the table's partition key comes from.
    pub partition: KeySource,
    /// Where the table's sort key comes from.
    pub sort: Option<KeySource>,
    /// Where the keys of the indexes come from.
    pub indexes: &'static [IndexKeys],
    /// The fields.
    pub fields: &'static [FieldDesign],
    /// The field that says when it expires.
    pub ttl: Option<&'static str>,
    /// The field that counts its writes.
    pub revision: Option<&'static str>,
    /// Greatest number that the field which counts its writes can hold.
    pub revision_limit: u64,
    /// The field that is set when it is created.
    pub created: Option<&'static str>,
    /// The field that is set whenever it is written.
    pub updated: Option<&'static str>,
    /// Fields that no two entities may share.
    pub unique: &'static [UniqueDesign],
}

/// Where a key comes from.
#[derive(Clone, Copy, Debug)]
pub enum KeySource {
    /// A template.
    Template(Template),
    /// A field whose attribute is the key itself.
    Attribute(&'static str),
}

/// Where the keys of one index come from.
#[derive(Clone, Copy, Debug)]
pub struct IndexKeys {
    /// The index.
    pub index: &'static str,
    /// Its partition key.
    pub partition: KeySource,
    /// Its sort key.
    pub sort: Option<KeySource>,
    /// A field without whose value the entity is not in the index.
    pub when: Option<&'static str>,
}

/// A field of an entity.
#[derive(Clone, Copy, Debug)]
pub struct FieldDesign {
    /// The field.
    pub name: &'static str,
    /// The attribute that holds it.
    pub attribute: &'static str,
    /// Whether it has no attribute of its own, and is read from the key.
    pub key_only: bool,
    /// Whether it never changes once the entity is there.
    pub immutable: bool,
    /// Whether it may have no value.
    pub optional: bool,
    /// Whether its attribute is NULL while it has none, instead of absent.
    pub keeps_null: bool,
    /// Value of the field in items that lack its attribute, if they may: `#[serde(default)]`.
    pub default: Option<fn() -> Result<Value>>,
    /// What its attribute is, if the field's type tells.
    pub kind: Option<ValueKind>,
    /// Whether it is a moment.
    pub is_moment: bool,
    /// Whether it is one to the millisecond.
    pub millis: bool,
    /// How many values it has, if its type or its declaration tells.
    pub values: Option<u32>,
}

/// A field that no two entities may share, kept by an item of its own.
#[derive(Clone, Copy, Debug)]
pub struct UniqueDesign {
    /// The field.
    pub field: &'static str,
    /// The partition key of the item that stands for a value.
    pub partition: Template,
    /// Its sort key.
    pub sort: Option<Template>,
}

impl UniqueDesign {
    /// The fields that the key of the item that stands for a value is made of.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> {
        let templates = std::iter::once(self.partition).chain(self.sort);
        templates.flat_map(|template| template.parts()).map(|part| part.field)
    }
}

impl IndexKeys {
    /// Whether a field takes part in the keys, or decides whether the entity is in the index.
    pub fn has(&self, field: &str) -> bool {
        self.partition.has(field)
            || self.sort.as_ref().is_some_and(|sort| sort.has(field))
            || self.when == Some(field)
    }
}

impl IndexKeys {
    /// Whether a change of this field writes the keys, or decides whether there are any. A field
    /// whose attribute is a key is written by itself.
    pub(super) fn is_written_from(&self, field: &str) -> bool {
        let mut sources = std::iter::once(&self.partition).chain(&self.sort);
        self.when == Some(field)
            || sources.any(|source| source.template().is_some_and(|own| own.has(field)))
    }
}

impl KeySource {
    /// The fields that it is made of.
    pub fn fields(&self) -> Vec<&'static str> {
        match self {
            Self::Template(template) => template.parts().map(|part| part.field).collect(),
            Self::Attribute(field) => vec![field],
        }
    }

    /// Whether a field takes part in it.
    pub fn has(&self, field: &str) -> bool {
        match self {
            Self::Template(template) => template.has(field),
            Self::Attribute(own) => *own == field,
        }
    }

    /// The template; `None` if the key is an attribute.
    pub fn template(&self) -> Option<Template> {
        match self {
            Self::Template(template) => Some(*template),
            Self::Attribute(_) => None,
        }
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Template(template) => template.fmt(f),
            Self::Attribute(field) => write!(f, "{{{field}}}"),
        }
    }
}

impl EntityDesign {
    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&'static FieldDesign> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The attribute of a field.
    pub(super) fn attribute(&self, field: &str) -> &'static str {
        self.field(field).map_or("", |field| field.attribute)
    }

    /// How many values a key has at most, if that is known.
    pub fn values_of(&self, source: &KeySource) -> Option<u64> {
        match source {
            KeySource::Attribute(field) => self.field(field)?.values.map(u64::from),
            KeySource::Template(template) => template
                .parts()
                .try_fold(1_u64, |product, part| Some(product.saturating_mul(part.values?.into()))),
        }
    }

    /// The keys of an index.
    pub fn index(&self, name: &str) -> Option<&'static IndexKeys> {
        self.indexes.iter().find(|keys| keys.index == name)
    }

    /// The key of the table, of the fields of an entity or of its key.
    ///
    /// # Errors
    /// A field is missing or cannot stand in a key.
    pub fn key(&self, fields: Fields<'_>, attributes: &Item) -> Result<Item> {
        let table = (self.table)();
        let mut key = Item::new();
        let sources = [
            (Some(&self.partition), Some(&table.partition)),
            (self.sort.as_ref(), table.sort.as_ref()),
        ];
        for (source, design) in sources {
            let (Some(source), Some(design)) = (source, design) else { continue };
            let value = self.key_value(source, fields, attributes)?.ok_or_else(|| {
                Error::validation(format!("{} has no value for its key {source}", self.name))
            })?;
            key.insert(&design.attribute, value);
        }
        Ok(key)
    }

    /// Puts the keys of the table and of the indexes that the entity is in among its attributes.
    pub(super) fn write_keys(&self, fields: Fields<'_>, attributes: &mut Item) -> Result<()> {
        let table = (self.table)();
        let own = [
            (Some(&self.partition), Some(&table.partition)),
            (self.sort.as_ref(), table.sort.as_ref()),
        ];
        for (source, key) in own {
            // A key that is a field's attribute is there already.
            let (Some(KeySource::Template(template)), Some(key)) = (source, key) else { continue };
            let text = template.render(fields)?.ok_or_else(|| {
                Error::validation(format!("{} has no value for its key {template}", self.name))
            })?;
            attributes.insert(key.attribute.as_str(), text);
        }
        for keys in self.indexes {
            for (attribute, text) in self.index_keys(keys, fields, attributes)? {
                attributes.insert(attribute, text);
            }
        }
        Ok(())
    }

    /// The value of a key, `None` if a field that it needs has none.
    pub(super) fn key_value(
        &self,
        source: &KeySource,
        fields: Fields<'_>,
        attributes: &Item,
    ) -> Result<Option<Value>> {
        match source {
            KeySource::Template(template) => Ok(template.render(fields)?.map(Value::S)),
            KeySource::Attribute(field) => {
                Ok(attributes.get(self.attribute(field)).map(ValueRef::to_value))
            }
        }
    }

    /// The keys of an index that are made of templates, by attribute. Those that are attributes of
    /// the entity itself are left out: they are there anyway.
    pub(super) fn index_templates(
        &self,
        keys: &IndexKeys,
    ) -> Result<Vec<(&'static str, Template)>> {
        let table = (self.table)();
        let index = table.find_index(keys.index).ok_or_else(|| {
            Error::validation(format!(
                "{} has keys for the index {}, which table {} does not have",
                self.name, keys.index, table.name
            ))
        })?;
        let sources = [
            (Some(&keys.partition), Some(&index.partition)),
            (keys.sort.as_ref(), index.sort.as_ref()),
        ];
        for (source, design) in sources {
            let is_fit = match (source, design) {
                (Some(KeySource::Attribute(field)), Some(design)) => {
                    self.attribute(field) == design.attribute
                }
                (source, design) => source.is_some() == design.is_some(),
            };
            if !is_fit {
                return Err(Error::validation(format!(
                    "{} has other keys for the index {} than table {} has: nothing would be found \
                     there",
                    self.name, keys.index, table.name
                )));
            }
        }
        let template = |(source, design): (Option<&KeySource>, Option<&'static KeyDesign>)| {
            Some((design?.attribute.as_str(), source?.template()?))
        };
        Ok(sources.into_iter().filter_map(template).collect())
    }

    /// The keys of an index, by attribute; none if the entity is not in it: it is with its whole
    /// key or not at all.
    fn index_keys(
        &self,
        keys: &IndexKeys,
        fields: Fields<'_>,
        attributes: &Item,
    ) -> Result<Vec<(&'static str, String)>> {
        let templates = self.index_templates(keys)?;
        // A field that keeps its attribute has NULL there.
        let is_out = keys.when.is_some_and(|when| {
            attributes.get(self.attribute(when)).is_none_or(|value| value.is_null())
        });
        if is_out {
            return Ok(Vec::new());
        }
        let mut values = Vec::with_capacity(templates.len());
        for (attribute, template) in templates {
            let Some(text) = template.render(fields)? else { return Ok(Vec::new()) };
            values.push((attribute, text));
        }
        Ok(values)
    }

    /// Whether an item is one of these, by its tag or by its key.
    pub fn recognises(&self, item: &Item) -> bool {
        if let Some((attribute, value)) = self.tag {
            return item.get(attribute) == Some(ValueRef::S(value));
        }
        self.has_key_of(item)
    }

    /// Whether the key of an item could be one of these.
    pub(super) fn has_key_of(&self, item: &Item) -> bool {
        let table = (self.table)();
        let fits = |source: &KeySource, attribute: &str| match source {
            KeySource::Template(template) => matches!(
                item.get(attribute), Some(ValueRef::S(text)) if template.matches(text)
            ),
            KeySource::Attribute(_) => item.contains(attribute),
        };
        let sort = match (&self.sort, &table.sort) {
            (Some(source), Some(design)) => fits(source, &design.attribute),
            _ => true,
        };
        sort && fits(&self.partition, &table.partition.attribute)
    }

    /// Whether an item that a key has led to is another's: the keys of one entity may begin with
    /// those of another. One without a tag is told by its key, so that what has lost its tag is not
    /// passed over in silence.
    pub(super) fn is_foreign(&self, item: &Item) -> bool {
        match self.tag.and_then(|(attribute, _)| item.get(attribute)) {
            Some(_) => !self.recognises(item),
            None => !self.has_key_of(item),
        }
    }
}
