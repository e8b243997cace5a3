//! Callers on threads of their own, so that they truly meet.

use tabla_esencia_fest::*;

use crate::{email, id, opened, post};

async fn counted(fest: &EsenciaFest, post: &tabla::entity::Id) -> Post {
    let Thread { post, comments, likes, unknown } = fest.get_post_thread(post).await.unwrap();
    let post = post.unwrap();
    assert!(unknown.is_empty());
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
