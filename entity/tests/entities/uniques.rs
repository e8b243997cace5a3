//! A unique value is one entity's, in every order of writes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tabla_core::MemoryStore;
use tabla_core::env::{Clock, Env, Monotonic, Sleep, SystemClock, Timestamp};
use tabla_core::ops::DescribeTable;
use tabla_entity::Commit::Canceled;
use tabla_entity::{Db, Entity, Id, Outcome, TableDesign, UtcMillis};

use crate::design::id;

static TEAM: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("team").key("PK", "SK"));

/// A member, whose name and number are theirs alone in their team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = TEAM,
    pk = "MEMBER#{id}",
    sk = "MEMBER",
    created_at = joined,
    unique(name, pk = "NAME#{name:escaped}", sk = "TEAM#{team}"),
    unique(number, pk = "NUMBER#{number}", sk = "NUMBER")
)]
struct Member {
    #[entity(key_only)]
    id: Id,
    team: Option<Id>,
    name: String,
    number: u32,
    joined: UtcMillis,
}

fn member(name: &str, number: u32) -> Member {
    Member {
        id: id(name),
        team: Some(id("red")),
        name: name.to_owned(),
        number,
        joined: UtcMillis::default(),
    }
}

/// A clock that is never asked twice at the same moment.
#[derive(Debug, Default)]
struct Restless(AtomicU64);

impl Clock for Restless {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn monotonic(&self) -> Monotonic {
        SystemClock.monotonic()
    }

    fn sleep(&self, _: Duration) -> Sleep<'_> {
        Box::pin(async {})
    }
}

async fn team() -> Db {
    let env = Env::system().with_clock(Arc::new(Restless::default()));
    let db = Db::with_env(Arc::new(MemoryStore::new()), env);
    db.create_table(&TEAM).await.unwrap();
    db
}

async fn created(db: &Db, member: Member) -> Member {
    db.create(member).await.unwrap().done().unwrap()
}

async fn items(db: &Db) -> u64 {
    db.store().describe_table(DescribeTable::new("team")).await.unwrap().item_count
}

#[tokio::test]
async fn what_is_created_is_what_is_stored() {
    let db = team().await;
    let ana = created(&db, member("ana", 1)).await;
    assert_eq!(db.get(&ana.to_key()).await.unwrap(), Some(ana));
}

#[tokio::test]
async fn every_field_of_the_key_for_a_value_moves_it() {
    let db = team().await;
    let ana = created(&db, member("ana", 1)).await;
    let change = ana.change().set(Member::TEAM, id("blue"));
    let moved = db.update(change).await.unwrap().done().unwrap();
    let other = Member { id: id("other"), ..member("ana", 2) };
    let other = created(&db, other).await;
    let change = other.change().set(Member::TEAM, id("blue"));
    assert_eq!(db.update(change).await.unwrap(), Outcome::Taken { field: "name" });
    // Without a team, a name is not held.
    let left = db.update(moved.change().clear(Member::TEAM)).await.unwrap().done().unwrap();
    assert_eq!(items(&db).await, 5);
    assert_eq!(db.delete(&left.to_key()).await.unwrap(), Outcome::Done(left));
    assert_eq!(items(&db).await, 3);
}

#[tokio::test]
async fn a_stale_read_does_not_leave_a_value_unguarded() {
    let db = team().await;
    let read = created(&db, member("ana", 1)).await;
    let change = read.change().set(Member::NAME, "eva");
    let renamed = db.update(change).await.unwrap().done().unwrap();
    // By what was read nothing changes, and by what is there the name would be nobody's.
    let back = db.update(read.change().set(Member::NAME, "ana")).await.unwrap();
    assert_eq!(back, Outcome::Lost(Some(renamed.clone())));
    let moved = db.update(read.change().set(Member::TEAM, id("blue"))).await.unwrap();
    assert_eq!(moved, Outcome::Lost(Some(renamed)));
}

#[tokio::test]
async fn a_unique_value_is_set_and_not_computed() {
    let db = team().await;
    let ana = created(&db, member("ana", 1)).await;
    let error = db.update(ana.change().increment(Member::NUMBER, 1)).await.unwrap_err();
    assert_eq!(
        error.message(),
        "Member: `number` stands in the key for a unique `number`: set it to a value, so that the \
         key can be written with it"
    );
    let mut tx = db.transaction();
    tx.put(ana);
    let put = tx.commit().await.unwrap_err();
    assert!(put.message().contains("has unique fields"), "{put}");
}

#[tokio::test]
async fn one_transaction_gives_a_value_from_one_to_another() {
    let db = team().await;
    let (ana, eva) = (created(&db, member("ana", 1)).await, created(&db, member("eva", 2)).await);
    let swap = async || {
        let mut tx = db.transaction();
        let to_two = tx.update(ana.change().set(Member::NUMBER, 2_u32));
        let to_one = tx.update(eva.change().set(Member::NUMBER, 1_u32));
        (tx.commit().await.unwrap(), to_two, to_one)
    };
    assert!(swap().await.0.is_committed());
    let (Canceled(c), to_two, to_one) = swap().await else { panic!("the values are swapped") };
    assert!(c.failed(&to_two) && c.failed(&to_one));
    let ana = db.get(&ana.to_key()).await.unwrap().unwrap();
    assert_eq!(ana.number, 2);
    // One leaves, and another comes with the number.
    let mut tx = db.transaction();
    tx.create(member("zoe", 2));
    tx.delete_read(&ana);
    assert!(tx.commit().await.unwrap().is_committed());
    let taken = db.create(member("ute", 2)).await.unwrap();
    assert_eq!(taken, Outcome::Taken { field: "number" });
    let zoe = db.get(&Member::key(id("zoe"))).await.unwrap().unwrap();
    assert_eq!(db.delete(&zoe.to_key()).await.unwrap(), Outcome::Done(zoe), "it is hers");
    assert_eq!(items(&db).await, 3);
}

#[tokio::test]
async fn two_operations_cannot_take_one_value() {
    let db = team().await;
    let mut tx = db.transaction();
    tx.create(member("ana", 1));
    tx.create(member("eva", 1));
    assert_eq!(
        tx.commit().await.unwrap_err().message(),
        "two steps of a transaction give Member the same `number`, which is unique"
    );
}

#[tokio::test]
async fn values_count_among_the_operations_of_a_transaction() {
    let db = team().await;
    let mut tx = db.transaction();
    for number in 0..34 {
        tx.create(member(&format!("m{number}"), number));
    }
    let error = tx.commit().await.unwrap_err();
    assert_eq!(
        error.message(),
        "a transaction has at most 100 operations, and this one 102, of which 68 are for unique \
         values"
    );
}
