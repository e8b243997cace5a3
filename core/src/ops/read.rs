//! Reading many items of one table or index, a page at a time.

use super::{ConsumedCapacity, ReturnConsumedCapacity, placeholder_setters, setters};
use crate::Item;
use crate::expr::{Condition, Expr, Names, Projection, Values};

/// Which attributes a page carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    /// All attributes of the items.
    AllAttributes,
    /// All attributes that the index projects.
    AllProjectedAttributes,
    /// The attributes of the projection.
    SpecificAttributes,
    /// No items, only how many there are.
    Count,
}

/// Reads the items of one partition, in sort-key order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// The table.
    pub table: String,
    /// The index to read instead of the table.
    pub index: Option<String>,
    /// Equality on the partition key, and at most a range on the sort key.
    pub key_condition: Option<Expr<Condition>>,
    /// What must hold of an item for it to be returned. Items it drops still count as read.
    pub filter: Option<Expr<Condition>>,
    /// Which attributes to return; all if absent.
    pub projection: Option<Expr<Projection>>,
    /// What the `#…` placeholders of the expressions stand for.
    pub names: Names,
    /// What the `:…` placeholders of the expressions stand for.
    pub values: Values,
    /// Which attributes to return, in DynamoDB's broader terms.
    pub select: Option<Select>,
    /// How many items to read, before the filter.
    pub limit: Option<i32>,
    /// Whether the sort key ascends (the default) or descends.
    pub scan_index_forward: bool,
    /// Whether to see every write answered before this read. Not on global indexes.
    pub consistent_read: bool,
    /// Where to go on: the `last_evaluated_key` of the page before.
    pub exclusive_start_key: Option<Item>,
    /// Which capacity figures to return.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// Reads all items of a table or index, in no order that means anything.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Scan {
    /// The table.
    pub table: String,
    /// The index to read instead of the table.
    pub index: Option<String>,
    /// What must hold of an item for it to be returned. Items it drops still count as read.
    pub filter: Option<Expr<Condition>>,
    /// Which attributes to return; all if absent.
    pub projection: Option<Expr<Projection>>,
    /// What the `#…` placeholders of the expressions stand for.
    pub names: Names,
    /// What the `:…` placeholders of the expressions stand for.
    pub values: Values,
    /// Which attributes to return, in DynamoDB's broader terms.
    pub select: Option<Select>,
    /// How many items to read, before the filter.
    pub limit: Option<i32>,
    /// Which part of a parallel scan this is, from 0.
    pub segment: Option<i32>,
    /// Into how many parts the parallel scan is cut.
    pub total_segments: Option<i32>,
    /// Whether to see every write answered before this read. Not on global indexes.
    pub consistent_read: bool,
    /// Where to go on: the `last_evaluated_key` of the page before.
    pub exclusive_start_key: Option<Item>,
    /// Which capacity figures to return.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// The answer to [`Query`] and [`Scan`]: one page.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// The items that passed the filter; empty if only the count was asked for.
    pub items: Vec<Item>,
    /// How many items passed the filter.
    pub count: usize,
    /// How many items were read.
    pub scanned_count: usize,
    /// Where the next page begins; absent on the last page.
    pub last_evaluated_key: Option<Item>,
    /// What it cost.
    pub consumed_capacity: Option<ConsumedCapacity>,
}

impl Page {
    /// A last page of these items, all that were read.
    pub fn new(items: Vec<Item>) -> Self {
        let count = items.len();
        Self { items, count, scanned_count: count, ..Self::default() }
    }

    setters! {
        /// How many items passed the filter.
        count: usize,
        /// How many items were read.
        scanned_count: usize,
        /// Where the next page begins; absent on the last page.
        last_evaluated_key: Option<Item>,
        /// What it cost.
        consumed_capacity: Option<ConsumedCapacity>,
    }
}

impl Default for Query {
    fn default() -> Self {
        Self {
            table: String::new(),
            index: None,
            key_condition: None,
            filter: None,
            projection: None,
            names: Names::new(),
            values: Values::new(),
            select: None,
            limit: None,
            scan_index_forward: true,
            consistent_read: false,
            exclusive_start_key: None,
            return_consumed_capacity: ReturnConsumedCapacity::None,
        }
    }
}

/// Methods that queries and scans share.
macro_rules! read_setters {
    () => {
        /// Reads this index instead of the table.
        #[must_use]
        pub fn index(mut self, index: impl Into<String>) -> Self {
            self.index = Some(index.into());
            self
        }

        /// Returns only the items for which this holds.
        #[must_use]
        pub fn filter(mut self, filter: impl Into<Expr<Condition>>) -> Self {
            self.filter = Some(filter.into());
            self
        }

        /// Returns only these attributes.
        #[must_use]
        pub fn projection(mut self, projection: impl Into<Expr<Projection>>) -> Self {
            self.projection = Some(projection.into());
            self
        }

        /// Which attributes to return, in DynamoDB's broader terms.
        #[must_use]
        pub fn select(mut self, select: Select) -> Self {
            self.select = Some(select);
            self
        }

        /// Reads at most this many items, before the filter.
        #[must_use]
        pub fn limit(mut self, limit: i32) -> Self {
            self.limit = Some(limit);
            self
        }

        /// Goes on after this key.
        #[must_use]
        pub fn exclusive_start_key(mut self, key: impl Into<Option<Item>>) -> Self {
            self.exclusive_start_key = key.into();
            self
        }

        placeholder_setters!();

        setters! {
            /// Whether to see every write answered before this read.
            consistent_read: bool,
            /// Which capacity figures to return.
            return_consumed_capacity: ReturnConsumedCapacity,
        }
    };
}

impl Query {
    /// Reads the items for which this key condition holds.
    pub fn new(table: impl Into<String>, key_condition: impl Into<Expr<Condition>>) -> Self {
        Self { table: table.into(), key_condition: Some(key_condition.into()), ..Self::default() }
    }

    /// Reads in descending order of the sort key.
    #[must_use]
    pub fn descending(mut self) -> Self {
        self.scan_index_forward = false;
        self
    }

    read_setters!();
}

impl Scan {
    /// Reads all items of this table.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into(), ..Self::default() }
    }

    /// Reads only one part of a parallel scan.
    #[must_use]
    pub fn segment(mut self, segment: i32, total_segments: i32) -> Self {
        self.segment = Some(segment);
        self.total_segments = Some(total_segments);
        self
    }

    read_setters!();
}
