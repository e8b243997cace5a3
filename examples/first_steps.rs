//! First steps: a table in an SQLite file, and the operations on one item.

use tabla::ops::{CreateTable, DeleteItem, PutItem, Query, UpdateItem};
use tabla::{KeyType, Store, StoreExt, Update, attr, item};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Your program has a path of its own here, such as "sqlite:songs.db".
    let folder = tempfile::tempdir()?;
    let address = format!("sqlite:{}", folder.path().join("songs.db").display());
    let store = tabla::open(&address).await?;

    // All songs of an artist are one item collection, sorted by title.
    let songs =
        CreateTable::new("songs").partition_key("artist", KeyType::S).sort_key("title", KeyType::S);
    store.create_table(songs).await?;

    // An item needs its key. Other attributes need no declaration.
    let song = item! { "artist" => "Nina Simone", "title" => "Sinnerman", "plays" => 1 };
    store.put(PutItem::new("songs", song)).await?;
    let song = item! { "artist" => "Nina Simone", "title" => "Feeling Good", "year" => 1965 };
    store.put(PutItem::new("songs", song)).await?;

    // The store increments the number: two callers never overwrite each other's count.
    let key = item! { "artist" => "Nina Simone", "title" => "Sinnerman" };
    let play = Update::new().set("plays", attr("plays").plus(1));
    store.update(UpdateItem::new("songs", key.clone()).update(play)).await?;

    // The store is closed when its last handle is dropped. The data is in the file.
    drop(store);
    let store = tabla::open(&address).await?;

    let found = store.get_item("songs", key.clone()).await?.expect("the item was written");
    let plays = found.get("plays").and_then(|value| value.as_number());
    println!("plays of Sinnerman: {}", plays.expect("the attribute is a number"));
    assert_eq!(plays, Some(2.into()));

    let page = store.query(Query::new("songs", attr("artist").eq("Nina Simone"))).await?;
    let titles: Vec<&str> =
        page.items.iter().filter_map(|item| item.get("title")?.as_str()).collect();
    println!("songs of Nina Simone: {}", titles.join(", "));
    assert_eq!(titles, ["Feeling Good", "Sinnerman"]);

    store.delete(DeleteItem::new("songs", key.clone())).await?;
    assert_eq!(store.get_item("songs", key).await?, None);
    println!("Sinnerman is deleted");
    Ok(())
}
