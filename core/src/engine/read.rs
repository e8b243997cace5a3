//! Reading a page of a table or index.

use std::ops::Bound;

use super::Position;
use super::paths::check_keys_are_scalars;
use super::position::{LONG_PARTITION, LONG_SORT, empty_index_key, empty_key, empty_kind};
use super::write::{check_placeholders_have_use, given};
use crate::error::{Error, Result};
use crate::expr::{
    Condition, ExpressionKind, KeyQuery, KeySpec, Placeholders, Projection, SortRange,
};
use crate::key::{KeyType, encoding};
use crate::limits;
use crate::ops::{ProjectionType, Query, Scan, Select};
use crate::schema::{IndexKind, IndexSchema, KeyAttribute, Table, TableSchema};
use crate::{Item, Value};

/// A query or scan that has been checked against its table.
#[derive(Clone, Debug)]
pub struct ReadPlan {
    /// Which rows to read.
    pub source: Source,
    /// From where to where.
    pub span: Span,
    /// Whether to read from the end.
    pub reverse: bool,
    /// Whether each row needs its item of the table too, because a local index does not carry
    /// all that is asked for.
    pub fetch: bool,
    /// Whether the read sees every write answered before it.
    pub consistent: bool,
    pub(super) limit: Option<usize>,
    pub(super) filter: Option<Condition>,
    pub(super) projection: Option<Projection>,
    pub(super) count_only: bool,
}

/// The rows that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Those of the table.
    Table,
    /// Those of an index, by its place in [`TableSchema::indexes`].
    Index(usize),
}

/// A range of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Rows of one partition, between two sort keys.
    Partition {
        /// The hash of the partition key.
        hash: u64,
        /// The encoded partition key.
        partition: Vec<u8>,
        /// Where in the partition to begin.
        lower: Bound<Vec<u8>>,
        /// Where in the partition to end.
        upper: Bound<Vec<u8>>,
    },
    /// Rows of all partitions whose hash lies between two values.
    Hashes {
        /// The first hash.
        first: u64,
        /// The last hash.
        last: u64,
        /// Begin after this row.
        after: Option<Position>,
    },
}

impl Span {
    /// The range as bounds on positions.
    pub fn bounds(&self) -> (Bound<Position>, Bound<Position>) {
        match self {
            Self::Partition { hash, partition, lower, upper } => {
                let at =
                    |sort: Vec<u8>| Position { hash: *hash, partition: partition.clone(), sort };
                let lower = match lower {
                    Bound::Unbounded => Bound::Included(at(Vec::new())),
                    bound => bound.clone().map(at),
                };
                let upper = match upper {
                    // The next partition that could exist: the same bytes and a zero.
                    Bound::Unbounded => {
                        let mut next = at(Vec::new());
                        next.partition.push(0);
                        Bound::Excluded(next)
                    }
                    bound => bound.clone().map(at),
                };
                (lower, upper)
            }
            Self::Hashes { first, last, after } => {
                let start = |hash| Position { hash, partition: Vec::new(), sort: Vec::new() };
                let lower = match after {
                    Some(position) => Bound::Excluded(position.clone()),
                    None => Bound::Included(start(*first)),
                };
                let upper = match last.checked_add(1) {
                    Some(next) => Bound::Excluded(start(next)),
                    None => Bound::Unbounded,
                };
                (lower, upper)
            }
        }
    }

    /// Whether nothing can lie in the range.
    fn is_void(&self) -> bool {
        let Self::Partition { lower, upper, .. } = self else { return false };
        match (lower, upper) {
            (Bound::Included(lower), Bound::Included(upper)) => lower > upper,
            (
                Bound::Included(lower) | Bound::Excluded(lower),
                Bound::Included(upper) | Bound::Excluded(upper),
            ) => lower >= upper,
            _ => false,
        }
    }

    fn contains_sort(&self, sort: &[u8]) -> bool {
        let Self::Partition { lower, upper, .. } = self else { return true };
        let above = match lower {
            Bound::Unbounded => true,
            Bound::Included(lower) => sort >= lower.as_slice(),
            Bound::Excluded(lower) => sort > lower.as_slice(),
        };
        let below = match upper {
            Bound::Unbounded => true,
            Bound::Included(upper) => sort <= upper.as_slice(),
            Bound::Excluded(upper) => sort < upper.as_slice(),
        };
        above && below
    }
}

impl ReadPlan {
    /// Plans a query.
    pub fn query(request: &Query, table: &Table) -> Result<Self> {
        let schema = &table.schema;
        let limit = check_limit(request.limit)?;
        let (source, index) = find_index(table, request.index.as_deref())?;
        let expressions = [
            given("FilterExpression", request.filter.is_some()),
            given("KeyConditionExpression", request.key_condition.is_some()),
        ];
        check_placeholders_have_use(
            &request.names,
            &request.values,
            request.projection.is_some(),
            &expressions,
        )?;
        let Some(key_condition) = &request.key_condition else {
            return Err(Error::validation(
                "Either the KeyConditions or KeyConditionExpression parameter must be specified \
                 in the request.",
            ));
        };
        let mut placeholders = Placeholders::new(&request.names, &request.values)?;
        let filter = request
            .filter
            .as_ref()
            .map(|filter| placeholders.condition(ExpressionKind::Filter, filter))
            .transpose()?;
        let projection = request
            .projection
            .as_ref()
            .map(|projection| placeholders.projection(projection))
            .transpose()?;
        let key_condition = placeholders.condition(ExpressionKind::KeyCondition, key_condition)?;
        placeholders.finish()?;
        check_inside(schema, filter.as_ref(), projection.as_ref())?;
        check_keys_are_scalars(schema, key_condition.paths())?;
        let select = resolve_select(request.select, projection.is_some(), index)?;
        check_consistent(request.consistent_read, index)?;

        let (partition, sort) = key_attributes(schema, index);
        let key_query = key_condition.to_key_query(&KeySpec {
            partition: &name_and_type(&partition),
            sort: &name_and_type(&sort),
        })?;
        check_key_values(&key_query, index, &partition, &sort)?;
        let mut span = span_of(&key_query);
        if let Some(start) = &request.exclusive_start_key {
            let position = match index {
                Some(index) => start_in_index(schema, index, start)?,
                None => start_in_table(schema, start)?,
            };
            span = resume(span, position, &key_query, request.scan_index_forward)?;
        }
        if let Some(filter) = &filter {
            check_filter_has_no_key(filter, &partition, &sort)?;
        }
        let fetch =
            check_carried(schema, index, select, projection.as_ref(), filter.as_ref(), false)?;
        Ok(Self {
            source,
            span,
            reverse: !request.scan_index_forward,
            fetch,
            consistent: request.consistent_read,
            limit,
            filter,
            projection,
            count_only: select == Select::Count,
        })
    }

    /// Plans a scan.
    pub fn scan(request: &Scan, table: &Table) -> Result<Self> {
        let schema = &table.schema;
        let limit = check_limit(request.limit)?;
        let (source, index) = find_index(table, request.index.as_deref())?;
        check_consistent(request.consistent_read, index)?;
        let expressions = [given("FilterExpression", request.filter.is_some())];
        check_placeholders_have_use(
            &request.names,
            &request.values,
            request.projection.is_some(),
            &expressions,
        )?;
        let mut placeholders = Placeholders::new(&request.names, &request.values)?;
        let filter = request
            .filter
            .as_ref()
            .map(|filter| placeholders.condition(ExpressionKind::Filter, filter))
            .transpose()?;
        let projection = request
            .projection
            .as_ref()
            .map(|projection| placeholders.projection(projection))
            .transpose()?;
        placeholders.finish()?;
        let select = resolve_select(request.select, projection.is_some(), index)?;
        let (first, last) = segment(request.segment, request.total_segments)?;
        check_inside(schema, filter.as_ref(), projection.as_ref())?;
        let after = request
            .exclusive_start_key
            .as_ref()
            .map(|start| match index {
                Some(index) => start_in_index(schema, index, start),
                None => {
                    let attributes: Vec<&KeyAttribute> = schema.key_attributes().collect();
                    check_start(start, attributes.len(), &attributes)
                        .map_err(|_| start_mismatch())?;
                    start_in_table(schema, start)
                }
            })
            .transpose()?;
        if after.as_ref().is_some_and(|after| after.hash < first || after.hash > last) {
            return Err(Error::validation(format!(
                "{INVALID_START}: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with \
                 correct Segment. TotalSegments: {} Segment: {}",
                request.total_segments.unwrap_or(1),
                request.segment.unwrap_or(0)
            )));
        }
        let fetch =
            check_carried(schema, index, select, projection.as_ref(), filter.as_ref(), true)?;
        Ok(Self {
            source,
            span: Span::Hashes { first, last, after },
            reverse: false,
            fetch,
            consistent: request.consistent_read,
            limit,
            filter,
            projection,
            count_only: select == Select::Count,
        })
    }

    /// Whether no row can lie in the range, so that none need be read.
    pub fn is_void(&self) -> bool {
        self.span.is_void()
    }

    /// The index that is read, if it is not the table.
    pub fn index<'a>(&self, schema: &'a TableSchema) -> Option<&'a IndexSchema> {
        match self.source {
            Source::Table => None,
            Source::Index(number) => Some(&schema.indexes[number]),
        }
    }

    /// How many rows the request wants at most.
    pub fn limit(&self) -> Option<usize> {
        self.limit
    }
}

fn check_limit(limit: Option<i32>) -> Result<Option<usize>> {
    let Some(limit) = limit else { return Ok(None) };
    match usize::try_from(limit) {
        Ok(limit) if limit > 0 => Ok(Some(limit)),
        _ => Err(Error::validation(format!(
            "1 validation error detected: Value '{limit}' at 'limit' failed to satisfy \
             constraint: Member must have value greater than or equal to 1"
        ))),
    }
}

fn find_index<'a>(
    table: &'a Table,
    name: Option<&str>,
) -> Result<(Source, Option<&'a IndexSchema>)> {
    let Some(name) = name else { return Ok((Source::Table, None)) };
    let index = table.index_to_read(name)?;
    let number = table.schema.indexes.iter().position(|other| other.name == index.name);
    Ok((Source::Index(number.expect("it was just found")), Some(index)))
}

fn check_consistent(consistent: bool, index: Option<&IndexSchema>) -> Result<()> {
    if consistent && index.is_some_and(|index| index.kind == IndexKind::Global) {
        return Err(Error::validation(
            "Consistent reads are not supported on global secondary indexes",
        ));
    }
    Ok(())
}

fn resolve_select(
    select: Option<Select>,
    has_projection: bool,
    index: Option<&IndexSchema>,
) -> Result<Select> {
    let refuse = |what: &str| {
        Err(Error::validation(format!(
            "Cannot specify the ProjectionExpression when choosing to get {what}"
        )))
    };
    match (select, has_projection) {
        (None, true) | (Some(Select::SpecificAttributes), true) => Ok(Select::SpecificAttributes),
        (Some(Select::Count), true) => refuse("only the Count"),
        (Some(Select::AllAttributes), true) => refuse("ALL_ATTRIBUTES"),
        (Some(Select::AllProjectedAttributes), true) => refuse("ALL_PROJECTED_ATTRIBUTES"),
        (Some(Select::SpecificAttributes), false) => Err(Error::validation(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get \
             SPECIFIC_ATTRIBUTES",
        )),
        (Some(Select::AllProjectedAttributes), false) if index.is_none() => Err(Error::validation(
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        )),
        (Some(select), false) => Ok(select),
        (None, false) if index.is_some() => Ok(Select::AllProjectedAttributes),
        (None, false) => Ok(Select::AllAttributes),
    }
}

/// The key attributes of what is read: those of the index, or of the table.
fn key_attributes(
    schema: &TableSchema,
    index: Option<&IndexSchema>,
) -> (Vec<KeyAttribute>, Vec<KeyAttribute>) {
    match index {
        Some(index) => (index.partition.clone(), index.sort.clone()),
        None => (vec![schema.partition.clone()], schema.sort.iter().cloned().collect()),
    }
}

fn name_and_type(attributes: &[KeyAttribute]) -> Vec<(String, KeyType)> {
    attributes.iter().map(|attribute| (attribute.name.clone(), attribute.kind)).collect()
}

fn check_key_values(
    query: &KeyQuery,
    index: Option<&IndexSchema>,
    partition: &[KeyAttribute],
    sort: &[KeyAttribute],
) -> Result<()> {
    let range: Vec<&Value> = match &query.sort_range {
        None => Vec::new(),
        Some(SortRange::Between(low, high)) => vec![low, high],
        Some(
            SortRange::Less(value)
            | SortRange::AtMost(value)
            | SortRange::Greater(value)
            | SortRange::AtLeast(value)
            | SortRange::BeginsWith(value),
        ) => vec![value],
    };
    let last = sort.get(query.sort_prefix.len());
    let of_range = range.iter().filter_map(|value| last.map(|attribute| (attribute, *value)));
    let pairs = partition
        .iter()
        .zip(&query.partition)
        .chain(sort.iter().zip(&query.sort_prefix))
        .chain(of_range);
    for (attribute, value) in pairs {
        if let Some(kind) = empty_kind(value.as_ref()) {
            return Err(match index {
                Some(index) => empty_index_key(kind, &index.name, &attribute.name),
                None => empty_key(kind, &attribute.name),
            });
        }
    }
    let size = |values: &[Value]| values.iter().map(Value::size).sum::<usize>();
    if size(&query.partition) > limits::PARTITION_KEY_SIZE {
        return Err(Error::validation(LONG_PARTITION));
    }
    let longest = range.iter().map(|value| value.size()).max().unwrap_or(0);
    if size(&query.sort_prefix) + longest > limits::SORT_KEY_SIZE {
        return Err(Error::validation(LONG_SORT));
    }
    Ok(())
}

/// The rows that a key condition names, as a range of bytes.
fn span_of(query: &KeyQuery) -> Span {
    let encode = |value: &Value, out: &mut Vec<u8>| {
        encoding::encode(value.as_ref(), out).expect("key values have been checked");
    };
    let mut partition = Vec::new();
    for value in &query.partition {
        encode(value, &mut partition);
    }
    let mut prefix = Vec::new();
    for value in &query.sort_prefix {
        encode(value, &mut prefix);
    }
    let with = |value: &Value| {
        let mut bytes = prefix.clone();
        encode(value, &mut bytes);
        bytes
    };
    let from = |bytes: Vec<u8>| Bound::Included(bytes);
    let before = |bytes: Vec<u8>| Bound::Excluded(bytes);
    // What stands after every row that begins with these bytes.
    let past = |mut bytes: Vec<u8>| -> Option<Vec<u8>> {
        encoding::prefix_successor(&mut bytes).then_some(bytes)
    };
    let through = |bytes: Vec<u8>| past(bytes).map_or(Bound::Unbounded, Bound::Excluded);
    let (all_from, all_through) = if prefix.is_empty() {
        (Bound::Unbounded, Bound::Unbounded)
    } else {
        (from(prefix.clone()), through(prefix.clone()))
    };
    let (lower, upper) = match &query.sort_range {
        None => (all_from, all_through),
        Some(SortRange::Less(value)) => (all_from, before(with(value))),
        Some(SortRange::AtMost(value)) => (all_from, through(with(value))),
        Some(SortRange::Greater(value)) => {
            let lower = past(with(value)).map_or_else(|| before(with(value)), Bound::Included);
            (lower, all_through)
        }
        Some(SortRange::AtLeast(value)) => (from(with(value)), all_through),
        Some(SortRange::Between(low, high)) => (from(with(low)), through(with(high))),
        Some(SortRange::BeginsWith(value)) => {
            let mut bytes = prefix.clone();
            encoding::encode_prefix(value.as_ref(), &mut bytes)
                .expect("key values have been checked");
            (from(bytes.clone()), through(bytes))
        }
    };
    Span::Partition { hash: encoding::hash(&partition), partition, lower, upper }
}

// The messages about start keys were observed on AWS (dynalite's tests of Query and Scan, which
// also run there).
const INVALID_START: &str = "The provided starting key is invalid";
const MISMATCH: &str = "The provided key element does not match the schema";

fn start_mismatch() -> Error {
    Error::validation(format!("{INVALID_START}: {MISMATCH}"))
}

/// The position in the table that an `ExclusiveStartKey` names.
fn start_in_table(schema: &TableSchema, start: &Item) -> Result<Position> {
    let attributes: Vec<&KeyAttribute> = schema.key_attributes().collect();
    check_start(start, attributes.len(), &attributes)?;
    check_start_not_empty(start, &attributes)?;
    Ok(Position::of_stored(schema, start))
}

/// The position in an index that an `ExclusiveStartKey` names.
fn start_in_index(schema: &TableSchema, index: &IndexSchema, start: &Item) -> Result<Position> {
    let own: Vec<&KeyAttribute> = index.key_attributes().collect();
    let mut all = own.clone();
    all.extend(
        schema.key_attributes().filter(|key| !own.iter().any(|other| other.name == key.name)),
    );
    check_start(start, all.len(), &own)?;
    let fits = |key: &&KeyAttribute| start.get(&key.name).is_some_and(|value| key.accepts(value));
    if !all.iter().all(fits) {
        return Err(start_mismatch());
    }
    check_start_not_empty(start, &all)?;
    Ok(Position::in_index(schema, index, start).expect("its keys were checked"))
}

/// Checks how many attributes a start key has, and those of what is read.
fn check_start(start: &Item, count: usize, own: &[&KeyAttribute]) -> Result<()> {
    if start.len() != count {
        return Err(Error::validation(INVALID_START));
    }
    for attribute in own {
        match start.get(&attribute.name) {
            None => return Err(Error::validation(INVALID_START)),
            Some(value) if !attribute.accepts(value) => return Err(Error::validation(MISMATCH)),
            Some(_) => {}
        }
    }
    Ok(())
}

fn check_start_not_empty(start: &Item, attributes: &[&KeyAttribute]) -> Result<()> {
    for attribute in attributes {
        if let Some(kind) = start.get(&attribute.name).and_then(empty_kind) {
            return Err(Error::validation(format!(
                "{INVALID_START}: {}",
                empty_key(kind, &attribute.name).message()
            )));
        }
    }
    Ok(())
}

/// Cuts a range so that it begins after a position in it.
fn resume(span: Span, start: Position, query: &KeyQuery, forward: bool) -> Result<Span> {
    let inside = span.contains_sort(&start.sort);
    let Span::Partition { hash, partition, lower, upper } = span else { return Ok(span) };
    let has_range = !query.sort_prefix.is_empty() || query.sort_range.is_some();
    if !inside {
        return Err(Error::validation(
            "The provided starting key does not match the range key predicate",
        ));
    }
    if start.partition != partition {
        return Err(Error::validation(if has_range {
            "The query can return at most one row and cannot be restarted"
        } else {
            "The provided starting key is outside query boundaries based on provided conditions"
        }));
    }
    let bound = Bound::Excluded(start.sort);
    let (lower, upper) = if forward { (bound, upper) } else { (lower, bound) };
    Ok(Span::Partition { hash, partition, lower, upper })
}

/// Refuses paths into key attributes.
fn check_inside(
    schema: &TableSchema,
    filter: Option<&Condition>,
    projection: Option<&Projection>,
) -> Result<()> {
    check_keys_are_scalars(schema, filter.map_or_else(Vec::new, Condition::paths))?;
    check_keys_are_scalars(schema, projection.map_or(&[][..], Projection::paths))
}

/// A filter comes after the key condition: what belongs there has no business here.
fn check_filter_has_no_key(
    filter: &Condition,
    partition: &[KeyAttribute],
    sort: &[KeyAttribute],
) -> Result<()> {
    let paths = filter.paths();
    for attribute in partition.iter().chain(sort) {
        if paths.iter().any(|path| path.root() == attribute.name) {
            return Err(Error::validation(format!(
                "Filter Expression can only contain non-primary key attributes: Primary key \
                 attribute: {}",
                attribute.name
            )));
        }
    }
    Ok(())
}

/// Checks that an index carries what is asked for. Answers whether a local index must fetch the
/// rest from the table.
fn check_carried(
    schema: &TableSchema,
    index: Option<&IndexSchema>,
    select: Select,
    projection: Option<&Projection>,
    filter: Option<&Condition>,
    is_scan: bool,
) -> Result<bool> {
    let Some(index) = index else { return Ok(false) };
    if index.projection.kind == ProjectionType::All {
        return Ok(false);
    }
    let is_global = index.kind == IndexKind::Global;
    if select == Select::AllAttributes && is_global {
        return Err(Error::validation(format!(
            "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not \
             supported for global secondary index {} because its projection type is not ALL",
            index.name
        )));
    }
    let missing = |paths: Vec<&crate::expr::Path>| {
        let mut names: Vec<String> = Vec::new();
        for path in paths {
            let name = path.root();
            if !index.carries(schema, name) && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    };
    let unprojected =
        missing(projection.map_or_else(Vec::new, |list| list.paths().iter().collect()));
    if is_global && !unprojected.is_empty() {
        return Err(Error::validation(format!(
            "One or more parameter values were invalid: Global secondary index {} does not \
             project [{}]",
            index.name,
            unprojected.join(", ")
        )));
    }
    let unfiltered = missing(filter.map_or_else(Vec::new, Condition::paths));
    if !is_scan && !unfiltered.is_empty() {
        return Err(Error::validation(format!(
            "One or more parameter values were invalid: Secondary index {} does not project one \
             or more filter attributes: [{}]",
            index.name,
            unfiltered.join(", ")
        )));
    }
    let wants_more =
        select == Select::AllAttributes || !unprojected.is_empty() || !unfiltered.is_empty();
    Ok(wants_more && !is_global)
}

/// The hashes of one part of a parallel scan.
fn segment(segment: Option<i32>, total: Option<i32>) -> Result<(u64, u64)> {
    let (segment, total) = match (segment, total) {
        (None, None) => return Ok((0, u64::MAX)),
        (Some(segment), Some(total)) => (segment, total),
        (Some(_), None) => {
            return Err(Error::validation(
                "The TotalSegments parameter is required but was not present in the request when \
                 Segment parameter is present",
            ));
        }
        (None, Some(_)) => {
            return Err(Error::validation(
                "The Segment parameter is required but was not present in the request when \
                 parameter TotalSegments is present",
            ));
        }
    };
    let out_of_range = |value: i32, name: &str, constraint: &str, bound: i32| {
        Err(Error::validation(format!(
            "1 validation error detected: Value '{value}' at '{name}' failed to satisfy \
             constraint: Member must have value {constraint} than or equal to {bound}"
        )))
    };
    if total < 1 {
        return out_of_range(total, "totalSegments", "greater", 1);
    }
    if total > limits::SCAN_SEGMENTS {
        return out_of_range(total, "totalSegments", "less", limits::SCAN_SEGMENTS);
    }
    if segment < 0 {
        return out_of_range(segment, "segment", "greater", 0);
    }
    if segment >= limits::SCAN_SEGMENTS {
        return out_of_range(segment, "segment", "less", limits::SCAN_SEGMENTS - 1);
    }
    if segment >= total {
        return Err(Error::validation(format!(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: \
             Segment: {segment} is not less than TotalSegments: {total}"
        )));
    }
    const HASHES: u128 = 1 << 64;
    let cut = |number: i32| (HASHES * number as u128).div_ceil(total as u128);
    Ok((cut(segment) as u64, (cut(segment + 1) - 1) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_cover_all_hashes_once() {
        for total in [1, 2, 3, 7, 1000, 999_983] {
            let mut next = 0_u128;
            for number in 0..total {
                let (first, last) = segment(Some(number), Some(total)).expect("in range");
                assert_eq!(u128::from(first), next);
                next = u128::from(last) + 1;
            }
            assert_eq!(next, 1 << 64);
        }
    }
}
