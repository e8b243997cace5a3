//! One program on SQLite and on DynamoDB: the address selects the store.
//!
//! ```sh
//! cargo run -p tabla-examples --bin any_store                                  # an SQLite file
//! cargo run -p tabla-examples --bin any_store -- dynamodb://127.0.0.1:8000     # DynamoDB Local
//! cargo run -p tabla-examples --bin any_store -- 'dynamodb:?region=eu-west-1'  # AWS
//! ```

use tabla::env::Env;
use tabla::ops::{
    CreateTable, DeleteTable, PutItem, Query, SecondaryIndex, TransactWriteItems, UpdateItem,
};
use tabla::{KeyType, Requirement, Store, StoreExt, Update, attr, item};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let file = format!("sqlite:{}", folder.path().join("games.db").display());
    let address = std::env::args().nth(1).unwrap_or(file);
    let store = tabla::open(&address).await?;
    // A store without transactions is refused here, and not in the middle of the work.
    store.require(&[Requirement::Transactions])?;

    // A new name per run: other programs have tables in the account or on the test server.
    let env = Env::system();
    let table = format!("games-{}", env.token());
    let games = CreateTable::new(&table)
        .partition_key("player", KeyType::S)
        .sort_key("game", KeyType::S)
        .attribute("points", KeyType::N)
        .global_index(SecondaryIndex::new("ranking").partition_key("game").sort_key("points"));
    store.create_table_if_missing(games, &*env.clock).await?;
    let result = play(&*store, &table).await;
    store.delete_table(DeleteTable::new(&table)).await?;

    // Result and error message are the same on every store.
    let (ranking, refusal) = result?;
    assert_eq!(ranking, ["bo", "ana"]);
    assert_eq!(refusal, "The conditional request failed");
    println!("{}: {}; {refusal}", store.capabilities().engine, ranking.join(", "));
    Ok(())
}

async fn play(store: &dyn Store, table: &str) -> tabla::Result<(Vec<String>, String)> {
    let game = |player: &str| item! { "player" => player, "game" => "chess" };
    let new = attr("player").not_exists();
    let start = |player: &str, points: i64| {
        PutItem::new(table, game(player).with("points", points)).condition(new.clone())
    };
    let both = TransactWriteItems::new().item(start("ana", 10)).item(start("bo", 5));
    store.transact_write(both).await?;
    let win = Update::new().add("points", 20);
    store.update(UpdateItem::new(table, game("bo")).update(win)).await?;
    let again = store.put(start("ana", 99)).await.expect_err("ana plays already");
    assert!(again.is_condition_failed());

    let ranking = Query::new(table, attr("game").eq("chess")).index("ranking").descending();
    let page = store.query(ranking).await?;
    let player = |item: &tabla::Item| item.get("player")?.as_str().map(str::to_owned);
    Ok((page.items.iter().filter_map(player).collect(), again.message().to_owned()))
}
