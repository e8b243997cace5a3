//! The typed layer, feature by feature. Every example runs.
//!
//! They share one design: a shop, in one table with two indexes.
//!
//! ```
#![doc = include_str!("guide/shop.rs")]
//! # fn main() {}
//! ```
//! # Keys go both ways
//!
//! A key is made from fields, and the fields are read back from it. `{number:08}` writes eight digits,
//! so that orders sort as numbers do; an [`Id`](super::Id) cannot have the separator, and other text
//! has to say what happens if it does (`{email:checked}`). Templates are parsed when the program is
//! compiled: one that names a field that is not there, or sorts numbers as text, does not compile.
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
//! // It has no day by which to pay, so that it is not in that index.
//! assert!(item.get("duePK").is_none());
//! assert_eq!(Order::from_item(&item)?, order);
//! assert_eq!(order.key().to_item()?.len(), 2);
//! # Ok(()) })
//! # }
//! ```
//! # Create, replace, put, delete
//!
//! Each says in its type what can become of it. That a condition was lost is no error but an
//! [`Outcome`](super::Outcome), with what stands there.
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
//! assert_eq!(db.get(&first.key()).await?, Some(again));
//!
//! // Whatever is there.
//! db.put(first.clone()).await?;
//! assert_eq!(db.delete(&first.key()).await?, Outcome::Done(first.clone()));
//! assert_eq!(db.delete(&first.key()).await?, Outcome::Lost(None));
//! # Ok(()) })
//! # }
//! ```
//! # Updates
//!
//! A [`Change`](super::Change) names fields, not attributes, and keeps every key true: the order moves
//! to the partition of its new status in the same write.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::{Change, Outcome};
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let order = order("ana", 1, Status::Open);
//! db.create(order.clone()).await?.done().unwrap();
//!
//! let paid =
//!     || Change::of(&order).set(Order::STATUS, Status::Paid).when(Order::STATUS.eq(Status::Open));
//! assert!(db.update(paid()).await?.is_done());
//! // Whoever is second sees that it is paid.
//! let Outcome::Lost(Some(present)) = db.update(paid()).await? else { panic!("it is paid") };
//! assert_eq!(present.status, Status::Paid);
//!
//! let found = db.all(Order::find_by("by-status").with(Order::STATUS, Status::Paid)).await?;
//! assert_eq!(found, [present]);
//! assert!(db.all(Order::find_by("by-status").with(Order::STATUS, Status::Open)).await?.is_empty());
//!
//! // Numbers are added to where they are; nothing has to be read.
//! let more = Change::at(order.key()).add(Order::TOTAL, 5).when(Order::TOTAL.lt(1000_u32));
//! assert_eq!(db.update(more).await?.done().unwrap().total, 15);
//! # Ok(()) })
//! # }
//! ```
//! # Sparse indexes
//!
//! An entity is in an index only while the optional fields of its template have values.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::Change;
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let order = order("ana", 1, Status::Open);
//! db.create(order.clone()).await?.done().unwrap();
//! let due = || db.all(Order::find_by("by-due"));
//! assert!(due().await?.is_empty());
//!
//! let friday = UtcTime::from_secs(1_800_000_000);
//! db.update(Change::of(&order).set(Order::DUE, friday)).await?.done().unwrap();
//! let [with_day] = &due().await?[..] else { panic!("it is due") };
//! db.update(Change::of(with_day).clear(Order::DUE)).await?.done().unwrap();
//! assert!(due().await?.is_empty());
//! # Ok(()) })
//! # }
//! ```
//! # Two who edit
//!
//! An entity with a `revision` counts its writes, and `save` writes only what nobody else has written
//! since it was read. `created_at` and `updated_at` come from the clock of the [`Db`](super::Db).
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::{Change, Outcome};
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let read = db.create(customer("ana", "ana@example.com")).await?.done().unwrap();
//! assert!(read.revision == 1 && read.since > UtcTime::default());
//!
//! let mine = Change::of(&read).set(Customer::NAME, "Ana");
//! let yours = Change::of(&read).set(Customer::NAME, "Anna");
//! assert!(db.update(mine).await?.is_done());
//! let Outcome::Lost(Some(present)) = db.update(yours).await? else { panic!("I was first") };
//! assert_eq!((present.name.as_str(), present.revision), ("Ana", 2));
//! # Ok(()) })
//! # }
//! ```
//! # Unique values
//!
//! `unique(email, …)` has an item stand for the address. It is written, moved and deleted in one
//! transaction with its owner.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::{Change, Outcome};
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let ana = db.create(customer("ana", "a@example.com")).await?.done().unwrap();
//! let taken = db.create(customer("bob", "a@example.com")).await?;
//! assert_eq!(taken, Outcome::Taken { field: "email" });
//!
//! // An address that was given up is free again.
//! db.update(Change::of(&ana).set(Customer::EMAIL, "ana@example.com")).await?.done().unwrap();
//! assert!(db.create(customer("bob", "a@example.com")).await?.is_done());
//! # Ok(()) })
//! # }
//! ```
//! # Transactions
//!
//! Writes of any entities, all or none. Each has a name, and a transaction that was lost says by which
//! of them.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::{Change, Transacted};
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let cart = order("ana", 1, Status::Cart);
//! db.create(cart.clone()).await?.done().unwrap();
//! let ordered =
//!     || Change::of(&cart).set(Order::STATUS, Status::Open).when(Order::STATUS.eq(Status::Cart));
//! let next = order("ana", 2, Status::Cart);
//! let done = db
//!     .transaction()
//!     .update("order", ordered())?
//!     .create("next cart", next.clone())?
//!     .run()
//!     .await?;
//! assert!(matches!(done, Transacted::Done));
//!
//! let lost = db.transaction().update("order", ordered())?.create("next cart", next)?.run().await?;
//! let Transacted::Lost(lost) = lost else { panic!("it is ordered") };
//! assert_eq!(lost.names(), ["order", "next cart"]);
//! assert_eq!(lost.current::<Order>("order")?.unwrap().status, Status::Open);
//! # Ok(()) })
//! # }
//! ```
//! # Attempts
//!
//! Read, decide, write on a condition, and all of it anew when somebody else was ahead:
//! [`Db::start_attempts`](super::Db::start_attempts) waits in between, longer and unevenly, and gives up in the end.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::RetryMode;
//! use tabla::entity::Outcome;
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let mut tries = db.start_attempts(RetryMode::OnlyIfNotApplied, "to number an order");
//! let numbered = loop {
//!     let newest = Order::find().with(Order::CUSTOMER, Id::new("ana")?).descending().limit(1);
//!     let newest = db.page(newest.consistent()).await?.items.pop();
//!     let number = newest.map_or(1, |newest| newest.number + 1);
//!     let created = tries.check(db.create(order("ana", number, Status::Open)).await)?;
//!     if let Some(Outcome::Done(order)) = created {
//!         break order;
//!     }
//!     tries.next_attempt().await?;
//! };
//! assert_eq!(numbered.number, 1);
//! # Ok(()) })
//! # }
//! ```
//! # Finding, page by page
//!
//! A [`Find`](super::Find) is bound by fields of the key, in their order; the last of them may be a
//! range. The cursor of a [`Page`](super::Page) belongs to its question, and another one refuses it.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! for number in 1..=5 {
//!     db.create(order("ana", number, Status::Open)).await?.done().unwrap();
//! }
//! let ana = Id::new("ana")?;
//! let orders = || Order::find().with(Order::CUSTOMER, ana.clone());
//! let numbers = |orders: &[Order]| orders.iter().map(|order| order.number).collect::<Vec<_>>();
//!
//! let page = db.page(orders().descending().limit(2)).await?;
//! assert_eq!(numbers(&page.items), [5, 4]);
//! let next = db.page(orders().descending().limit(2).after(page.next.clone())).await?;
//! assert_eq!(numbers(&next.items), [3, 2]);
//! assert!(db.page(orders().limit(2).after(page.next)).await.is_err());
//!
//! let some = db.all(orders().between(Order::NUMBER, 2_u32, 4_u32)).await?;
//! assert_eq!(numbers(&some), [2, 3, 4]);
//! let dear = db.all(orders().filter(Order::TOTAL.ge(40_u32))).await?;
//! assert_eq!(numbers(&dear), [4, 5]);
//! # Ok(()) })
//! # }
//! ```
//! # Time to live
//!
//! What has expired is there until the store deletes it; `unexpired` leaves it out.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let db = shop().await?;
//! let past = db.now().second().as_secs() - 60;
//! let cart = Order { expires_at: Some(past), ..order("ana", 1, Status::Cart) };
//! db.create(cart.clone()).await?.done().unwrap();
//! let carts = || Order::find_by("by-status").with(Order::STATUS, Status::Cart);
//! assert_eq!(db.all(carts()).await?, [cart]);
//! assert!(db.all(carts().unexpired()).await?.is_empty());
//! # Ok(()) })
//! # }
//! ```
//! # Collections
//!
//! One query reads the entities of several kinds that share a partition; what is of no known kind is
//! kept.
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
//! let account: Account = db.collect(Customer::find().with(Customer::CUSTOMER, ana)).await?;
//! assert_eq!(account.customer.unwrap().name, "ANA");
//! assert_eq!((account.orders.len(), account.unknown.len()), (1, 0));
//! # Ok(()) })
//! # }
//! ```
//! # Access patterns: listed, priced and checked
//!
//! A [`Pattern`](super::Pattern) is made of the function that the program runs, so that its
//! declaration cannot say anything else. The checks refuse what the store would, and warn of what
//! hurts later.
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
//! use tabla::entity::{Find, AppDesign, Pattern, lint, listing};
//! # fn main() -> tabla::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! fn open_orders() -> Find<Order> {
//!     Order::find_by("by-status").with(Order::STATUS, Status::Open).limit(50)
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
//! The same design makes the tables elsewhere: see [`export`](super::export). Shards spread a partition
//! that is written too often: see [`Sharded`](super::Sharded).
