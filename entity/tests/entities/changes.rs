//! The keys of indexes stay true, whatever a change does.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use tabla_core::{MemoryStore, StoreExt, Value};
use tabla_entity::{Change, Db, Entity, EntityKey, Id, Outcome, TableDesign, UtcMillis, UtcTime};

use crate::design::{id, time};

/// GSI2 begins with the attribute that GSI1 begins with; GSI3 ends with the key of the table.
static DESK: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("desk")
        .key("PK", "SK")
        .index("GSI1", "GSI1PK", "GSI1SK")
        .index("GSI2", "GSI1PK", "GSI2SK")
        .index("GSI3", "GSI3PK", "PK")
});

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = DESK,
    pk = "TICKET#{number:06}",
    sk = "TICKET",
    index(GSI1, query = by_due, pk = "QUEUE#{queue}", sk = "{due}"),
    index(GSI2, query = flagged, pk = "QUEUE#{queue}", sk = "AGENT#{agent}", when = flag),
    index(GSI3, query = by_agent, pk = "AGENT#{agent}", sk = "{@pk}"),
    updated_at = seen
)]
struct Ticket {
    #[entity(key_only)]
    number: u32,
    queue: Id,
    #[entity(null)]
    due: Option<UtcTime>,
    #[entity(null)]
    agent: Option<Id>,
    #[entity(null)]
    flag: Option<bool>,
    r#type: String,
    seen: Option<UtcMillis>,
}

fn ticket() -> Ticket {
    Ticket {
        number: 1,
        queue: id("sales"),
        due: None,
        agent: None,
        flag: None,
        r#type: "call".to_owned(),
        seen: None,
    }
}

async fn desk() -> Db {
    let db = Db::new(Arc::new(MemoryStore::new()));
    db.create_table(&DESK).await.unwrap();
    db
}

/// Makes the change, and sees to it that the item is as if the entity had been written whole.
async fn changed(db: &Db, change: Change<Ticket>) -> Ticket {
    let after = match db.update(change).await.unwrap() {
        Outcome::Done(after) => after,
        other => panic!("{other:?}"),
    };
    let item =
        db.store().get_item("desk", after.to_key().to_item().unwrap()).await.unwrap().unwrap();
    assert_eq!(item, after.to_item().unwrap());
    after
}

#[tokio::test]
async fn null_is_no_value_in_a_key() {
    let db = desk().await;
    let ticket = db.create(ticket()).await.unwrap().done().unwrap();
    let item = ticket.to_item().unwrap();
    assert_eq!(item.get("flag").unwrap().to_value(), Value::Null);
    assert!(!item.contains("GSI1PK") && !item.contains("GSI2SK") && !item.contains("GSI3PK"));
    // Fields that are NULL are what they were when they were read.
    let ticket = changed(&db, ticket.change().set(Ticket::QUEUE, id("help"))).await;
    let due = time("2025-08-18T10:30:00Z");
    let ticket = changed(&db, ticket.change().set(Ticket::DUE, due)).await;
    let ticket = changed(&db, ticket.change().set(Ticket::AGENT, id("zoe"))).await;
    let ticket = changed(&db, ticket.change().set(Ticket::FLAG, true)).await;
    assert!(ticket.to_item().unwrap().contains("GSI2SK"));
    let ticket = changed(&db, ticket.change().clear(Ticket::FLAG)).await;
    assert_eq!(ticket.flag, None);
    assert!(!ticket.to_item().unwrap().contains("GSI2SK"));
    assert!(ticket.to_item().unwrap().contains("GSI1PK"));
}

#[tokio::test]
async fn null_is_no_value_in_a_condition() {
    let db = desk().await;
    let ticket = db.create(ticket()).await.unwrap().done().unwrap();
    let claim =
        |by: &str| ticket.change().set(Ticket::AGENT, id(by)).when(Ticket::AGENT.not_exists());
    let of_nobody = ticket.change().set(Ticket::TYPE, "mail").when(Ticket::AGENT.exists());
    assert!(!db.update(of_nobody).await.unwrap().is_done());
    assert!(db.update(claim("zoe")).await.unwrap().is_done());
    assert!(!db.update(claim("eva")).await.unwrap().is_done());
    let change = ticket.to_key().change().set(Ticket::TYPE, "mail").when(Ticket::AGENT.exists());
    assert!(db.update(change).await.unwrap().is_done());
}

#[tokio::test]
async fn indexes_may_share_an_attribute_and_end_with_the_tables_key() {
    let db = desk().await;
    let full = Ticket {
        due: Some(time("2025-08-18T10:30:00Z")),
        agent: Some(id("zoe")),
        flag: Some(true),
        ..ticket()
    };
    let ticket = db.create(full).await.unwrap().done().unwrap();
    let ticket = changed(&db, ticket.change().set(Ticket::QUEUE, id("help"))).await;
    let ticket = changed(&db, ticket.change().set(Ticket::AGENT, id("eva"))).await;
    // It leaves one index, and the attribute is still needed for the other.
    let ticket = changed(&db, ticket.change().clear(Ticket::DUE)).await;
    let found = db.all(Ticket::flagged(id("help"))).await.unwrap();
    assert_eq!(found, std::slice::from_ref(&ticket));
    let ticket = changed(&db, ticket.change().clear(Ticket::AGENT)).await;
    assert!(!ticket.to_item().unwrap().contains("GSI1PK"));
    // The other index is looked at only where something is taken away.
    let (queue, due) = (id("help"), time("2025-08-19T00:00:00Z"));
    let blind = ticket.to_key().change().set(Ticket::QUEUE, queue.clone()).set(Ticket::DUE, due);
    assert!(db.update(blind).await.unwrap_err().message().contains("index GSI2"));
    let ticket = changed(&db, ticket.change().set(Ticket::DUE, due)).await;
    assert_eq!(db.all(Ticket::by_due(queue)).await.unwrap(), [ticket]);
}

/// Every change of what was read, after every other change of it, from every state: whoever loses,
/// the item is as if the entity had been written whole.
#[tokio::test]
async fn whoever_is_late_the_keys_are_true() {
    type Changed = fn(Change<Ticket>) -> Change<Ticket>;
    let changes: [Changed; 9] = [
        |change| change.set(Ticket::QUEUE, id("help")),
        |change| change.set(Ticket::DUE, time("2025-08-19T00:00:00Z")),
        |change| change.clear(Ticket::DUE),
        |change| change.set(Ticket::AGENT, id("eva")),
        |change| change.clear(Ticket::AGENT),
        |change| change.set(Ticket::FLAG, false),
        |change| change.clear(Ticket::FLAG),
        |change| change.set(Ticket::QUEUE, id("help")).clear(Ticket::DUE),
        |change| change.set(Ticket::AGENT, id("eva")).set(Ticket::FLAG, false),
    ];
    let (mut done, mut lost) = (0, 0);
    for state in 0..8 {
        let has = |bit: u32| state & bit != 0;
        let start = Ticket {
            due: has(1).then(|| time("2025-08-18T10:30:00Z")),
            agent: has(2).then(|| id("zoe")),
            flag: has(4).then_some(true),
            ..ticket()
        };
        for (first, second) in changes.iter().flat_map(|one| changes.map(|other| (one, other))) {
            let db = desk().await;
            let read = db.create(start.clone()).await.unwrap().done().unwrap();
            changed(&db, first(read.change())).await;
            match db.update(second(read.change())).await.unwrap() {
                Outcome::Done(_) => done += 1,
                Outcome::Lost(_) => lost += 1,
                other => panic!("{other:?}"),
            }
            let key = read.to_key();
            let item = db.store().get_item("desk", key.to_item().unwrap()).await.unwrap().unwrap();
            assert_eq!(item, Ticket::from_item(&item).unwrap().to_item().unwrap());
        }
    }
    assert!(done > lost && lost > 0, "{done} {lost}");
}

#[tokio::test]
async fn the_last_word_on_a_field_counts() {
    let db = desk().await;
    let ticket = db.create(ticket()).await.unwrap().done().unwrap();
    let change = ticket.change().set(Ticket::AGENT, id("zoe")).clear(Ticket::AGENT);
    assert_eq!(changed(&db, change).await.agent, None);
    let change = ticket.change().clear(Ticket::AGENT).set(Ticket::AGENT, id("zoe"));
    assert_eq!(changed(&db, change).await.agent, Some(id("zoe")));
}

#[tokio::test]
async fn a_field_that_always_has_a_value_is_not_cleared() {
    let db = desk().await;
    let ticket = db.create(ticket()).await.unwrap().done().unwrap();
    let error = db.update(ticket.change().clear(Ticket::TYPE)).await.unwrap_err();
    assert_eq!(
        error.message(),
        "Ticket: `type` is no Option, and always has a value: set it to one"
    );
    assert_eq!(db.get(&ticket.to_key()).await.unwrap(), Some(ticket));
}

static BOOKS: LazyLock<TableDesign> =
    LazyLock::new(|| TableDesign::new("books").key("PK", "SK").index("GSI1", "author", "title"));

/// The index has a sort key, and this has none for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = BOOKS, pk = "BOOK#{id}", sk = "BOOK", index(GSI1, pk = author))]
struct Untitled {
    #[entity(key_only)]
    id: Id,
    author: Id,
}

/// The index has the attribute `author`, and this writes `writer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = BOOKS, pk = "BOOK#{id}", sk = "BOOK", index(GSI1, pk = writer, sk = title))]
struct Misspelt {
    #[entity(key_only)]
    id: Id,
    writer: Id,
    title: Id,
}

#[test]
fn keys_that_an_index_does_not_have_are_refused() {
    let untitled = Untitled { id: id("1"), author: id("ana") };
    let misspelt = Misspelt { id: id("1"), writer: id("ana"), title: id("x") };
    let errors = [untitled.to_item().unwrap_err(), misspelt.to_item().unwrap_err()];
    for (error, name) in errors.iter().zip(["Untitled", "Misspelt"]) {
        assert_eq!(
            error.message(),
            format!(
                "{name} has other keys for the index GSI1 than table books has: nothing would be \
                 found there"
            )
        );
    }
}

#[tokio::test]
async fn no_condition_is_on_what_only_the_key_has() {
    let db = desk().await;
    let ticket = db.create(ticket()).await.unwrap().done().unwrap();
    let text = "Ticket: `number` is in the key alone, and no condition can be on it: give it with \
                the key";
    let check = || Ticket::TYPE.eq("call").and(Ticket::NUMBER.eq(1_u32));
    let change = ticket.change().set(Ticket::TYPE, "mail").when(check());
    assert_eq!(db.update(change).await.unwrap_err().message(), text);
    assert_eq!(db.delete_if(&ticket.to_key(), check()).await.unwrap_err().message(), text);
    let find = Ticket::of(1).filter(check());
    assert_eq!(db.page(find).await.unwrap_err().message(), text);
}
