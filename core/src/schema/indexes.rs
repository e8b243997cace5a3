//! Rules of secondary indexes: number, names, keys and projections.

use std::collections::HashSet;

use super::constraint::invalid;
use super::keys::Definitions;
use super::{IndexKind, IndexSchema, TableSchema};
use crate::error::{Error, Result};
use crate::limits;
use crate::ops::{CreateTable, IndexProjection, ProjectionType, SecondaryIndex};

/// Validates the indexes of a new table. Local ones come first, each kind in the request's order.
pub(super) fn of_new_table(
    request: &CreateTable,
    table: &TableSchema,
    definitions: &Definitions<'_>,
) -> Result<Vec<IndexSchema>> {
    let mut indexes: Vec<IndexSchema> = Vec::new();
    // DynamoDB validates all indexes before it checks their number.
    let mut names = HashSet::new();
    let mut add = |index: IndexSchema| {
        if !names.insert(index.name.clone()) {
            return Err(invalid(format_args!("Duplicate index name: {}", index.name)));
        }
        indexes.push(index);
        Ok(())
    };
    if !request.local_secondary_indexes.is_empty() && table.sort.is_none() {
        return Err(invalid(
            "Table KeySchema does not have a range key, which is required when specifying a \
             LocalSecondaryIndex",
        ));
    }
    for index in &request.local_secondary_indexes {
        add(local(index, table, definitions)?)?;
    }
    if request.local_secondary_indexes.len() > limits::LOCAL_INDEXES {
        return Err(invalid(format_args!(
            "Number of LocalSecondaryIndexes exceeds per-table limit of {}",
            limits::LOCAL_INDEXES
        )));
    }
    for index in &request.global_secondary_indexes {
        add(global(index, definitions)?)?;
    }
    if request.global_secondary_indexes.len() > limits::GLOBAL_INDEXES {
        return Err(invalid(format_args!(
            "GlobalSecondaryIndex count exceeds the per-table limit of {}",
            limits::GLOBAL_INDEXES
        )));
    }
    check_projected(&indexes)?;
    Ok(indexes)
}

/// Validates a local index.
fn local(
    index: &SecondaryIndex,
    table: &TableSchema,
    definitions: &Definitions<'_>,
) -> Result<IndexSchema> {
    let (partition, sort) = definitions.simple_key(&index.key_schema)?;
    let Some(sort) = sort else {
        return Err(invalid(format_args!(
            "Index KeySchema does not have a range key for index: {}",
            index.name
        )));
    };
    if partition.name != table.partition.name {
        return Err(invalid(format_args!(
            "Index KeySchema does not have the same leading hash key as table KeySchema for \
             index: {}. index hash key: {}, table hash key: {}",
            index.name, partition.name, table.partition.name
        )));
    }
    Ok(IndexSchema {
        name: index.name.clone(),
        kind: IndexKind::Local,
        partition: vec![partition],
        sort: vec![sort],
        projection: projection(&index.projection)?,
    })
}

/// Validates a global index.
pub(super) fn global(index: &SecondaryIndex, definitions: &Definitions<'_>) -> Result<IndexSchema> {
    let (partition, sort) = definitions.global_key(&index.key_schema)?;
    Ok(IndexSchema {
        name: index.name.clone(),
        kind: IndexKind::Global,
        partition,
        sort,
        projection: projection(&index.projection)?,
    })
}

/// Validates a projection, and sorts its attributes: DynamoDB returns them sorted.
fn projection(given: &IndexProjection) -> Result<IndexProjection> {
    let IndexProjection { kind, non_key_attributes } = given;
    match (kind, non_key_attributes.is_empty()) {
        (ProjectionType::Include, true) => {
            Err(invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified"))
        }
        (ProjectionType::Include, false) => {
            let mut sorted = non_key_attributes.clone();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(invalid(format_args!(
                    "Duplicate element in NonKeyAttributes: {}",
                    pair[0]
                )));
            }
            Ok(IndexProjection { kind: *kind, non_key_attributes: sorted })
        }
        (_, true) => Ok(given.clone()),
        (kind, false) => Err(invalid(format_args!(
            "ProjectionType is {}, but NonKeyAttributes is specified",
            kind.as_str()
        ))),
    }
}

/// Checks the number of attributes that all indexes of a table project by name. An attribute of two
/// indexes counts twice; keys do not count.
pub(super) fn check_projected(indexes: &[IndexSchema]) -> Result<()> {
    let projected: usize =
        indexes.iter().map(|index| index.projection.non_key_attributes.len()).sum();
    if projected > limits::PROJECTED_ATTRIBUTES {
        // DynamoDB Local's message, whose number is out of date. AWS's is not known.
        return Err(Error::validation(
            "No more than 20 attributes per table can be projected into Local Secondary Indices",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;

    const PREFIX: &str = "One or more parameter values were invalid: ";

    /// Table with the key (a, b), and the attribute c for indexes.
    fn request() -> CreateTable {
        CreateTable::new("tab").partition_key("a", KeyType::S).sort_key("b", KeyType::N)
    }

    fn with_c() -> CreateTable {
        request().attribute("c", KeyType::B)
    }

    fn lsi(name: &str) -> SecondaryIndex {
        SecondaryIndex::new(name).partition_key("a").sort_key("c")
    }

    fn gsi(name: &str) -> SecondaryIndex {
        SecondaryIndex::new(name).partition_key("c")
    }

    fn refusal(request: &CreateTable) -> String {
        let error = TableSchema::new(request).unwrap_err();
        assert_eq!(error.code(), "ValidationException");
        error.message().to_owned()
    }

    #[test]
    fn local_index_has_the_partition_key_of_its_table_and_a_sort_key() {
        let schema = TableSchema::new(&with_c().local_index(lsi("lsi"))).unwrap();
        assert!(schema.has_local_indexes());
        assert_eq!(schema.index("lsi").unwrap().kind, IndexKind::Local);
        let same_as_table = SecondaryIndex::new("lsi").partition_key("a").sort_key("b");
        TableSchema::new(&request().local_index(same_as_table)).unwrap();

        let no_sort = SecondaryIndex::new("lsi").partition_key("a");
        assert_eq!(
            refusal(&request().local_index(no_sort)),
            format!("{PREFIX}Index KeySchema does not have a range key for index: lsi")
        );
        let other = SecondaryIndex::new("lsi").partition_key("c").sort_key("b");
        assert_eq!(
            refusal(&with_c().local_index(other)),
            format!(
                "{PREFIX}Index KeySchema does not have the same leading hash key as table \
                 KeySchema for index: lsi. index hash key: c, table hash key: a"
            )
        );
        let three = lsi("lsi").sort_key("b");
        assert!(refusal(&with_c().local_index(three)).ends_with(
            "at 'localSecondaryIndexes.1.member.keySchema' failed to satisfy constraint: \
                 Member must have length less than or equal to 2"
        ));
    }

    #[test]
    fn local_index_needs_a_table_with_a_sort_key() {
        let request = CreateTable::new("tab")
            .partition_key("a", KeyType::S)
            .attribute("c", KeyType::S)
            .local_index(lsi("lsi"));
        assert_eq!(
            refusal(&request),
            format!(
                "{PREFIX}Table KeySchema does not have a range key, which is required when \
                 specifying a LocalSecondaryIndex"
            )
        );
    }

    #[test]
    fn table_has_at_most_20_global_and_5_local_indexes() {
        let global =
            |count| (0..count).fold(with_c(), |r, n| r.global_index(gsi(&format!("g{n:02}"))));
        assert_eq!(TableSchema::new(&global(20)).unwrap().indexes.len(), 20);
        assert_eq!(
            refusal(&global(21)),
            format!("{PREFIX}GlobalSecondaryIndex count exceeds the per-table limit of 20")
        );
        let local =
            |count| (0..count).fold(with_c(), |r, n| r.local_index(lsi(&format!("l{n:02}"))));
        assert_eq!(TableSchema::new(&local(5)).unwrap().indexes.len(), 5);
        assert_eq!(
            refusal(&local(6)),
            format!("{PREFIX}Number of LocalSecondaryIndexes exceeds per-table limit of 5")
        );
    }

    #[test]
    fn index_names_are_unique_in_a_table() {
        for request in [
            with_c().global_index(gsi("same")).global_index(gsi("same")),
            with_c().local_index(lsi("same")).local_index(lsi("same")),
            with_c().global_index(gsi("same")).local_index(lsi("same")),
        ] {
            assert_eq!(refusal(&request), format!("{PREFIX}Duplicate index name: same"));
        }
        TableSchema::new(&with_c().global_index(gsi("tab"))).unwrap();
    }

    #[test]
    fn index_names_follow_the_rules_of_table_names() {
        for name in ["", "gg", "g!!", &"x".repeat(256)] {
            for (request, member) in [
                (with_c().global_index(gsi(name)), "globalSecondaryIndexes.1.member.indexName"),
                (with_c().local_index(lsi(name)), "localSecondaryIndexes.1.member.indexName"),
            ] {
                let text = refusal(&request);
                let expected = format!(
                    "1 validation error detected: Value '{name}' at '{member}' failed to satisfy \
                     constraint: Member must "
                );
                assert!(text.starts_with(&expected), "{text}");
            }
        }
        TableSchema::new(&with_c().global_index(gsi(&"x".repeat(255)))).unwrap();
        TableSchema::new(&with_c().global_index(gsi("g.-_"))).unwrap();
    }

    #[test]
    fn only_include_projections_name_attributes() {
        let with = |projection| {
            TableSchema::new(&with_c().global_index(gsi("gsi").projection(projection)))
        };
        let refusal = |projection| with(projection).unwrap_err().message().to_owned();
        let none: [&str; 0] = [];
        assert_eq!(
            refusal(IndexProjection::include(none)),
            format!("{PREFIX}ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
        );
        for mut projection in [IndexProjection::all(), IndexProjection::keys_only()] {
            projection.non_key_attributes.push("x".to_owned());
            let kind = projection.kind.as_str();
            assert_eq!(
                refusal(projection),
                format!("{PREFIX}ProjectionType is {kind}, but NonKeyAttributes is specified")
            );
        }
        assert_eq!(
            refusal(IndexProjection::include(["y", "x", "y"])),
            format!("{PREFIX}Duplicate element in NonKeyAttributes: y")
        );
        let schema = with(IndexProjection::include(["y", "a", "c", "x"])).unwrap();
        let projection = &schema.index("gsi").unwrap().projection;
        assert_eq!(projection.non_key_attributes, ["a", "c", "x", "y"], "sorted");
        let member = "globalSecondaryIndexes.1.member.projection.nonKeyAttributes";
        assert_eq!(
            refusal(IndexProjection::include([""])),
            format!(
                "1 validation error detected: Value '' at '{member}.1.member' failed to satisfy \
                 constraint: Member must have length greater than or equal to 1"
            )
        );
    }

    #[test]
    fn indexes_project_20_attributes_each_and_100_together() {
        let including = |name: &str, count: usize| {
            let attributes = (0..count).map(|number| format!("x{number}"));
            gsi(name).projection(IndexProjection::include(attributes))
        };
        assert!(refusal(&with_c().global_index(including("gsi", 21))).ends_with(
            "at 'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to satisfy \
             constraint: Member must have length less than or equal to 20"
        ));
        let full = (0..5).fold(with_c(), |request, number| {
            request.global_index(including(&format!("gsi{number}"), 20))
        });
        TableSchema::new(&full).unwrap();
        assert_eq!(
            refusal(&full.global_index(including("one-more", 1))),
            "No more than 20 attributes per table can be projected into Local Secondary Indices"
        );
    }
}
