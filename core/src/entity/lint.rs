//! What is wrong with a design, found before it runs.

use std::collections::BTreeSet;
use std::fmt;

use super::app::AppDesign;
use super::design::{EntityDesign, KeySource, TableDesign};
use super::pattern::{Call, Operation, Pattern};
use crate::engine::ReadPlan;
use crate::env::Timestamp;
use crate::ops::{IndexProjection, ProjectionType};
use crate::schema::Table;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A key condition that the store refuses, such as one on a partition key that is not equality.
    KeyCondition,
    /// A sort key that sorts numbers as text, and a pattern that relies on its order.
    NumbersAsText,
    /// A pattern that reads a whole table, and does not say so.
    Scan,
    /// An index that no pattern uses.
    UnusedIndex,
    /// A pattern that no test runs.
    Untested,
    /// A filter on an attribute of the key, where a condition belongs.
    FilterOnKey,
    /// An index that does not carry what a pattern reads.
    MissingAttribute,
    /// A declaration that does not fit the design.
    Declaration,
    /// Everything in one partition.
    HotPartition,
    /// An index that carries everything where less would do.
    WideProjection,
    /// An item collection that grows for ever.
    UnboundedCollection,
    /// A log whose entries stay for ever.
    LogWithoutTtl,
}

impl Rule {
    /// Whether it is an error; the others are warnings.
    pub fn is_error(self) -> bool {
        !matches!(
            self,
            Self::HotPartition
                | Self::WideProjection
                | Self::UnboundedCollection
                | Self::LogWithoutTtl
        )
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::KeyCondition => "key-condition",
            Self::NumbersAsText => "numbers-as-text",
            Self::Scan => "scan",
            Self::UnusedIndex => "unused-index",
            Self::Untested => "untested",
            Self::FilterOnKey => "filter-on-key",
            Self::MissingAttribute => "missing-attribute",
            Self::Declaration => "declaration",
            Self::HotPartition => "hot-partition",
            Self::WideProjection => "wide-projection",
            Self::UnboundedCollection => "unbounded-collection",
            Self::LogWithoutTtl => "log-without-ttl",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// By which rule.
    pub rule: Rule,
    /// In what: a pattern, an entity or an index.
    pub subject: String,
    /// What is wrong, and what to do.
    pub message: String,
    /// Why the app takes it, if it does.
    pub accepted: Option<&'static str>,
}

/// A warning that an app takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The rule.
    pub rule: Rule,
    /// In what: a pattern, an entity or an index.
    pub subject: &'static str,
    /// Why.
    pub reason: &'static str,
}

impl Finding {
    fn new(rule: Rule, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule, subject: subject.into(), message: message.into(), accepted: None }
    }

    /// A pattern that does not run.
    pub(super) fn untested(pattern: &str, why: &str) -> Self {
        let message = format!("it gives no right answer on the app's own data: {why}");
        Self::new(Rule::Untested, pattern, message)
    }

    /// Whether the design must not be used so.
    pub fn is_error(&self) -> bool {
        self.rule.is_error()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.subject, self.rule, self.message)
    }
}

/// Checks a design. Errors come first.
pub fn check(design: &AppDesign) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut used: BTreeSet<(String, String)> = BTreeSet::new();
    for pattern in &design.patterns {
        match pattern.calls() {
            Ok(calls) => {
                for call in &calls {
                    let table = (call.entity.table)();
                    if let Some(index) = &call.index {
                        used.insert((table.name.clone(), index.clone()));
                    }
                    check_call(pattern, call, table, &mut findings);
                }
            }
            Err(error) => {
                findings.push(Finding::new(Rule::Declaration, pattern.name, error.message()));
            }
        }
    }
    for table in &design.tables {
        for index in &table.indexes {
            if !used.contains(&(table.name.clone(), index.name.clone())) {
                findings.push(Finding::new(
                    Rule::UnusedIndex,
                    &index.name,
                    format!(
                        "no pattern reads this index of {}; every write pays for it",
                        table.name
                    ),
                ));
            }
            check_projection(design, table, &index.name, &index.projection, &mut findings);
        }
    }
    for entity in &design.entities {
        check_entity(entity, &mut findings);
    }
    for finding in &mut findings {
        let is_it = |accepted: &&Accepted| {
            accepted.rule == finding.rule && accepted.subject == finding.subject
        };
        if !finding.rule.is_error() {
            finding.accepted = design.accepted.iter().find(is_it).map(|accepted| accepted.reason);
        }
    }
    findings.sort_by_key(|finding| (!finding.is_error(), finding.accepted.is_some()));
    findings
}

fn check_call(pattern: &Pattern, call: &Call, table: &TableDesign, findings: &mut Vec<Finding>) {
    let mut find = |rule, message: String| {
        findings.push(Finding::new(rule, pattern.name, message));
    };
    if call.operation == Operation::Scan && !pattern.may_scan {
        find(
            Rule::Scan,
            format!(
                "it reads all of {}: give it an index, or say `may_scan` if that is meant",
                table.name
            ),
        );
    }
    let Some(query) = &call.query else { return };
    // The store's own rules judge the request.
    let created = Table::create(&table.create(&table.name), Timestamp::from_secs(0), String::new());
    let on_key = call.filter.as_ref().and_then(|filter| {
        let index = call.index.as_ref().and_then(|name| table.find_index(name));
        let mut keys: Vec<&str> = match index {
            Some(index) => std::iter::once(&index.partition)
                .chain(&index.sort)
                .map(|key| key.attribute.as_str())
                .collect(),
            None => table.key_attributes(None).collect(),
        };
        keys.retain(|key| filter.paths().iter().any(|path| path.root() == *key));
        keys.first().map(|key| (*key).to_owned())
    });
    if let Some(key) = on_key {
        find(
            Rule::FilterOnKey,
            format!(
                "{key} belongs to the key: a condition on it goes with the key, not in a filter"
            ),
        );
    } else if let Ok(created) = created
        && let Err(error) = ReadPlan::query(query, &created)
    {
        find(Rule::KeyCondition, format!("the store refuses it: {}", error.message()));
    }
    if call.is_range {
        let source = match &call.index {
            None => call.entity.sort.as_ref(),
            Some(name) => call.entity.index(name).and_then(|keys| keys.sort.as_ref()),
        };
        let unordered = source
            .and_then(KeySource::template)
            .and_then(|template| template.parts().find(|part| !part.ordered));
        if let (Some(part), Some(source)) = (unordered, source) {
            find(
                Rule::NumbersAsText,
                format!(
                    "its items come in the order of {source}, where `{}` does not sort as its \
                     values do: give it a width, such as `{{{}:08}}`",
                    part.field, part.field
                ),
            );
        }
    }
}

/// What a pattern reads of an entity through an index.
fn read_fields(pattern: &Pattern, entity: &EntityDesign) -> Vec<&'static str> {
    let all = || entity.fields.iter().filter(|field| !field.key_only).map(|field| field.name);
    match pattern.reads {
        Some(fields) => all().filter(|name| fields.contains(name)).collect(),
        None => all().collect(),
    }
}

fn check_projection(
    design: &AppDesign,
    table: &TableDesign,
    index: &str,
    projection: &IndexProjection,
    findings: &mut Vec<Finding>,
) {
    let mut needed: BTreeSet<&str> = BTreeSet::new();
    let mut all: BTreeSet<&str> = BTreeSet::new();
    let mut is_limited = true;
    for pattern in &design.patterns {
        for call in pattern.calls().unwrap_or_default() {
            let is_here =
                call.index.as_deref() == Some(index) && (call.entity.table)().name == table.name;
            if !is_here {
                continue;
            }
            is_limited &= pattern.reads.is_some();
            let attribute = |name: &&'static str| call.entity.attribute(name);
            let read = read_fields(pattern, call.entity);
            needed.extend(read.iter().map(attribute));
            needed.extend(
                call.filter
                    .iter()
                    .flat_map(|filter| {
                        filter.paths().into_iter().map(|path| path.root().to_owned())
                    })
                    .filter_map(|name| {
                        call.entity
                            .fields
                            .iter()
                            .find(|field| field.attribute == name)
                            .map(|f| f.attribute)
                    }),
            );
            all.extend(call.entity.fields.iter().filter(|f| !f.key_only).map(|f| f.attribute));
            let keys: BTreeSet<&str> = table.key_attributes(table.find_index(index)).collect();
            // A filter on what is not there holds or fails for every item alike.
            let filtered: Vec<String> = call
                .filter
                .iter()
                .flat_map(|filter| filter.paths().into_iter().map(|path| path.root().to_owned()))
                .collect();
            let missing: BTreeSet<String> = read
                .iter()
                .map(|name| attribute(name).to_owned())
                .chain(filtered)
                .filter(|name| match projection.kind {
                    ProjectionType::All => false,
                    ProjectionType::KeysOnly => !keys.contains(name.as_str()),
                    ProjectionType::Include => {
                        !keys.contains(name.as_str())
                            && !projection.non_key_attributes.iter().any(|own| own == name)
                    }
                })
                .collect();
            if !missing.is_empty() {
                findings.push(Finding::new(
                    Rule::MissingAttribute,
                    pattern.name,
                    format!(
                        "it reads {} through {index}, which does not carry {}",
                        call.entity.name,
                        missing.into_iter().collect::<Vec<_>>().join(", ")
                    ),
                ));
            }
        }
    }
    let is_wide = projection.kind == ProjectionType::All && is_limited && !all.is_empty();
    if is_wide && needed.len() < all.len() {
        let saving = 100 - 100 * needed.len() / all.len();
        let needed: Vec<&str> = needed.into_iter().collect();
        findings.push(Finding::new(
            Rule::WideProjection,
            index,
            format!(
                "its patterns read only {}: a projection of these would carry about {saving} % \
                 fewer attributes in every entry",
                needed.join(", ")
            ),
        ));
    }
}

fn check_entity(entity: &EntityDesign, findings: &mut Vec<Finding>) {
    let constant = |source: &KeySource| {
        source.template().is_some_and(|template| template.parts().next().is_none())
    };
    let varies =
        |source: Option<&KeySource>| source.is_some_and(|source| !source.fields().is_empty());
    if constant(&entity.partition) && varies(entity.sort.as_ref()) {
        findings.push(Finding::new(
            Rule::HotPartition,
            entity.name,
            format!("all of them are in the partition {}", entity.partition),
        ));
    }
    for keys in entity.indexes {
        if constant(&keys.partition) {
            findings.push(Finding::new(
                Rule::HotPartition,
                format!("{} in {}", entity.name, keys.index),
                format!(
                    "all of them are in the partition {}: shards would spread it",
                    keys.partition
                ),
            ));
        }
    }
    let template = entity.sort.as_ref().and_then(KeySource::template);
    let moments = |name: &str| entity.field(name).is_some_and(|field| field.is_moment);
    let first = template.and_then(|template| template.parts().next());
    let is_log = first.is_some_and(|part| moments(part.field));
    if is_log && entity.ttl.is_none() {
        findings.push(Finding::new(
            Rule::LogWithoutTtl,
            entity.name,
            "its items are kept by time, and none ever expires: give it a `ttl`",
        ));
    }
    let grows = template.is_some_and(|template| {
        let own: Vec<&str> = entity.partition.fields();
        template.parts().any(|part| !own.contains(&part.field))
    });
    if grows && !is_log && entity.ttl.is_none() {
        findings.push(Finding::new(
            Rule::UnboundedCollection,
            entity.name,
            format!(
                "a partition {} has as many of them as are written; a query reads 1 MB at a time, \
                 and pages",
                entity.partition
            ),
        ));
    }
}
