//! Races of callers on their own threads.

use std::collections::HashMap;
use std::sync::{Arc, Barrier, LazyLock, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use tabla::entity::Db;
use tabla::env::{Clock, Env, ManualClock, Monotonic, Sleep, Timestamp};
use tabla_conformance::fault::{Failure, Failures, FaultStore, Operation, When};
use tabla_esencia_fest::*;
use tokio::runtime::Runtime;

use crate::{email, id, opened, post, room};

async fn counted(fest: &EsenciaFest, post: &tabla::entity::Id) -> Post {
    let thread = fest.get_post_thread(post).await.unwrap();
    let Thread { post, comments, likes, unknown, unreadable } = thread;
    let post = post.unwrap();
    assert!(unknown.is_empty() && unreadable.is_empty());
    assert_eq!(post.likes as usize, likes.len());
    let active = comments.iter().filter(|comment| comment.status == Status::Active).count();
    assert_eq!(post.comments_count as usize, active);
    post
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn counts_are_exact_under_concurrent_writers() {
    let (fest, db, _) = opened().await;
    let p1 = post(&fest, "p1").await.post_id;
    let tasks: Vec<_> = (0..60)
        .map(|number| {
            let (fest, p1) = (fest.clone(), p1.clone());
            tokio::spawn(async move {
                let user = email(&format!("u{}", number % 20));
                let comment = fest.create_comment(&p1, &user, "Sí").await.unwrap();
                let Commented::Done(comment) = comment else { panic!("{comment:?}") };
                if number % 3 == 0 {
                    let (comment, admin) = (comment.comment_id, id(&format!("a{number}")));
                    let banned = Status::Banned;
                    fest.update_comment_status(&p1, &comment, banned, "x", &admin).await.unwrap();
                }
                fest.like_post(&p1, &user).await.unwrap()
            })
        })
        .collect();
    let mut likes = 0;
    for task in tasks {
        match task.await.unwrap() {
            Liked::Done(_) => likes += 1,
            Liked::Already => {}
            other => panic!("{other:?}"),
        }
    }
    let read = counted(&fest, &p1).await;
    assert_eq!((likes, read.likes, read.comments_count), (20, 20, 40));
    let item = crate::stored(&db, "POST#p1", "POST#p1").await;
    assert_eq!(item, tabla::entity::Entity::to_item(&read).unwrap(), "keys follow their fields");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn post_is_banned_once_under_concurrent_likes() {
    let (fest, db, _) = opened().await;
    let p1 = post(&fest, "p1").await.post_id;
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let (fest, p1) = (fest.clone(), p1.clone());
            tokio::spawn(async move {
                let liked = fest.like_post(&p1, &email(&format!("u{number}"))).await.unwrap();
                assert!(matches!(liked, Liked::Done(_) | Liked::NotActive(_)), "{liked:?}");
                if number % 2 == 0 {
                    return false;
                }
                let admin = id(&format!("a{number}"));
                let banned = fest.update_post_status(&p1, Status::Banned, "x", &admin).await;
                matches!(banned.unwrap(), Moderated::Done(..))
            })
        })
        .collect();
    let mut bans = 0;
    for task in tasks {
        bans += u32::from(task.await.unwrap());
    }
    assert_eq!(bans, 1);
    let read = counted(&fest, &p1).await;
    assert_eq!(read.status, Status::Banned);
    let item = crate::stored(&db, "POST#p1", "POST#p1").await;
    assert_eq!(item, tabla::entity::Entity::to_item(&read).unwrap(), "keys follow their fields");
    let logs = crate::main_table(&db).await;
    let logs = logs.iter().filter(|item| crate::text(item, "PK").starts_with("MODLOG"));
    assert_eq!(logs.count(), 1, "the loser writes no log");
}

/// Clock at which two threads wait for each other when each asks for the time for the `at`th time:
/// between a read and the write that depends on it.
#[derive(Debug)]
struct Meeting {
    at: u32,
    asked: Mutex<HashMap<ThreadId, u32>>,
    both: Barrier,
    clock: ManualClock,
}

impl Clock for Meeting {
    fn now(&self) -> Timestamp {
        let is_here = {
            let mut asked = self.asked.lock().unwrap();
            let asked = asked.entry(thread::current().id()).or_default();
            *asked += 1;
            *asked == self.at
        };
        if is_here {
            self.both.wait();
        }
        self.clock.now()
    }

    fn monotonic(&self) -> Monotonic {
        self.clock.monotonic()
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        self.clock.sleep(duration)
    }
}

/// Results of two callers who have both read before either writes.
fn meet<T: Send>(db: &Db, at: u32, call: impl Fn(EsenciaFest, u64) -> T + Sync) -> [T; 2] {
    let clock = Arc::new(Meeting {
        at,
        asked: Mutex::default(),
        both: Barrier::new(2),
        clock: ManualClock::new(Timestamp::from_secs(1_755_513_000)),
    });
    thread::scope(|scope| {
        let callers = [0, 1].map(|number| {
            let env = Env::system().with_clock(clock.clone());
            let db = Db::with_env(db.shared_store(), env);
            let call = &call;
            scope.spawn(move || call(EsenciaFest::new(db), number))
        });
        callers.map(|caller| caller.join().unwrap())
    })
}

/// Runs a future on one runtime for all threads: a connection to a server ends with its runtime.
fn now<T>(future: impl Future<Output = tabla::Result<T>>) -> T {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
    RUNTIME.block_on(future).unwrap()
}

#[test]
fn both_of_two_writers_after_one_read_are_counted() {
    let (db, p1) = now(async {
        let (fest, db, _) = opened().await;
        Ok((db, post(&fest, "p1").await.post_id))
    });
    let liked =
        meet(&db, 1, |fest, number| now(fest.like_post(&p1, &email(&format!("u{number}")))));
    assert!(liked.contains(&Liked::Done(1)) && liked.contains(&Liked::Done(2)), "{liked:?}");
    let commented = meet(&db, 2, |fest, number| {
        let comment = id(&format!("c{number}"));
        now(fest.create_comment_as(comment, &p1, &email("eva"), "Sí"))
    });
    assert!(commented.iter().all(|commented| matches!(commented, Commented::Done(_))));
    let read = now(async { Ok(counted(&EsenciaFest::new(db.clone()), &p1).await) });
    assert_eq!((read.likes, read.comments_count), (2, 2));
}

#[test]
fn second_concurrent_like_of_user_is_not_counted() {
    let (db, p1) = now(async {
        let (fest, db, _) = opened().await;
        Ok((db, post(&fest, "p1").await.post_id))
    });
    let liked = meet(&db, 1, |fest, _| now(fest.like_post(&p1, &email("eva"))));
    assert!(liked.contains(&Liked::Done(1)) && liked.contains(&Liked::Already), "{liked:?}");
    let read = now(async { Ok(counted(&EsenciaFest::new(db.clone()), &p1).await) });
    assert_eq!(read.likes, 1);
}

#[test]
fn one_of_two_concurrent_bans_is_applied() {
    let (db, p1) = now(async {
        let (fest, db, _) = opened().await;
        Ok((db, post(&fest, "p1").await.post_id))
    });
    let banned = meet(&db, 1, |fest, number| {
        let admin = id(&format!("a{number}"));
        now(fest.update_post_status(&p1, Status::Banned, "x", &admin))
    });
    let done: Vec<&Post> = banned
        .iter()
        .filter_map(|one| match one {
            Moderated::Done(post, _) => Some(&**post),
            Moderated::Refused(_) => None,
        })
        .collect();
    assert_eq!(done.len(), 1, "{banned:?}");
    let sees =
        |one: &Moderated<Post>| matches!(one, Moderated::Refused(Some(post)) if **post == *done[0]);
    assert!(banned.iter().any(sees), "the loser gets the post of the winner: {banned:?}");
    let logs = now(async { Ok(crate::main_table(&db).await) });
    let logs = logs.iter().filter(|item| crate::text(item, "PK").starts_with("MODLOG"));
    assert_eq!(logs.count(), 1);
}

#[tokio::test]
async fn lost_response_of_transaction_is_resolved() {
    let (fest, db, _) = opened().await;
    let (p1, c1, admin) = (post(&fest, "p1").await.post_id, id("c1"), id("admin1"));
    let opens = [(room("sala1"), fest.get_post(&p1).await.unwrap().unwrap().created_at)].into();
    fest.set_schedule(ConfigSchedule { sala_open_times: opens }).await.unwrap();
    let content = |title: &str| NewContent {
        kind: "video".into(),
        title: title.into(),
        vimeo_url: "https://vimeo.com/1".into(),
    };
    fest.update_room_content(&room("sala1"), None, content("a")).await.unwrap();
    // Each festival executes its first transaction without a response.
    let fest = || {
        let failures =
            Failures::new().on(Operation::TransactWrite, When::Call(1), Failure::ResponseLost);
        let store = FaultStore::new(db.shared_store()).failures(failures);
        EsenciaFest::new(db.on(Arc::new(store)))
    };
    assert_eq!(fest().like_post(&p1, &email("eva")).await.unwrap(), Liked::Done(1));
    let comment = fest().create_comment_as(c1.clone(), &p1, &email("eva"), "Sí").await.unwrap();
    let Commented::Done(comment) = comment else { panic!("{comment:?}") };
    let updated = fest().update_room_content(&room("sala1"), Some(1), content("b")).await.unwrap();
    assert!(matches!(updated, ContentUpdated::Done(content) if content.version == 2));
    let read = counted(&fest(), &p1).await;
    assert_eq!((read.likes, read.comments_count), (1, 1));
    assert_eq!(fest().get_comment(&p1, &c1).await.unwrap(), Some(comment));
    let banned = fest().update_comment_status(&p1, &c1, Status::Banned, "x", &admin).await.unwrap();
    assert!(matches!(banned, Moderated::Done(..)), "{banned:?}");
    assert_eq!(counted(&fest(), &p1).await.comments_count, 0);
    let banned = fest().update_post_status(&p1, Status::Banned, "x", &admin).await.unwrap();
    assert!(matches!(banned, Moderated::Done(..)), "{banned:?}");
    let items = crate::main_table(&db).await;
    let logs = items.iter().filter(|item| crate::text(item, "PK").starts_with("MODLOG"));
    assert_eq!(logs.count(), 2);
}
