//! What the patterns of all apps cost.

use std::sync::Arc;

use tabla::MemoryStore;
use tabla::entity::{Db, Operation};

use crate::all;

/// The items of the apps have less than 1 KB, so that a write costs what its pattern declares:
/// less, if an entity that need not be in an index is not.
#[tokio::test]
async fn writes_cost_what_their_patterns_declare() {
    for app in all() {
        let design = app.design();
        let db = Db::new(Arc::new(MemoryStore::new()));
        for ran in tabla_kit::check(&*app, &db).await.expect("the app is sound") {
            let name = ran.pattern.name;
            let calls = ran.pattern.calls().expect("it is declared well");
            let declared = calls.iter().filter(|call| !call.writes.is_empty());
            let measured = ran.traces.iter().filter(|trace| is_write(trace.operation));
            for (call, trace) in declared.zip(measured) {
                let declared = call.units(&design, 1024, 25);
                assert!(trace.units <= declared, "{name}: {} of {declared}", trace.units);
                let is_open = call.writes.iter().any(|write| {
                    let mut fields = write.entity.fields.iter().filter(|field| field.optional);
                    let is_key = |name| write.entity.indexes.iter().any(|keys| keys.has(name));
                    write.is_each || fields.any(|field| is_key(field.name))
                });
                let is_transaction = call.operation == Operation::TransactWriteItems;
                if is_transaction && !is_open {
                    assert_eq!(trace.units, declared, "{}: {name}", design.name);
                }
            }
        }
    }
}

fn is_write(operation: Operation) -> bool {
    use Operation::{BatchWriteItem, DeleteItem, PutItem, TransactWriteItems, UpdateItem};
    matches!(operation, PutItem | UpdateItem | DeleteItem | BatchWriteItem | TransactWriteItems)
}
