//! Pages of entities: of one query, or of one query for each shard, merged.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fmt;

use futures::future::try_join_all;

use super::design::{EntityDesign, IndexDesign, TableDesign};
use super::query::Leg;
use super::{Db, Entity, EntityQuery, View};
use tabla_core::{Cursor, Item, Store, Value, ValueRef};
use tabla_core::{Error, Result};

/// A page of entities.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Page<T> {
    /// What was found, in order.
    pub items: Vec<T>,
    /// Where the next page begins; `None` if this is the last. It belongs to what was looked for:
    /// anything else refuses it.
    pub next: Option<Cursor>,
    /// Items of the page that cannot be read as entities, in order. They are not among `items`.
    pub unreadable: Vec<Unreadable>,
}

/// An item that was found, and cannot be read as the entity that its key or its tag says it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Unreadable {
    /// Its key in the table.
    pub key: Item,
    /// Why it cannot be read, with the name of the entity.
    pub reason: String,
}

impl Unreadable {
    /// The item that this entity could not be read from, and why.
    pub fn new(design: &EntityDesign, item: &Item, error: &Error) -> Self {
        let key = (design.table)().key_of(item);
        Self { key, reason: error.message().to_owned() }
    }

    /// The same as an error of the kind [`Corrupt`](tabla_core::ErrorKind::Corrupt), with the key in its
    /// message.
    pub fn into_error(self) -> Error {
        Error::corrupt(self.to_string())
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (key {:?})", self.reason, self.key)
    }
}

impl std::error::Error for Unreadable {}

impl From<Unreadable> for Error {
    fn from(unreadable: Unreadable) -> Self {
        unreadable.into_error()
    }
}

impl<T> Page<T> {
    /// Page of these items, without unreadable ones; `None` as `next` makes it the last page.
    pub fn new(items: Vec<T>, next: Option<Cursor>) -> Self {
        Self { items, next, unreadable: Vec::new() }
    }

    /// Sets the items that cannot be read as entities.
    #[must_use]
    pub fn with_unreadable(mut self, unreadable: Vec<Unreadable>) -> Self {
        self.unreadable = unreadable;
        self
    }

    /// The same page of something else.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn try_map<U>(self, make: impl FnMut(T) -> Result<U>) -> Result<Page<U>> {
        let items = self.items.into_iter().map(make).collect::<Result<_>>()?;
        Ok(Page { items, next: self.next, unreadable: self.unreadable })
    }

    /// The page, if every item of it could be read: for callers that must not do without one.
    ///
    /// # Errors
    /// The first item that could not be.
    pub fn whole(mut self) -> Result<Self> {
        match self.unreadable.is_empty() {
            true => Ok(self),
            false => Err(self.unreadable.swap_remove(0).into_error()),
        }
    }

    /// A page without anything, and the last.
    pub fn empty() -> Self {
        Self::new(Vec::new(), None)
    }
}

/// How many entities a page of several shards has if nobody says.
const MERGED: u32 = 100;

/// Reads a page of raw items.
pub(super) async fn read<E: Entity, V: View<Of = E>>(
    db: &Db,
    query: &EntityQuery<E, V>,
) -> Result<Page<Item>> {
    let design = E::design();
    let table = (design.table)();
    let legs = query.legs(&db.table_name(table)?, db.is_eventual, db.now().second().as_secs())?;
    match <[Leg; 1]>::try_from(legs) {
        Ok([leg]) => single(db.store(), leg, query.cursor.as_ref()).await,
        Err(legs) => {
            let index = query.index().and_then(|name| table.find_index(name));
            let order = Order { table, index, is_descending: query.is_descending() };
            let limit = query.page_limit().unwrap_or(MERGED).max(1) as usize;
            merged(db.store(), legs, query.cursor.as_ref(), &order, limit).await
        }
    }
}

async fn single(store: &dyn Store, leg: Leg, cursor: Option<&Cursor>) -> Result<Page<Item>> {
    let Leg { mut query, unexpired } = leg;
    if let Some(cursor) = cursor {
        query = query.resume(cursor)?;
    }
    let page = store.query(with(query.clone(), unexpired)).await?;
    Ok(Page { next: query.cursor(&page)?, items: page.items, unreadable: Vec::new() })
}

/// The query with one more condition in its filter.
pub(super) fn with(
    mut query: tabla_core::ops::Query,
    condition: Option<tabla_core::Condition>,
) -> tabla_core::ops::Query {
    if let Some(condition) = condition {
        query.filter = Some(match query.filter.take() {
            Some(tabla_core::Expr::Tree(filter)) => filter.and(condition).into(),
            _ => condition.into(),
        });
    }
    query
}

/// How the items of several shards are ordered.
struct Order<'d> {
    table: &'d TableDesign,
    index: Option<&'d IndexDesign>,
    is_descending: bool,
}

impl Order<'_> {
    /// By the sort key; ties go to the earlier shard.
    fn compare(&self, one: &Item, other: &Item) -> Ordering {
        let sort = match self.index {
            Some(index) => index.sort.as_ref(),
            None => self.table.sort.as_ref(),
        };
        let Some(sort) = sort else { return Ordering::Equal };
        let key = |item: &'_ Item| item.get(&sort.attribute).map(ValueRef::to_value);
        let order = match (key(one), key(other)) {
            (Some(one), Some(other)) => {
                one.as_ref().compare(other.as_ref()).unwrap_or(Ordering::Equal)
            }
            _ => Ordering::Equal,
        };
        if self.is_descending { order.reverse() } else { order }
    }

    /// Where a query goes on after an item.
    fn resume_key(&self, item: &Item) -> Item {
        let attributes = self.table.key_attributes(self.index);
        attributes.filter_map(|name| Some((name.to_owned(), item.get(name)?.to_value()))).collect()
    }
}

/// How far a shard has been read.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    Start,
    After(Item),
    End,
}

struct Shard {
    leg: Leg,
    /// After the last item that was handed out, or passed over.
    place: Place,
    /// What was read and not handed out.
    ahead: VecDeque<Item>,
    /// Where reading goes on.
    unread: Place,
}

impl Shard {
    /// Reads on until something is ahead, or nothing is left.
    async fn fill(&mut self, store: &dyn Store, mut limit: usize) -> Result<()> {
        while self.ahead.is_empty() && self.unread != Place::End {
            let mut query = self.leg.query.clone();
            query.limit = Some(limit.try_into().unwrap_or(i32::MAX));
            if let Place::After(key) = &self.unread {
                query.exclusive_start_key = Some(key.clone());
            }
            let page = store.query(with(query, self.leg.unexpired.clone())).await?;
            self.ahead = page.items.into();
            self.unread = page.last_evaluated_key.map_or(Place::End, Place::After);
            if self.ahead.is_empty() {
                // All of it was filtered out: the next page need not read it again.
                self.place = self.unread.clone();
                // What a filter seldom lets through is not looked for a few items at a time.
                limit = limit.saturating_mul(2);
            }
        }
        Ok(())
    }
}

async fn merged(
    store: &dyn Store,
    legs: Vec<Leg>,
    cursor: Option<&Cursor>,
    order: &Order<'_>,
    limit: usize,
) -> Result<Page<Item>> {
    let print = print(&legs)?;
    let places = match cursor {
        Some(cursor) => places(cursor, print, legs.len())?,
        None => vec![Place::Start; legs.len()],
    };
    let mut shards: Vec<Shard> = legs
        .into_iter()
        .zip(places)
        .map(|(leg, place)| Shard { leg, unread: place.clone(), place, ahead: VecDeque::new() })
        .collect();
    let mut items = Vec::new();
    while items.len() < limit {
        let left = limit - items.len();
        try_join_all(shards.iter_mut().map(|shard| shard.fill(store, left))).await?;
        let heads = shards
            .iter()
            .enumerate()
            .filter_map(|(number, shard)| Some((number, shard.ahead.front()?)));
        let first = heads.min_by(|one, other| order.compare(one.1, other.1));
        let Some((number, _)) = first else { break };
        let shard = &mut shards[number];
        let item = shard.ahead.pop_front().expect("it was just seen");
        shard.place = match shard.ahead.is_empty() {
            true => shard.unread.clone(),
            false => Place::After(order.resume_key(&item)),
        };
        items.push(item);
    }
    let is_over = shards.iter().all(|shard| shard.place == Place::End);
    let next = (!is_over).then(|| {
        let places = shards.iter().map(|shard| match &shard.place {
            Place::Start => Value::Null,
            Place::After(key) => Value::M(key.to_map()),
            Place::End => Value::Bool(false),
        });
        Cursor::new(print, Item::new().with("shards", Value::L(places.collect())))
    });
    Ok(Page { items, next, unreadable: Vec::new() })
}

/// What makes a read of several shards the one that it is.
fn print(legs: &[Leg]) -> Result<u64> {
    let mut bytes = Vec::new();
    for leg in legs {
        bytes.extend(leg.query.fingerprint()?.to_be_bytes());
    }
    Ok(tabla_core::backend::key_encoding::hash(&bytes))
}

fn places(cursor: &Cursor, print: u64, shards: usize) -> Result<Vec<Place>> {
    let key = cursor.key_of(print)?;
    let Some(ValueRef::L(places)) = key.get("shards") else {
        return Err(Error::validation("the cursor is not one of several shards"));
    };
    let places: Vec<Place> = places
        .iter()
        .map(|place| match place {
            ValueRef::M(key) => Place::After(Item::from(key)),
            ValueRef::Bool(_) => Place::End,
            _ => Place::Start,
        })
        .collect();
    match places.len() == shards {
        true => Ok(places),
        false => Err(Error::validation("the cursor was made with another number of shards")),
    }
}
