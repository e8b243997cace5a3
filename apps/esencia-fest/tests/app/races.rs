//! Callers on threads of their own, so that they truly meet.

use std::collections::HashMap;
use std::sync::{Arc, Barrier, LazyLock, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use tabla::entity::Db;
use tabla::env::{Clock, Env, ManualClock, Monotonic, SeededRandom, Sleep, Timestamp};
use tabla_esencia_fest::*;
use tokio::runtime::Runtime;

use crate::{email, id, opened, post};

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
async fn counts_are_exact_whoever_comes_first() {
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
    assert_eq!(item, tabla::entity::Entity::to_item(&read).unwrap(), "every key is true");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_status_changes_once_while_others_like() {
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
                matches!(banned.unwrap(), ModeratedPost::Done(..))
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
    assert_eq!(item, tabla::entity::Entity::to_item(&read).unwrap(), "every key is true");
    let logs = crate::main_table(&db).await;
    let logs = logs.iter().filter(|item| crate::text(item, "PK").starts_with("MODLOG"));
    assert_eq!(logs.count(), 1, "who has lost is not in the log");
}

/// A clock at which two threads wait for each other when they ask for the time, the first, the
/// second or whichever time they do: after they have read something, and before they write it.
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

/// Two callers who have read the same before either writes; what they get.
fn meet<T: Send>(db: &Db, at: u32, call: impl Fn(EsenciaFest, u64) -> T + Sync) -> [T; 2] {
    let clock = Arc::new(Meeting {
        at,
        asked: Mutex::default(),
        both: Barrier::new(2),
        clock: ManualClock::new(Timestamp::from_secs(1_755_513_000)),
    });
    thread::scope(|scope| {
        let callers = [0, 1].map(|number| {
            let (clock, random) = (clock.clone(), Arc::new(SeededRandom::new(number)));
            let db = Db::with_env(db.shared_store(), Env::new(clock, random));
            let call = &call;
            scope.spawn(move || call(EsenciaFest::new(db), number))
        });
        callers.map(|caller| caller.join().unwrap())
    })
}

/// On one runtime for all: connections to a server end with that of whoever has made them.
fn now<T>(future: impl Future<Output = tabla::Result<T>>) -> T {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
    RUNTIME.block_on(future).unwrap()
}

#[test]
fn of_two_who_have_read_one_count_both_are_counted() {
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
fn of_two_taps_of_one_user_one_is_counted() {
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
fn of_two_who_ban_an_active_post_one_does() {
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
            ModeratedPost::Done(post, _) => Some(&**post),
            ModeratedPost::Lost(_) => None,
        })
        .collect();
    assert_eq!(done.len(), 1, "{banned:?}");
    let sees =
        |one: &ModeratedPost| matches!(one, ModeratedPost::Lost(Some(post)) if **post == *done[0]);
    assert!(banned.iter().any(sees), "who has lost sees who has won: {banned:?}");
    let logs = now(async { Ok(crate::main_table(&db).await) });
    let logs = logs.iter().filter(|item| crate::text(item, "PK").starts_with("MODLOG"));
    assert_eq!(logs.count(), 1);
}
