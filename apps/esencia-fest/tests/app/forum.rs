//! Posts, comments and likes.

use tabla::entity::Outcome;
use tabla_esencia_fest::*;

use crate::{email, id, main_table, opened, post, time};

#[tokio::test]
async fn like_counts_once_and_moves_post() {
    let (fest, db, _) = opened().await;
    let p1 = post(&fest, "p1").await.post_id;
    assert_eq!(fest.like_post(&p1, &email("eva")).await.unwrap(), Liked::Done(1));
    assert_eq!(fest.like_post(&p1, &email("leo")).await.unwrap(), Liked::Done(2));
    let item = crate::stored(&db, "POST#p1", "POST#p1").await;
    assert_eq!(crate::text(&item, "GSI3SK"), "0000000002#2025-08-18T10:30:00Z");
    let before = main_table(&db).await;
    assert_eq!(fest.like_post(&p1, &email("eva")).await.unwrap(), Liked::Already);
    assert_eq!(fest.like_post(&id("p9"), &email("eva")).await.unwrap(), Liked::NoPost);
    assert_eq!(main_table(&db).await, before, "nothing was written");
    fest.update_post_status(&p1, Status::Banned, "spam", &id("admin1")).await.unwrap();
    let before = main_table(&db).await;
    let banned = fest.get_post(&p1).await.unwrap().unwrap();
    let refused = fest.like_post(&p1, &email("ana")).await.unwrap();
    assert_eq!(refused, Liked::NotActive(Box::new(banned)));
    assert_eq!(main_table(&db).await, before, "nothing was written");
}

#[tokio::test]
async fn comment_counts_once_and_moves_post() {
    let (fest, db, _) = opened().await;
    let p1 = post(&fest, "p1").await.post_id;
    let Commented::Done(first) = fest.create_comment(&p1, &email("eva"), "Sí").await.unwrap()
    else {
        panic!("the comment is recorded")
    };
    let item = crate::stored(&db, "POST#p1", "POST#p1").await;
    assert_eq!(crate::text(&item, "GSI4SK"), "0000000001#2025-08-18T10:30:00Z");
    let before = main_table(&db).await;
    // Again after a lost response; another comment under its id; a comment on a missing post.
    let again = fest.create_comment_as(first.comment_id.clone(), &p1, &email("eva"), "Sí").await;
    assert_eq!(again.unwrap(), Commented::Done(first.clone()));
    let other = fest.create_comment_as(first.comment_id.clone(), &p1, &email("leo"), "No").await;
    assert_eq!(other.unwrap(), Commented::Taken(first));
    let nowhere = fest.create_comment(&id("p9"), &email("eva"), "Sí").await.unwrap();
    assert_eq!(nowhere, Commented::NoPost);
    assert_eq!(main_table(&db).await, before, "nothing was written");
    fest.update_post_status(&p1, Status::Deleted, "old", &id("admin1")).await.unwrap();
    let refused = fest.create_comment(&p1, &email("eva"), "Sí").await.unwrap();
    assert!(matches!(refused, Commented::NotActive(post) if post.status == Status::Deleted));
}

#[tokio::test]
async fn comments_are_sorted_by_time() {
    let (fest, _, clock) = opened().await;
    let p1 = post(&fest, "p1").await.post_id;
    for number in 0..20 {
        fest.create_comment(&p1, &email("eva"), &format!("n{number}")).await.unwrap();
        clock.advance(std::time::Duration::from_millis(1));
    }
    let comments = fest.get_post_comments(&p1, None).await.unwrap().items;
    let texts: Vec<String> = comments.into_iter().map(|comment| comment.content).collect();
    assert_eq!(texts, (0..20).map(|number| format!("n{number}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn filtered_text_is_stored_as_banned_and_not_counted() {
    let (fest, db, _) = opened().await;
    let bad = fest.create_post(&email("ana"), "¡palabra1!", Vec::new()).await.unwrap();
    let bad = bad.done().unwrap();
    assert_eq!((bad.status, bad.profanity_score), (Status::Banned, 1.into()));
    assert_eq!(bad.banned_by, Some(id("auto")));
    assert_eq!(bad.ban_reason.as_deref(), Some("profanity"));
    assert_eq!(bad.banned_at, Some(bad.created_at));
    let banned = fest
        .get_posts_by_status(Status::Banned, Sort::Date, Order::Descending, None)
        .await
        .unwrap();
    assert_eq!(banned.items, [bad]);
    let p1 = post(&fest, "p1").await.post_id;
    let mild = fest.create_comment(&p1, &email("eva"), "palabra2").await.unwrap();
    assert!(matches!(mild, Commented::Done(comment)
        if comment.status == Status::Active && comment.profanity_score.to_string() == "0.5"));
    let bad = fest.create_comment(&p1, &email("eva"), "palabra1").await.unwrap();
    assert!(matches!(bad, Commented::Done(comment) if comment.status == Status::Banned));
    let Thread { post, comments, .. } = fest.get_post_thread(&p1).await.unwrap();
    assert_eq!((post.unwrap().comments_count, comments.len()), (1, 2));
    assert_eq!(fest.get_post_comments(&p1, None).await.unwrap().items.len(), 1);
    // A banned post takes no banned comment.
    fest.update_post_status(&p1, Status::Banned, "spam", &id("admin1")).await.unwrap();
    let before = main_table(&db).await;
    let refused = fest.create_comment(&p1, &email("eva"), "palabra1").await.unwrap();
    assert!(matches!(refused, Commented::NotActive(_)));
    assert_eq!(main_table(&db).await, before);
}

#[tokio::test]
async fn post_is_created_once_per_id() {
    let (fest, _, _) = opened().await;
    let first = post(&fest, "p1").await;
    let again = fest.create_post_as(id("p1"), &email("leo"), "Otra", Vec::new()).await.unwrap();
    assert_eq!(again, Outcome::Lost(Some(first)));
}

#[tokio::test]
async fn every_order_works_with_every_status() {
    let (fest, _, _) = opened().await;
    // Likes 0, 3, 1 and 2; comments 3, 0, 2 and 1.
    for (number, likes) in [0_usize, 3, 1, 2].into_iter().enumerate() {
        let name = format!("p{number}");
        let day = fest.at(time(&format!("2025-08-1{number}T00:00:00Z")));
        let post = post(&day, &name).await.post_id;
        for user in ["ana", "eva", "leo"].iter().take(likes) {
            fest.like_post(&post, &email(user)).await.unwrap();
        }
        for _ in likes..3 {
            fest.create_comment(&post, &email("eva"), "Sí").await.unwrap();
        }
    }
    let names = |posts: Vec<Post>| {
        posts.into_iter().map(|post| post.post_id.to_string()).collect::<Vec<_>>().join(" ")
    };
    for status in [Status::Active, Status::Banned, Status::Deleted] {
        for (sort, ascending, descending) in [
            (Sort::Date, "p0 p1 p2 p3", "p3 p2 p1 p0"),
            (Sort::Likes, "p0 p2 p3 p1", "p1 p3 p2 p0"),
            (Sort::Comments, "p1 p3 p2 p0", "p0 p2 p3 p1"),
        ] {
            let page = fest.get_posts_by_status(status, sort, Order::Ascending, None).await;
            assert_eq!(names(page.unwrap().items), ascending, "{sort:?}");
            // Pages of one post.
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = fest.get_all_posts(1, after, sort, status).await.unwrap();
                found.extend(page.items);
                after = page.next.map(|next| next.to_string().parse().unwrap());
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(names(found), descending, "{sort:?}");
        }
        let by_likes = fest.get_posts_sorted_by_likes(None).await.unwrap().items;
        assert_eq!(by_likes.is_empty(), status != Status::Active);
        for number in 0..4 {
            let (post, next) = (
                id(&format!("p{number}")),
                match status {
                    Status::Active => Status::Banned,
                    _ => Status::Deleted,
                },
            );
            fest.update_post_status(&post, next, "test", &id("admin1")).await.unwrap();
        }
    }
    let mine = fest.get_user_posts(&email("ana"), None, None).await.unwrap().items;
    assert_eq!(names(mine), "p3 p2 p1 p0");
    let active = fest.get_user_posts(&email("ana"), Some(Status::Active), None).await.unwrap();
    assert!(active.items.is_empty());
}

#[tokio::test]
async fn cursor_of_another_feed_is_refused() {
    let (fest, _, _) = opened().await;
    for name in ["p1", "p2", "p3"] {
        post(&fest, name).await;
    }
    let page = fest.get_all_posts(1, None, Sort::Likes, Status::Active).await.unwrap();
    assert!(page.next.is_some());
    for (sort, status) in [(Sort::Comments, Status::Active), (Sort::Likes, Status::Banned)] {
        let error = fest.get_all_posts(1, page.next.clone(), sort, status).await.unwrap_err();
        assert!(error.message().contains("another query"), "{error}");
    }
}
