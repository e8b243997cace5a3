//! Conversion of `KeyConditions`, the legacy key condition of a query.

use super::{AttributeCondition, ComparisonOperator};
use crate::expr::{Condition, attr};
use crate::{Error, Result, Value};

/// Result of the conversion of `KeyConditions`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KeyConditions {
    /// Key condition of the query.
    pub condition: Condition,
    /// Whether an attribute has a comparison that cannot read a range of keys.
    ///
    /// DynamoDB rejects it only after it has found the table and the attribute in its key. So the
    /// condition requires that attribute to be NULL, which every store rejects at that point for
    /// its type. [`LegacyParameters::reword`](super::LegacyParameters::reword) then changes the
    /// message to DynamoDB's.
    pub unindexable: bool,
}

/// Converts `KeyConditions` to a key condition.
///
/// [`Condition::to_key_query`] checks whether it matches the keys of a table.
///
/// # Errors
/// With DynamoDB's message, if there are no conditions, or a comparison is missing or has
/// invalid values.
pub fn key_conditions(
    tests: impl IntoIterator<Item = (String, AttributeCondition)>,
) -> Result<KeyConditions> {
    let mut unindexable = false;
    let mut conditions = Vec::new();
    for (name, test) in tests {
        let is_indexable = test.comparison()?.is_indexable();
        let condition = test.condition(name.clone())?;
        unindexable |= !is_indexable;
        conditions.push(if is_indexable { condition } else { attr(name).eq(Value::Null) });
    }
    let condition = Condition::all(conditions)
        .ok_or_else(|| Error::validation("Conditions can be of length 1 or 2 only"))?;
    Ok(KeyConditions { condition, unindexable })
}

impl ComparisonOperator {
    /// Whether the comparison reads a range of keys.
    fn is_indexable(self) -> bool {
        matches!(
            self,
            Self::Eq | Self::Le | Self::Lt | Self::Ge | Self::Gt | Self::Between | Self::BeginsWith
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyType;
    use crate::expr::legacy::LegacyParameters;
    use crate::expr::{KeyQuery, KeySpec, SortRange};

    fn test(comparison: ComparisonOperator, values: &[&str]) -> AttributeCondition {
        let values = values.iter().map(|value| Value::from(*value)).collect();
        AttributeCondition { comparison: Some(comparison), values: Some(values) }
    }

    fn is(value: &str) -> AttributeCondition {
        test(ComparisonOperator::Eq, &[value])
    }

    /// Returns the keys that a query of a table with these key attributes reads, or
    /// DynamoDB's error.
    fn query(keys: &[&str], tests: &[(&str, AttributeCondition)]) -> Result<KeyQuery, String> {
        let tests = tests.iter().map(|(name, test)| ((*name).to_owned(), test.clone()));
        let found = key_conditions(tests).map_err(|error| error.message().to_owned())?;
        let keys: Vec<(String, KeyType)> =
            keys.iter().map(|key| ((*key).to_owned(), KeyType::S)).collect();
        let (partition, sort) = keys.split_at(1);
        let wording =
            LegacyParameters { unindexable: found.unindexable, ..LegacyParameters::default() };
        let asked = found.condition.to_key_query(&KeySpec { partition, sort });
        asked.map_err(|error| wording.reword(error).message().to_owned())
    }

    const UNINDEXABLE: &str = "Attempted conditional constraint is not an indexable operation";

    fn unindexable() -> [AttributeCondition; 6] {
        [
            test(ComparisonOperator::Null, &[]),
            test(ComparisonOperator::NotNull, &[]),
            test(ComparisonOperator::Ne, &["x"]),
            test(ComparisonOperator::In, &["x"]),
            test(ComparisonOperator::Contains, &["x"]),
            test(ComparisonOperator::NotContains, &["x"]),
        ]
    }

    #[test]
    fn legacy_key_conditions_become_partition_and_range() {
        let range = |test: AttributeCondition| {
            let found = query(&["p", "s"], &[("s", test), ("p", is("k"))]).unwrap();
            assert_eq!(found.partition, [Value::from("k")]);
            (found.sort_prefix, found.sort_range)
        };
        let [x, y] = ["x", "y"].map(Value::from);
        assert_eq!(range(is("x")), (vec![x.clone()], None));
        for (comparison, values, wanted) in [
            (ComparisonOperator::Lt, &["x"][..], SortRange::Less(x.clone())),
            (ComparisonOperator::Le, &["x"], SortRange::AtMost(x.clone())),
            (ComparisonOperator::Gt, &["x"], SortRange::Greater(x.clone())),
            (ComparisonOperator::Ge, &["x"], SortRange::AtLeast(x.clone())),
            (ComparisonOperator::BeginsWith, &["x"], SortRange::BeginsWith(x.clone())),
            (ComparisonOperator::Between, &["x", "y"], SortRange::Between(x.clone(), y)),
        ] {
            assert_eq!(range(test(comparison, values)), (Vec::new(), Some(wanted)));
        }
    }

    #[test]
    fn unindexable_comparisons_are_rejected_after_the_key_schema_check() {
        let missed = |key: &str| format!("Query condition missed key schema element: {key}");
        for test in unindexable() {
            let asked = |keys: &[&str], others: &[(&str, AttributeCondition)], name| {
                let mut tests = others.to_vec();
                tests.push((name, test.clone()));
                query(keys, &tests).unwrap_err()
            };
            assert_eq!(asked(&["p"], &[], "p"), UNINDEXABLE);
            assert_eq!(asked(&["p", "s"], &[("p", is("k"))], "s"), UNINDEXABLE);
            // The names of the attributes are checked first.
            assert_eq!(asked(&["p", "s"], &[], "z"), missed("p"));
            assert_eq!(asked(&["p", "s"], &[("p", is("k"))], "z"), missed("s"));
            assert_eq!(asked(&["p"], &[("p", is("k"))], "z"), "Query key condition not supported");
            assert_eq!(
                asked(&["p", "s"], &[("p", self::test(ComparisonOperator::Gt, &["k"]))], "s"),
                "Query key condition not supported"
            );
            assert_eq!(
                asked(&["p", "s"], &[("p", is("k")), ("s", is("x"))], "z"),
                "Conditions can be of length 1 or 2 only"
            );
        }
    }

    #[test]
    fn legacy_key_conditions_fail_as_expressions_do() {
        let message = |tests: &[(&str, AttributeCondition)]| query(&["p", "s"], tests).unwrap_err();
        assert_eq!(message(&[]), "Conditions can be of length 1 or 2 only");
        assert_eq!(message(&[("s", is("x"))]), "Query condition missed key schema element: p");
        for comparison in [ComparisonOperator::Gt, ComparisonOperator::BeginsWith] {
            assert_eq!(
                message(&[("p", test(comparison, &["k"]))]),
                "Query key condition not supported"
            );
        }
        let number = AttributeCondition {
            comparison: Some(ComparisonOperator::Eq),
            values: Some(vec![1.into()]),
        };
        assert_eq!(
            message(&[("p", number)]),
            "One or more parameter values were invalid: Condition parameter type does not match \
             schema type"
        );
    }

    #[test]
    fn values_are_checked_before_the_key_schema() {
        let message = |tests: &[(&str, AttributeCondition)]| query(&["p", "s"], tests).unwrap_err();
        let count = "One or more parameter values were invalid: Invalid number of argument(s) for \
                     the EQ ComparisonOperator";
        let [z, y] = ["z", "y"].map(|name| (name, test(ComparisonOperator::Null, &[])));
        assert_eq!(message(&[("p", test(ComparisonOperator::Eq, &[])), z, y]), count);
        assert_eq!(
            message(&[("s", test(ComparisonOperator::Between, &["y", "x"]))]),
            "The BETWEEN condition was provided a range where the lower bound is greater than the \
             upper bound"
        );
        let wrong = AttributeCondition {
            comparison: Some(ComparisonOperator::BeginsWith),
            values: Some(vec![1.into()]),
        };
        assert_eq!(
            message(&[("p", is("k")), ("s", wrong)]),
            "One or more parameter values were invalid: ComparisonOperator BEGINS_WITH is not \
             valid for N AttributeValue type"
        );
        assert_eq!(message(&[("", is("k"))]), "Empty attribute name");
        key_conditions([("p".to_owned(), AttributeCondition::default())]).unwrap_err();
    }
}
