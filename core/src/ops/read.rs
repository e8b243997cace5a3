//! Requests and output of queries and scans, which read one page per call.

use super::{ConsumedCapacity, ReturnConsumedCapacity, placeholder_setters, setters};
use crate::Item;
use crate::expr::{Condition, Expr, Names, Projection, Values};

/// Attributes that a page contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    /// All attributes of the items. Not on a global index with a narrower projection.
    AllAttributes,
    /// All attributes that the index projects; the default on an index.
    AllProjectedAttributes,
    /// Attributes of the request's projection, which is required.
    SpecificAttributes,
    /// No items, only their number.
    Count,
}

/// Request of [`Store::query`](crate::Store::query): reads items with one partition key, in
/// sort-key order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// Name or ARN of the table.
    pub table: String,
    /// Name of the index to read. Default: the table.
    pub index: Option<String>,
    /// Equality on the partition key, and at most one range on the sort key. Required.
    pub key_condition: Option<Expr<Condition>>,
    /// Condition that returned items fulfill. Other items count as read, and cost as much.
    pub filter: Option<Expr<Condition>>,
    /// Attributes to return. Default: all that the table or index has.
    pub projection: Option<Expr<Projection>>,
    /// Attribute names by their placeholders `#…`. Each must be used in an expression.
    pub names: Names,
    /// Values by their placeholders `:…`. Each must be used in an expression.
    pub values: Values,
    /// Kind of attributes to return. Default: follows from `projection` and `index`.
    pub select: Option<Select>,
    /// Largest number of items to read, before the filter; at least 1. Default: up to 1 MB.
    pub limit: Option<i32>,
    /// Whether sort keys ascend. Default: yes.
    pub scan_index_forward: bool,
    /// Whether the read is consistent. Default: no. Not allowed on global indexes.
    pub consistent_read: bool,
    /// Position to resume after: `last_evaluated_key` of the previous page.
    pub exclusive_start_key: Option<Item>,
    /// Capacity figures to return. Default: none.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// Request of [`Store::scan`](crate::Store::scan): reads all items of a table or index.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Scan {
    /// Name or ARN of the table.
    pub table: String,
    /// Name of the index to read. Default: the table.
    pub index: Option<String>,
    /// Condition that returned items fulfill. Other items count as read, and cost as much.
    pub filter: Option<Expr<Condition>>,
    /// Attributes to return. Default: all that the table or index has.
    pub projection: Option<Expr<Projection>>,
    /// Attribute names by their placeholders `#…`. Each must be used in an expression.
    pub names: Names,
    /// Values by their placeholders `:…`. Each must be used in an expression.
    pub values: Values,
    /// Kind of attributes to return. Default: follows from `projection` and `index`.
    pub select: Option<Select>,
    /// Largest number of items to read, before the filter; at least 1. Default: up to 1 MB.
    pub limit: Option<i32>,
    /// Segment of a parallel scan, from 0. Set together with `total_segments`.
    pub segment: Option<i32>,
    /// Number of segments of the parallel scan, 1 to 1,000,000.
    pub total_segments: Option<i32>,
    /// Whether the read is consistent. Default: no. Not allowed on global indexes.
    pub consistent_read: bool,
    /// Position to resume after: `last_evaluated_key` of the previous page.
    pub exclusive_start_key: Option<Item>,
    /// Capacity figures to return. Default: none.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// Page: the output of [`Store::query`](crate::Store::query) and
/// [`Store::scan`](crate::Store::scan).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// Items that passed the filter; empty with [`Select::Count`].
    pub items: Vec<Item>,
    /// Number of items that passed the filter.
    pub count: usize,
    /// Number of items that were read, before the filter.
    pub scanned_count: usize,
    /// Position after which the next page begins; `None` on the last page.
    pub last_evaluated_key: Option<Item>,
    /// Consumed capacity, if the request asked for it.
    pub consumed_capacity: Option<ConsumedCapacity>,
}

impl Page {
    /// Creates a last page of these items, without a filter.
    pub fn new(items: Vec<Item>) -> Self {
        let count = items.len();
        Self { items, count, scanned_count: count, ..Self::default() }
    }

    setters! {
        /// Sets the number of items that passed the filter.
        count: usize,
        /// Sets the number of items that were read.
        scanned_count: usize,
        /// Sets the position after which the next page begins.
        last_evaluated_key: Option<Item>,
        /// Sets the consumed capacity.
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

/// Defines the methods that queries and scans share.
macro_rules! read_setters {
    () => {
        /// Sets the index to read instead of the table.
        #[must_use]
        pub fn index(mut self, index: impl Into<String>) -> Self {
            self.index = Some(index.into());
            self
        }

        /// Sets the condition that returned items fulfill.
        #[must_use]
        pub fn filter(mut self, filter: impl Into<Expr<Condition>>) -> Self {
            self.filter = Some(filter.into());
            self
        }

        /// Sets the attributes to return.
        #[must_use]
        pub fn projection(mut self, projection: impl Into<Expr<Projection>>) -> Self {
            self.projection = Some(projection.into());
            self
        }

        /// Sets the kind of attributes to return.
        #[must_use]
        pub fn select(mut self, select: Select) -> Self {
            self.select = Some(select);
            self
        }

        /// Sets the largest number of items to read, before the filter.
        #[must_use]
        pub fn limit(mut self, limit: i32) -> Self {
            self.limit = Some(limit);
            self
        }

        /// Sets the position to resume after.
        #[must_use]
        pub fn exclusive_start_key(mut self, key: impl Into<Option<Item>>) -> Self {
            self.exclusive_start_key = key.into();
            self
        }

        placeholder_setters!();

        setters! {
            /// Sets whether the read is consistent.
            consistent_read: bool,
            /// Sets which capacity figures to return. Default: none.
            return_consumed_capacity: ReturnConsumedCapacity,
        }
    };
}

impl Query {
    /// Creates a query with this key condition, in ascending order.
    pub fn new(table: impl Into<String>, key_condition: impl Into<Expr<Condition>>) -> Self {
        Self { table: table.into(), key_condition: Some(key_condition.into()), ..Self::default() }
    }

    /// Sets descending order of the sort key.
    #[must_use]
    pub fn descending(mut self) -> Self {
        self.scan_index_forward = false;
        self
    }

    read_setters!();
}

impl Scan {
    /// Creates a scan of a whole table.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into(), ..Self::default() }
    }

    /// Sets the segment of a parallel scan, from 0, and the number of segments.
    #[must_use]
    pub fn segment(mut self, segment: i32, total_segments: i32) -> Self {
        self.segment = Some(segment);
        self.total_segments = Some(total_segments);
        self
    }

    read_setters!();
}
