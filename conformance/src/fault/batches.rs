//! Faults of batches, and batches with unprocessed items.

use std::collections::BTreeMap;

use tabla_core::ops::{
    BatchGetItem, BatchGetItemOutput, BatchWriteItem, BatchWriteItemOutput, KeysAndAttributes,
    WriteRequest,
};
use tabla_core::{Item, Result, Store, assign};

use super::failure::throttled;
use super::writes::merged;
use super::{Fault, FaultStore};

impl<S: Store> FaultStore<S> {
    /// Reads a batch except its last `left` keys, which it returns as unprocessed. A batch of which
    /// no key is processed is throttled, as on DynamoDB.
    pub(super) async fn faulty_batch_get(
        &self,
        mut request: BatchGetItem,
        left: usize,
    ) -> Result<BatchGetItemOutput> {
        if self.has(Fault::BatchReadsTwice) {
            request.requests.values_mut().for_each(|reads| dedup(&mut reads.keys));
        }
        let mut unprocessed: BTreeMap<String, KeysAndAttributes> = BTreeMap::new();
        let mut still = left;
        for (table, reads) in request.requests.iter_mut().rev() {
            let keys = take_last(&mut reads.keys, &mut still);
            if !keys.is_empty() {
                unprocessed.insert(table.clone(), assign!(reads.clone(), { keys }));
            }
        }
        request
            .requests
            .retain(|table, reads| !(reads.keys.is_empty() && unprocessed.contains_key(table)));
        if request.requests.is_empty() && !unprocessed.is_empty() {
            return Err(throttled());
        }
        let mut answer = self.store.batch_get(request).await?;
        for (table, reads) in unprocessed {
            match answer.unprocessed_keys.get_mut(&table) {
                Some(more) => more.keys.extend(reads.keys),
                None => drop(answer.unprocessed_keys.insert(table, reads)),
            }
        }
        Ok(answer)
    }

    /// Executes the writes of a batch except the last `left`, which it returns as unprocessed.
    pub(super) async fn faulty_batch_write(
        &self,
        mut request: BatchWriteItem,
        left: usize,
    ) -> Result<BatchWriteItemOutput> {
        for (table, writes) in &mut request.requests {
            if self.has(Fault::BatchWritesTwice) {
                *writes = self.last_of_each_key(table, writes).await;
            }
            if self.has(Fault::PutMerges) {
                self.merge_puts(table, writes).await;
            }
        }
        let mut unprocessed: BTreeMap<String, Vec<WriteRequest>> = BTreeMap::new();
        let mut still = left;
        for (table, writes) in request.requests.iter_mut().rev() {
            let taken = take_last(writes, &mut still);
            if !taken.is_empty() {
                unprocessed.insert(table.clone(), taken);
            }
        }
        request
            .requests
            .retain(|table, writes| !(writes.is_empty() && unprocessed.contains_key(table)));
        if request.requests.is_empty() && !unprocessed.is_empty() {
            return Err(throttled());
        }
        let mut answer = self.store.batch_write(request).await?;
        for (table, writes) in unprocessed {
            answer.unprocessed_items.entry(table).or_default().extend(writes);
        }
        Ok(answer)
    }

    async fn last_of_each_key(&self, table: &str, writes: &[WriteRequest]) -> Vec<WriteRequest> {
        let mut last: Vec<(Item, WriteRequest)> = Vec::new();
        for write in writes {
            let key = match write {
                WriteRequest::Put(item) => self.key_of(table, item).await,
                WriteRequest::Delete(key) => key.clone(),
            };
            last.retain(|(known, _)| *known != key);
            last.push((key, write.clone()));
        }
        last.into_iter().map(|(_, write)| write).collect()
    }

    async fn merge_puts(&self, table: &str, writes: &mut [WriteRequest]) {
        for write in writes {
            let WriteRequest::Put(item) = write else { continue };
            let key = self.key_of(table, item).await;
            if let Some(old) = self.current(table, &key).await {
                *item = merged(&old, item);
            }
        }
    }
}

fn dedup(keys: &mut Vec<Item>) {
    let mut seen: Vec<Item> = Vec::new();
    keys.retain(|key| {
        let is_new = !seen.contains(key);
        seen.push(key.clone());
        is_new
    });
}

/// Removes up to `wanted` elements from the end of a list, and counts them off.
fn take_last<T>(list: &mut Vec<T>, wanted: &mut usize) -> Vec<T> {
    let taken = list.split_off(list.len().saturating_sub(*wanted));
    *wanted -= taken.len();
    taken
}
