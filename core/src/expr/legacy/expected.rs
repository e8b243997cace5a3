//! `Expected`: the legacy condition of a write.

use super::{Comparison, ConditionalOperator, invalid, join};
use crate::expr::Condition;
use crate::{Result, Value};

/// What a write expects of one attribute: `ExpectedAttributeValue`.
///
/// Either a comparison with its values, or a value to be equal to, or that there be no attribute.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// The one value to compare with: `Value`.
    pub value: Option<Value>,
    /// Whether there is to be such an attribute: `Exists`. If so, the value says which.
    pub exists: Option<bool>,
    /// How to compare: `ComparisonOperator`.
    pub comparison: Option<Comparison>,
    /// What to compare with: `AttributeValueList`.
    pub values: Option<Vec<Value>>,
}

/// The condition of `Expected`, `None` if it is empty: then the write has no condition.
///
/// Pass an empty one for a request that has none, so that its `ConditionalOperator` is judged.
///
/// # Errors
/// With DynamoDB's message for whatever does not say exactly one thing. Nothing is passed over: a
/// write that lost its condition would destroy data.
pub fn expected(
    expected: impl IntoIterator<Item = (String, Expected)>,
    operator: Option<ConditionalOperator>,
) -> Result<Option<Condition>> {
    let conditions: Vec<Condition> =
        expected.into_iter().map(|(name, one)| one.condition(name)).collect::<Result<_>>()?;
    join(conditions, operator)
}

impl Expected {
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
            (None, Some(false), None, None) => Comparison::Null.of(name, Vec::new()),
            (None, Some(false), Some(_), None) => {
                refuse("Value cannot be used when Exists is false")
            }
            (None, Some(true) | None, Some(value), None) => Comparison::Eq.of(name, vec![value]),
            (None, Some(true), None, None) => refuse("Value must be provided when Exists is true"),
            (None, None, None, None) => refuse("Value must be provided when Exists is null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    fn one(expected: Expected) -> Result<Condition, String> {
        expected.condition("x".to_owned()).map_err(|error| error.message().to_owned())
    }

    fn list() -> Option<Vec<Value>> {
        Some(vec!["a".into()])
    }

    #[test]
    fn what_does_not_say_one_thing_is_refused() {
        let value = || Some(Value::from("a"));
        let less = Some(Comparison::Lt);
        let cases: [(Expected, &str); 13] = [
            (Expected::default(), "Value must be provided when Exists is null"),
            (
                Expected { exists: Some(true), ..Expected::default() },
                "Value must be provided when Exists is true",
            ),
            (
                Expected { exists: Some(false), value: value(), ..Expected::default() },
                "Value cannot be used when Exists is false",
            ),
            (
                Expected { values: list(), ..Expected::default() },
                "AttributeValueList can only be used with a ComparisonOperator",
            ),
            (
                Expected { values: Some(Vec::new()), ..Expected::default() },
                "AttributeValueList can only be used with a ComparisonOperator",
            ),
            (
                Expected { exists: Some(true), values: list(), ..Expected::default() },
                "AttributeValueList can only be used with a ComparisonOperator",
            ),
            (
                Expected { exists: Some(false), values: list(), ..Expected::default() },
                "AttributeValueList can only be used with a ComparisonOperator",
            ),
            (
                Expected { value: value(), values: list(), ..Expected::default() },
                "Value and AttributeValueList cannot be used together",
            ),
            (
                Expected { comparison: less, value: value(), values: list(), exists: None },
                "Value and AttributeValueList cannot be used together",
            ),
            (
                Expected { comparison: less, exists: Some(true), ..Expected::default() },
                "Exists and ComparisonOperator cannot be used together",
            ),
            (
                Expected { comparison: less, exists: Some(false), value: value(), values: list() },
                "Exists and ComparisonOperator cannot be used together",
            ),
            (
                Expected { exists: Some(true), value: value(), values: list(), comparison: None },
                "Value and AttributeValueList cannot be used together",
            ),
            (
                Expected { comparison: less, ..Expected::default() },
                "Value or AttributeValueList must be used with ComparisonOperator: LT",
            ),
        ];
        for (expected, rule) in cases {
            let told =
                format!("One or more parameter values were invalid: {rule} for Attribute: x");
            assert_eq!(one(expected.clone()), Err(told), "{expected:?}");
        }
    }

    #[test]
    fn one_value_is_a_list_of_one() {
        let with = |comparison, value: Value| {
            one(Expected { comparison, value: Some(value), ..Expected::default() })
        };
        assert!(with(Some(Comparison::Gt), 4.into()).unwrap().evaluate(&item! { "x" => 5 }));
        assert!(with(Some(Comparison::In), 5.into()).unwrap().evaluate(&item! { "x" => 5 }));
        let count = "One or more parameter values were invalid: Invalid number of argument(s) for \
                     the";
        for comparison in [Comparison::Null, Comparison::NotNull, Comparison::Between] {
            assert_eq!(
                with(Some(comparison), 5.into()).unwrap_err(),
                format!("{count} {comparison} ComparisonOperator")
            );
        }
    }

    #[test]
    fn existing_means_being_equal_and_not_existing_means_missing() {
        for exists in [None, Some(true)] {
            let condition =
                one(Expected { exists, value: Some(5.into()), ..Expected::default() }).unwrap();
            assert!(condition.evaluate(&item! { "x" => 5 }));
            assert!(!condition.evaluate(&item! { "x" => "5" }));
            assert!(!condition.evaluate(&item! {}));
        }
        let missing = one(Expected { exists: Some(false), ..Expected::default() }).unwrap();
        assert!(missing.evaluate(&item! { "y" => 5 }));
        assert!(!missing.evaluate(&item! { "x" => Value::Null }));
    }

    #[test]
    fn the_first_that_is_wrong_is_told() {
        let wrong = || ("b".to_owned(), Expected::default());
        let nameless = || (String::new(), Expected { exists: Some(false), ..Expected::default() });
        let told =
            |list: Vec<(String, Expected)>| expected(list, None).unwrap_err().message().to_owned();
        assert!(told(vec![wrong(), nameless()]).ends_with("Exists is null for Attribute: b"));
        assert_eq!(told(vec![nameless(), wrong()]), "Empty attribute name");
        let long = ("n".repeat(65_536), Expected { value: Some(1.into()), ..Expected::default() });
        assert_eq!(told(vec![long]), "Attribute name is too large, must be less than 65536 bytes");
    }
}
