//! A change of one half of an index key leaves the other half to others.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use tabla_core::{Item, MemoryStore, StoreExt};
use tabla_entity::{Change, Db, Entity, EntityKey, Id, Outcome, TableDesign};

use crate::design::id;

static FORUM: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("forum")
        .key("PK", "SK")
        .index("GSI1", "GSI1PK", "GSI1SK")
        .index("GSI2", "GSI2PK", "GSI2SK")
});

/// A post: in GSI1 by status and room, in shards; in GSI2 by its editor while it has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = FORUM,
    pk = "POST#{id}",
    sk = "POST",
    index(GSI1, query = by_status, pk = "STATUS#{status}{id:shard 3}", sk = "{likes:04}#{room}"),
    index(GSI2, query = by_editor, pk = "EDITOR#{editor}", sk = "{likes:04}")
)]
struct Post {
    #[entity(key_only)]
    id: Id,
    status: Id,
    room: Id,
    likes: u32,
    #[entity(null)]
    editor: Option<Id>,
}

async fn forum(editor: Option<&str>) -> (Db, Post) {
    let db = Db::new(Arc::new(MemoryStore::new()));
    db.create_table(&FORUM).await.unwrap();
    let editor = editor.map(id);
    let post = Post { id: id("1"), status: id("open"), room: id("hall"), likes: 7, editor };
    let post = db.create(post).await.unwrap().done().unwrap();
    (db, post)
}

async fn stored(db: &Db, post: &Post) -> Item {
    db.store().get_item("forum", post.to_key().to_item().unwrap()).await.unwrap().unwrap()
}

/// Makes two changes of what was read once, and gives the post with both. Its item is as if it
/// had been written whole.
async fn both(db: &Db, first: Change<Post>, second: Change<Post>) -> Post {
    let one = db.update(first).await.unwrap().done().unwrap();
    assert_eq!(stored(db, &one).await, one.to_item().unwrap());
    let both = db.update(second).await.unwrap().done().unwrap();
    assert_eq!(stored(db, &both).await, both.to_item().unwrap());
    both
}

/// Makes two changes of what was read once; the second loses, and changes nothing.
async fn second_loses(db: &Db, first: Change<Post>, second: Change<Post>) {
    let one = db.update(first).await.unwrap().done().unwrap();
    assert_eq!(db.update(second).await.unwrap(), Outcome::Lost(Some(one.clone())));
    assert_eq!(stored(db, &one).await, one.to_item().unwrap());
}

fn ban(post: &Post) -> Change<Post> {
    post.change().set(Post::STATUS, id("banned"))
}

fn like(post: &Post) -> Change<Post> {
    post.change().set(Post::LIKES, post.likes + 1)
}

#[tokio::test]
async fn those_who_change_the_two_halves_of_a_key_both_win() {
    let (db, post) = forum(None).await;
    let after = both(&db, like(&post), ban(&post)).await;
    assert_eq!(after, Post { status: id("banned"), likes: 8, ..post });
    let (db, post) = forum(None).await;
    let after = both(&db, ban(&post), like(&post)).await;
    assert_eq!(after, Post { status: id("banned"), likes: 8, ..post });
    let found = db.all(Post::by_status(id("banned"))).await.unwrap();
    assert_eq!(found, [after]);
}

#[tokio::test]
async fn fields_of_one_half_have_to_be_what_was_read() {
    let (db, post) = forum(None).await;
    let moved = post.change().set(Post::ROOM, id("bar"));
    second_loses(&db, moved, like(&post)).await;
}

#[tokio::test]
async fn half_a_key_is_written_while_there_is_another_half() {
    // Another editor is no reason to lose; none, or the first, is.
    let edited = |post: &Post, by: &str| post.change().set(Post::EDITOR, id(by));
    let (db, post) = forum(Some("zoe")).await;
    let after = both(&db, edited(&post, "max"), like(&post)).await;
    assert_eq!(after, Post { likes: 8, editor: Some(id("max")), ..post });
    let (db, post) = forum(Some("zoe")).await;
    let after = both(&db, like(&post), edited(&post, "max")).await;
    assert_eq!(after, Post { likes: 8, editor: Some(id("max")), ..post });
    let (db, post) = forum(Some("zoe")).await;
    second_loses(&db, post.change().clear(Post::EDITOR), like(&post)).await;
    let (db, post) = forum(Some("zoe")).await;
    second_loses(&db, post.change().clear(Post::EDITOR), edited(&post, "max")).await;
    let (db, post) = forum(None).await;
    second_loses(&db, edited(&post, "max"), like(&post)).await;
    // Who comes to be in the index writes both halves.
    let (db, post) = forum(None).await;
    second_loses(&db, like(&post), edited(&post, "max")).await;
    let (db, post) = forum(None).await;
    both(&db, edited(&post, "zoe"), edited(&post, "max")).await;
    // Who leaves it needs to know nothing.
    let (db, post) = forum(Some("zoe")).await;
    let after = both(&db, like(&post), post.change().clear(Post::EDITOR)).await;
    assert_eq!(after, Post { likes: 8, editor: None, ..post });
}

#[tokio::test]
async fn a_half_whose_fields_are_all_set_needs_no_read() {
    let (db, post) = forum(Some("zoe")).await;
    let blind = || post.to_key().change();
    let after = both(
        &db,
        blind().set(Post::STATUS, id("banned")),
        blind().clear(Post::EDITOR).set(Post::STATUS, id("open")),
    )
    .await;
    assert_eq!(after, Post { editor: None, ..post.clone() });
    // Without the room, the half is not known; without the editor, whether there is one.
    let refused = [
        (
            blind().set(Post::LIKES, 1_u32).set(Post::EDITOR, id("zoe")),
            "GSI1, which also has `room`",
        ),
        (
            blind().set(Post::LIKES, 1_u32).set(Post::ROOM, id("bar")),
            "GSI2, which also has `editor`",
        ),
        (blind().set(Post::EDITOR, id("zoe")), "GSI2, which also has `likes`"),
    ];
    for (change, text) in refused {
        let error = db.update(change).await.unwrap_err();
        assert!(error.message().contains(text), "{error}");
    }
}

#[tokio::test]
async fn the_same_holds_in_a_transaction() {
    let (db, post) = forum(None).await;
    db.update(like(&post)).await.unwrap().done().unwrap();
    // A token makes it a transaction, though it has one step.
    let mut tx = db.transaction().token("ban");
    tx.update(ban(&post));
    assert!(tx.commit().await.unwrap().is_committed());
    let expected = Post { status: id("banned"), likes: 8, ..post };
    assert_eq!(stored(&db, &expected).await, expected.to_item().unwrap());
}
