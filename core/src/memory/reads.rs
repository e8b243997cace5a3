//! Reading a page of a table or index.

use super::{Rows, State};
use crate::engine::{PageBuilder, Position, ReadPlan, Source};
use crate::error::Result;
use crate::ops::*;

impl State {
    pub(super) fn query(&self, request: &Query) -> Result<Page> {
        let rows = self.table(&request.table)?;
        let plan = ReadPlan::query(request, rows.schema())?;
        Ok(rows.page(&plan, request.return_consumed_capacity))
    }

    pub(super) fn scan(&self, request: &Scan) -> Result<Page> {
        let rows = self.table(&request.table)?;
        let plan = ReadPlan::scan(request, rows.schema())?;
        Ok(rows.page(&plan, request.return_consumed_capacity))
    }
}

impl Rows {
    fn page(&self, plan: &ReadPlan, wanted: ReturnConsumedCapacity) -> Page {
        let mut page = PageBuilder::new(plan, self.schema());
        if plan.is_void() {
            return page.finish(false, self.name(), wanted);
        }
        let source = match plan.source {
            Source::Table => &self.items,
            Source::Index(number) => &self.indexes[&self.schema().indexes[number].name],
        };
        let range = source.range(plan.span.bounds());
        let in_order: Box<dyn Iterator<Item = _>> =
            if plan.reverse { Box::new(range.rev()) } else { Box::new(range) };
        for (_, item) in in_order {
            if page.is_full() {
                return page.finish(true, self.name(), wanted);
            }
            let fetched = plan.fetch.then(|| {
                let position = Position::of_stored(self.schema(), item);
                self.items[&position].clone()
            });
            page.push(item.clone(), fetched);
        }
        page.finish(false, self.name(), wanted)
    }
}
