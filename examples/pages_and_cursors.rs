//! Pages and cursors: a list in a web page, with "older" links that survive a restart.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Db, Entity, EntityQuery, Id, TableDesign};
use tabla::{Cursor, ErrorKind};

static BLOG: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("blog").key("PK", "SK"));

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = BLOG, pk = "AUTHOR#{author}", sk = "POST#{number:06}")]
struct Post {
    author: Id,
    number: u32,
}

fn posts(author: &Id) -> EntityQuery<Post> {
    Post::of(author).descending()
}

/// Handles `GET /posts?after=…`: the numbers of the posts, and the cursor for the next link.
async fn list(
    db: &Db,
    author: &Id,
    after: Option<&str>,
) -> tabla::Result<(Vec<u32>, Option<String>)> {
    // The text comes from a client. A damaged one is a validation error.
    let after = after.map(str::parse::<Cursor>).transpose()?;
    let page = db.page(posts(author).limit(3).after(after)).await?;
    let numbers = page.items.iter().map(|post| post.number).collect();
    // A cursor contains the key of the last item, in base64: safe in a URL, and not secret.
    Ok((numbers, page.next.map(|cursor| cursor.to_string())))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let address = format!("sqlite:{}", folder.path().join("blog.db").display());
    let mut db = Db::new(tabla::open(&address).await?);
    db.create_table(&BLOG).await?;
    let (ana, bo) = (Id::new("ana")?, Id::new("bo")?);
    for number in 1..=7 {
        db.put(Post { author: ana.clone(), number }).await?;
    }

    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let (numbers, next) = list(&db, &ana, after.as_deref()).await?;
        println!("page {numbers:?}");
        seen.extend(numbers);
        let Some(next) = next else { break };

        // Another query refuses the cursor, instead of continuing at a wrong position.
        let error = list(&db, &bo, Some(&next)).await.expect_err("the cursor is of ana's posts");
        assert_eq!(error.kind(), &ErrorKind::Validation);

        // A cursor outlives the process: open the file again before the next page.
        db = Db::new(tabla::open(&address).await?);
        after = Some(next);
    }
    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1]);

    // `all` reads every page into memory.
    println!("all: {} posts", db.all(posts(&ana)).await?.len());
    Ok(())
}
