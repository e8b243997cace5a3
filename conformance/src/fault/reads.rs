//! Faults of reads of one item, and of the requests of queries and scans.

use tabla_core::env::Timestamp;
use tabla_core::expr::Operand;
use tabla_core::ops::{DescribeTimeToLive, GetItem, GetItemOutput, Page, Query, Scan, Select};
use tabla_core::{Condition, Item, Result, Store, Value, ValueRef};

use super::expressions::{leaves, lowered_query, lowered_scan, map};
use super::{Fault, FaultStore};

impl<S: Store> FaultStore<S> {
    pub(super) async fn faulty_get(&self, request: GetItem) -> Result<GetItemOutput> {
        let (table, key) = (request.table.clone(), request.key.clone());
        let projected = request.projection.is_some();
        let consistent = request.consistent_read;
        let mut answer = self.store.get(request).await?;
        if self.has(Fault::ProjectionAddsKeys) && projected {
            answer.item = answer.item.map(|item| super::writes::merged(&key, &item));
        }
        if self.has(Fault::EmptyProjectionIsMissing) {
            answer.item = answer.item.filter(|item| !item.is_empty());
        }
        if self.has(Fault::ExpiredIsHidden) && self.has_expired(&table, &key).await {
            answer.item = None;
        }
        if self.has(Fault::ConsistencyIsFree)
            && consistent
            && let Some(consumed) = &mut answer.consumed_capacity
        {
            consumed.capacity_units /= 2.0;
        }
        Ok(answer)
    }

    async fn has_expired(&self, table: &str, key: &Item) -> bool {
        let settings = self.store.describe_time_to_live(DescribeTimeToLive::new(table)).await;
        let Some(attribute) = settings.ok().and_then(|settings| settings.attribute) else {
            return false;
        };
        let item = self.current(table, key).await.unwrap_or_default();
        let Some(ValueRef::N(number)) = item.get(&attribute) else { return false };
        let time = number.to_string().parse().map(Timestamp::from_secs);
        time.is_ok_and(|time| time < self.clock.now())
    }

    pub(super) async fn faulty_query(&self, request: Query) -> Result<Page> {
        if self.is_sound() {
            return self.store.query(request).await;
        }
        let Some((mut request, key, filter)) = lowered_query(&request) else {
            return self.store.query(request).await;
        };
        if self.has(Fault::ConsistentIndexRead) && request.index.is_some() {
            request.consistent_read = false;
        }
        if self.has(Fault::DescendingIgnored) {
            request.scan_index_forward = true;
        }
        if self.has(Fault::BoundForgotten) && request.exclusive_start_key.is_some() {
            request.key_condition = Some(map(&key, &without_upper_bound).into());
        }
        if self.has(Fault::PrefixIgnoresCase) {
            let parts = leaves(&key).into_iter().filter(|leaf| prefix(leaf).is_none()).cloned();
            request.key_condition = Condition::all(parts).map(Into::into);
        }
        if self.unfiltered(&filter, request.select, request.projection.is_some()) {
            request.filter = None;
        }
        if self.has(Fault::CursorMustExist) && self.cursor_item_is_missing(&request).await {
            return Ok(Page::default());
        }
        let mut page = if self.has(Fault::LimitAfterFilter) {
            self.full_page(&request).await?
        } else {
            self.store.query(request.clone()).await?
        };
        if self.has(Fault::PrefixIgnoresCase) {
            let matches = |item: &Item| leaves(&key).into_iter().all(|leaf| has_prefix(leaf, item));
            page.items.retain(matches);
        }
        if self.has(Fault::UpperBoundExcluded) {
            page.items
                .retain(|item| !leaves(&key).into_iter().any(|leaf| at_upper_bound(leaf, item)));
        }
        let (table, index) = (&request.table, request.index.as_deref());
        let start = request.exclusive_start_key.as_ref();
        self.spoil_page(table, index, Some(&key), filter.as_ref(), start, &mut page).await;
        Ok(page)
    }

    pub(super) async fn faulty_scan(&self, request: Scan) -> Result<Page> {
        if self.is_sound() {
            return self.store.scan(request).await;
        }
        let Some((mut request, filter)) = lowered_scan(&request) else {
            return self.store.scan(request).await;
        };
        if self.has(Fault::ConsistentIndexRead) && request.index.is_some() {
            request.consistent_read = false;
        }
        let is_segment = request.segment.is_some();
        if self.has(Fault::SegmentsOverlap) {
            (request.segment, request.total_segments) = (None, None);
        }
        if self.unfiltered(&filter, request.select, request.projection.is_some()) {
            request.filter = None;
        }
        let mut page = self.store.scan(request.clone()).await?;
        if self.has(Fault::SegmentsLoseItems) && is_segment {
            page.items.pop();
            page.count = page.items.len();
        }
        let (table, index) = (&request.table, request.index.as_deref());
        let start = request.exclusive_start_key.as_ref();
        self.spoil_page(table, index, None, filter.as_ref(), start, &mut page).await;
        Ok(page)
    }

    /// Whether the fault evaluates the filter instead of the store, which must then return
    /// whole items.
    fn unfiltered(
        &self,
        filter: &Option<Condition>,
        select: Option<Select>,
        projected: bool,
    ) -> bool {
        self.condition_fault().is_some()
            && filter.is_some()
            && select != Some(Select::Count)
            && !projected
    }

    /// Reads items until the page has as many that passed the filter as the limit says.
    async fn full_page(&self, request: &Query) -> Result<Page> {
        let Some(limit) = request.limit else { return self.store.query(request.clone()).await };
        let mut all = Page::default();
        let mut next = request.clone().limit(1);
        while all.count < limit as usize {
            let page = self.store.query(next.clone()).await?;
            all.count += page.count;
            all.scanned_count += page.scanned_count;
            all.items.extend(page.items);
            all.last_evaluated_key = page.last_evaluated_key.clone();
            next.exclusive_start_key = page.last_evaluated_key;
            if next.exclusive_start_key.is_none() {
                break;
            }
        }
        Ok(all)
    }

    /// Whether the item named by the start key does not exist.
    async fn cursor_item_is_missing(&self, request: &Query) -> bool {
        let Some(start) = &request.exclusive_start_key else { return false };
        let key = self.key_of(&request.table, start).await;
        self.current(&request.table, &key).await.is_none()
    }
}

fn without_upper_bound(leaf: &Condition) -> Condition {
    match leaf {
        Condition::Between { value: Operand::Path(path), low, .. } => path.clone().ge(low.clone()),
        other => other.clone(),
    }
}

/// Attribute and prefix of a `begins_with`.
fn prefix(leaf: &Condition) -> Option<(&tabla_core::Path, &str)> {
    match leaf {
        Condition::BeginsWith(Operand::Path(path), Operand::Value(Value::S(prefix))) => {
            Some((path, prefix))
        }
        _ => None,
    }
}

fn has_prefix(leaf: &Condition, item: &Item) -> bool {
    prefix(leaf).is_none_or(|(path, prefix)| {
        let text = path.resolve(item).and_then(|value| value.as_str());
        text.is_some_and(|text| text.to_lowercase().starts_with(&prefix.to_lowercase()))
    })
}

fn at_upper_bound(leaf: &Condition, item: &Item) -> bool {
    match leaf {
        Condition::Between { value: Operand::Path(path), high: Operand::Value(high), .. } => {
            path.resolve(item).is_some_and(|value| value.to_value() == *high)
        }
        _ => false,
    }
}
