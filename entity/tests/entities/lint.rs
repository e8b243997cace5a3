//! Each rule: a small design that it finds wrong, and the same design put right.

mod entities;
mod indexes;

use std::sync::LazyLock;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tabla_core::expr::attr;
use tabla_core::ops::{IndexProjection, Query};
use tabla_core::{Error, MemoryStore, Result};
use tabla_entity::AppDesign;
use tabla_entity::lint::{self, Accepted, Finding, Rule};
use tabla_entity::{Call, Db, Entity, EntityDesign, Id, KeyPart, Pattern, TableDesign, UtcTime};
use tabla_kit::{Answer, App, Progress, Race, check, failed_patterns};

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
    AppDesign::new("small", "a design for one rule")
        .tables(vec![table])
        .entities(entities.to_vec())
        .patterns(patterns)
}

/// What a rule finds, as `subject: message`.
fn found(rule: Rule, design: &AppDesign) -> Vec<String> {
    let findings = lint::check(design).into_iter().filter(|finding| finding.rule == rule);
    findings.map(|finding| format!("{}: {}", finding.subject, finding.message)).collect()
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
    Pattern::new("orders", "of a customer").find(|| Order::gsi1(customer()).describe())
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
        pattern(|| Version::of(Id::example("room")).describe()),
    );
    let right =
        design(&PLAIN, &[Padded::design()], pattern(|| Padded::of(Id::example("room")).describe()));
    fires(Rule::NumbersAsText, "`version` does not sort as its values do", &wrong, &right);
    // One version is in no order.
    let call = Version::of(room()).version(1).describe();
    assert!(!call.unwrap().is_range);
    let one = design(
        &PLAIN,
        &[Version::design()],
        pattern(|| Version::of(Id::example("room")).version(1).describe()),
    );
    assert_eq!(found(Rule::NumbersAsText, &one), [""; 0]);
}

#[test]
fn a_scan_is_said_to_be_one() {
    let all = || Pattern::new("all", "every order").scan::<Order>();
    let of = |pattern| design(&SHOP, &[Order::design()], vec![pattern]);
    fires(Rule::Scan, "all: it reads all of shop", &of(all()), &of(all().may_scan()));
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
                let find = Order::gsi1(Id::new("ana")?);
                Ok(Answer::new(db.page(find).await?.items.len(), "none yet"))
            }
            "order" if self.is_run => {
                let key = Order::key(Id::new("ana")?, 1);
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
async fn failed_pattern_is_named_with_its_error() {
    let failed = failed_patterns(&Small { is_run: false }).await.unwrap();
    let names: Vec<&str> = failed.iter().map(|failed| failed.pattern).collect();
    assert_eq!(names, ["order"]);
    assert!(failed[0].to_string().contains("there is no pattern"), "{}", failed[0]);
    assert_eq!(failed_patterns(&Small { is_run: true }).await.unwrap(), []);
    // The check of an app fails, too.
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
        let find = Thing::by_owner(Id::example("owner"));
        find.filter(Thing::AT.gt(UtcTime::default())).describe()
    });
    let right = of(|| {
        let find = Thing::by_owner(Id::example("owner"));
        find.at(UtcTime::default()..).filter(Thing::SIZE.gt(1_u32)).describe()
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
fn a_declaration_fits_the_design() {
    let of = |pattern: Pattern| design(&SHOP, &[Order::design()], vec![pattern, orders()]);
    let of_number = |call| of(Pattern::new("order", "by its number").find(call));
    let wrong = of_number(|| Order::of(customer()).number(100_000_000).describe());
    let right = of_number(|| Order::of(customer()).number(99_999_999).describe());
    fires(Rule::Declaration, "order: 100000000 does not fit", &wrong, &right);

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

#[test]
fn a_warning_is_accepted_with_a_reason_and_an_error_is_not() {
    let mut wrong =
        design(&SHOP, &[Order::design()], vec![Pattern::new("all", "").scan::<Order>()]);
    let accept = |rule, subject| Accepted::new(rule, subject, "it is meant");
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
