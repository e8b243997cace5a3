//! How many entities a key gathers in one place.

use super::{Finding, Rule};
use crate::design::{EntityDesign, KeySource};

/// So many partitions are few: [`Rule::HotPartition`] warns where a key can make no more, because
/// one partition takes 1 000 writes and 3 000 reads a second, however many there are of others.
pub const FEW_PARTITIONS: u64 = 16;

pub(super) fn check(entity: &EntityDesign) -> Vec<Finding> {
    let found = [hot(entity), hot_in_indexes(entity), kept_by_time(entity), unbounded(entity)];
    found.into_iter().flatten().collect()
}

/// How many of an entity there can be, if that is known.
fn number(entity: &EntityDesign) -> Option<u64> {
    let sort = match &entity.sort {
        Some(sort) => entity.values_of(sort)?,
        // An entity that does not say its sort key may have any.
        None if (entity.table)().sort.is_some() => return None,
        None => 1,
    };
    Some(entity.values_of(&entity.partition)?.saturating_mul(sort))
}

fn hot(entity: &EntityDesign) -> Vec<Finding> {
    crowd(entity, &entity.partition, entity.name.to_owned()).into_iter().collect()
}

fn hot_in_indexes(entity: &EntityDesign) -> Vec<Finding> {
    let subject = |index: &str| format!("{} in {index}", entity.name);
    let indexes = entity.indexes.iter();
    indexes.filter_map(|keys| crowd(entity, &keys.partition, subject(keys.index))).collect()
}

/// Few partitions for many entities.
fn crowd(entity: &EntityDesign, partition: &KeySource, subject: String) -> Option<Finding> {
    let is_few = |number: &u64| *number <= FEW_PARTITIONS;
    let partitions = entity.values_of(partition).filter(is_few)?;
    if number(entity).as_ref().is_some_and(is_few) {
        return None;
    }
    let message = match partitions {
        1 => format!("all of them are in the partition {partition}: shards would spread it"),
        many => format!(
            "all of them are in {many} partitions at most, {partition}: shards would spread them"
        ),
    };
    Some(Finding::new(Rule::HotPartition, subject, message))
}

/// Whether the items of a partition are kept by time.
fn is_log(entity: &EntityDesign) -> bool {
    let first = entity.sort.as_ref().and_then(|sort| sort.fields().first().copied());
    first.and_then(|name| entity.field(name)).is_some_and(|field| field.is_moment)
}

fn kept_by_time(entity: &EntityDesign) -> Vec<Finding> {
    if !is_log(entity) || entity.ttl.is_some() {
        return Vec::new();
    }
    let message = "its items are kept by time, and none ever expires: give it a `ttl`";
    vec![Finding::new(Rule::LogWithoutTtl, entity.name, message)]
}

/// A partition with as many items as somebody cares to write.
fn unbounded(entity: &EntityDesign) -> Vec<Finding> {
    let grows = entity.sort.as_ref().is_some_and(|sort| {
        let is_new = |field: &&str| !entity.partition.has(field);
        sort.fields().iter().any(is_new) && entity.values_of(sort).is_none()
    });
    if !grows || is_log(entity) || entity.ttl.is_some() {
        return Vec::new();
    }
    let message = format!(
        "a partition {} has as many of them as are written; a query reads 1 MB at a time, and pages",
        entity.partition
    );
    vec![Finding::new(Rule::UnboundedCollection, entity.name, message)]
}
