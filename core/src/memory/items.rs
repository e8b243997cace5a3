//! Reading and writing one item.

use super::State;
use crate::engine::{Arm, GetPlan, Meter, WritePlan, read_units};
use crate::env::Env;
use crate::error::Result;
use crate::ops::*;

impl State {
    pub(super) fn get(&self, request: GetItem) -> Result<GetItemOutput> {
        let rows = self.table(&request.table)?;
        let plan = GetPlan::new(&request, rows.schema())?;
        let item = rows.items.get(&plan.position);
        let mut meter = Meter::default();
        let size = item.map_or(0, |item| item.size());
        meter.read(Arm::Table, read_units(size, request.consistent_read));
        Ok(GetItemOutput {
            item: item.map(|item| plan.answer(item.clone())),
            consumed_capacity: meter.report(
                rows.name(),
                rows.schema(),
                request.return_consumed_capacity,
            ),
        })
    }

    pub(super) fn put(&mut self, request: PutItem, env: &Env) -> Result<WriteOutput> {
        let rows = self.table(&request.table)?;
        let wanted = Wanted {
            capacity: request.return_consumed_capacity,
            metrics: request.return_item_collection_metrics,
        };
        let name = rows.name().to_owned();
        let plan = WritePlan::put(request, rows.schema())?;
        self.write(&name, &plan, wanted, env)
    }

    pub(super) fn update(&mut self, request: UpdateItem, env: &Env) -> Result<WriteOutput> {
        let rows = self.table(&request.table)?;
        let wanted = Wanted {
            capacity: request.return_consumed_capacity,
            metrics: request.return_item_collection_metrics,
        };
        let name = rows.name().to_owned();
        let plan = WritePlan::update(request, rows.schema())?;
        self.write(&name, &plan, wanted, env)
    }

    pub(super) fn delete(&mut self, request: DeleteItem, env: &Env) -> Result<WriteOutput> {
        let rows = self.table(&request.table)?;
        let wanted = Wanted {
            capacity: request.return_consumed_capacity,
            metrics: request.return_item_collection_metrics,
        };
        let name = rows.name().to_owned();
        let plan = WritePlan::delete(request, rows.schema())?;
        self.write(&name, &plan, wanted, env)
    }

    /// Judges the write against the present item, carries it out, and answers.
    fn write(
        &mut self,
        table: &str,
        plan: &WritePlan,
        wanted: Wanted,
        env: &Env,
    ) -> Result<WriteOutput> {
        let rows = &self.tables[table];
        let old = rows.items.get(plan.position()).cloned();
        let effect = plan.evaluate(rows.schema(), old)?;
        let changes = self.apply(table, plan, &effect, env);

        let rows = &self.tables[table];
        let mut meter = Meter::default();
        meter.write(effect.old.as_ref(), effect.new.as_ref(), &changes, false);
        Ok(WriteOutput {
            attributes: plan.attributes(&effect),
            consumed_capacity: meter.report(table, rows.schema(), wanted.capacity),
            item_collection_metrics: rows.metrics(plan, wanted.metrics),
        })
    }
}

impl super::Rows {
    /// The metrics of the item collection that a write touched, if they are wanted.
    pub(super) fn metrics(
        &self,
        plan: &WritePlan,
        wanted: ReturnItemCollectionMetrics,
    ) -> Option<ItemCollectionMetrics> {
        match wanted {
            ReturnItemCollectionMetrics::None => None,
            ReturnItemCollectionMetrics::Size => {
                plan.item_collection_metrics(self.schema(), self.collection_size(plan.position()))
            }
        }
    }
}

/// What a write is to return besides attributes.
struct Wanted {
    capacity: ReturnConsumedCapacity,
    metrics: ReturnItemCollectionMetrics,
}
