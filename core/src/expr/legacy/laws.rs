//! Property tests of all legacy parameters, on any item.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::*;
use crate::expr::{ExpressionKind, Placeholders, Renderer};
use crate::value::arbitrary;
use crate::{Item, Value};

fn any_comparison() -> impl Strategy<Value = ComparisonOperator> {
    prop::sample::select(ComparisonOperator::ALL.to_vec())
}

/// Test that is valid often, but not always.
fn any_test() -> impl Strategy<Value = AttributeCondition> {
    let likely = prop_oneof![
        vec((0..5).prop_map(Value::from), 0..4),
        vec("[a-b]{0,2}".prop_map(Value::from), 0..4),
        vec(arbitrary::value(), 0..3),
    ];
    (any_comparison(), likely).prop_map(|(comparison, values)| AttributeCondition {
        comparison: Some(comparison),
        values: Some(values),
    })
}

fn any_update() -> impl Strategy<Value = AttributeUpdate> {
    let action = prop::sample::select(vec![
        None,
        Some(AttributeAction::Put),
        Some(AttributeAction::Add),
        Some(AttributeAction::Delete),
    ]);
    (action, prop::option::of(arbitrary::value()))
        .prop_map(|(action, value)| AttributeUpdate { value, action })
}

fn any_item() -> impl Strategy<Value = Item> {
    let value = prop_oneof![
        (0..5).prop_map(Value::from),
        "[a-b]{0,2}".prop_map(Value::from),
        arbitrary::value(),
    ];
    btree_map("[a-c]", value, 0..3).prop_map(Item::from)
}

proptest! {
    /// An accepted filter is a valid expression with the same result.
    #[test]
    fn accepted_filter_is_a_valid_expression(
        tests in btree_map("[a-c]", any_test(), 1..3),
        item in any_item(),
    ) {
        if let Ok(Some(condition)) = filter(tests, None) {
            condition.validate(ExpressionKind::Filter).unwrap();
            let mut renderer = Renderer::new();
            let text = condition.render(&mut renderer);
            let mut placeholders = Placeholders::new(renderer.names(), renderer.values()).unwrap();
            let parsed = placeholders.parse_condition(ExpressionKind::Filter, &text).unwrap();
            prop_assert_eq!(parsed.evaluate(&item), condition.evaluate(&item));
            prop_assert_eq!(parsed, condition);
        }
    }

    /// A list holds if all of its conditions hold, or with `OR`, if one of them does.
    #[test]
    fn filter_joins_its_conditions(
        tests in btree_map("[a-d]", any_test(), 2..4),
        item in any_item(),
    ) {
        let alone: Result<Vec<bool>> = tests
            .iter()
            .map(|(name, test)| filter([(name.clone(), test.clone())], None))
            .map(|condition| Ok(condition?.unwrap().evaluate(&item)))
            .collect();
        let joined = |operator| Ok(filter(tests.clone(), operator)?.unwrap().evaluate(&item));
        let [and, or, neither] =
            [Some(ConditionalOperator::And), Some(ConditionalOperator::Or), None].map(joined);
        match alone {
            Ok(alone) => {
                prop_assert_eq!(and.unwrap(), alone.iter().all(|holds| *holds));
                prop_assert_eq!(neither.unwrap(), alone.iter().all(|holds| *holds));
                prop_assert_eq!(or.unwrap(), alone.iter().any(|holds| *holds));
            }
            // The first error is reported.
            Err(first) => {
                for refused in [and, or, neither] {
                    let refused: Error = refused.unwrap_err();
                    prop_assert_eq!(refused.message(), first.message());
                }
            }
        }
    }

    /// `Expected` and filters have the same comparisons.
    #[test]
    fn expected_matches_the_filter_with_the_same_test(test in any_test(), item in any_item()) {
        let one = ExpectedAttribute {
            comparison: test.comparison,
            values: test.values.clone(),
            ..ExpectedAttribute::default()
        };
        let name = || "a".to_owned();
        match (filter([(name(), test)], None), expected([(name(), one)], None)) {
            (Ok(filter), Ok(expected)) => {
                prop_assert_eq!(filter.unwrap().evaluate(&item), expected.unwrap().evaluate(&item));
            }
            (filter, expected) => {
                let (filter, expected) = (filter.unwrap_err(), expected.unwrap_err());
                prop_assert_eq!(filter.message(), expected.message());
            }
        }
    }

    /// Some operators are the negation or combination of others.
    #[test]
    fn operators_agree_with_their_negations(value in arbitrary::value(), item in any_item()) {
        let holds = |comparison, values: &[&Value]| {
            let values = Some(values.iter().map(|value| (*value).clone()).collect());
            let test = AttributeCondition { comparison: Some(comparison), values };
            let condition = filter([("a".to_owned(), test)], None).ok()?.unwrap();
            Some(condition.evaluate(&item))
        };
        let there = holds(ComparisonOperator::NotNull, &[]).unwrap();
        prop_assert_eq!(holds(ComparisonOperator::Null, &[]), Some(!there));
        let equal = holds(ComparisonOperator::Eq, &[&value]).unwrap();
        prop_assert_eq!(holds(ComparisonOperator::Ne, &[&value]), Some(!equal));
        if let Some(contains) = holds(ComparisonOperator::Contains, &[&value]) {
            prop_assert_eq!(holds(ComparisonOperator::NotContains, &[&value]), Some(there && !contains));
        }
        if let Some(less) = holds(ComparisonOperator::Lt, &[&value]) {
            prop_assert_eq!(holds(ComparisonOperator::Le, &[&value]), Some(less || equal));
            prop_assert_eq!(holds(ComparisonOperator::Between, &[&value, &value]), Some(equal));
            prop_assert_eq!(holds(ComparisonOperator::In, &[&value, &value]), Some(equal));
        }
    }

    /// An accepted update is valid, and equals its actions applied one by one.
    #[test]
    fn update_equals_its_actions_one_by_one(
        updates in btree_map("[a-c]", any_update(), 1..4),
        item in any_item(),
    ) {
        let Ok(Some(update)) = attribute_updates(updates.clone()) else {
            let is_refused =
                |(name, one): (String, AttributeUpdate)| attribute_updates([(name, one)]).is_err();
            prop_assert!(updates.into_iter().any(is_refused));
            return Ok(());
        };
        update.validate().unwrap();
        let together = update.apply(&item).ok();
        let one_by_one = updates.into_iter().try_fold(item, |item, (name, one)| {
            attribute_updates([(name, one)]).unwrap().unwrap().apply(&item).ok()
        });
        prop_assert_eq!(together, one_by_one);
    }
}
