//! Items from elsewhere: attributes that they lack have defaults, and attributes that the entity does
//! not know survive.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use tabla_core::ops::PutItem;
use tabla_core::{Item, MemoryStore, StoreExt, item, list};
use tabla_entity::{Check, Db, Entity, Id, Outcome, TableDesign};

use crate::design::id;

static NOTES: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("notes").key("PK", "SK").index("by-rank", "rankPK", "rankSK")
});

/// A note; the other program that writes notes knows `text` alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = NOTES,
    pk = "NOTE#{note}",
    sk = "NOTE",
    index("by-rank", pk = "RANK", sk = "{rank:04}"),
    revision = revision
)]
struct Note {
    #[entity(key_only)]
    note: Id,
    text: String,
    #[serde(default)]
    likes: u32,
    #[serde(default = "three")]
    stars: u32,
    #[serde(default)]
    rank: u32,
    #[serde(default = "first_tag")]
    tags: Vec<String>,
    #[serde(default)]
    revision: u32,
}

fn three() -> u32 {
    3
}

fn first_tag() -> Vec<String> {
    vec!["new".to_owned()]
}

fn foreign() -> Item {
    item! {
        "PK" => "NOTE#1", "SK" => "NOTE", "text" => "hello", "colour" => "red",
        "history" => list![1, "two", true],
    }
}

async fn notes(item: Item) -> (Db, Note) {
    let db = Db::new(Arc::new(MemoryStore::new()));
    db.create_table(&NOTES).await.unwrap();
    db.store().put(PutItem::new("notes", item)).await.unwrap();
    let note = db.get(&Note::key(id("1"))).await.unwrap().unwrap();
    (db, note)
}

async fn stored(db: &Db) -> Item {
    let key = item! { "PK" => "NOTE#1", "SK" => "NOTE" };
    db.store().get_item("notes", key).await.unwrap().unwrap()
}

#[tokio::test]
async fn missing_attributes_are_read_as_their_defaults() {
    let (_, note) = notes(foreign()).await;
    assert_eq!((note.likes, note.stars, note.rank, note.revision), (0, 3, 0, 0));
    assert_eq!(note.tags, ["new"]);
}

/// A condition gives the same result for an item without the attribute and for one with the default.
#[tokio::test]
async fn conditions_take_missing_attributes_for_their_defaults() {
    let checks: [fn() -> Check<Note>; 17] = [
        || Note::LIKES.eq(0_u32),
        || Note::LIKES.eq(1_u32),
        || Note::LIKES.ne(0_u32),
        || Note::LIKES.ne(1_u32),
        || Note::LIKES.lt(1_u32),
        || Note::LIKES.ge(1_u32),
        || Note::STARS.gt(2_u32),
        || Note::STARS.le(2_u32),
        || Note::STARS.is_in([1_u32, 3]),
        || Note::STARS.is_in([1_u32, 2]),
        || Note::STARS.exists(),
        || Note::STARS.not_exists(),
        || Note::TAGS.contains("new"),
        || Note::TAGS.contains("old"),
        || !Note::LIKES.eq(0_u32),
        || Note::LIKES.eq(0_u32).and(Note::STARS.eq(3_u32)),
        || Note::LIKES.eq(1_u32).or(Note::STARS.ne(4_u32)),
    ];
    let with_defaults = foreign()
        .with("likes", 0)
        .with("stars", 3)
        .with("rank", 0)
        .with("tags", list!["new"])
        .with("revision", 0);
    for (at, check) in checks.iter().enumerate() {
        let mut outcomes = Vec::new();
        for item in [foreign(), with_defaults.clone()] {
            let (db, note) = notes(item).await;
            let change = note.to_key().change().set(Note::TEXT, "changed").when(check());
            outcomes.push(db.update(change).await.unwrap().is_done());
        }
        assert_eq!(outcomes[0], outcomes[1], "check {at}");
    }
}

#[tokio::test]
async fn change_of_a_foreign_item_keeps_every_other_attribute() {
    let (db, note) = notes(foreign()).await;
    let changed = db.update(note.change().set(Note::TEXT, "changed")).await.unwrap();
    assert_eq!(
        changed.done().unwrap(),
        Note { text: "changed".into(), revision: 1, ..note.clone() }
    );
    assert_eq!(stored(&db).await, foreign().with("text", "changed").with("revision", 1));
    // The revision counts from there on: the first reader is behind now.
    let behind = db.update(note.change().set(Note::TEXT, "behind")).await.unwrap();
    assert!(matches!(behind, Outcome::Lost(Some(_))), "{behind:?}");
}

#[tokio::test]
async fn increments_start_at_the_default() {
    let (db, note) = notes(foreign()).await;
    let more = note.change().increment(Note::LIKES, 2).increment(Note::STARS, 1);
    let note = db.update(more.increment(Note::RANK, 7)).await.unwrap().done().unwrap();
    assert_eq!((note.likes, note.stars, note.rank), (2, 4, 7));
    assert_eq!(stored(&db).await.get("rankSK").unwrap().as_str(), Some("0007"));
    // Without what was read, only a default of zero can be added to.
    let blind = note.to_key().change().increment(Note::LIKES, 1);
    assert_eq!(db.update(blind).await.unwrap().done().unwrap().likes, 3);
    let blind = note.to_key().change().increment(Note::STARS, 1);
    assert_eq!(
        db.update(blind).await.unwrap_err().message(),
        "Note: `stars` has a default other than zero: read the entity and use its change(), so that \
         the sum can be written, or set `stars` to a value"
    );
}

#[tokio::test]
async fn append_starts_at_the_default() {
    let (db, note) = notes(foreign()).await;
    let more = note.to_key().change().append(Note::TAGS, ["hot"]);
    assert_eq!(db.update(more).await.unwrap().done().unwrap().tags, ["new", "hot"]);
}
