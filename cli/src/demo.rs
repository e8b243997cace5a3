//! `tabla demo`: what tabla does, in a page of output.

use futures::TryStreamExt;
use tabla::ops::*;
use tabla::{
    Cursor, Error, ErrorKind, Item, KeyType, Registry, Result, Store, StoreExt, Update, attr, item,
};

pub(crate) async fn run() -> Result<()> {
    let store = Registry::new().open("memory:").await?;
    println!("tabla: DynamoDB's tables in this process, on the store `memory:`\n");
    create(&store).await?;
    write(&store).await?;
    query(&store).await?;
    lose_a_condition(&store).await?;
    transact(&store).await?;
    println!("Next: cargo run --release -- conformance --store memory:");
    println!("      proves every rule that this store keeps.");
    Ok(())
}

async fn create(store: &dyn Store) -> Result<()> {
    heading("Create a table", "with an index by level");
    let request = CreateTable::new("players")
        .partition_key("pk", KeyType::S)
        .sort_key("sk", KeyType::S)
        .attribute("level", KeyType::N)
        .global_index(SecondaryIndex::new("by-level").partition_key("level").sort_key("sk"));
    let table = store.create_table(request).await?;
    let keys = |schema: &[KeySchemaElement]| {
        schema.iter().map(|key| key.name.as_str()).collect::<Vec<_>>().join(" + ")
    };
    row("table", format!("{} ({})", table.table, keys(&table.key_schema)));
    for index in &table.global_secondary_indexes {
        row("index", format!("{} ({})", index.name, keys(&index.key_schema)));
    }
    end();
    Ok(())
}

async fn write(store: &dyn Store) -> Result<()> {
    heading("Write items", "and see what each would cost on AWS");
    for (name, level, coins) in [("ana", 3, 120), ("bea", 3, 80), ("eva", 5, 40)] {
        let item = item! {
            "pk" => "TEAM#1", "sk" => format!("PLAYER#{name}"), "level" => level, "coins" => coins,
        };
        let request =
            PutItem::new("players", item).return_consumed_capacity(ReturnConsumedCapacity::Total);
        let answer = store.put(request).await?;
        let units = answer.consumed_capacity.map_or(0.0, |capacity| capacity.capacity_units);
        row("put", format!("{name:4} {units} write units, its index entry included"));
    }
    end();
    Ok(())
}

async fn query(store: &dyn Store) -> Result<()> {
    heading("Query", "a partition, an index, and page by page");
    let team = attr("pk").eq("TEAM#1").and(attr("sk").begins_with("PLAYER#"));
    let players: Vec<Item> =
        store.query_items(Query::new("players", team.clone())).try_collect().await?;
    expect(players.len() == 3, "the team has three players")?;
    row("team", names(&players));
    let third = Query::new("players", attr("level").eq(3)).index("by-level").descending();
    let third: Vec<Item> = store.query_items(third).try_collect().await?;
    expect(third.len() == 2, "two players are on level 3")?;
    row("level 3", format!("{} (descending)", names(&third)));

    let query = Query::new("players", team).limit(2);
    let page = store.query(query.clone()).await?;
    let cursor = query.cursor(&page)?.ok_or_else(|| wrong("there is a second page"))?;
    row("page 1", names(&page.items));
    row("cursor", &cursor);
    row("", "(safe in a URL, bound to its query, good on every backend)");
    let cursor: Cursor = cursor.to_string().parse()?;
    let page = store.query(query.resume(&cursor)?).await?;
    expect(page.items.len() == 1, "the second page has the third player")?;
    row("page 2", names(&page.items));
    end();
    Ok(())
}

async fn lose_a_condition(store: &dyn Store) -> Result<()> {
    heading("Lose a condition", "and see the item that stood in the way");
    let request = UpdateItem::new("players", key("ana"))
        .update(Update::new().set("coins", attr("coins").minus(500)))
        .condition(attr("coins").ge(500))
        .return_item_on_failure();
    let error = match store.update(request).await {
        Ok(_) => return Err(wrong("ana cannot pay 500")),
        Err(error) => error,
    };
    let ErrorKind::ConditionFailed { item: Some(current) } = error.kind() else {
        return Err(error);
    };
    row("ana pays 500", error.message());
    row("she has", coins(current));
    end();
    Ok(())
}

async fn transact(store: &dyn Store) -> Result<()> {
    heading("Transact", "all or nothing, with the reason of each operation");
    pay(store, 100).await?;
    row("100 from ana to eva", balances(store).await?);
    let error = match pay(store, 100).await {
        Ok(()) => return Err(wrong("ana has only 20 left")),
        Err(error) => error,
    };
    let reasons: Vec<&str> =
        error.cancellation_reasons().iter().map(|reason| reason.code.as_str()).collect();
    row("100 more", format!("canceled: {}", reasons.join(", ")));
    let after = balances(store).await?;
    expect(after == "ana 20, eva 140", "a canceled transaction leaves nothing behind")?;
    row("afterwards", after);
    end();
    Ok(())
}

async fn pay(store: &dyn Store, amount: i32) -> Result<()> {
    let debit = UpdateItem::new("players", key("ana"))
        .update(Update::new().set("coins", attr("coins").minus(amount)))
        .condition(attr("coins").ge(amount));
    let credit = UpdateItem::new("players", key("eva"))
        .update(Update::new().set("coins", attr("coins").plus(amount)));
    store.transact_write(TransactWriteItems::new().item(credit).item(debit)).await?;
    Ok(())
}

async fn balances(store: &dyn Store) -> Result<String> {
    let mut texts = Vec::new();
    for name in ["ana", "eva"] {
        let item = store.get_item("players", key(name)).await?;
        texts.push(format!("{name} {}", item.as_ref().map(coins).unwrap_or_default()));
    }
    Ok(texts.join(", "))
}

fn key(name: &str) -> Item {
    item! { "pk" => "TEAM#1", "sk" => format!("PLAYER#{name}") }
}

fn coins(item: &Item) -> String {
    item.get("coins").and_then(|coins| coins.as_number()).map(|n| n.to_string()).unwrap_or_default()
}

fn names(items: &[Item]) -> String {
    let names = items.iter().filter_map(|item| item.get("sk")?.as_str()?.strip_prefix("PLAYER#"));
    names.collect::<Vec<_>>().join(", ")
}

fn heading(what: &str, more: &str) {
    println!("{what}: {more}");
}

fn row(label: &str, text: impl std::fmt::Display) {
    println!("  {label:20} {text}");
}

fn end() {
    println!();
}

/// The demo is a test too: it fails loudly if the store gives a wrong answer.
fn expect(holds: bool, what: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(wrong(what)) }
}

fn wrong(expected: &str) -> Error {
    Error::new(ErrorKind::Unexpected, format!("the store gave a wrong answer: {expected}"))
}
