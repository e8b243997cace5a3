//! The typed layer, feature by feature. Every example runs.
//!
//! They share one design: a shop, in one table with two indexes.
//!
//! ```
#![doc = include_str!("guide/shop.rs")]
//! # fn main() {}
//! ```
//! # Keys
//!
//! A key template writes fields into a key and reads them back. `{number:08}` writes eight digits, so
//! that orders sort as numbers do. An [`Id`](super::Id) cannot contain the separator `#`; for other
//! text the template says what happens if it does (`{email:checked}`). Templates are parsed when the
//! program is compiled: one that names an unknown field, or sorts numbers as text, does not compile.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::EntityKey;
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let order = order("ana", 7, Status::Open);
//! let item = order.to_item()?;
//! let text = |name| item.get(name).unwrap().as_str().unwrap().to_owned();
//! assert_eq!(text("PK"), "CUSTOMER#ana");
//! assert_eq!(text("SK"), "ORDER#00000007");
//! assert_eq!(text("statusPK"), "STATUS#open");
//! // Without a due date, the order is not in that index.
//! assert!(item.get("duePK").is_none());
//! assert_eq!(Order::from_item(&item)?, order);
//!
//! // The key of an order that need not have been read.
//! let key = Order::key(Id::new("ana")?, 7);
//! assert_eq!(key, order.to_key());
//! assert_eq!(key.to_item()?.len(), 2);
//! # Ok(()) })
//! # }
//! ```
//! # Create, replace, put, delete
//!
//! A failed condition is no error but an [`Outcome`](super::Outcome), with the entity that exists.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::Outcome;
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let first = order("ana", 1, Status::Open);
//! assert!(db.create(first.clone()).await?.is_done());
//! let again = Order { total: 99, ..first.clone() };
//! assert_eq!(db.create(again.clone()).await?, Outcome::Lost(Some(first.clone())));
//! assert!(db.replace(again.clone()).await?.is_done());
//! assert_eq!(db.get(&first.to_key()).await?, Some(again));
//!
//! // Put writes without a condition.
//! db.put(first.clone()).await?;
//! assert_eq!(db.delete(&first.to_key()).await?, Outcome::Done(first.clone()));
//! assert_eq!(db.delete(&first.to_key()).await?, Outcome::Lost(None));
//! # Ok(()) })
//! # }
//! ```
//! # Updates
//!
//! `entity.change()` is a [`Change`](super::Change) of an entity that was read; `key.change()` changes
//! an entity that need not be read. A change names fields, and writes every index key that a changed
//! field is part of: the order moves to the partition of its new status in the same write.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::Outcome;
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let order = order("ana", 1, Status::Open);
//! db.create(order.clone()).await?.done().unwrap();
//!
//! let paid =
//!     || order.change().set(Order::STATUS, Status::Paid).when(Order::STATUS.eq(Status::Open));
//! assert!(db.update(paid()).await?.is_done());
//! // The second attempt fails, and returns the paid order.
//! let Outcome::Lost(Some(present)) = db.update(paid()).await? else { panic!("it is paid") };
//! assert_eq!(present.status, Status::Paid);
//!
//! let found = db.all(Order::by_status(Status::Paid)).await?;
//! assert_eq!(found, [present]);
//! assert!(db.all(Order::by_status(Status::Open)).await?.is_empty());
//!
//! // The store adds to the number: nothing has to be read.
//! let key = Order::key(&order.customer, 1);
//! let more = key.change().increment(Order::TOTAL, 5).when(Order::TOTAL.lt(1000_u32));
//! assert_eq!(db.update(more).await?.done().unwrap().total, 15);
//! # Ok(()) })
//! # }
//! ```
//! # Sparse indexes
//!
//! An entity is in an index only while the optional fields of its template have values.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let order = order("ana", 1, Status::Open);
//! db.create(order.clone()).await?.done().unwrap();
//! let due = || db.all(Order::by_due());
//! assert!(due().await?.is_empty());
//!
//! let friday = UtcTime::from_secs(1_800_000_000);
//! db.update(order.change().set(Order::DUE, friday)).await?.done().unwrap();
//! let [with_day] = &due().await?[..] else { panic!("it is due") };
//! db.update(with_day.change().clear(Order::DUE)).await?.done().unwrap();
//! assert!(due().await?.is_empty());
//! # Ok(()) })
//! # }
//! ```
//! # Concurrent edits
//!
//! An entity with a `revision` counts its writes. A change of an entity that was read fails if it has
//! been written since. `created_at` and `updated_at` come from the clock of the [`Db`](super::Db).
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::Outcome;
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let read = db.create(customer("ana", "ana@example.com")).await?.done().unwrap();
//! assert!(read.revision == 1 && read.since > UtcTime::default());
//!
//! let mine = read.change().set(Customer::NAME, "Ana");
//! let yours = read.change().set(Customer::NAME, "Anna");
//! assert!(db.update(mine).await?.is_done());
//! let Outcome::Lost(Some(present)) = db.update(yours).await? else { panic!("I was first") };
//! assert_eq!((present.name.as_str(), present.revision), ("Ana", 2));
//! # Ok(()) })
//! # }
//! ```
//! # Unique values
//!
//! `unique(email, …)` keeps a guard item for the address. It is written, moved and deleted in one
//! transaction with its owner.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::Outcome;
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let ana = db.create(customer("ana", "a@example.com")).await?.done().unwrap();
//! let taken = db.create(customer("bob", "a@example.com")).await?;
//! assert_eq!(taken, Outcome::Taken { field: "email" });
//!
//! // A released address can be claimed again.
//! db.update(ana.change().set(Customer::EMAIL, "ana@example.com")).await?.done().unwrap();
//! assert!(db.create(customer("bob", "a@example.com")).await?.is_done());
//! # Ok(()) })
//! # }
//! ```
//! # Transactions
//!
//! A [`Transaction`](super::Transaction) writes any entities, all or none. Each step returns a handle,
//! by which the cancellation tells whose condition failed, and what the entity is now. An error in a
//! step surfaces at the commit.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::Commit::{Canceled, Committed};
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let cart = order("ana", 1, Status::Cart);
//! db.create(cart.clone()).await?.done().unwrap();
//! let ordered = || cart.change().set(Order::STATUS, Status::Open);
//!
//! let mut tx = db.transaction();
//! tx.update(ordered().when(Order::STATUS.eq(Status::Cart)));
//! tx.create(order("ana", 2, Status::Cart));
//! assert!(matches!(tx.commit().await?, Committed));
//!
//! let mut tx = db.transaction();
//! let again = tx.update(ordered().when(Order::STATUS.eq(Status::Cart)));
//! let next = tx.create(order("ana", 3, Status::Cart));
//! let Canceled(c) = tx.commit().await? else { panic!("the order is open") };
//! assert!(c.failed(&again) && !c.failed(&next));
//! assert_eq!(c.current(&again)?.unwrap().status, Status::Open);
//! # Ok(()) })
//! # }
//! ```
//! # Optimistic loops
//!
//! Read, decide, write on the condition that nothing has changed, and begin again after a concurrent
//! writer won: [`Db::optimistic`](super::Db::optimistic) is the loop for it. Each attempt is a
//! transaction. The loop waits before each further attempt, longer each time, and gives up in the end.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! db.create(order("ana", 1, Status::Open)).await?.done().unwrap();
//! let ana = Id::new("ana")?;
//!
//! let mut attempts = db.optimistic("double the total of an order");
//! let total = loop {
//!     let mut tx = attempts.begin().await?;
//!     let Some(order) = tx.get(&Order::key(&ana, 1)).await? else { break None };
//!     tx.update(
//!         order
//!             .change()
//!             .set(Order::TOTAL, 2 * order.total)
//!             .when(Order::TOTAL.eq(order.total).and(Order::STATUS.eq(Status::Open))),
//!     );
//!     if tx.commit().await?.is_committed() {
//!         break Some(2 * order.total);
//!     }
//! };
//! assert_eq!(total, Some(20));
//! # Ok(()) })
//! # }
//! ```
//! # Consistency
//!
//! Every read sees all writes that were acknowledged before it: gets, batches, pages, collections. The
//! exception is a query by a global index, where DynamoDB has no such read.
//! [`Db::eventual`](super::Db::eventual) reads at half the price, and may miss the last writes.
//!
//! # Queries, page by page
//!
//! The derive generates one query function for the table's key, `of`, and one for each index, with
//! the index's name in snake case: the index `by-status` has `Order::by_status`. Its arguments are
//! the fields of the partition key. The methods of its result restrict the fields of the sort key in
//! their order, each to one value or to a range that includes its ends. A range is the last
//! restriction. A missing argument, a field out of order or a field of another entity does not
//! compile. If the partition key has no fields, as in the index `by-due`, the function has no
//! arguments; the function of the table is then called `all`. `query = name` in the attribute of the
//! entity or the index gives the function another name.
//!
//! The cursor of a [`Page`](super::Page) belongs to its query; another query rejects it.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! for number in 1..=5 {
//!     db.create(order("ana", number, Status::Open)).await?.done().unwrap();
//! }
//! let ana = Id::new("ana")?;
//! let orders = || Order::of(&ana);
//! let numbers = |orders: &[Order]| orders.iter().map(|order| order.number).collect::<Vec<_>>();
//!
//! let page = db.page(orders().descending().limit(2)).await?;
//! assert_eq!(numbers(&page.items), [5, 4]);
//! let next = db.page(orders().descending().limit(2).after(page.next.clone())).await?;
//! assert_eq!(numbers(&next.items), [3, 2]);
//! assert!(db.page(orders().limit(2).after(page.next)).await.is_err());
//!
//! let some = db.all(orders().number(2..=4)).await?;
//! assert_eq!(numbers(&some), [2, 3, 4]);
//! let open = db.all(Order::by_status(Status::Open).number(4..)).await?;
//! assert_eq!(numbers(&open), [4, 5]);
//! // A filter drops orders after they are read and paid for.
//! let large = db.all(orders().filter(Order::TOTAL.ge(40_u32))).await?;
//! assert_eq!(numbers(&large), [4, 5]);
//! # Ok(()) })
//! # }
//! ```
//! # Time to live
//!
//! An expired item stays until the store deletes it. `unexpired` drops it from a query.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let past = db.now().second().as_secs() - 60;
//! let cart = Order { expires_at: Some(past), ..order("ana", 1, Status::Cart) };
//! db.create(cart.clone()).await?.done().unwrap();
//! let carts = || Order::by_status(Status::Cart);
//! assert_eq!(db.all(carts()).await?, [cart]);
//! assert!(db.all(carts().unexpired()).await?.is_empty());
//! # Ok(()) })
//! # }
//! ```
//! # Collections
//!
//! One query reads entities of several kinds that share a partition. Items of no known kind are kept
//! as they are.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! tabla::collection! {
//!     /// Everything about a customer.
//!     struct Account {
//!         customer: Option<Customer>,
//!         orders: Vec<Order>,
//!     }
//! }
//! let db = shop().await?;
//! db.create(customer("ana", "ana@example.com")).await?.done().unwrap();
//! db.create(order("ana", 1, Status::Open)).await?.done().unwrap();
//! let ana = Id::new("ana")?;
//! let account: Account = db.collect(Customer::of(ana)).await?;
//! assert_eq!(account.customer.unwrap().name, "ANA");
//! assert_eq!((account.orders.len(), account.unknown.len()), (1, 0));
//! # Ok(()) })
//! # }
//! ```
//! # Views
//!
//! A [`View`](super::View) has some fields of an entity, for an index that does not carry all, or for
//! less traffic.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::View;
//!
//! #[derive(Debug, PartialEq, Deserialize, View)]
//! #[view(of = Order)]
//! struct Total {
//!     number: u32,
//!     total: u32,
//! }
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! db.create(order("ana", 1, Status::Open)).await?.done().unwrap();
//! let totals = db.all(Order::by_status(Status::Open).view::<Total>()).await?;
//! assert_eq!(totals, [Total { number: 1, total: 10 }]);
//! # Ok(()) })
//! # }
//! ```
//! # Items of other programs
//!
//! `#[serde(default)]` on a field declares the value of items that lack its attribute. Conditions
//! take a missing attribute for that value. A change leaves attributes that the entity does not know
//! as they are.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::StoreExt;
//!
//! #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
//! #[entity(table = SHOP, pk = "GUEST#{name}", sk = "GUEST", revision = revision)]
//! struct Guest {
//!     name: Id,
//!     #[serde(default)]
//!     visits: u32,
//!     #[serde(default)]
//!     revision: u32,
//! }
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let item = tabla::item! {
//!     "PK" => "GUEST#eva", "SK" => "GUEST", "name" => "eva", "colour" => "red",
//! };
//! db.store().put(tabla::ops::PutItem::new("shop", item.clone())).await?;
//! let guest = db.get(&Guest::key(Id::new("eva")?)).await?.unwrap();
//! let again = guest.change().increment(Guest::VISITS, 1).when(Guest::VISITS.eq(0_u32));
//! assert!(db.update(again).await?.is_done());
//! let key = tabla::item! { "PK" => "GUEST#eva", "SK" => "GUEST" };
//! let stored = db.store().get_item("shop", key).await?.unwrap();
//! assert_eq!(stored, item.with("visits", 1).with("revision", 1));
//! # Ok(()) })
//! # }
//! ```
//! # Access patterns: listed, priced and checked
//!
//! A [`Pattern`](super::Pattern) declares a request by the function that makes it. The checks reject
//! what the store would reject, and warn of what becomes expensive later.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::{AppDesign, EntityQuery, Pattern, lint, listing};
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! fn open_orders() -> EntityQuery<Order> {
//!     Order::by_status(Status::Open).limit(50)
//! }
//! let design = AppDesign::new("shop", "A shop")
//!     .tables(vec![&*SHOP])
//!     .entities(vec![Customer::design(), Order::design()])
//!     .patterns(vec![
//!         Pattern::new("open_orders", "what is to be sent").find(|| open_orders().describe()),
//!         Pattern::new("customer", "who it is").get::<Customer>(),
//!     ]);
//! let rows = listing::rows(&design, 1024)?;
//! assert!(rows[0].keys[0].starts_with("statusPK = \"STATUS#open\""));
//! assert_eq!((rows[0].units, rows[1].units), (6.5, 1.0));
//! let unused = |finding: &lint::Finding| finding.rule == lint::Rule::UnusedIndex;
//! let findings: Vec<lint::Finding> = lint::check(&design).into_iter().filter(unused).collect();
//! assert_eq!(findings[0].subject, "by-due");
//! # Ok(()) })
//! # }
//! ```
//! [`export`](super::export) writes the tables of a design for CloudFormation, Terraform and NoSQL
//! Workbench. [`Sharded`](super::Sharded) spreads a hot partition over shards.
