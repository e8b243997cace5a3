//! Overhead of typed entities over hand-written calls.
//!
//! The hand-written code formats the keys and converts the struct with serde, and makes the same
//! requests. The store is the SQLite engine in memory, where a call costs least, so that the
//! relative overhead is highest.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tabla_core::ops::{GetItem, PutItem};
use tabla_core::{Item, Store, attr};
use tabla_entity::{Db, Entity, Id, TableDesign, UtcTime};
use tabla_sqlite::{SqliteConfig, SqliteStore};

use crate::embedded::Failure;
use crate::median::Durations;

/// Limit on the overhead, in percent of the time of the hand-written call.
const GOAL_PERCENT: f64 = 10.0;

static ORDERS: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("orders")
        .key("PK", "SK")
        .index("GSI1", "GSI1PK", "GSI1SK")
        .index("GSI2", "GSI2PK", "GSI2SK")
});

/// Entity of about 1 KB, in two indexes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = ORDERS,
    tag("type" = "ORDER"),
    pk = "CUSTOMER#{customer}",
    sk = "ORDER#{number:010}",
    index(GSI1, query = by_status, pk = "STATUS#{status}", sk = "{placed_at}#{number:010}"),
    index(GSI2, query = by_courier, pk = "COURIER#{courier}", sk = "{placed_at}#{number:010}")
)]
struct Order {
    customer: Id,
    number: u32,
    status: Id,
    courier: Id,
    placed_at: UtcTime,
    total: u64,
    note: String,
}

fn order(number: u32) -> Result<Order, Failure> {
    Ok(Order {
        customer: Id::new(format!("customer-{:04}", number % 1000))?,
        number,
        status: Id::new("pending")?,
        courier: Id::new(format!("courier-{:03}", number % 100))?,
        placed_at: UtcTime::from_secs(1_755_513_000 + u64::from(number)),
        total: 12_345,
        note: "n".repeat(700),
    })
}

/// Item as hand-written code builds it.
fn by_hand(order: &Order) -> Result<Item, Failure> {
    let mut item = Item::from_struct(order)?;
    let number = format!("{:010}", order.number);
    let placed = format!("{}#{number}", order.placed_at);
    item.insert("PK", format!("CUSTOMER#{}", order.customer));
    item.insert("SK", format!("ORDER#{number}"));
    item.insert("GSI1PK", format!("STATUS#{}", order.status));
    item.insert("GSI1SK", placed.clone());
    item.insert("GSI2PK", format!("COURIER#{}", order.courier));
    item.insert("GSI2SK", placed);
    item.insert("type", "ORDER");
    Ok(item)
}

/// Prints the medians of `calls` calls of each kind, and fails if the overhead is too high.
pub(crate) fn run(calls: u32) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let rows = runtime.block_on(measure(calls))?;
    println!("medians of {calls} calls each, in turns, SQLite in memory, items of 1 KB");
    println!("{:<6} {:>10} {:>10} {:>9}", "", "by hand", "typed", "added");
    let mut is_missed = false;
    for (operation, hand, typed) in rows {
        let micros = |duration: Duration| format!("{:.2} µs", duration.as_secs_f64() * 1e6);
        let added = (typed.as_secs_f64() / hand.as_secs_f64() - 1.0) * 100.0;
        is_missed |= added >= GOAL_PERCENT;
        println!("{operation:<6} {:>10} {:>10} {added:>8.1}%", micros(hand), micros(typed));
    }
    match is_missed {
        true => Err(format!("goal missed: the overhead must be below {GOAL_PERCENT} %").into()),
        false => Ok(()),
    }
}

async fn measure(calls: u32) -> Result<Vec<(&'static str, Duration, Duration)>, Failure> {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&SqliteConfig::in_memory()).await?);
    let db = Db::new(Arc::clone(&store));
    db.create_table(&ORDERS).await?;
    let (mut hand, mut typed) = (Durations::default(), Durations::default());
    for number in 0..calls {
        let (one, other) = (order(2 * number)?, order(2 * number + 1)?);
        let mut by_hand = async || {
            hand.time(async {
                let put = PutItem::new("orders", by_hand(&one)?).condition(attr("PK").not_exists());
                store.put(put).await.map_err(Failure::from)
            })
            .await
        };
        // The order alternates: the second call finds the caches that the first one filled.
        if number % 2 == 0 {
            by_hand().await?;
        }
        let created = typed.time(db.create(other)).await?;
        if !created.is_done() {
            return Err("an order exists already".into());
        }
        if number % 2 == 1 {
            by_hand().await?;
        }
    }
    let put = ("put", hand.median(), typed.median());
    let (mut hand, mut typed) = (Durations::default(), Durations::default());
    for number in 0..calls {
        // Each reads an order that the other has not just read, and the order of the two
        // alternates.
        let place = number.wrapping_mul(7919) % calls;
        let (one, other) = (order(2 * place)?, order(2 * ((place + calls / 2) % calls) + 1)?);
        let key = other.to_key();
        let mut by_hand = async || {
            hand.time(async {
                let key = Item::new()
                    .with("PK", format!("CUSTOMER#{}", one.customer))
                    .with("SK", format!("ORDER#{:010}", one.number));
                let found = store.get(GetItem::new("orders", key).consistent_read(true)).await?;
                Ok::<_, Failure>(found.item.as_ref().map(Item::to_struct::<Order>).transpose()?)
            })
            .await
        };
        let (found, typed) = match number % 2 {
            0 => {
                let found = by_hand().await?;
                (found, typed.time(db.get(&key)).await?)
            }
            _ => {
                let found = typed.time(db.get(&key)).await?;
                (by_hand().await?, found)
            }
        };
        if found.as_ref() != Some(&one) || typed.as_ref() != Some(&other) {
            return Err("an order differs from the one that was written".into());
        }
    }
    Ok(vec![("get", hand.median(), typed.median()), put])
}
