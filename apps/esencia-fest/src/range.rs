//! Reads over days or months, each in its own partition or table, under one cursor.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tabla::backend::key_encoding;
use tabla::entity::{Call, Day, Db, Entity, EntityQuery, Month, Unreadable, UtcTime};
use tabla::{Cursor, Error, Result};

use crate::patterns::Order;

/// Span of time, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    from: UtcTime,
    to: UtcTime,
}

impl Span {
    /// Span from one moment to another.
    ///
    /// # Errors
    /// `to` is before `from`.
    pub fn new(from: UtcTime, to: UtcTime) -> Result<Self> {
        match from <= to {
            true => Ok(Self { from, to }),
            false => Err(Error::validation(format!(
                "a span cannot end at {to}, before it begins at {from}"
            ))),
        }
    }

    /// Span of a whole day.
    pub fn of(day: Day) -> Self {
        Self { from: day.start(), to: day.end() }
    }

    /// First second.
    pub fn from(self) -> UtcTime {
        self.from
    }

    /// Last second.
    pub fn to(self) -> UtcTime {
        self.to
    }
}

/// Page of a read over a range.
#[derive(Clone, Debug, PartialEq)]
pub struct RangePage<T> {
    /// Entities in order: at most as many as the limit. A page reads at most 31 days or months, so it
    /// can have fewer, or none, although more follow.
    pub items: Vec<T>,
    /// Start of the next page; `None` on the last page.
    pub next: Option<RangeCursor>,
    /// Keys of items that cannot be read.
    pub unreadable: Vec<Unreadable>,
}

/// Position in a read over a range: a day or month, and the position in it.
///
/// As a [`Cursor`], it is refused by any read but the one that returned it, and its text is safe in a
/// URL. The limit can change from page to page.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeCursor {
    /// Identifies the read.
    fingerprint: u64,
    bucket: String,
    cursor: Option<Cursor>,
}

impl fmt::Display for RangeCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cursor = self.cursor.as_ref().map(Cursor::to_string).unwrap_or_default();
        let text = format!("{:016x}.{}.{cursor}", self.fingerprint, self.bucket);
        write!(f, "{text}.{:08x}", checksum(&text))
    }
}

impl FromStr for RangeCursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let invalid = || {
            Error::validation(
                "not a cursor of a read over a range: use the text of RangePage::next",
            )
        };
        let (text, sum) = text.rsplit_once('.').ok_or_else(invalid)?;
        if format!("{:08x}", checksum(text)) != sum {
            return Err(invalid());
        }
        let parts: Vec<&str> = text.split('.').collect();
        let [fingerprint, bucket, cursor] = parts[..] else { return Err(invalid()) };
        Ok(Self {
            fingerprint: u64::from_str_radix(fingerprint, 16).map_err(|_| invalid())?,
            bucket: bucket.to_owned(),
            cursor: if cursor.is_empty() { None } else { Some(cursor.parse()?) },
        })
    }
}

/// Detects a cursor that was cut off or mistyped.
fn checksum(text: &str) -> u32 {
    key_encoding::hash(text.as_bytes()) as u32
}

/// Period with its own partition or table: a day or month.
pub(crate) trait Bucket: Copy + Ord + fmt::Display + FromStr<Err = Error> + Send {
    fn of(moment: UtcTime) -> Self;
    fn start(self) -> UtcTime;
    fn end(self) -> UtcTime;

    /// Next period in this order; `None` after the last one that can be represented.
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

/// Largest number of days or months that one page reads, so that empty years do not delay it.
const BUCKETS: usize = 31;

/// Reads a page: `query` is the query in a bucket, `db` the database of the bucket. A bucket without
/// table is empty.
pub(crate) async fn page<B: Bucket, E: Entity>(
    span: Span,
    order: Order,
    limit: u32,
    after: Option<&RangeCursor>,
    query: impl Fn(B) -> EntityQuery<E>,
    db: impl Fn(B) -> Db,
) -> Result<RangePage<E>> {
    let (first, last) = match order {
        Order::Ascending => (B::of(span.from), B::of(span.to)),
        Order::Descending => (B::of(span.to), B::of(span.from)),
    };
    let fingerprint = fingerprint(&[query(first).describe()?, query(last).describe()?]);
    let (mut bucket, mut cursor) = match after {
        None => (first, None),
        Some(after) if after.fingerprint == fingerprint => {
            (after.bucket.parse()?, after.cursor.clone())
        }
        Some(_) => {
            return Err(Error::validation(
                "the cursor belongs to another query: use it with the same range, conditions and \
                 direction, or start at the first page",
            ));
        }
    };
    if bucket < first.min(last) || bucket > first.max(last) {
        return Err(Error::validation(
            "the cursor is outside of its range: start at the first page",
        ));
    }
    let limit = limit.max(1);
    let (mut items, mut unreadable) = (Vec::new(), Vec::new());
    let mut buckets = 0;
    loop {
        let left = limit - items.len() as u32;
        let next = match db(bucket).page(query(bucket).limit(left).after(cursor)).await {
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
        cursor = next;
        if items.len() as u32 == limit || buckets == BUCKETS {
            let next = RangeCursor { fingerprint, bucket: bucket.to_string(), cursor };
            return Ok(RangePage { items, next: Some(next), unreadable });
        }
    }
}

/// Fingerprint of a read over a range: of its queries at both ends.
fn fingerprint(ends: &[Call; 2]) -> u64 {
    let texts = ends.iter().map(|call| {
        let Call { entity, index, keys, filter, is_descending, .. } = call;
        format!("{}\n{index:?}\n{keys}\n{filter:?}\n{is_descending}\n", entity.name)
    });
    key_encoding::hash(texts.collect::<String>().as_bytes())
}
