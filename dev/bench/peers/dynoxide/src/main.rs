//! The work of `tabla-bench embedded`, executed by Dynoxide through its embedded interface.
//!
//! `peer-dynoxide <folder>` reads orders from standard input, one per line:
//! `<place> <operation> <callers> <ops> <first new item>`, and prints one line of JSON for each.
//! `peer-dynoxide <folder> footprint <place>` prints the memory and disk space of the items.

// Some of its items are only used by the program that sends the orders.
#[allow(dead_code)]
#[path = "../../../src/embedded/workload.rs"]
mod workload;

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::Instant;

use dynoxide::actions::batch_get_item::{BatchGetItemRequest, KeysAndAttributes};
use dynoxide::actions::batch_write_item::{
    BatchWriteItemRequest, DeleteRequest, PutRequest, WriteRequest,
};
use dynoxide::actions::create_table::CreateTableRequest;
use dynoxide::actions::delete_item::DeleteItemRequest;
use dynoxide::actions::get_item::GetItemRequest;
use dynoxide::actions::put_item::PutItemRequest;
use dynoxide::actions::query::QueryRequest;
use dynoxide::actions::transact_write_items::{
    TransactPut, TransactUpdate, TransactWriteItem, TransactWriteItemsRequest,
};
use dynoxide::actions::update_item::UpdateItemRequest;
use dynoxide::types::{
    AttributeDefinition, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType,
};
use dynoxide::{AttributeValue, Database, Item};

use workload::{BATCH_GET, BATCH_WRITE, INDEX, ITEMS, Workload, PAGE, PAGES, StorageMode, Plain, TABLE};

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [folder] => serve(Path::new(folder)),
        [folder, "footprint", place] => footprint(Path::new(folder), place),
        _ => Err("usage: peer-dynoxide <folder> [footprint <place>]".into()),
    }
}

fn serve(folder: &Path) -> Result<(), Failure> {
    let mut databases: BTreeMap<StorageMode, Database> = BTreeMap::new();
    for order in std::io::stdin().lock().lines() {
        let order = order?;
        let [place, operation, callers, ops, first] = order.split(' ').collect::<Vec<_>>()[..]
        else {
            return Err(format!("invalid order `{order}`: expected place, operation, callers, ops and first item").into());
        };
        let place = StorageMode::named(place).ok_or("unknown place")?;
        let operation = Workload::named(operation).ok_or("unknown operation")?;
        let (callers, ops, first) = (callers.parse()?, ops.parse()?, first.parse()?);
        if !databases.contains_key(&place) {
            databases.insert(place, load(place, folder)?);
        }
        let seconds = run(&databases[&place], operation, callers, ops, first)?;
        println!(
            "{{\"place\":\"{}\",\"operation\":\"{}\",\"callers\":{callers},\"ops\":{ops},\
             \"seconds\":{seconds}}}",
            place.name(),
            operation.name(),
        );
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn footprint(folder: &Path, place: &str) -> Result<(), Failure> {
    let place = StorageMode::named(place).ok_or("unknown place")?;
    let database = load(place, folder)?;
    let resident = resident()?;
    drop(database);
    let file = std::fs::metadata(path(place, folder)).map_or(0, |file| file.len());
    println!("{{\"resident_bytes\":{resident},\"file_bytes\":{file}}}");
    Ok(())
}

/// Resident memory of this process in bytes.
fn resident() -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("/proc/self/status has no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

fn path(place: StorageMode, folder: &Path) -> PathBuf {
    folder.join(format!("dynoxide-{}.db", place.name()))
}

fn load(place: StorageMode, folder: &Path) -> Result<Database, Failure> {
    let path = path(place, folder);
    let path = path.to_str().ok_or("the folder's name is not UTF-8")?;
    let database = match place {
        StorageMode::Memory => Database::memory()?,
        // Dynoxide sets no `synchronous`, and SQLite's default is FULL.
        StorageMode::Durable => Database::new(path)?,
        StorageMode::Relaxed => {
            let database = Database::new(path)?;
            // Ending bulk loading is the only way to `synchronous = NORMAL`; the other settings
            // are SQLite's defaults then.
            database.enable_bulk_loading()?;
            database.disable_bulk_loading()?;
            database
        }
    };
    let part =
        |name: &str, key_type| KeySchemaElement { attribute_name: name.to_owned(), key_type };
    let index = |name: &str, partition: &str| GlobalSecondaryIndex {
        index_name: name.to_owned(),
        key_schema: vec![part(partition, KeyType::HASH), part("created", KeyType::RANGE)],
        projection: Projection {
            projection_type: Some(ProjectionType::ALL),
            ..Projection::default()
        },
        ..GlobalSecondaryIndex::default()
    };
    let text = |name: &str| AttributeDefinition {
        attribute_name: name.to_owned(),
        attribute_type: ScalarAttributeType::S,
    };
    database.create_table(CreateTableRequest {
        table_name: TABLE.to_owned(),
        key_schema: vec![part("pk", KeyType::HASH), part("sk", KeyType::RANGE)],
        attribute_definitions: ["pk", "sk", "shelf", "customer", "created"].map(text).into(),
        global_secondary_indexes: Some(vec![
            index(INDEX, "shelf"),
            index(workload::OTHER_INDEX, "customer"),
        ]),
        billing_mode: Some("PAY_PER_REQUEST".to_owned()),
        ..CreateTableRequest::default()
    })?;
    fill(&database, 0, ITEMS)?;
    Ok(database)
}

fn run(
    database: &Database,
    operation: Workload,
    callers: u64,
    ops: u64,
    first: u64,
) -> Result<f64, Failure> {
    let new_items = ops * operation.new_items();
    if operation == Workload::Delete {
        fill(database, first, new_items)?;
    }
    let seconds = timed(database, operation, callers, ops, first)?;
    if operation != Workload::Delete {
        clear(database, first, new_items)?;
    }
    Ok(seconds)
}

fn timed(
    database: &Database,
    operation: Workload,
    callers: u64,
    ops: u64,
    first: u64,
) -> Result<f64, Failure> {
    // Starting the threads is not part of the work. Each thread records its own times, because this
    // thread may not get a processor again before the others have ended.
    let start = Barrier::new(callers as usize);
    let spans = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..callers)
            .map(|caller| {
                let (database, start) = (database.clone(), &start);
                scope.spawn(move || {
                    start.wait();
                    let begun = Instant::now();
                    (caller..ops)
                        .step_by(callers as usize)
                        .try_for_each(|step| call(&database, operation, step, first))?;
                    Ok::<_, Failure>((begun, Instant::now()))
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a caller panicked")?)
            .collect::<Result<Vec<_>, Failure>>()
    })?;
    let begun = spans.iter().map(|span| span.0).min().ok_or("the number of callers is 0")?;
    let ended = spans.iter().map(|span| span.1).max().ok_or("the number of callers is 0")?;
    Ok((ended - begun).as_secs_f64())
}

fn call(database: &Database, operation: Workload, step: u64, first: u64) -> Result<(), Failure> {
    match operation {
        Workload::Get => {
            let found = database.get_item(GetItemRequest {
                table_name: TABLE.to_owned(),
                key: key(workload::pseudo_random_item(step)),
                ..GetItemRequest::default()
            })?;
            expect(found.item.is_some(), "the item exists")
        }
        Workload::Put => {
            database.put_item(PutItemRequest {
                table_name: TABLE.to_owned(),
                item: item(first + step),
                ..PutItemRequest::default()
            })?;
            Ok(())
        }
        Workload::Update => {
            database.update_item(UpdateItemRequest {
                table_name: TABLE.to_owned(),
                key: key(workload::pseudo_random_item(step)),
                update_expression: Some(workload::SET_AMOUNT.to_owned()),
                condition_expression: Some(workload::IS_PENDING.to_owned()),
                expression_attribute_values: Some(update_values(workload::amount(first, step))),
                ..UpdateItemRequest::default()
            })?;
            Ok(())
        }
        Workload::Delete => {
            database.delete_item(DeleteItemRequest {
                table_name: TABLE.to_owned(),
                key: key(first + step),
                ..DeleteItemRequest::default()
            })?;
            Ok(())
        }
        Workload::Query => {
            let page = database.query(query(step))?;
            expect(page.count as u64 == PAGE, "a page is full")
        }
        Workload::IndexQuery => {
            let shelf = workload::shelf(workload::pseudo_random_item(step) % PAGES);
            let page = database.query(QueryRequest {
                index_name: Some(INDEX.to_owned()),
                key_condition_expression: Some(workload::INDEX_KEY_CONDITION.to_owned()),
                expression_attribute_values: Some(HashMap::from([text(":shelf", shelf)])),
                ..query(step)
            })?;
            expect(page.count as u64 == PAGE, "a page of the index is full")
        }
        Workload::FilteredQuery => {
            let mut query = query(step);
            query.filter_expression = Some(workload::FILTER.to_owned());
            let paid = (":paid".to_owned(), AttributeValue::BOOL(true));
            query.expression_attribute_values.get_or_insert_default().extend([paid]);
            let page = database.query(query)?;
            let is_half = page.count as u64 == PAGE / 2 && page.scanned_count as u64 == PAGE;
            expect(is_half, "half of the page passes the filter")
        }
        Workload::BatchWrite => {
            let start = first + step * BATCH_WRITE;
            write(database, (start..start + BATCH_WRITE).map(put).collect())
        }
        Workload::BatchGet => {
            let keys = (0..BATCH_GET).map(|one| key(workload::pseudo_random_item(step * BATCH_GET + one)));
            let wanted = KeysAndAttributes { keys: keys.collect(), ..KeysAndAttributes::default() };
            let found = database.batch_get_item(BatchGetItemRequest {
                request_items: HashMap::from([(TABLE.to_owned(), wanted)]),
                ..BatchGetItemRequest::default()
            })?;
            let count = found.responses.get(TABLE).map_or(0, Vec::len);
            expect(count as u64 == BATCH_GET, "the batch returns all items")
        }
        Workload::Transact => {
            let put = |number| TransactWriteItem {
                put: Some(TransactPut {
                    table_name: TABLE.to_owned(),
                    item: item(number),
                    condition_expression: Some(workload::IS_NEW.to_owned()),
                    ..TransactPut::default()
                }),
                ..TransactWriteItem::default()
            };
            let update = |number| TransactWriteItem {
                update: Some(TransactUpdate {
                    table_name: TABLE.to_owned(),
                    key: key(number),
                    update_expression: workload::SET_AMOUNT.to_owned(),
                    condition_expression: Some(workload::IS_PENDING.to_owned()),
                    expression_attribute_values: Some(update_values(workload::amount(first, step))),
                    ..TransactUpdate::default()
                }),
                ..TransactWriteItem::default()
            };
            database.transact_write_items(TransactWriteItemsRequest {
                transact_items: vec![
                    put(first + 2 * step),
                    put(first + 2 * step + 1),
                    update(workload::pseudo_random_item(2 * step)),
                    update(workload::pseudo_random_item(2 * step + 1)),
                ],
                ..TransactWriteItemsRequest::default()
            })?;
            Ok(())
        }
    }
}

fn query(step: u64) -> QueryRequest {
    let partition = workload::partition(workload::pseudo_random_item(step) / PAGE);
    QueryRequest {
        table_name: TABLE.to_owned(),
        key_condition_expression: Some(workload::KEY_CONDITION.to_owned()),
        expression_attribute_values: Some(HashMap::from([text(":pk", partition)])),
        scan_index_forward: true,
        ..QueryRequest::default()
    }
}

fn update_values(amount: i64) -> HashMap<String, AttributeValue> {
    let amount = AttributeValue::N(amount.to_string());
    HashMap::from([text(":pending", workload::PENDING.to_owned()), (":amount".to_owned(), amount)])
}

fn text(name: &str, text: String) -> (String, AttributeValue) {
    (name.to_owned(), AttributeValue::S(text))
}

fn fill(database: &Database, first: u64, count: u64) -> Result<(), Failure> {
    in_batches(database, first, count, put)
}

fn clear(database: &Database, first: u64, count: u64) -> Result<(), Failure> {
    in_batches(database, first, count, |number| WriteRequest {
        delete_request: Some(DeleteRequest { key: key(number) }),
        ..WriteRequest::default()
    })
}

fn in_batches(
    database: &Database,
    first: u64,
    count: u64,
    request: impl Fn(u64) -> WriteRequest,
) -> Result<(), Failure> {
    for start in (first..first + count).step_by(BATCH_WRITE as usize) {
        let end = (start + BATCH_WRITE).min(first + count);
        write(database, (start..end).map(&request).collect())?;
    }
    Ok(())
}

fn put(number: u64) -> WriteRequest {
    WriteRequest { put_request: Some(PutRequest { item: item(number) }), ..WriteRequest::default() }
}

fn write(database: &Database, requests: Vec<WriteRequest>) -> Result<(), Failure> {
    let output = database.batch_write_item(BatchWriteItemRequest {
        request_items: HashMap::from([(TABLE.to_owned(), requests)]),
        ..BatchWriteItemRequest::default()
    })?;
    expect(output.unprocessed_items.is_empty(), "the batch has no unprocessed items")
}

fn key(number: u64) -> Item {
    let (partition, sort) = workload::key(number);
    Item::from([text("pk", partition), text("sk", sort)])
}

fn item(number: u64) -> Item {
    workload::item(number).into_iter().map(|(name, plain)| (name.to_owned(), value(plain))).collect()
}

fn value(plain: Plain) -> AttributeValue {
    match plain {
        Plain::Text(text) => AttributeValue::S(text),
        Plain::Number(number) => AttributeValue::N(number.to_string()),
        Plain::Flag(flag) => AttributeValue::BOOL(flag),
        Plain::List(list) => AttributeValue::L(list.into_iter().map(value).collect()),
        Plain::Map(map) => AttributeValue::M(
            map.into_iter().map(|(name, plain)| (name.to_owned(), value(plain))).collect(),
        ),
    }
}

fn expect(holds: bool, what: &str) -> Result<(), Failure> {
    match holds {
        true => Ok(()),
        false => Err(format!("expected that {what}").into()),
    }
}
