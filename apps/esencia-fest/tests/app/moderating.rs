//! Moderation of posts and comments.

use std::time::Duration;

use tabla_esencia_fest::*;

use crate::{email, id, main_table, opened, post, text, time};

async fn of_p1(fest: &EsenciaFest, status: Status) -> Moderated<Post> {
    fest.update_post_status(&id("p1"), status, "reason", &id("admin1")).await.unwrap()
}

#[tokio::test]
async fn post_allows_actions_by_its_status() {
    let (fest, db, clock) = opened().await;
    let original = post(&fest, "p1").await;
    fest.like_post(&original.post_id, &email("eva")).await.unwrap();
    clock.advance(Duration::from_secs(60));
    // Next status, and whether the present one allows it.
    for (to, is_possible) in [
        (Status::Active, false),
        (Status::Banned, true),
        (Status::Banned, false),
        (Status::Active, true),
        (Status::Deleted, true),
        (Status::Deleted, false),
        (Status::Banned, false),
        (Status::Active, true),
        (Status::Banned, true),
        (Status::Deleted, true),
    ] {
        let before = main_table(&db).await;
        let moderated = of_p1(&fest, to).await;
        let read = fest.get_post(&id("p1")).await.unwrap().unwrap();
        match moderated {
            Moderated::Done(post, log) => {
                assert!(is_possible, "{to:?}");
                assert_eq!(*post, read);
                assert_eq!((post.status, log.action), (to, Action::towards(to)));
                assert_eq!(log.action.result(), to);
                assert_eq!(
                    main_table(&db).await.len(),
                    before.len() + 1,
                    "the log has one entry more"
                );
                let item = crate::stored(&db, "POST#p1", "POST#p1").await;
                assert_eq!(item, tabla::entity::Entity::to_item(&*post).unwrap());
            }
            Moderated::Refused(current) => {
                assert!(!is_possible, "{to:?}");
                assert_eq!(current.as_deref(), Some(&read));
                assert_eq!(main_table(&db).await, before, "nothing was written");
            }
        }
        let is_marked = read.banned_at.is_some();
        assert_eq!((read.banned_by.is_some(), read.ban_reason.is_some()), (is_marked, is_marked));
        match to {
            Status::Active => assert!(!is_marked),
            Status::Banned if is_possible => {
                assert_eq!(read.banned_at, Some(time("2025-08-18T10:31:00Z")));
            }
            _ => {}
        }
        assert_eq!(read.likes, 1);
    }
    let nothing = fest.update_post_status(&id("p9"), Status::Banned, "x", &id("a")).await.unwrap();
    assert_eq!(nothing, Moderated::Refused(None));
}

#[tokio::test]
async fn moderation_is_logged_with_content_and_author() {
    let (fest, db, _) = opened().await;
    post(&fest, "p1").await;
    let Moderated::Done(_, log) = of_p1(&fest, Status::Banned).await else {
        panic!("an active post can be banned")
    };
    assert_eq!((log.target_type, log.target_id.as_str()), (TargetType::Post, "p1"));
    assert_eq!((log.reason.as_str(), log.admin_id.as_str()), ("reason", "admin1"));
    assert_eq!(log.original_content.as_deref(), Some("Hola"));
    assert_eq!(log.metadata["userId"].as_str(), Some("ana@sura.com.co"));
    let stored = main_table(&db).await.into_iter().find(|item| text(item, "PK").starts_with("MOD"));
    assert_eq!(text(&stored.unwrap(), "PK"), "MODLOG#2025-08-18");
    let target = (TargetType::Comment, &id("c1"));
    let own = fest.log_moderation_action(&id("admin2"), Action::Delete, target, "spam").await;
    let own = own.unwrap().done().unwrap();
    let span = Span::of(own.date);
    let logs = fest.get_moderation_logs(span, None, 10, None).await.unwrap();
    assert_eq!((logs.items, logs.next), (vec![log, own.clone()], None));
    let deletions = fest.get_moderation_logs(span, Some(Action::Delete), 10, None).await.unwrap();
    assert_eq!(deletions.items, [own]);
}

#[tokio::test]
async fn comment_count_follows_moderation() {
    let (fest, db, _) = opened().await;
    let (p1, c1, admin) = (post(&fest, "p1").await.post_id, id("c1"), id("admin1"));
    fest.create_comment_as(c1.clone(), &p1, &email("eva"), "Sí").await.unwrap();
    fest.create_comment(&p1, &email("leo"), "También").await.unwrap();
    for (to, count) in [
        (Status::Banned, Some(1)),
        (Status::Banned, None),
        (Status::Deleted, Some(1)),
        (Status::Banned, None),
        (Status::Active, Some(2)),
        (Status::Active, None),
        (Status::Deleted, Some(1)),
    ] {
        let before = main_table(&db).await;
        let moderated = fest.update_comment_status(&p1, &c1, to, "reason", &admin).await.unwrap();
        let read = fest.get_comment(&p1, &c1).await.unwrap().unwrap();
        match (moderated, count) {
            (Moderated::Done(comment, log), Some(count)) => {
                assert_eq!(*comment, read);
                assert_eq!((comment.status, log.target_type), (to, TargetType::Comment));
                let item = crate::stored(&db, "POST#p1", "POST#p1").await;
                let place = format!("{count:010}#2025-08-18T10:30:00Z");
                assert_eq!(text(&item, "GSI4SK"), place);
                let active = fest.get_post_comments(&p1, None).await.unwrap().items.len();
                assert_eq!(active, count);
            }
            (Moderated::Refused(current), None) => {
                assert_eq!(current.as_deref(), Some(&read));
                assert_eq!(main_table(&db).await, before, "nothing was written");
            }
            (other, _) => panic!("to {to:?}: {other:?}"),
        }
    }
    let nothing = fest.update_comment_status(&p1, &id("c9"), Status::Banned, "x", &admin).await;
    assert_eq!(nothing.unwrap(), Moderated::Refused(None));
}
