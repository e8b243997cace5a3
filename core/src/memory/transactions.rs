//! Several reads or writes that happen together or not at all.

use std::collections::BTreeMap;

use super::State;
use crate::Item;
use crate::engine::{Arm, Effect, Fault, GetPlan, Meter, WritePlan, read_units, transact};
use crate::env::{Env, Timestamp};
use crate::error::Result;
use crate::ops::*;

/// A transaction that was carried out under a client request token.
pub(super) struct Token {
    fingerprint: u128,
    completed_at: Timestamp,
}

impl State {
    pub(super) fn transact_get(&self, request: TransactGetItems) -> Result<TransactGetItemsOutput> {
        transact::check_get(&request)?;
        for get in &request.items {
            self.table(&get.table)?;
        }
        let plans = request
            .items
            .iter()
            .map(|get| GetPlan::new(get, self.table(&get.table)?.schema()))
            .collect();
        let plans: Vec<GetPlan> = transact::gather(plans)?;
        let tables = request.items.iter().map(|get| get.table.as_str());
        transact::check_distinct(tables.zip(plans.iter().map(|plan| &plan.position)))?;

        let mut meters: BTreeMap<&str, Meter> = BTreeMap::new();
        let mut found: Vec<Option<&Item>> = Vec::new();
        for (get, plan) in request.items.iter().zip(&plans) {
            let rows = self.table(&get.table)?;
            let item = rows.items.get(&plan.position);
            let size = item.map_or(0, |item| item.size());
            let meter = meters.entry(rows.name()).or_default();
            meter.read(Arm::Table, 2.0 * read_units(size, true));
            found.push(item);
        }
        transact::check_answer_size(found.iter().copied().flatten())?;
        Ok(TransactGetItemsOutput {
            responses: found
                .into_iter()
                .zip(&plans)
                .map(|(item, plan)| item.map(|item| plan.answer(item.clone())))
                .collect(),
            consumed_capacity: self.report(&meters, request.return_consumed_capacity),
        })
    }

    pub(super) fn transact_write(
        &mut self,
        request: TransactWriteItems,
        env: &Env,
    ) -> Result<TransactWriteItemsOutput> {
        transact::check_write(&request)?;
        let tables: Vec<String> = request
            .items
            .iter()
            .map(|item| Ok(self.table(transact::table_of(item))?.name().to_owned()))
            .collect::<Result<_>>()?;
        let fingerprint = transact::fingerprint(&request);
        let plans: Vec<Result<WritePlan, Fault>> = request
            .items
            .into_iter()
            .zip(&tables)
            .map(|(item, table)| match transact::plan(item, self.tables[table].schema()) {
                Err(Fault::Request(error)) => Err(error),
                plan => Ok(plan),
            })
            .collect::<Result<_>>()?;
        let placed = plans.iter().zip(&tables).filter_map(|(plan, table)| {
            plan.as_ref().ok().map(|plan| (table.as_str(), plan.position()))
        });
        transact::check_distinct(placed)?;

        let now = env.clock.now();
        self.tokens.retain(|_, token| now.since(token.completed_at) < transact::TOKEN_LIFETIME);
        if let Some(token) = &request.client_request_token
            && let Some(known) = self.tokens.get(token)
        {
            if known.fingerprint != fingerprint {
                return Err(transact::token_mismatch());
            }
            let plans = transact::gather(plans)?;
            return Ok(self.replayed(&tables, &plans, request.return_consumed_capacity));
        }

        // Every operation is judged against the state before the transaction, and all that fail
        // are reported.
        let judged: Vec<Result<(WritePlan, Effect), Fault>> = plans
            .into_iter()
            .zip(&tables)
            .map(|(plan, table)| {
                let plan = plan?;
                let rows = &self.tables[table];
                let old = rows.items.get(plan.position()).cloned();
                let effect = plan.evaluate(rows.schema(), old)?;
                Ok((plan, effect))
            })
            .collect();
        let judged = transact::gather(judged)?;

        let mut output = TransactWriteItemsOutput::default();
        let mut meters: BTreeMap<&str, Meter> = BTreeMap::new();
        for (table, (plan, effect)) in tables.iter().zip(&judged) {
            let meter = meters.entry(table).or_default();
            if plan.is_check() {
                meter.check(effect.old.as_ref());
                continue;
            }
            let changes = self.apply(table, plan, effect, env);
            meter.write(effect.old.as_ref(), effect.new.as_ref(), &changes, true);
            let metrics = self.tables[table].metrics(plan, request.return_item_collection_metrics);
            if let Some(metrics) = metrics {
                output.item_collection_metrics.entry(table.clone()).or_default().push(metrics);
            }
        }
        output.consumed_capacity = self.report(&meters, request.return_consumed_capacity);
        if let Some(token) = request.client_request_token {
            self.tokens.insert(token, Token { fingerprint, completed_at: now });
        }
        Ok(output)
    }

    /// The answer to a transaction that was carried out before: it only costs the reading of its
    /// items.
    fn replayed(
        &self,
        tables: &[String],
        plans: &[WritePlan],
        wanted: ReturnConsumedCapacity,
    ) -> TransactWriteItemsOutput {
        let mut meters: BTreeMap<&str, Meter> = BTreeMap::new();
        for (table, plan) in tables.iter().zip(plans) {
            let item = self.tables[table].items.get(plan.position());
            let units = 2.0 * read_units(item.map_or(0, |item| item.size()), true);
            meters.entry(table).or_default().read(Arm::Table, units);
        }
        TransactWriteItemsOutput {
            consumed_capacity: self.report(&meters, wanted),
            ..TransactWriteItemsOutput::default()
        }
    }

    fn report(
        &self,
        meters: &BTreeMap<&str, Meter>,
        wanted: ReturnConsumedCapacity,
    ) -> Vec<ConsumedCapacity> {
        meters
            .iter()
            .filter_map(|(table, meter)| {
                meter.report_transaction(table, self.tables[*table].schema(), wanted)
            })
            .collect()
    }
}
