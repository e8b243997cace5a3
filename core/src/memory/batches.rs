//! Many independent reads or writes in one call.

use std::collections::BTreeMap;

use super::State;
use crate::engine::{Arm, GetPlan, Meter, WritePlan, batch, read_units};
use crate::env::Env;
use crate::error::Result;
use crate::limits;
use crate::ops::*;

impl State {
    pub(super) fn batch_get(&self, request: BatchGetItem) -> Result<BatchGetItemOutput> {
        batch::check_get(&request)?;
        for table in request.requests.keys() {
            self.table(table)?;
        }
        let plans: Vec<Vec<GetPlan>> = request
            .requests
            .iter()
            .map(|(table, reads)| Ok(GetPlan::batch(reads, self.table(table)?.schema())?))
            .collect::<Result<_>>()?;

        let mut output = BatchGetItemOutput::default();
        let mut bytes = 0;
        for ((table, reads), plans) in request.requests.into_iter().zip(plans) {
            let rows = self.table(&table)?;
            let mut meter = Meter::default();
            let mut unprocessed = KeysAndAttributes { keys: Vec::new(), ..reads.clone() };
            let found = output.responses.entry(table.clone()).or_default();
            for (key, plan) in reads.keys.into_iter().zip(plans) {
                let item = rows.items.get(&plan.position);
                let size = item.map_or(0, |item| item.size());
                if bytes + size > limits::BATCH_GET_SIZE {
                    unprocessed.keys.push(key);
                    continue;
                }
                bytes += size;
                meter.read(Arm::Table, read_units(size, reads.consistent_read));
                found.extend(item.map(|item| plan.answer(item.clone())));
            }
            if !unprocessed.keys.is_empty() {
                output.unprocessed_keys.insert(table, unprocessed);
            }
            let wanted = request.return_consumed_capacity;
            output.consumed_capacity.extend(meter.report(rows.name(), rows.schema(), wanted));
        }
        Ok(output)
    }

    pub(super) fn batch_write(
        &mut self,
        request: BatchWriteItem,
        env: &Env,
    ) -> Result<BatchWriteItemOutput> {
        batch::check_write(&request)?;
        for table in request.requests.keys() {
            self.table(table)?;
        }
        let mut plans: BTreeMap<String, Vec<WritePlan>> = BTreeMap::new();
        for (table, writes) in request.requests {
            let rows = self.table(&table)?;
            plans.insert(rows.name().to_owned(), batch::plan_writes(writes, rows.schema())?);
        }

        let mut output = BatchWriteItemOutput::default();
        for (table, plans) in plans {
            let mut meter = Meter::default();
            for plan in plans {
                let rows = &self.tables[&table];
                let old = rows.items.get(plan.position()).cloned();
                let effect = plan.evaluate(rows.schema(), old)?;
                let changes = self.apply(&table, &plan, &effect, env);
                meter.write(effect.old.as_ref(), effect.new.as_ref(), &changes, false);
                let metrics =
                    self.tables[&table].metrics(&plan, request.return_item_collection_metrics);
                if let Some(metrics) = metrics {
                    output.item_collection_metrics.entry(table.clone()).or_default().push(metrics);
                }
            }
            let wanted = request.return_consumed_capacity;
            let rows = &self.tables[&table];
            output.consumed_capacity.extend(meter.report(&table, rows.schema(), wanted));
        }
        Ok(output)
    }
}
