//! Reads over a range of days or months, each in a place of its own, under one cursor.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tabla::backend::key_encoding;
use tabla::entity::{Call, Day, Db, Entity, Find, Month, Unreadable, UtcTime};
use tabla::{Cursor, Error, Result};

use crate::patterns::Order;

/// From one moment to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    from: UtcTime,
    to: UtcTime,
}

impl Span {
    /// From this moment to that.
    ///
    /// # Errors
    /// It ends before it begins.
    pub fn new(from: UtcTime, to: UtcTime) -> Result<Self> {
        match from <= to {
            true => Ok(Self { from, to }),
            false => Err(Error::validation(format!("nothing is from {from} to {to}"))),
        }
    }

    /// All of a day.
    pub fn of(day: Day) -> Self {
        Self { from: day.start(), to: day.end() }
    }

    /// Its first second.
    pub fn from(self) -> UtcTime {
        self.from
    }

    /// Its last second.
    pub fn to(self) -> UtcTime {
        self.to
    }
}

/// A page of a read over a range.
#[derive(Clone, Debug, PartialEq)]
pub struct RangePage<T> {
    /// What was found, in order. There may be fewer than were asked for, or none, and still more
    /// to come: a page reads a bounded number of days or months.
    pub items: Vec<T>,
    /// Where the next page begins; `None` if this is the last.
    pub next: Option<RangeCursor>,
    /// Items of the page that cannot be read, by their keys.
    pub unreadable: Vec<Unreadable>,
}

/// Where a read over a range goes on: in which of its days or months, and where in there.
///
/// Like [`Cursor`], it belongs to the read that made it, and anything else refuses it; it goes
/// through text that is safe in a URL; the limit may change from page to page.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeCursor {
    /// What makes the read the one that it is.
    print: u64,
    bucket: String,
    place: Option<Cursor>,
}

impl fmt::Display for RangeCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.as_ref().map(Cursor::to_string).unwrap_or_default();
        let text = format!("{:016x}.{}.{place}", self.print, self.bucket);
        write!(f, "{text}.{:08x}", check(&text))
    }
}

impl FromStr for RangeCursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let invalid = || Error::validation("the cursor is not one that a range has given");
        let (text, sum) = text.rsplit_once('.').ok_or_else(invalid)?;
        if format!("{:08x}", check(text)) != sum {
            return Err(invalid());
        }
        let parts: Vec<&str> = text.split('.').collect();
        let [print, bucket, place] = parts[..] else { return Err(invalid()) };
        Ok(Self {
            print: u64::from_str_radix(print, 16).map_err(|_| invalid())?,
            bucket: bucket.to_owned(),
            place: if place.is_empty() { None } else { Some(place.parse()?) },
        })
    }
}

/// Catches a cursor that was cut off or mistyped.
fn check(text: &str) -> u32 {
    key_encoding::hash(text.as_bytes()) as u32
}

/// A part of time that has a place of its own: a partition, or a table.
pub(crate) trait Bucket: Copy + Ord + fmt::Display + FromStr<Err = Error> + Send {
    fn of(moment: UtcTime) -> Self;
    fn start(self) -> UtcTime;
    fn end(self) -> UtcTime;

    /// The one after it in this order; `None` after the last that there can be.
    fn following(self, order: Order) -> Option<Self> {
        const SECOND: Duration = Duration::from_secs(1);
        let next = match order {
            Order::Ascending => Self::of(self.end().plus(SECOND)),
            Order::Descending => Self::of(self.start().minus(SECOND)),
        };
        (next != self).then_some(next)
    }
}

macro_rules! bucket {
    ($($type:ident)*) => {$(
        impl Bucket for $type {
            fn of(moment: UtcTime) -> Self {
                moment.into()
            }

            fn start(self) -> UtcTime {
                self.start()
            }

            fn end(self) -> UtcTime {
                self.end()
            }
        }
    )*};
}

bucket! { Day Month }

/// So many days or months are read for one page: a range of years that are empty is no reason to
/// keep the caller waiting.
const BUCKETS: usize = 31;

/// Reads a page: `find` says what to find in a bucket, `db` where that is. A bucket whose table is
/// not there is empty.
pub(crate) async fn page<B: Bucket, E: Entity>(
    span: Span,
    order: Order,
    limit: u32,
    after: Option<&RangeCursor>,
    find: impl Fn(B) -> Find<E>,
    db: impl Fn(B) -> Db,
) -> Result<RangePage<E>> {
    let (first, last) = match order {
        Order::Ascending => (B::of(span.from), B::of(span.to)),
        Order::Descending => (B::of(span.to), B::of(span.from)),
    };
    let print = print(&[find(first).describe()?, find(last).describe()?]);
    let (mut bucket, mut place) = match after {
        None => (first, None),
        Some(cursor) if cursor.print == print => (cursor.bucket.parse()?, cursor.place.clone()),
        Some(_) => {
            return Err(Error::validation(
                "the cursor belongs to another query; use it with the same range, conditions and \
                 direction, or begin again at the first page",
            ));
        }
    };
    if bucket < first.min(last) || bucket > first.max(last) {
        return Err(Error::validation("the cursor leads out of its range"));
    }
    let limit = limit.max(1);
    let (mut items, mut unreadable) = (Vec::new(), Vec::new());
    let mut buckets = 0;
    loop {
        let left = limit - items.len() as u32;
        let next = match db(bucket).page(find(bucket).limit(left).after(place)).await {
            Ok(page) => {
                items.extend(page.items);
                unreadable.extend(page.unreadable);
                page.next
            }
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error),
        };
        if next.is_none() {
            match bucket.following(order).filter(|_| bucket != last) {
                Some(following) => bucket = following,
                None => return Ok(RangePage { items, next: None, unreadable }),
            }
            buckets += 1;
        }
        place = next;
        if items.len() as u32 == limit || buckets == BUCKETS {
            let next = RangeCursor { print, bucket: bucket.to_string(), place };
            return Ok(RangePage { items, next: Some(next), unreadable });
        }
    }
}

/// What makes a read over a range the one that it is: what it asks of its ends.
fn print(ends: &[Call; 2]) -> u64 {
    let texts = ends.iter().map(|call| {
        let Call { entity, index, keys, filter, is_descending, .. } = call;
        format!("{}\n{index:?}\n{keys}\n{filter:?}\n{is_descending}\n", entity.name)
    });
    key_encoding::hash(texts.collect::<String>().as_bytes())
}
