//! What is found is what was asked for: nothing is left out, and nothing else is met.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use tabla_core::ops::{IndexProjection, PutItem};
use tabla_core::{MemoryStore, Result};
use tabla_entity::{Day, Db, Entity, Id, IntoQuery, KeyPart, TableDesign, UtcTime};

use crate::design::{id, time};

static LOG: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("log").key("PK", "SK").index("GSI1", "GSI1PK", "GSI1SK").index_with(
        "BY-TEXT",
        "text",
        None,
        IndexProjection::all(),
    )
});

/// Newest first in the table, by day in GSI1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = LOG,
    tag("type" = "LINE"),
    pk = "APP#{app}",
    sk = "LINE#{at:desc10}#{number:unordered}",
    index(GSI1, query = by_day, pk = "DAY#{at:as Day}", sk = "{at}{number:04}"),
    index("BY-TEXT", pk = text)
)]
struct Line {
    #[entity(key_only)]
    app: Id,
    at: UtcTime,
    number: u32,
    text: Id,
}

/// Its key begins with that of its line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = LOG,
    pk = "APP#{app}",
    sk = "LINE#{at:desc10}#{number:unordered}#MARK#{name:checked}#{user}"
)]
struct Mark {
    #[entity(key_only)]
    app: Id,
    #[entity(key_only)]
    at: UtcTime,
    #[entity(key_only)]
    number: u32,
    #[entity(key_only)]
    name: String,
    user: Id,
}

fn line(number: u32, at: &str) -> Line {
    Line { app: id("shop"), at: time(at), number, text: id("hello") }
}

fn mark(line: &Line, name: &str) -> Mark {
    let Line { app, at, number, .. } = line.clone();
    Mark { app, at, number, name: name.to_owned(), user: id("ana") }
}

async fn log() -> (Db, Vec<Line>) {
    let db = Db::new(Arc::new(MemoryStore::new()));
    db.create_table(&LOG).await.unwrap();
    let lines = vec![
        line(9, "2025-08-18T10:00:00Z"),
        line(10, "2025-08-18T11:00:00Z"),
        line(11, "2025-08-18T12:00:00Z"),
        line(12, "2025-08-19T00:00:00Z"),
    ];
    for line in &lines {
        db.create(line.clone()).await.unwrap().done().unwrap();
        db.create(mark(line, "x y")).await.unwrap().done().unwrap();
    }
    (db, lines)
}

fn of_shop() -> LineOf {
    Line::of(id("shop"))
}

async fn numbers(db: &Db, query: impl IntoQuery<View = Line>) -> Vec<u32> {
    db.all(query).await.unwrap().iter().map(|line| line.number).collect()
}

#[tokio::test]
async fn other_entities_whose_keys_begin_the_same_are_not_met() {
    let (db, lines) = log().await;
    assert_eq!(numbers(&db, of_shop()).await, [12, 11, 10, 9]);
    assert_eq!(numbers(&db, of_shop().limit(1)).await, [12, 11, 10, 9]);
    let marks = Mark::of(id("shop"));
    assert_eq!(db.all(marks).await.unwrap().len(), 4);
    assert!(!Mark::design().recognises(&lines[0].to_item().unwrap()));
    // An item of a line's key without its tag is not passed over.
    let mut stray = lines[0].to_item().unwrap();
    stray.remove("type");
    db.store().put(PutItem::new("log", stray)).await.unwrap();
    assert!(db.all(of_shop()).await.is_err());
}

#[tokio::test]
async fn range_of_a_descending_field_includes_both_ends() {
    let (db, _) = log().await;
    let (eleven, noon) = (time("2025-08-18T11:00:00Z"), time("2025-08-18T12:00:00Z"));
    assert_eq!(numbers(&db, of_shop().at(eleven..=noon)).await, [11, 10]);
    assert_eq!(numbers(&db, of_shop().at(noon..)).await, [12, 11]);
    assert_eq!(numbers(&db, of_shop().at(..=eleven)).await, [10, 9]);
    assert_eq!(numbers(&db, of_shop().at(noon)).await, [11]);
}

#[tokio::test]
async fn field_of_both_keys_has_a_range_within_its_partition() {
    let (db, _) = log().await;
    let (eleven, noon) = (time("2025-08-18T11:00:00Z"), time("2025-08-18T12:00:00Z"));
    let of_day = || Line::by_day(noon);
    assert_eq!(numbers(&db, of_day().at(eleven..)).await, [10, 11]);
    assert_eq!(numbers(&db, of_day().at(..=eleven)).await, [9, 10]);
    assert_eq!(numbers(&db, of_day().at(noon)).await, [11]);
    // The day does not tell the moment.
    assert_eq!(numbers(&db, of_day()).await, [9, 10, 11]);
}

#[tokio::test]
async fn range_over_two_days_finds_the_lines_of_the_day_that_is_given() {
    let (db, _) = log().await;
    let range = time("2025-08-18T12:00:00Z")..=time("2025-08-19T00:00:00Z");
    let on = |day: Day| Line::by_day(day).at(range.clone());
    assert_eq!(numbers(&db, on("2025-08-18".parse().unwrap())).await, [11]);
    assert_eq!(numbers(&db, on("2025-08-19".parse().unwrap())).await, [12]);
}

/// Which of two halves of the hour a moment is in: not one after the other.
#[derive(Clone, Copy, Debug)]
struct Half(bool);

impl From<UtcTime> for Half {
    fn from(at: UtcTime) -> Self {
        Self(at.as_secs() % 3600 < 1800)
    }
}

impl KeyPart for Half {
    const SAFE: bool = true;
    const ORDERED: bool = false;

    fn write_key(&self, out: &mut String) -> Result<()> {
        out.push_str(if self.0 { "first" } else { "second" });
        Ok(())
    }

    fn read_key(text: &str) -> Result<Self> {
        Ok(Self(text == "first"))
    }

    fn example(_: &str) -> Self {
        Self(true)
    }
}

/// What happened, by the half of the hour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = LOG, pk = "HALF#{at:as Half}", sk = "{at}")]
struct Chime {
    at: UtcTime,
}

#[tokio::test]
async fn range_stays_in_the_partition_of_the_argument() {
    let (db, _) = log().await;
    let times = ["2025-08-18T10:00:00Z", "2025-08-18T10:40:00Z", "2025-08-18T11:00:00Z"].map(time);
    for at in times {
        db.create(Chime { at }).await.unwrap().done().unwrap();
    }
    let [first, second, third] = times;
    let found = async |query: ChimeOf| {
        let chimes = db.all(query.at(first..=third)).await.unwrap();
        chimes.iter().map(|chime| chime.at).collect::<Vec<_>>()
    };
    // The halves of the hours alternate.
    assert_eq!(found(Chime::of(first)).await, [first, third]);
    assert_eq!(found(Chime::of(Half(false))).await, [second]);
}

#[tokio::test]
async fn range_of_an_unordered_field_is_refused() {
    let (db, _) = log().await;
    let query = of_shop().at(time("2025-08-18T12:00:00Z")).number(9..);
    assert_eq!(
        db.page(query).await.unwrap_err().message(),
        "Line: `number` does not sort in its key as its values do, so no range of values is a \
         range of keys: use filter"
    );
}

#[tokio::test]
async fn range_of_texts_cannot_end_with_a_character_below_the_separator() {
    let (db, lines) = log().await;
    let marks = || {
        let Line { app, at, number, .. } = lines[0].clone();
        Mark::of(app).at(at).number(number)
    };
    db.create(mark(&lines[0], "a")).await.unwrap().done().unwrap();
    let found = db.all(marks().name("a"..="b")).await.unwrap();
    assert_eq!(found, [mark(&lines[0], "a")]);
    let error = db.page(marks().name(..="x y")).await.unwrap_err();
    assert!(error.message().contains("' ' sorts before the separator"), "{error}");
}

#[tokio::test]
async fn parts_of_one_width_need_nothing_between_them() {
    let (_, lines) = log().await;
    let item = lines[0].to_item().unwrap();
    assert_eq!(item.get("GSI1SK").unwrap().as_str(), Some("2025-08-18T10:00:00Z0009"));
    let sort = Line::design().index("GSI1").unwrap().sort.unwrap().template().unwrap();
    assert_eq!(sort.read("2025-08-18T10:00:00Z0009").unwrap().len(), 2);
    assert!(sort.read("2025-08-18T10:00:00Z009").is_err());
}
