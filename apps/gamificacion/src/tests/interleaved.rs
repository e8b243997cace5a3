//! Concurrent callers between a read and the write that follows it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::{join, try_join_all};
use tabla::{Error, ErrorKind, MemoryStore};
use tabla_conformance::fault::Operation;
use tabla_conformance::interleave::InterleavingStore;
use tabla_kit::App;

use super::*;

/// App on a store that yields to other callers at random moments.
async fn hesitant(seed: u64) -> (Db, Gamificacion) {
    let clock = ManualClock::new(Timestamp::from_secs(1_755_513_000));
    let env = Env::test(clock, seed);
    let store = InterleavingStore::new(MemoryStore::with_env(env.clone()).with_sweep_every(None))
        .with_random_yields(env.random.clone());
    let db = Db::with_env(Arc::new(store), env);
    db.create_table(&GAMIFICACION).await.unwrap();
    let app = Gamificacion::new(db.clone());
    assert_eq!(app.create_user(profile("ana", "ABC")).await.unwrap(), Created::Done);
    (db, app)
}

async fn keys(db: &Db) -> Vec<String> {
    let items = db.store().scan(Scan::new("Gamificacion")).await.unwrap().items;
    items.iter().map(|item| format!("{}|{}", text(item, "PK"), text(item, "SK"))).collect()
}

#[tokio::test]
async fn races_have_one_winner_in_every_interleaving() {
    for seed in 0..10 {
        let (db, _) = hesitant(seed).await;
        let races = GamificacionApp.race(&db).await.expect("every race passes");
        assert_eq!(races.len(), 11);
    }
}

#[tokio::test]
async fn concurrent_confirmation_and_deletion_leave_no_item() {
    let (mut confirmed_first, mut deleted_first) = (0, 0);
    for seed in 0..40 {
        let (db, app) = hesitant(seed).await;
        let a1 = id("a1");
        assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::Done);
        let (confirmed, deleted) = join(app.confirm_upload(&a1), app.delete_asset(&a1)).await;
        // In either order, the asset and its link are deleted.
        assert!(deleted.unwrap());
        match confirmed.unwrap() {
            Confirmed::Done => confirmed_first += 1,
            Confirmed::Missing => deleted_first += 1,
            other => panic!("{other:?}"),
        }
        assert!(keys(&db).await.iter().all(|key| !key.contains("ASSET#")), "seed {seed}");
    }
    assert!(confirmed_first > 0 && deleted_first > 0, "{confirmed_first} and {deleted_first}");
}

#[tokio::test]
async fn deletion_of_a_user_with_concurrent_writes_leaves_no_item() {
    let (mut added, mut refused) = (0, 0);
    for seed in 0..40 {
        let (db, app) = hesitant(seed).await;
        let ana = id("ana");
        let numbers = (0..5).map(|number| number.to_string()).collect::<Vec<_>>();
        let goals = try_join_all(numbers.iter().map(|number| app.add_goal(goal(number, 1))));
        let members = numbers.iter().map(|number| member("ana", number, "ORO", "ACTIVO"));
        let members = try_join_all(members.map(|member| app.add_member(member)));
        let (deleted, (goals, members)) = join(app.delete_user(&ana), join(goals, members)).await;
        assert!(deleted.unwrap());
        for is_done in goals.unwrap().iter().map(Added::is_done) {
            *if is_done { &mut added } else { &mut refused } += 1;
        }
        assert!(members.unwrap().iter().all(|added| matches!(added, Added::Done | Added::NoUser)));
        assert!(keys(&db).await.is_empty(), "seed {seed}");
    }
    assert!(added > 0 && refused > 0, "{added} and {refused}");
}

/// A goal, a member and a file.
async fn fill(app: &Gamificacion) {
    assert_eq!(app.create_user(profile("ana", "ABC")).await.unwrap(), Created::Done);
    assert!(app.add_goal(goal("g1", 1)).await.unwrap().is_done());
    assert!(app.add_member(member("ana", "m1", "ORO", "ACTIVO")).await.unwrap().is_done());
    assert!(app.begin_upload(upload("a1")).await.unwrap().is_done());
    assert_eq!(app.confirm_upload(&id("a1")).await.unwrap(), Confirmed::Done);
}

#[tokio::test]
async fn deletion_spares_a_user_created_again_under_the_same_id() {
    // Before each transaction of the deletion, another caller deletes the user and creates the user
    // again, with the same goal, member and file.
    for write in 1..=4 {
        let store = Arc::new(MemoryStore::new());
        let db = Db::new(store.clone());
        db.create_table(&GAMIFICACION).await.unwrap();
        let others = Gamificacion::new(db.clone());
        fill(&others).await;
        let before = keys(&db).await;
        let app = others.clone();
        let store = InterleavingStore::new(store).with_hook_at(
            Operation::TransactWrite,
            write,
            move || {
                let app = app.clone();
                async move {
                    assert!(app.delete_user(&id("ana")).await.unwrap());
                    fill(&app).await;
                }
            },
        );
        let app = Gamificacion::new(Db::new(Arc::new(store)));
        assert!(
            !app.delete_user(&id("ana")).await.unwrap(),
            "deleted by the other caller, write {write}"
        );
        assert_eq!(keys(&db).await, before, "write {write}");
        let panel = others.panel(&id("ana")).await.unwrap();
        assert_eq!(panel.profile.unwrap().leaving, None, "write {write}");
        assert_eq!(panel.dashboard.unwrap().network_size, 1, "write {write}");
    }
}

#[tokio::test]
async fn concurrently_replaced_upload_is_not_deleted() {
    let clock = ManualClock::new(Timestamp::from_secs(1_755_513_000));
    let env = Env::test(clock.clone(), 7);
    let store = Arc::new(MemoryStore::with_env(env.clone()).with_sweep_every(None));
    let db = Db::with_env(store.clone(), env.clone());
    db.create_table(&GAMIFICACION).await.unwrap();
    let others = Gamificacion::new(db);
    assert_eq!(others.create_user(profile("ana", "ABC")).await.unwrap(), Created::Done);
    assert!(others.begin_upload(upload("a1")).await.unwrap().is_done());
    clock.advance(Settings::default().upload_window);
    // The second transaction deletes the expired asset, which another caller has replaced by then.
    let app = others.clone();
    let store =
        InterleavingStore::new(store).with_hook_at(Operation::TransactWrite, 2, move || {
            let app = app.clone();
            async move {
                let again = Upload { size: 9, ..upload("a1") };
                assert_eq!(app.begin_upload(again).await.unwrap(), Added::Done);
            }
        });
    let app = Gamificacion::new(Db::with_env(Arc::new(store), env));
    let begun = app.begin_upload(upload("a1")).await.unwrap();
    let present = others.asset(&id("a1")).await.unwrap().unwrap();
    assert_eq!(present.size, 9);
    assert_eq!(begun, Added::Exists(present));
}

#[tokio::test]
async fn second_call_finishes_an_interrupted_deletion() {
    let mut interrupted = 0;
    for calls in 0.. {
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let counted = left.clone();
        let store = InterleavingStore::new(MemoryStore::new()).with_hook(Arc::new(move |_| {
            let is_over = counted.fetch_sub(1, Ordering::Relaxed) == 0;
            let answer = match is_over {
                true => Err(Error::new(ErrorKind::Unexpected, "interrupted")),
                false => Ok(()),
            };
            Box::pin(async { answer })
        }));
        let db = Db::new(Arc::new(store));
        db.create_table(&GAMIFICACION).await.unwrap();
        let app = Gamificacion::new(db.clone());
        assert_eq!(app.create_user(profile("ana", "ABC")).await.unwrap(), Created::Done);
        assert!(app.add_goal(goal("g1", 1)).await.unwrap().is_done());
        assert!(app.add_product(product("p1", None)).await.unwrap().is_done());
        assert!(app.add_featured(featured("f1")).await.unwrap().is_done());
        assert!(app.add_member(member("ana", "m1", "ORO", "ACTIVO")).await.unwrap().is_done());
        for file in ["a1", "a2"] {
            assert!(app.begin_upload(upload(file)).await.unwrap().is_done());
        }
        assert_eq!(app.confirm_upload(&id("a1")).await.unwrap(), Confirmed::Done);

        left.store(calls, Ordering::Relaxed);
        let deleted = app.delete_user(&id("ana")).await;
        left.store(usize::MAX, Ordering::Relaxed);
        if deleted.is_ok() {
            break;
        }
        interrupted += 1;
        if calls > 0 {
            // The user is leaving: nothing can be added, and the id stays taken.
            assert_eq!(app.add_goal(goal("g2", 1)).await.unwrap(), Added::NoUser);
            let added = app.add_member(member("ana", "m2", "ORO", "ACTIVO")).await.unwrap();
            assert_eq!(added, Added::NoUser);
            assert_eq!(app.begin_upload(upload("a3")).await.unwrap(), Added::NoUser);
            assert_eq!(app.confirm_upload(&id("a2")).await.unwrap(), Confirmed::NoUser);
            let created = app.create_user(profile("ana", "NEW")).await.unwrap();
            assert!(matches!(created, Created::Exists(Some(_))), "{created:?}");
        }
        assert!(app.delete_user(&id("ana")).await.unwrap(), "after {calls} calls");
        assert_eq!(keys(&db).await, ["ASSET#a2|METADATA"], "after {calls} calls");
    }
    // Calls: the mark, the panel, four deletions, two for the file, two for the profile.
    assert_eq!(interrupted, 10);
}

#[tokio::test]
async fn deletion_concurrent_with_a_code_change_releases_the_code() {
    for seed in 0..40 {
        let (db, app) = hesitant(seed).await;
        let ana = app.profile(&id("ana")).await.unwrap().unwrap();
        let new = id("NEW");
        let (changed, deleted) =
            join(app.change_code(&ana, &new), app.delete_user(&ana.user_id)).await;
        let _ = changed.unwrap();
        assert!(deleted.unwrap());
        assert!(keys(&db).await.is_empty(), "seed {seed}: the code is released");
    }
}
