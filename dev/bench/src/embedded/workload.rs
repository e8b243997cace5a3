//! Operations and items of the measurements, as plain data.
//!
//! This file needs only the standard library: the programs of the peers, which are built outside
//! this workspace, include it, so that they do the same work on the same items.

/// Name of the table.
pub(crate) const TABLE: &str = "orders";
/// Index that queries read: each of its partitions has items of many partitions of the table.
pub(crate) const INDEX: &str = "by-shelf";
/// Index that is only maintained, not read.
pub(crate) const OTHER_INDEX: &str = "by-customer";
/// Number of initial items, which are never deleted.
pub(crate) const ITEMS: u64 = 10_000;
/// Number of items of a partition, in the table and in the index.
pub(crate) const PAGE: u64 = 50;
/// Number of writes of a batch.
pub(crate) const BATCH_WRITE: u64 = 25;
/// Number of keys of a batch.
pub(crate) const BATCH_GET: u64 = 100;

pub(crate) const KEY_CONDITION: &str = "pk = :pk";
pub(crate) const INDEX_KEY_CONDITION: &str = "shelf = :shelf";
pub(crate) const FILTER: &str = "paid = :paid";
pub(crate) const IS_PENDING: &str = "phase = :pending";
pub(crate) const IS_NEW: &str = "attribute_not_exists(pk)";
pub(crate) const SET_AMOUNT: &str = "SET amount = :amount";
pub(crate) const PENDING: &str = "pending";

/// Storage mode: where the data is, and when it is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StorageMode {
    /// Memory of the process.
    Memory,
    /// File, with an fsync before each write returns.
    Durable,
    /// File, without an fsync per write.
    Relaxed,
}

impl StorageMode {
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Durable, Self::Relaxed];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Durable => "durable",
            Self::Relaxed => "relaxed",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|place| place.name() == name)
    }
}

/// Operation that callers repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Workload {
    Get,
    Put,
    Update,
    Delete,
    Query,
    IndexQuery,
    FilteredQuery,
    BatchWrite,
    BatchGet,
    Transact,
}

impl Workload {
    pub(crate) const ALL: [Self; 10] = [
        Self::Get,
        Self::Put,
        Self::Update,
        Self::Delete,
        Self::Query,
        Self::IndexQuery,
        Self::FilteredQuery,
        Self::BatchWrite,
        Self::BatchGet,
        Self::Transact,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Update => "update-if",
            Self::Delete => "delete",
            Self::Query => "query-50",
            Self::IndexQuery => "index-query-50",
            Self::FilteredQuery => "filter-query-50",
            Self::BatchWrite => "batch-write-25",
            Self::BatchGet => "batch-get-100",
            Self::Transact => "transact-4",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// Number of new items that one operation writes or, for a delete, removes.
    pub(crate) fn new_items(self) -> u64 {
        match self {
            Self::Put | Self::Delete => 1,
            Self::BatchWrite => BATCH_WRITE,
            Self::Transact => 2,
            _ => 0,
        }
    }
}

/// Attribute value before its conversion to the type of a library.
pub(crate) enum Plain {
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<Plain>),
    Map(Vec<(&'static str, Plain)>),
}

/// Partition key and sort key of an item.
pub(crate) fn key(number: u64) -> (String, String) {
    (partition(number / PAGE), format!("ORDER#{:08}", number % PAGE))
}

/// Partition key of a page of items.
pub(crate) fn partition(page: u64) -> String {
    format!("USER#{page:08}")
}

/// Index partition key of a page of items.
pub(crate) fn shelf(page: u64) -> String {
    format!("SHELF#{page:08}")
}

/// Number of pages of the initial items.
pub(crate) const PAGES: u64 = ITEMS / PAGE;

/// Item of about 1 KB. Items from [`ITEMS`] on share no page with the initial ones.
pub(crate) fn item(number: u64) -> Vec<(&'static str, Plain)> {
    let text = |text: &str| Plain::Text(text.to_owned());
    let (pk, sk) = key(number);
    let page = if number < ITEMS { number % PAGES } else { number / PAGE };
    vec![
        ("pk", Plain::Text(pk)),
        ("sk", Plain::Text(sk)),
        ("shelf", Plain::Text(shelf(page))),
        ("customer", Plain::Text(format!("CUSTOMER#{:08}", number / 100))),
        ("created", Plain::Text(format!("2026-01-15T10:30:00.{number:09}Z"))),
        ("phase", text(PENDING)),
        ("paid", Plain::Flag(number.is_multiple_of(2))),
        ("amount", Plain::Number(10_000 + number as i64 % 10_000)),
        ("tags", Plain::List(vec![text("new"), text("web"), text("gift")])),
        (
            "address",
            Plain::Map(vec![
                ("street", text("Jirón de la Unión 300")),
                ("city", text("Lima")),
                ("number", Plain::Number(300)),
            ]),
        ),
        ("note", Plain::Text(note(number))),
    ]
}

fn note(number: u64) -> String {
    let mut note = String::with_capacity(760);
    let mut state = number;
    while note.len() < 740 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        note.push_str(&format!("{:08x} ", state >> 32));
    }
    note
}

/// Value that an update sets, different for each update of a run. SQLite does not write a row that
/// stays the same, so a repeated update would measure neither a write nor an fsync.
pub(crate) fn amount(first: u64, step: u64) -> i64 {
    (1_000_000 + first + step) as i64
}

/// Initial item of a step, in scrambled order.
pub(crate) fn pseudo_random_item(step: u64) -> u64 {
    // Coprime to the number of items, so that each item has its turn.
    step * 7_919 % ITEMS
}
