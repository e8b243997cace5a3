//! Plans of queries and scans.

use std::collections::HashSet;

use super::key_paths::check_keys_are_scalars;
use super::key_range::{KeyRange, Segment};
use super::row_key::{LONG_PARTITION, LONG_SORT, empty_index_key, empty_key, empty_kind};
use super::start_key;
use super::write_plan::{check_placeholders_have_use, given};
use crate::Value;
use crate::error::{Error, Result};
use crate::expr::{
    Condition, ExpressionKind, KeyQuery, KeySpec, Path, Placeholders, Projection, SortRange,
};
use crate::key::KeyType;
use crate::limits;
use crate::ops::{ProjectionType, Query, Scan, Select};
use crate::schema::{IndexKind, IndexSchema, KeyAttribute, Table, TableSchema};

/// Validated query or scan.
#[derive(Clone, Debug)]
pub struct ReadPlan {
    /// Table or index whose rows are read.
    pub source: ReadSource,
    /// Range of row keys to read.
    pub range: KeyRange,
    /// Whether rows are read in descending order.
    pub reverse: bool,
    /// Whether each row needs the item of the table, because a local index does not project all
    /// requested attributes.
    pub fetch: bool,
    /// Whether the read is consistent.
    pub consistent: bool,
    pub(super) limit: Option<usize>,
    pub(super) filter: Option<Condition>,
    pub(super) projection: Option<Projection>,
    pub(super) count_only: bool,
}

/// Source of the rows that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadSource {
    /// Rows of the table.
    Table,
    /// Rows of an index, by its position in [`TableSchema::indexes`].
    Index(usize),
}

impl ReadPlan {
    /// Validates a query against its table.
    pub fn query(request: &Query, table: &Table) -> Result<Self> {
        let Query {
            table: _,
            index,
            key_condition,
            filter,
            projection,
            names,
            values,
            select: selected,
            limit,
            scan_index_forward,
            consistent_read,
            exclusive_start_key,
            // The capacity meter of the page uses it.
            return_consumed_capacity: _,
        } = request;
        let schema = &table.schema;
        let limit = check_limit(*limit)?;
        let (source, index) = find_index(table, index.as_deref())?;
        let expressions = [
            given("FilterExpression", filter.is_some()),
            given("KeyConditionExpression", key_condition.is_some()),
        ];
        check_placeholders_have_use(names, values, projection.is_some(), &expressions)?;
        let mut placeholders = Placeholders::new(names, values)?;
        let filter = filter
            .as_ref()
            .map(|filter| placeholders.condition(ExpressionKind::Filter, filter))
            .transpose()?;
        let projection = projection
            .as_ref()
            .map(|projection| placeholders.projection(projection))
            .transpose()?;
        let key_condition = key_condition
            .as_ref()
            .map(|condition| placeholders.condition(ExpressionKind::KeyCondition, condition))
            .transpose()?;
        placeholders.finish()?;
        check_inside(schema, filter.as_ref(), projection.as_ref())?;
        // DynamoDB reports this after errors of the other expressions.
        let key_condition = key_condition.ok_or_else(|| {
            Error::validation(
                "Either the KeyConditions or KeyConditionExpression parameter must be specified \
                 in the request.",
            )
        })?;
        check_keys_are_scalars(schema, key_condition.paths())?;
        let select = resolve_select(*selected, projection.is_some(), index)?;
        check_consistent(*consistent_read, index)?;

        let (partition, sort) = key_attributes(schema, index);
        let key_query = key_condition.to_key_query(&KeySpec {
            partition: &name_and_type(&partition),
            sort: &name_and_type(&sort),
        })?;
        check_key_values(&key_query, index, &partition, &sort)?;
        let mut span = KeyRange::of_query(&key_query);
        if let Some(start) = exclusive_start_key {
            let position = start_key::of_query(schema, index, start)?;
            span = span.resume(&position, &key_query, *scan_index_forward)?;
        }
        if let Some(filter) = &filter {
            check_filter_has_no_key(filter, &partition, &sort)?;
        }
        let fetch =
            check_carried(schema, index, select, projection.as_ref(), filter.as_ref(), false)?;
        Ok(Self {
            source,
            range: span,
            reverse: !scan_index_forward,
            fetch,
            consistent: *consistent_read,
            limit,
            filter,
            projection,
            count_only: select == Select::Count,
        })
    }

    /// Validates a scan against its table.
    pub fn scan(request: &Scan, table: &Table) -> Result<Self> {
        let Scan {
            table: _,
            index,
            filter,
            projection,
            names,
            values,
            select: selected,
            limit,
            // `Segment::of` reads both.
            segment: _,
            total_segments: _,
            consistent_read,
            exclusive_start_key,
            // The capacity meter of the page uses it.
            return_consumed_capacity: _,
        } = request;
        let schema = &table.schema;
        let limit = check_limit(*limit)?;
        let (source, index) = find_index(table, index.as_deref())?;
        check_consistent(*consistent_read, index)?;
        let expressions = [given("FilterExpression", filter.is_some())];
        check_placeholders_have_use(names, values, projection.is_some(), &expressions)?;
        let mut placeholders = Placeholders::new(names, values)?;
        let filter = filter
            .as_ref()
            .map(|filter| placeholders.condition(ExpressionKind::Filter, filter))
            .transpose()?;
        let projection = projection
            .as_ref()
            .map(|projection| placeholders.projection(projection))
            .transpose()?;
        placeholders.finish()?;
        let select = resolve_select(*selected, projection.is_some(), index)?;
        let segment = Segment::of(request)?;
        check_inside(schema, filter.as_ref(), projection.as_ref())?;
        let after = exclusive_start_key
            .as_ref()
            .map(|start| start_key::of_scan(schema, index, start, &segment))
            .transpose()?;
        let fetch =
            check_carried(schema, index, select, projection.as_ref(), filter.as_ref(), true)?;
        Ok(Self {
            source,
            range: segment.span(after.as_ref()),
            reverse: false,
            fetch,
            consistent: *consistent_read,
            limit,
            filter,
            projection,
            count_only: select == Select::Count,
        })
    }

    /// Whether the range is empty, so that no row need be read.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Index that is read; `None` if it is the table.
    pub fn index<'a>(&self, schema: &'a TableSchema) -> Option<&'a IndexSchema> {
        match self.source {
            ReadSource::Table => None,
            ReadSource::Index(number) => Some(&schema.indexes[number]),
        }
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
) -> Result<(ReadSource, Option<&'a IndexSchema>)> {
    let Some(name) = name else { return Ok((ReadSource::Table, None)) };
    let index = table.index_to_read(name)?;
    let number = table.schema.indexes.iter().position(|other| other.name == index.name);
    Ok((ReadSource::Index(number.expect("the index is in the schema")), Some(index)))
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

/// Key attributes of the index that is read, or of the table: partition and sort.
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

/// Refuses document paths into key attributes.
fn check_inside(
    schema: &TableSchema,
    filter: Option<&Condition>,
    projection: Option<&Projection>,
) -> Result<()> {
    check_keys_are_scalars(schema, filter.map_or_else(Vec::new, Condition::paths))?;
    check_keys_are_scalars(schema, projection.map_or(&[][..], Projection::paths))
}

/// Refuses key attributes in a filter: they belong into the key condition.
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

/// Checks that the index projects the requested attributes. Returns whether a local index has to
/// fetch others from the table.
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
    let projected = projection.map_or(&[][..], Projection::paths);
    let unprojected = not_carried(schema, index, projected);
    if is_global && !unprojected.is_empty() {
        return Err(Error::validation(format!(
            "One or more parameter values were invalid: Global secondary index {} does not \
             project [{}]",
            index.name,
            unprojected.join(", ")
        )));
    }
    let filtered = filter.map_or_else(Vec::new, Condition::paths);
    let unfiltered = not_carried(schema, index, filtered);
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

/// Attributes of these paths that an index does not project, each once. Legacy parameters have no
/// limit on their number, so the search is by hash.
fn not_carried<'p>(
    schema: &TableSchema,
    index: &IndexSchema,
    paths: impl IntoIterator<Item = &'p Path>,
) -> Vec<&'p str> {
    let mut known = HashSet::new();
    let names = paths.into_iter().map(Path::root);
    names.filter(|name| !index.carries(schema, name) && known.insert(*name)).collect()
}
