//! What is found is what was asked for: nothing is left out, and nothing else is met.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use tabla_core::ops::{IndexProjection, PutItem};
use tabla_core::{MemoryStore, Result};
use tabla_entity::{Db, Entity, Find, Id, KeyPart, TableDesign, UtcTime};

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
    index(GSI1, pk = "DAY#{at:as tabla_entity::Day}", sk = "{at}{number:04}"),
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

fn of_shop() -> Find<Line> {
    Line::find().with(Line::APP, id("shop"))
}

async fn numbers(db: &Db, find: Find<Line>) -> Vec<u32> {
    db.all(find).await.unwrap().iter().map(|line| line.number).collect()
}

#[tokio::test]
async fn other_entities_whose_keys_begin_the_same_are_not_met() {
    let (db, lines) = log().await;
    assert_eq!(numbers(&db, of_shop()).await, [12, 11, 10, 9]);
    assert_eq!(numbers(&db, of_shop().limit(1)).await, [12, 11, 10, 9]);
    let marks = Mark::find().with(Mark::APP, id("shop"));
    assert_eq!(db.all(marks).await.unwrap().len(), 4);
    assert!(!Mark::design().recognises(&lines[0].to_item().unwrap()));
    // An item of a line's key without its tag is not passed over.
    let mut stray = lines[0].to_item().unwrap();
    stray.remove("type");
    db.store().put(PutItem::new("log", stray)).await.unwrap();
    assert!(db.all(of_shop()).await.is_err());
}

#[tokio::test]
async fn a_range_of_a_descending_field_has_its_values() {
    let (db, _) = log().await;
    let at = |text| time(text);
    let between =
        of_shop().between(Line::AT, at("2025-08-18T11:00:00Z"), at("2025-08-18T12:00:00Z"));
    assert_eq!(numbers(&db, between).await, [11, 10]);
    assert_eq!(numbers(&db, of_shop().from(Line::AT, at("2025-08-18T12:00:00Z"))).await, [12, 11]);
    assert_eq!(numbers(&db, of_shop().to(Line::AT, at("2025-08-18T11:00:00Z"))).await, [10, 9]);
}

#[tokio::test]
async fn the_ends_of_a_range_may_be_said_one_after_the_other() {
    let (db, _) = log().await;
    let (from, to) = (time("2025-08-18T11:00:00Z"), time("2025-08-18T11:30:00Z"));
    assert_eq!(numbers(&db, of_shop().from(Line::AT, from).to(Line::AT, to)).await, [10]);
    let error = db.page(of_shop().from(Line::AT, from).to(Line::NUMBER, 3_u32)).await.unwrap_err();
    assert_eq!(
        error.message(),
        "Line: one field has a range, not both `at` and `number`: use filter for the other"
    );
}

#[tokio::test]
async fn a_field_of_the_partition_may_have_a_range_in_the_sort_key() {
    let (db, _) = log().await;
    let noon = time("2025-08-18T12:00:00Z");
    let of_day = || Line::find_by("GSI1").with(Line::AT, noon);
    assert_eq!(numbers(&db, of_day().from(Line::AT, time("2025-08-18T11:00:00Z"))).await, [10, 11]);
    assert_eq!(numbers(&db, of_day().to(Line::AT, time("2025-08-18T11:00:00Z"))).await, [9, 10]);
    assert_eq!(numbers(&db, of_day()).await, [11]);
}

#[tokio::test]
async fn a_range_within_a_partition_says_which_it_is() {
    let (db, _) = log().await;
    let between =
        |from: &str, to: &str| Line::find_by("GSI1").between(Line::AT, time(from), time(to));
    let found = numbers(&db, between("2025-08-18T10:30:00Z", "2025-08-18T23:59:59Z")).await;
    assert_eq!(found, [10, 11]);
    let found = numbers(&db, between("2025-08-19T00:00:00Z", "2025-08-19T00:00:00Z")).await;
    assert_eq!(found, [12]);
    // Of two days, one would be left out.
    let error = db.page(between("2025-08-18T12:00:00Z", "2025-08-19T00:00:00Z")).await;
    assert_eq!(
        error.unwrap_err().message(),
        "Line: a range of `at` from DAY#2025-08-18 to DAY#2025-08-19 is in several partitions: \
         look into each, with a value of `at` that is in it"
    );
    let both = |day: &str| {
        between("2025-08-18T12:00:00Z", "2025-08-19T00:00:00Z").with(Line::AT, time(day))
    };
    assert_eq!(numbers(&db, both("2025-08-18T00:00:00Z")).await, [11]);
    assert_eq!(numbers(&db, both("2025-08-19T23:00:00Z")).await, [12]);
    // With one end it goes on for ever.
    let noon = time("2025-08-18T12:00:00Z");
    for find in
        [Line::find_by("GSI1").from(Line::AT, noon), Line::find_by("GSI1").to(Line::AT, noon)]
    {
        assert_eq!(
            db.page(find).await.unwrap_err().message(),
            "Line: to find by DAY#{at:as tabla_entity::Day}, `at` has to be given"
        );
    }
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
async fn ends_of_a_range_say_its_partition_only_where_order_is_kept() {
    let (db, _) = log().await;
    // Both ends are in one partition, and what is between them is not.
    let (from, to) = (time("2025-08-18T10:00:00Z"), time("2025-08-18T11:00:00Z"));
    let error = db.page(Chime::find().between(Chime::AT, from, to)).await.unwrap_err();
    assert_eq!(error.message(), "Chime: to find by HALF#{at:as Half}, `at` has to be given");
}

#[tokio::test]
async fn what_would_not_be_looked_at_is_refused() {
    let (db, _) = log().await;
    let noon = time("2025-08-18T12:00:00Z");
    for (find, text) in [
        (
            of_shop().with(Line::TEXT, id("x")),
            "Line: `text` is not in the key that is looked for: use filter",
        ),
        (
            of_shop().with(Line::NUMBER, 9_u32),
            "Line: `number` narrows LINE#{at:desc10}#{number:unordered} down only if the fields \
             before it are given, too: give them, or use filter",
        ),
        (
            of_shop().with(Line::AT, noon).from(Line::NUMBER, 9_u32),
            "Line: `number` does not sort in LINE#{at:desc10}#{number:unordered} as its values do, \
             so that no range of it is one of keys: use filter",
        ),
        (
            Line::find_by("BY-TEXT").with(Line::TEXT, id("hello")).from(Line::AT, noon),
            "Line: there is no sort key that `at` could have a range in",
        ),
    ] {
        assert_eq!(db.page(find).await.unwrap_err().message(), text);
    }
}

#[tokio::test]
async fn a_range_of_texts_ends_where_keys_can_tell() {
    let (db, lines) = log().await;
    let marks = || {
        let Line { app, at, number, .. } = lines[0].clone();
        Mark::find().with(Mark::APP, app).with(Mark::AT, at).with(Mark::NUMBER, number)
    };
    db.create(mark(&lines[0], "a")).await.unwrap().done().unwrap();
    let found = db.all(marks().between(Mark::NAME, "a", "b")).await.unwrap();
    assert_eq!(found, [mark(&lines[0], "a")]);
    let error = db.page(marks().to(Mark::NAME, "x y")).await.unwrap_err();
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
