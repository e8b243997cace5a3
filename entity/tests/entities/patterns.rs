//! Patterns as data: what they cost, how they are listed, and whether they do what they declare.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tabla_core::ops::IndexProjection;
use tabla_core::{MemoryStore, Result};
use tabla_entity::AppDesign;
use tabla_entity::{
    Change, Db, Entity, Id, KeyPart, Operation, Pattern, TableDesign, Touch, Transaction, listing,
};
use tabla_kit::{Answer, App, Progress, Race};

use crate::design::id;

static CLUB: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("club").key("PK", "SK").index("GSI1", "GSI1PK", "GSI1SK").index_with(
        "GSI2",
        "GSI2PK",
        Some("GSI2SK"),
        IndexProjection::include(["name"]),
    )
});

/// A member: in one index by team, in the other by name; the name is theirs alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = CLUB,
    pk = "MEMBER#{id}",
    sk = "MEMBER",
    index(GSI1, query = by_team, pk = "TEAM#{team}", sk = "{id}"),
    index(GSI2, query = by_name, pk = "NAME#{name}", sk = "{id}"),
    unique(name, pk = "NAME#{name}", sk = "UNIQUE"),
    ttl = leaves
)]
struct Member {
    #[entity(key_only)]
    id: Id,
    team: Option<Id>,
    name: Id,
    points: u32,
    leaves: Option<u64>,
}

/// How many members a team has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = CLUB, pk = "TEAM#{team}", sk = "COUNT")]
struct Count {
    #[entity(key_only)]
    team: Id,
    members: u32,
}

fn member() -> Member {
    Member { id: id("ana"), team: Some(id("red")), name: id("Ana"), points: 0, leaves: None }
}

/// What an app with one pattern declares, and does.
struct Small {
    pattern: Pattern,
    ways: fn(&Db) -> Transaction<'_>,
}

impl std::fmt::Debug for Small {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.pattern.fmt(f)
    }
}

fn design(pattern: Pattern) -> AppDesign {
    AppDesign::new("club", "members and teams")
        .tables(vec![&CLUB])
        .entities(vec![Member::design(), Count::design()])
        .patterns(vec![pattern])
}

#[async_trait]
impl App for Small {
    fn design(&self) -> AppDesign {
        design(self.pattern.clone())
    }

    async fn seed(&self, db: &Db, _: u32, _: Progress<'_>) -> Result<()> {
        db.create(Count { team: id("red"), members: 0 }).await?.done();
        db.create(Count { team: id("blue"), members: 0 }).await?.done();
        db.create(Member { id: id("eva"), name: id("Eva"), ..member() }).await?.done();
        Ok(())
    }

    async fn run(&self, db: &Db, _: &str) -> Result<Answer> {
        let commit = (self.ways)(db).commit().await?;
        Answer::new(1, "written").expect(commit.is_committed(), "a transaction")
    }

    async fn race(&self, _: &Db) -> Result<Vec<Race>> {
        Ok(Vec::new())
    }
}

fn pattern() -> Pattern {
    Pattern::new("write", "something")
}

/// The units that a pattern declares, and those that are measured when it runs.
async fn units(pattern: Pattern, ways: fn(&Db) -> Transaction<'_>) -> Result<(f64, f64)> {
    let app = Small { pattern: pattern.clone(), ways };
    let db = Db::new(Arc::new(MemoryStore::new()));
    // Another name of the table is no other table.
    let db = db.rename(&CLUB, "club-test");
    app.create_tables(&db).await?;
    app.seed(&db, 1, &|_, _| {}).await?;
    let ran = tabla_kit::run(&app, &db, pattern.clone()).await?;
    let declared: f64 =
        pattern.calls()?.iter().map(|call| call.units(&app.design(), 1024, 25)).sum();
    Ok((declared, ran.units()))
}

fn eva() -> Member {
    Member { id: id("eva"), name: id("Eva"), ..member() }
}

/// A transaction that creates a member.
fn joined(db: &Db) -> Transaction<'_> {
    let mut tx = db.transaction();
    tx.create(member());
    tx
}

fn counted(by: u32) -> Change<Count> {
    Count::key(id("red")).change().increment(Count::MEMBERS, by)
}

#[tokio::test]
async fn a_transaction_costs_what_all_its_writes_cost() {
    // The member twice, two entries, the guard twice, the count twice.
    let joins = pattern()
        .transaction(|writes| writes.create::<Member>().update::<Count>().changing(Count::MEMBERS));
    let paid = units(joins, |db| {
        let mut tx = db.transaction();
        tx.create(member());
        tx.update(counted(1));
        tx
    });
    assert_eq!(paid.await.unwrap(), (8.0, 8.0));

    // The member twice, an entry that stays, one that moves, the old guard and the new one.
    let renamed = pattern().transaction(|writes| writes.update::<Member>().changing(Member::NAME));
    let paid = units(renamed, |db| {
        let mut tx = db.transaction();
        tx.update(eva().change().set(Member::NAME, id("Eve")));
        tx
    });
    assert_eq!(paid.await.unwrap(), (9.0, 9.0));

    // An entry that goes; the other index does not carry the team.
    let leaves = pattern().write(|write| write.update::<Member>().clearing(Member::TEAM));
    let paid = units(leaves, |db| {
        let mut tx = db.transaction();
        tx.update(eva().change().clear(Member::TEAM));
        tx
    });
    // A single step is a plain write.
    assert_eq!(paid.await.unwrap(), (2.0, 2.0));

    // The member and the guard twice, two entries; a check costs as much as a write.
    let goes = pattern().transaction(|writes| writes.delete::<Member>().check::<Count>());
    let paid = units(goes, |db| {
        let count = Count::key(id("red"));
        let mut tx = db.transaction();
        tx.delete_read(&eva());
        tx.check_exists(&count);
        tx
    });
    assert_eq!(paid.await.unwrap(), (8.0, 8.0));
}

#[tokio::test]
async fn as_many_writes_as_there_are_cost_as_many_as_a_page_has() {
    let each = pattern().transaction(|writes| writes.put::<Count>().each());
    let design = design(each.clone());
    assert_eq!(each.calls().unwrap()[0].units(&design, 1024, 25), 50.0);
    assert_eq!(each.calls().unwrap()[0].units(&design, 1025, 10), 40.0);
    let two = units(each, |db| {
        let count = |team| Count { team: id(team), members: 0 };
        let mut tx = db.transaction();
        tx.put(count("green"));
        tx.put(count("white"));
        tx
    });
    assert_eq!(two.await.unwrap().1, 4.0);
}

#[test]
fn the_table_of_the_design_says_what_an_index_carries() {
    let by_team = pattern().find(|| Member::by_team(Id::example("team")).describe());
    let mut here = design(by_team.clone());
    let call = &by_team.calls().unwrap()[0];
    assert_eq!(call.units(&here, 4096, 25), 12.5);
    let mut table = CLUB.clone();
    table.indexes[0].projection = IndexProjection::keys_only();
    here.tables = vec![Box::leak(Box::new(table))];
    assert_eq!(call.units(&here, 4096, 25), 1.0);
}

#[tokio::test]
async fn a_transaction_does_what_it_declares() {
    let refused = async |declared: Pattern, ways, words: &str| {
        let error = units(declared, ways).await.expect_err(words);
        assert!(error.message().contains(words), "{error}");
    };
    // One write less is asked than declared, one more, and another than declared.
    let both = || pattern().transaction(|writes| writes.create::<Member>().update::<Count>());
    refused(both(), joined, "declares `Update Count`").await;
    let alone = || pattern().transaction(|writes| writes.create::<Member>());
    refused(
        alone(),
        |db| {
            let mut tx = joined(db);
            tx.update(counted(1));
            tx
        },
        "asks `Update`",
    )
    .await;
    refused(
        both(),
        |db| {
            let count = Count::key(id("red"));
            let mut tx = joined(db);
            tx.check_exists(&count);
            tx
        },
        "declares `Update Count`",
    )
    .await;
    // A key that is written anew has to be declared: it costs more.
    let silent = pattern().write(|write| write.update::<Member>());
    refused(
        silent,
        |db| {
            let team = id("blue");
            let mut tx = db.transaction();
            tx.update(eva().change().set(Member::TEAM, team));
            tx
        },
        "writes GSI1PK of Member",
    )
    .await;
}

#[tokio::test]
async fn a_trace_names_what_was_touched() {
    let app =
        Small { pattern: pattern().transaction(|writes| writes.create::<Member>()), ways: joined };
    let db = Db::new(Arc::new(MemoryStore::new()));
    app.create_tables(&db).await.unwrap();
    let ran = tabla_kit::run(&app, &db, app.pattern.clone()).await.unwrap();
    let [trace] = &ran.traces[..] else { panic!("{:?}", ran.traces) };
    assert_eq!((trace.operation, trace.items), (Operation::TransactWriteItems, 2));
    let touched: Vec<(Touch, &str)> = trace
        .touched
        .iter()
        .map(|touched| (touched.touch, touched.item.get("PK").unwrap().as_str().unwrap()))
        .collect();
    assert_eq!(touched, [(Touch::Put, "MEMBER#ana"), (Touch::Put, "NAME#Ana")]);
}

#[test]
fn what_a_write_cannot_be_is_refused() {
    let message = |pattern: Pattern| pattern.calls().unwrap_err().message().to_owned();
    let alone = pattern().write(|write| write.create::<Member>());
    assert!(message(alone).contains("`name` is unique"));
    assert!(
        message(pattern().write(|write| write.check::<Count>())).contains("only a transaction")
    );
    let batch = pattern().batch_write(|writes| writes.update::<Count>());
    assert!(message(batch).contains("a batch puts and deletes"));
    let changed = pattern().write(|write| write.put::<Count>().changing(Count::MEMBERS));
    assert!(message(changed).contains("only an update changes single fields"));
    let simple = pattern().write(|write| write.update::<Member>().changing(Member::POINTS));
    assert_eq!(simple.calls().unwrap()[0].operation, Operation::UpdateItem);
}

#[test]
fn a_listing_names_every_item_of_a_transaction() {
    let both = pattern()
        .number("7")
        .transaction(|writes| writes.create::<Member>().update::<Count>().changing(Count::MEMBERS));
    let rows = listing::rows(&design(both.clone()), 1024).unwrap();
    assert_eq!((rows.len(), rows[0].operation.as_str()), (1, "TransactWriteItems"));
    assert_eq!(
        rows[0].keys,
        [
            "create Member: PK = MEMBER#{id}, SK = MEMBER",
            "put the guard of name: PK = NAME#{name}, SK = UNIQUE",
            "update Count (members): PK = TEAM#{team}, SK = COUNT",
        ]
    );
    let table = listing::markdown(&design(both), 1024).unwrap();
    let row = "| 7 | write | something | TransactWriteItems | `create Member: PK = MEMBER#{id}, SK \
               = MEMBER`<br>`put the guard of name: PK = NAME#{name}, SK = UNIQUE`<br>`update Count \
               (members): PK = TEAM#{team}, SK = COUNT` | 8 |\n";
    assert!(table.ends_with(row), "{table}");
}

#[test]
fn a_listing_shows_that_what_has_expired_is_left_out() {
    let keys = |call| listing::rows(&design(pattern().find(call)), 1024).unwrap()[0].keys.clone();
    let all = keys(|| {
        let find = Member::by_team(Id::example("team"));
        find.unexpired().descending().describe()
    });
    assert_eq!(all, ["GSI1PK = \"TEAM#<team>\"; filter NOT leaves <= now; descending"]);
    let some = keys(|| {
        let find = Member::by_team(Id::example("team"));
        find.filter(Member::POINTS.gt(3_u32)).unexpired().describe()
    });
    assert_eq!(some, ["GSI1PK = \"TEAM#<team>\"; filter points > 3 AND NOT leaves <= now"]);
}
