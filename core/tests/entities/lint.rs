//! Each rule: a small design that it finds wrong, and the same design put right.

use std::sync::LazyLock;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tabla::entity::app::{Answer, App, AppDesign, Progress, Race, check, untested};
use tabla::entity::lint::{self, Accepted, FEW_PARTITIONS, Finding, Rule};
use tabla::entity::{
    Call, Db, Entity, EntityDesign, Id, KeyPart, Pattern, Sharded, TableDesign, UtcTime,
};
use tabla::expr::attr;
use tabla::ops::{IndexProjection, Query};
use tabla::{Error, MemoryStore, Result};

/// A table with one index that carries everything, for most of the designs.
static SHOP: LazyLock<TableDesign> =
    LazyLock::new(|| TableDesign::new("shop").key("PK", "SK").index("GSI1", "GSI1PK", "GSI1SK"));

/// The same without an index.
static PLAIN: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("plain").key("PK", "SK"));

fn design(
    table: &'static TableDesign,
    entities: &[&'static EntityDesign],
    patterns: Vec<Pattern>,
) -> AppDesign {
    AppDesign {
        name: "small",
        summary: "a design for one rule",
        tables: vec![table],
        entities: entities.to_vec(),
        patterns,
        accepted: Vec::new(),
    }
}

/// What a rule finds, as `subject: message`.
fn found(rule: Rule, design: &AppDesign) -> Vec<String> {
    let findings = lint::check(design).into_iter().filter(|finding| finding.rule == rule);
    findings.map(|finding| format!("{}: {}", finding.subject, finding.message)).collect()
}

/// What a rule finds in entities alone.
fn found_in(rule: Rule, entity: &'static EntityDesign) -> Vec<String> {
    found(rule, &design((entity.table)(), &[entity], Vec::new()))
}

/// That a rule finds one thing in a design, which has these words, and nothing in the other.
#[track_caller]
fn fires(rule: Rule, words: &str, wrong: &AppDesign, right: &AppDesign) {
    let all = found(rule, wrong);
    assert!(matches!(&all[..], [one] if one.contains(words)), "{all:?}");
    assert_eq!(found(rule, right), [""; 0]);
}

/// An order: by customer, and in the index by its status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "CUSTOMER#{customer}",
    sk = "ORDER#{number:08}",
    index(GSI1, pk = "BUYER#{customer}", sk = "{at}")
)]
struct Order {
    #[entity(key_only)]
    customer: Id,
    #[entity(key_only)]
    number: u32,
    at: UtcTime,
    total: u32,
    note: String,
}

fn customer() -> Id {
    Id::example("customer")
}

fn orders() -> Pattern {
    Pattern::new("orders", "of a customer")
        .find(|| Order::find_by("GSI1").with(Order::CUSTOMER, customer()).describe())
}

fn of_query(name: &'static str, call: fn() -> Result<Call>) -> AppDesign {
    design(&SHOP, &[Order::design()], vec![Pattern::new(name, "by hand").find(call), orders()])
}

#[test]
fn a_partition_key_has_an_equality() {
    let wrong = of_query("prefix", || {
        let condition = attr("GSI1PK").begins_with("BUYER#");
        Ok(Call::of_query::<Order>(Query::new("shop", condition).index("GSI1")))
    });
    let right = of_query("whole", || {
        let condition = attr("GSI1PK").eq("BUYER#ana");
        Ok(Call::of_query::<Order>(Query::new("shop", condition).index("GSI1")))
    });
    fires(Rule::KeyCondition, "prefix: the store refuses it: Query key condition", &wrong, &right);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = PLAIN, pk = "ROOM#{room}", sk = "V#{version:unordered}")]
struct Version {
    #[entity(key_only)]
    room: Id,
    #[entity(key_only)]
    version: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = PLAIN, pk = "ROOM#{room}", sk = "V#{version:04}")]
struct Padded {
    #[entity(key_only)]
    room: Id,
    #[entity(key_only)]
    version: u32,
}

#[test]
fn numbers_are_not_sorted_as_text() {
    let room = || Id::example("room");
    let pattern = |call| vec![Pattern::new("versions", "in order").find(call)];
    let wrong = design(
        &PLAIN,
        &[Version::design()],
        pattern(|| Version::find().with(Version::ROOM, Id::example("room")).describe()),
    );
    let right = design(
        &PLAIN,
        &[Padded::design()],
        pattern(|| Padded::find().with(Padded::ROOM, Id::example("room")).describe()),
    );
    fires(Rule::NumbersAsText, "`version` does not sort as its values do", &wrong, &right);
    // One version is in no order.
    let call = Version::find().with(Version::ROOM, room()).with(Version::VERSION, 1_u32).describe();
    assert!(!call.unwrap().is_range);
    let one = design(
        &PLAIN,
        &[Version::design()],
        pattern(|| {
            let find = Version::find().with(Version::ROOM, Id::example("room"));
            find.with(Version::VERSION, 1_u32).describe()
        }),
    );
    assert_eq!(found(Rule::NumbersAsText, &one), [""; 0]);
}

#[test]
fn a_scan_is_said_to_be_one() {
    let all = || Pattern::new("all", "every order").scan::<Order>();
    let of = |pattern| design(&SHOP, &[Order::design()], vec![pattern]);
    fires(Rule::Scan, "all: it reads all of shop", &of(all()), &of(all().may_scan()));
}

#[test]
fn an_index_is_used() {
    let get = || Pattern::new("order", "by its key").get::<Order>();
    let wrong = design(&SHOP, &[Order::design()], vec![get()]);
    let right = design(&SHOP, &[Order::design()], vec![get(), orders()]);
    fires(Rule::UnusedIndex, "GSI1: no pattern reads this index of shop", &wrong, &right);
}

/// An app with one pattern, which knows how to run it or not.
#[derive(Debug)]
struct Small {
    is_run: bool,
}

#[async_trait]
impl App for Small {
    fn design(&self) -> AppDesign {
        let order = Pattern::new("order", "by its key").get::<Order>();
        design(&SHOP, &[Order::design()], vec![order, orders()])
    }

    async fn seed(&self, _: &Db, _: u32, _: Progress<'_>) -> Result<()> {
        Ok(())
    }

    async fn run(&self, db: &Db, pattern: &str) -> Result<Answer> {
        match pattern {
            "orders" => {
                let find = Order::find_by("GSI1").with(Order::CUSTOMER, Id::new("ana")?);
                Ok(Answer::new(db.page(find).await?.items.len(), "none yet"))
            }
            "order" if self.is_run => {
                let key = OrderKey { customer: Id::new("ana")?, number: 1 };
                let found = db.get(&key).await?;
                Answer::new(found.iter().len(), "none").expect(found.is_none(), "no order")
            }
            other => Err(Error::validation(format!("there is no pattern {other:?}"))),
        }
    }

    async fn race(&self, _: &Db) -> Result<Vec<Race>> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_pattern_is_run() {
    let findings = untested(&Small { is_run: false }).await.unwrap();
    let subjects: Vec<(Rule, &str)> =
        findings.iter().map(|finding| (finding.rule, finding.subject.as_str())).collect();
    assert_eq!(subjects, [(Rule::Untested, "order")]);
    assert!(findings[0].is_error() && findings[0].message.contains("there is no pattern"));
    assert_eq!(untested(&Small { is_run: true }).await.unwrap(), []);
    // What every app has to pass refuses it, too.
    let fresh = || Db::new(std::sync::Arc::new(MemoryStore::new()));
    assert!(check(&Small { is_run: false }, &fresh()).await.is_err());
    assert_eq!(check(&Small { is_run: true }, &fresh()).await.unwrap().len(), 2);
}

static ATTRIBUTES: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("attributes").partition_only("id").index("by-owner", "owner", "at")
});

/// Something whose keys are attributes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = ATTRIBUTES, pk = id, index("by-owner", pk = owner, sk = at))]
struct Thing {
    id: Id,
    owner: Id,
    at: UtcTime,
    size: u32,
}

#[test]
fn a_filter_is_not_on_a_key() {
    let of = |call| {
        design(&ATTRIBUTES, &[Thing::design()], vec![Pattern::new("things", "of one").find(call)])
    };
    let wrong = of(|| {
        let find = Thing::find_by("by-owner").with(Thing::OWNER, Id::example("owner"));
        find.filter(Thing::AT.gt(UtcTime::default())).describe()
    });
    let right = of(|| {
        let find = Thing::find_by("by-owner").with(Thing::OWNER, Id::example("owner"));
        find.from(Thing::AT, UtcTime::default()).filter(Thing::SIZE.gt(1_u32)).describe()
    });
    fires(Rule::FilterOnKey, "things: at belongs to the key", &wrong, &right);
}

/// The table of [`Order`] with another projection.
fn projected(projection: IndexProjection) -> &'static TableDesign {
    let mut table = SHOP.clone();
    table.indexes[0].projection = projection;
    Box::leak(Box::new(table))
}

#[test]
fn an_index_carries_what_is_read_through_it() {
    let of = |projection| design(projected(projection), &[Order::design()], vec![orders()]);
    let wrong = of(IndexProjection::include(["at", "total"]));
    let right = of(IndexProjection::include(["at", "total", "note"]));
    let words = "orders: it reads Order through GSI1, which does not carry note";
    fires(Rule::MissingAttribute, words, &wrong, &right);
    // A pattern that says what it uses needs no more.
    let used = design(
        projected(IndexProjection::include(["at", "total"])),
        &[Order::design()],
        vec![orders().reads(&["total"])],
    );
    assert_eq!(found(Rule::MissingAttribute, &used), [""; 0]);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    tag("type" = "SESSION"),
    pk = "SESSION#{id}",
    sk = "SESSION",
    index(GSI1, pk = "USER#{user}", sk = "SESSION#{id}"),
    ttl = expires
)]
struct Session {
    #[entity(key_only)]
    id: Id,
    user: Id,
    expires: u64,
}

#[test]
fn an_index_carries_the_tag_and_the_expiry_that_a_reader_looks_at() {
    let of = |projection| {
        let sessions = Pattern::new("sessions", "of a user").reads(&[]).find(|| {
            let find = Session::find_by("GSI1").with(Session::USER, Id::example("user"));
            find.unexpired().describe()
        });
        design(projected(projection), &[Session::design()], vec![sessions])
    };
    let wrong = of(IndexProjection::keys_only());
    let right = of(IndexProjection::include(["type", "expires"]));
    fires(Rule::MissingAttribute, "does not carry expires, type", &wrong, &right);
}

#[test]
fn a_declaration_fits_the_design() {
    let of = |pattern: Pattern| design(&SHOP, &[Order::design()], vec![pattern, orders()]);
    let wrong = of(Pattern::new("anyone", "'s orders").find(|| Order::find().describe()));
    let right = of(Pattern::new("anyone", "'s orders")
        .find(|| Order::find().with(Order::CUSTOMER, customer()).describe()));
    fires(Rule::Declaration, "anyone: Order: to find by CUSTOMER#{customer}", &wrong, &right);

    let unknown = of(orders().reads(&["totals"]));
    fires(Rule::Declaration, "it reads `totals`", &unknown, &of(orders().reads(&["total"])));

    let two = of(Pattern::new("both", "at once").write(|w| w.put::<Order>().put::<Order>()));
    let one = of(Pattern::new("both", "at once").transaction(|w| w.put::<Order>().put::<Order>()));
    fires(Rule::Declaration, "a write is of one item", &two, &one);
}

#[test]
fn a_table_is_known_by_its_name() {
    // The design has the table as it is in this environment, whatever the entities have at hand.
    let other = projected(IndexProjection::keys_only());
    let here = design(other, &[Order::design()], vec![orders()]);
    assert_eq!(found(Rule::Declaration, &here), [""; 0]);
    assert_eq!(found(Rule::MissingAttribute, &here).len(), 1);

    let mut twice = design(&SHOP, &[Order::design()], vec![orders()]);
    twice.tables.push(other);
    assert_eq!(found(Rule::Declaration, &twice).len(), 1, "two tables have one name");

    let absent = design(&PLAIN, &[Order::design()], vec![orders()]);
    let subjects = found(Rule::Declaration, &absent);
    assert!(
        matches!(&subjects[..], [entity, pattern]
        if entity.starts_with("Order: ") && pattern.starts_with("orders: ")),
        "{subjects:?}"
    );

    let mut bare = SHOP.clone();
    bare.indexes.clear();
    let without = design(Box::leak(Box::new(bare)), &[Order::design()], Vec::new());
    let words = found(Rule::Declaration, &without);
    assert!(
        matches!(&words[..], [one] if one.contains("has keys for the index GSI1")),
        "{words:?}"
    );
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, KeyPart)]
enum Status {
    Closed,
    Open,
    Paid,
}

/// Invoices in the partitions of their statuses: by shards, where there are any.
macro_rules! invoices {
    ($($name:ident $partition:literal)*) => {$(
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
        #[entity(
            table = SHOP,
            pk = "INVOICE#{id}",
            sk = "INVOICE",
            index(GSI1, pk = $partition, sk = "{at}")
        )]
        struct $name {
            #[entity(key_only)]
            id: Id,
            at: UtcTime,
            status: Status,
            #[entity(values = 4)]
            region: Id,
            kind: Id,
        }
    )*};
}

invoices! {
    InOne "INVOICES"
    ByStatus "STATUS#{status}"
    ByStatusInFive "STATUS#{status}{id:shard 5}"
    ByStatusInSix "STATUS#{status}{id:shard 6}"
    ByRegion "REGION#{region}"
    ByKind "KIND#{kind}#{status}"
}

#[test]
fn entities_are_spread_over_more_than_a_few_partitions() {
    let hot = |entity| found_in(Rule::HotPartition, entity);
    assert_eq!(FEW_PARTITIONS, 16);
    let one = "all of them are in the partition INVOICES: shards would spread it";
    assert_eq!(hot(InOne::design()), [format!("InOne in GSI1: {one}")]);
    let three =
        "all of them are in 3 partitions at most, STATUS#{status}: shards would spread them";
    assert_eq!(hot(ByStatus::design()), [format!("ByStatus in GSI1: {three}")]);
    // Fifteen are few, eighteen are not.
    assert!(hot(ByStatusInFive::design())[0].contains("in 15 partitions at most"));
    assert_eq!(hot(ByStatusInSix::design()), [""; 0]);
    // A field whose type does not tell may say how many values it has.
    assert!(hot(ByRegion::design())[0].contains("in 4 partitions at most"));
    // Of one field it is not known, and so of all of them.
    assert_eq!(hot(ByKind::design()), [""; 0]);
}

static BY_ATTRIBUTE: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("by-attribute")
        .partition_only("id")
        .index("by-status", "status", "at")
        .index("by-owner", "owner", "at")
});

/// Keys that are attributes as they are: of the one, the type tells how many values it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = BY_ATTRIBUTE,
    pk = id,
    index("by-status", pk = status, sk = at),
    index("by-owner", pk = owner, sk = at)
)]
struct Ticket {
    id: Id,
    status: Status,
    owner: Owner,
    at: UtcTime,
}

/// Somebody, by a type that is no part of keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Owner(String);

#[test]
fn attributes_with_few_values_make_few_partitions() {
    let hot = found_in(Rule::HotPartition, Ticket::design());
    assert!(
        matches!(&hot[..], [one] if one.starts_with("Ticket in by-status: all of them are in 3"))
    );
}

/// All members in one partition of the table; a setting of each kind; one item.
macro_rules! members {
    ($($name:ident $partition:literal $sort:literal)*) => {$(
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
        #[entity(table = PLAIN, pk = $partition, sk = $sort)]
        struct $name {
            id: Id,
            status: Status,
            shard: Sharded<20>,
        }
    )*};
}

members! {
    Gathered "MEMBERS" "MEMBER#{id}"
    Spread "MEMBERS{shard}" "MEMBER#{id}"
    Setting "SETTINGS" "SETTING#{status}"
    Single "CONFIG" "CONFIG"
}

#[test]
fn the_table_itself_has_more_than_a_few_partitions() {
    let hot = |entity| found_in(Rule::HotPartition, entity);
    let one = "Gathered: all of them are in the partition MEMBERS: shards would spread it";
    assert_eq!(hot(Gathered::design()), [one]);
    assert_eq!(hot(Spread::design()), [""; 0]);
    // Few items need no more.
    assert_eq!(hot(Setting::design()), [""; 0]);
    assert_eq!(hot(Single::design()), [""; 0]);
}

/// What a list of orders shows of an [`Order`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "CUSTOMER#{customer}",
    sk = "ORDER#{number:08}",
    index(GSI1, pk = "BUYER#{customer}", sk = "{at}")
)]
struct OrderLine {
    #[entity(key_only)]
    customer: Id,
    #[entity(key_only)]
    number: u32,
    at: UtcTime,
    total: u32,
}

fn lines() -> Pattern {
    Pattern::new("lines", "of a list of orders")
        .find(|| OrderLine::find_by("GSI1").with(OrderLine::CUSTOMER, customer()).describe())
}

#[test]
fn an_index_does_not_carry_what_nobody_reads() {
    let of = |projection, pattern: Pattern| {
        design(projected(projection), &[Order::design()], vec![pattern])
    };
    let wrong = of(IndexProjection::all(), lines());
    let right = of(IndexProjection::include(["at", "total"]), lines());
    // Four keys and three fields, of which one is not read: 6 of 7 are left.
    let words = "GSI1: its patterns read less than there is: INCLUDE of at, total would do, with \
                 about 15 % fewer attributes in an entry";
    fires(Rule::WideProjection, words, &wrong, &right);
    // Whoever reads the whole entity needs all of it.
    assert_eq!(found(Rule::WideProjection, &of(IndexProjection::all(), orders())), [""; 0]);
    // A pattern that says what it uses is like one that reads a part.
    let used = of(IndexProjection::all(), orders().reads(&["at", "total"]));
    assert_eq!(found(Rule::WideProjection, &used).len(), 1);
    let keys = of(IndexProjection::all(), orders().reads(&[]));
    assert!(found(Rule::WideProjection, &keys)[0].contains("KEYS_ONLY would do, with about 43 %"));
}

/// What is in the same partitions of the index as orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "REFUND#{refund}",
    sk = "REFUND",
    index(GSI1, pk = "BUYER#{customer}", sk = "{at}")
)]
struct Refund {
    #[entity(key_only)]
    refund: Id,
    customer: Id,
    at: UtcTime,
    why: String,
}

#[test]
fn a_whole_partition_may_be_read_for_all_that_is_in_it() {
    let of = |call| {
        let pattern = Pattern::new("account", "of a customer").find(call);
        design(&SHOP, &[Order::design(), Refund::design()], vec![pattern])
    };
    let whole = of(|| {
        let find = Order::find_by("GSI1").with(Order::CUSTOMER, customer());
        find.whole_partition().describe()
    });
    assert_eq!(found(Rule::WideProjection, &whole), [""; 0]);
    let orders_alone = of(|| Order::find_by("GSI1").with(Order::CUSTOMER, customer()).describe());
    assert_eq!(found(Rule::WideProjection, &orders_alone).len(), 1, "nobody reads `why`");
}

#[test]
fn a_partition_does_not_grow_for_ever() {
    let grows = |entity| found_in(Rule::UnboundedCollection, entity);
    let all = grows(Order::design());
    assert!(matches!(&all[..], [one] if one.starts_with("Order: a partition CUSTOMER#{customer}")));
    // Of a few statuses there are a few items; of what expires, as many as have not.
    assert_eq!(grows(Setting::design()), [""; 0]);
    assert_eq!(grows(Single::design()), [""; 0]);
    assert_eq!(grows(Expiring::design()), [""; 0]);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = PLAIN, pk = "USER#{user}", sk = "LOG#{at}#{id}")]
struct Logged {
    user: Id,
    at: UtcTime,
    id: Id,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = PLAIN, pk = "USER#{user}", sk = "LOG#{at}#{id}", ttl = expires)]
struct Expiring {
    user: Id,
    at: UtcTime,
    id: Id,
    expires: u64,
}

#[test]
fn a_log_expires() {
    let kept = |entity| found_in(Rule::LogWithoutTtl, entity);
    assert!(matches!(&kept(Logged::design())[..], [one] if one.contains("none ever expires")));
    assert_eq!(kept(Expiring::design()), [""; 0]);
    assert_eq!(kept(Order::design()), [""; 0], "orders are kept by number");
}

#[test]
fn a_warning_is_accepted_with_a_reason_and_an_error_is_not() {
    let mut wrong =
        design(&SHOP, &[Order::design()], vec![Pattern::new("all", "").scan::<Order>()]);
    let accept = |rule, subject| Accepted { rule, subject, reason: "it is meant" };
    wrong.accepted = vec![accept(Rule::UnboundedCollection, "Order"), accept(Rule::Scan, "all")];
    let findings = lint::check(&wrong);
    let reasons: Vec<(Rule, Option<&str>)> =
        findings.iter().map(|finding| (finding.rule, finding.accepted)).collect();
    assert_eq!(
        reasons,
        [
            (Rule::Scan, None),
            (Rule::UnusedIndex, None),
            (Rule::UnboundedCollection, Some("it is meant")),
        ]
    );
    assert!(findings.iter().take(2).all(Finding::is_error));
}
