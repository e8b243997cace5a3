//! Conversion of `Expected`, the legacy condition of a write.

use super::{ComparisonOperator, ConditionalOperator, invalid, join};
use crate::expr::Condition;
use crate::{Result, Value};

/// Condition of a write on one attribute: `ExpectedAttributeValue`.
///
/// It is a comparison with values, one value to be equal to, or the absence of the attribute.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExpectedAttribute {
    /// Single value to compare with: `Value`.
    pub value: Option<Value>,
    /// Whether the attribute must exist: `Exists`. If true, it must equal `value`.
    pub exists: Option<bool>,
    /// Comparison operator: `ComparisonOperator`.
    pub comparison: Option<ComparisonOperator>,
    /// Operands of the comparison: `AttributeValueList`.
    pub values: Option<Vec<Value>>,
}

/// Converts `Expected` to a condition; `None` if it is empty, so that the write has no condition.
///
/// Pass an empty parameter for a request without one, so that its `ConditionalOperator`
/// is validated.
///
/// # Errors
/// With DynamoDB's message, for every entry that is not exactly one condition. No entry is ignored,
/// because a write without its condition could overwrite data.
pub fn expected(
    expected: impl IntoIterator<Item = (String, ExpectedAttribute)>,
    operator: Option<ConditionalOperator>,
) -> Result<Option<Condition>> {
    let conditions: Vec<Condition> =
        expected.into_iter().map(|(name, one)| one.condition(name)).collect::<Result<_>>()?;
    join(conditions, operator)
}

impl ExpectedAttribute {
    fn condition(self, name: String) -> Result<Condition> {
        let refuse = |rule: &str| Err(invalid(format_args!("{rule} for Attribute: {name}")));
        match (self.comparison, self.exists, self.value, self.values) {
            (Some(_), Some(_), _, _) => {
                refuse("Exists and ComparisonOperator cannot be used together")
            }
            (_, _, Some(_), Some(_)) => {
                refuse("Value and AttributeValueList cannot be used together")
            }
            (Some(comparison), None, None, None) if !comparison.takes_count(0) => refuse(&format!(
                "Value or AttributeValueList must be used with ComparisonOperator: {comparison}"
            )),
            (Some(comparison), None, value, values) => {
                comparison.of(name, values.unwrap_or_else(|| Vec::from_iter(value)))
            }
            (None, _, None, Some(_)) => {
                refuse("AttributeValueList can only be used with a ComparisonOperator")
            }
            (None, Some(false), None, None) => ComparisonOperator::Null.of(name, Vec::new()),
            (None, Some(false), Some(_), None) => {
                refuse("Value cannot be used when Exists is false")
            }
            (None, Some(true) | None, Some(value), None) => {
                ComparisonOperator::Eq.of(name, vec![value])
            }
            (None, Some(true), None, None) => refuse("Value must be provided when Exists is true"),
            (None, None, None, None) => refuse("Value must be provided when Exists is null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    fn one(expected: ExpectedAttribute) -> Result<Condition, String> {
        expected.condition("x".to_owned()).map_err(|error| error.message().to_owned())
    }

    fn list() -> Option<Vec<Value>> {
        Some(vec!["a".into()])
    }

    #[test]
    fn ambiguous_or_incomplete_expected_is_rejected() {
        let value = || Some(Value::from("a"));
        let less = Some(ComparisonOperator::Lt);
        let cases: [(ExpectedAttribute, &str); 13] = [
            (ExpectedAttribute::default(), "Value must be provided when Exists is null"),
            (
                ExpectedAttribute { exists: Some(true), ..ExpectedAttribute::default() },
                "Value must be provided when Exists is true",
            ),
            (
                ExpectedAttribute {
                    exists: Some(false),
                    value: value(),
                    ..ExpectedAttribute::default()
                },
                "Value cannot be used when Exists is false",
            ),
            (
                ExpectedAttribute { values: list(), ..ExpectedAttribute::default() },
                "AttributeValueList can only be used with a ComparisonOperator",
            ),
            (
                ExpectedAttribute { values: Some(Vec::new()), ..ExpectedAttribute::default() },
                "AttributeValueList can only be used with a ComparisonOperator",
            ),
            (
                ExpectedAttribute {
                    exists: Some(true),
                    values: list(),
                    ..ExpectedAttribute::default()
                },
                "AttributeValueList can only be used with a ComparisonOperator",
            ),
            (
                ExpectedAttribute {
                    exists: Some(false),
                    values: list(),
                    ..ExpectedAttribute::default()
                },
                "AttributeValueList can only be used with a ComparisonOperator",
            ),
            (
                ExpectedAttribute {
                    value: value(),
                    values: list(),
                    ..ExpectedAttribute::default()
                },
                "Value and AttributeValueList cannot be used together",
            ),
            (
                ExpectedAttribute {
                    comparison: less,
                    value: value(),
                    values: list(),
                    exists: None,
                },
                "Value and AttributeValueList cannot be used together",
            ),
            (
                ExpectedAttribute {
                    comparison: less,
                    exists: Some(true),
                    ..ExpectedAttribute::default()
                },
                "Exists and ComparisonOperator cannot be used together",
            ),
            (
                ExpectedAttribute {
                    comparison: less,
                    exists: Some(false),
                    value: value(),
                    values: list(),
                },
                "Exists and ComparisonOperator cannot be used together",
            ),
            (
                ExpectedAttribute {
                    exists: Some(true),
                    value: value(),
                    values: list(),
                    comparison: None,
                },
                "Value and AttributeValueList cannot be used together",
            ),
            (
                ExpectedAttribute { comparison: less, ..ExpectedAttribute::default() },
                "Value or AttributeValueList must be used with ComparisonOperator: LT",
            ),
        ];
        for (expected, rule) in cases {
            let message =
                format!("One or more parameter values were invalid: {rule} for Attribute: x");
            assert_eq!(one(expected.clone()), Err(message), "{expected:?}");
        }
    }

    #[test]
    fn single_value_equals_a_list_of_one() {
        let with = |comparison, value: Value| {
            one(ExpectedAttribute {
                comparison,
                value: Some(value),
                ..ExpectedAttribute::default()
            })
        };
        assert!(
            with(Some(ComparisonOperator::Gt), 4.into()).unwrap().evaluate(&item! { "x" => 5 })
        );
        assert!(
            with(Some(ComparisonOperator::In), 5.into()).unwrap().evaluate(&item! { "x" => 5 })
        );
        let count = "One or more parameter values were invalid: Invalid number of argument(s) for \
                     the";
        for comparison in
            [ComparisonOperator::Null, ComparisonOperator::NotNull, ComparisonOperator::Between]
        {
            assert_eq!(
                with(Some(comparison), 5.into()).unwrap_err(),
                format!("{count} {comparison} ComparisonOperator")
            );
        }
    }

    #[test]
    fn exists_true_tests_equality_and_false_tests_absence() {
        for exists in [None, Some(true)] {
            let condition = one(ExpectedAttribute {
                exists,
                value: Some(5.into()),
                ..ExpectedAttribute::default()
            })
            .unwrap();
            assert!(condition.evaluate(&item! { "x" => 5 }));
            assert!(!condition.evaluate(&item! { "x" => "5" }));
            assert!(!condition.evaluate(&item! {}));
        }
        let missing =
            one(ExpectedAttribute { exists: Some(false), ..ExpectedAttribute::default() }).unwrap();
        assert!(missing.evaluate(&item! { "y" => 5 }));
        assert!(!missing.evaluate(&item! { "x" => Value::Null }));
    }

    #[test]
    fn first_invalid_attribute_is_reported() {
        let wrong = || ("b".to_owned(), ExpectedAttribute::default());
        let nameless = || {
            (
                String::new(),
                ExpectedAttribute { exists: Some(false), ..ExpectedAttribute::default() },
            )
        };
        let message = |list: Vec<(String, ExpectedAttribute)>| {
            expected(list, None).unwrap_err().message().to_owned()
        };
        assert!(message(vec![wrong(), nameless()]).ends_with("Exists is null for Attribute: b"));
        assert_eq!(message(vec![nameless(), wrong()]), "Empty attribute name");
        let long = (
            "n".repeat(65_536),
            ExpectedAttribute { value: Some(1.into()), ..ExpectedAttribute::default() },
        );
        assert_eq!(
            message(vec![long]),
            "Attribute name is too large, must be less than 65536 bytes"
        );
    }
}
