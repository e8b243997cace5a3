//! Every comparison operator with every type of value, and the rules for lists of conditions.

use std::collections::BTreeMap;

use super::*;
use crate::attr;
use crate::expr::ExpressionKind;
use crate::{Item, Number, Set, Value, item, list, map};

/// Attributes for which a comparison holds in DynamoDB Local 2.6.1, in `ScanFilter`, `QueryFilter`
/// and `Expected` alike. Names are those of [`samples`]; `none` is an item without the attribute,
/// and `-` means no item. `!` precedes the reason of an error. A bar separates values with the
/// same result.
const RESULTS: &str = "
    EQ s: s
    EQ s2: s2
    EQ s0: s0
    EQ n: n
    EQ n2: n2
    EQ b: b
    EQ b2: b2
    EQ b0: b0
    EQ bool: bool
    EQ null: null
    EQ l: l
    EQ m: m
    EQ ss: ss
    EQ ns: ns
    EQ bs: bs
    EQ: !count
    EQ s s: !count

    NE s: all but s
    NE s2: all but s2
    NE s0: all but s0
    NE n: all but n
    NE n2: all but n2
    NE b: all but b
    NE b2: all but b2
    NE b0: all but b0
    NE bool: all but bool
    NE null: all but null
    NE l: all but l
    NE m: all but m
    NE ss: all but ss
    NE ns: all but ns
    NE bs: all but bs

    LE s: s s0
    LE s2: s s2 s0
    LE s0: s0
    LE n: n
    LE n2: n n2
    LE b: b b0
    LE b2: b b2 b0
    LE b0: b0
    LE bool | null | l | m | ss | ns | bs: !kind

    LT s: s0
    LT s2: s s0
    LT n2: n
    LT b: b0
    LT b2: b b0
    LT s0 | n | b0: -
    LT bool | null | l | m | ss | ns | bs: !kind

    GE s: s s2
    GE s2: s2
    GE s0: s s2 s0
    GE n: n n2
    GE n2: n2
    GE b: b b2
    GE b2: b2
    GE b0: b b2 b0
    GE bool | null | l | m | ss | ns | bs: !kind

    GT s: s2
    GT s0: s s2
    GT n: n2
    GT b: b2
    GT b0: b b2
    GT s2 | n2 | b2: -
    GT bool | null | l | m | ss | ns | bs: !kind

    CONTAINS s: s l ss
    CONTAINS s2: s s2
    CONTAINS s0: s s2 s0
    CONTAINS n: l ns
    CONTAINS n2: -
    CONTAINS b: b l bs
    CONTAINS b2: b b2
    CONTAINS b0: b b2 b0
    CONTAINS bool: l
    CONTAINS null: l
    CONTAINS l | m | ss | ns | bs: !kind

    NOT_CONTAINS s: all but s l ss none
    NOT_CONTAINS s2: all but s s2 none
    NOT_CONTAINS s0: all but s s2 s0 none
    NOT_CONTAINS n: all but l ns none
    NOT_CONTAINS n2: all but none
    NOT_CONTAINS b: all but b l bs none
    NOT_CONTAINS b2: all but b b2 none
    NOT_CONTAINS b0: all but b b2 b0 none
    NOT_CONTAINS bool: all but l none
    NOT_CONTAINS null: all but l none
    NOT_CONTAINS l | m | ss | ns | bs: !kind

    BEGINS_WITH s: s
    BEGINS_WITH s2: s2
    BEGINS_WITH s0: s s2 s0
    BEGINS_WITH b: b
    BEGINS_WITH b2: b2
    BEGINS_WITH b0: b b2 b0
    BEGINS_WITH n | n2 | bool | null | l | m | ss | ns | bs: !kind

    IN s: s
    IN s2: s2
    IN s0: s0
    IN n: n
    IN n2: n2
    IN b: b
    IN b2: b2
    IN b0: b0
    IN s2 s: s s2
    IN s0 s: s s0
    IN n n2: n n2
    IN n2 n: n n2
    IN b2 b: b b2
    IN b b2: b b2
    IN b s: !mixed
    IN bool | null | l | m | ss | ns | bs: !kind
    IN: !count

    BETWEEN s s2: s s2
    BETWEEN s s: s
    BETWEEN s0 s: s s0
    BETWEEN n n: n
    BETWEEN n n2: n n2
    BETWEEN b b: b
    BETWEEN b b2: b b2
    BETWEEN s2 s | n2 n | b2 b: !order
    BETWEEN s n: !mixed
    BETWEEN s bool | bool s | bool bool | null null | l l | m m | ss ss | ns ns | bs bs: !kind
    BETWEEN s | s s s: !count

    NULL: none
    NULL s: !count
    NOT_NULL: all but none
    NOT_NULL s: !count
";

fn samples() -> BTreeMap<&'static str, Value> {
    let bytes = |text: &'static str| Value::B(text.as_bytes().into());
    BTreeMap::from([
        ("s", "abc".into()),
        ("s2", "b".into()),
        ("s0", "".into()),
        ("n", 5.into()),
        ("n2", 7.into()),
        ("b", bytes("abc")),
        ("b2", bytes("b")),
        ("b0", bytes("")),
        ("bool", true.into()),
        ("null", Value::Null),
        ("l", list!["abc", 5, bytes("abc"), true, Value::Null]),
        ("m", map! { "abc" => 5 }.into()),
        ("ss", Value::Ss(Set::new(["abc".to_owned(), "x".to_owned()]).unwrap())),
        ("ns", Value::Ns(Set::new([Number::from(5), Number::from(9)]).unwrap())),
        ("bs", Value::Bs(Set::new(["abc".as_bytes().into()]).unwrap())),
    ])
}

/// Converts a comparison of `v` as a filter and as `Expected`.
fn both_ways(comparison: ComparisonOperator, values: Vec<Value>) -> [Result<Option<Condition>>; 2] {
    let name = || "v".to_owned();
    let (comparison, values) = (Some(comparison), Some(values));
    let test = AttributeCondition { comparison, values: values.clone() };
    let one = ExpectedAttribute { comparison, values, ..ExpectedAttribute::default() };
    [filter([(name(), test)], None), expected([(name(), one)], None)]
}

/// Returns the samples for which the condition holds, in the notation of the table, or the error.
fn matching_samples(found: Result<Option<Condition>>) -> Result<Vec<&'static str>, String> {
    let condition = found.map_err(|error| error.message().to_owned())?.unwrap();
    let mut holds: Vec<&str> = samples()
        .into_iter()
        .filter(|(_, value)| condition.evaluate(&item! { "v" => value.clone() }))
        .map(|(name, _)| name)
        .collect();
    holds.extend(condition.evaluate(&item! { "w" => 1 }).then_some("none"));
    assert_eq!(condition.evaluate(&Item::new()), holds.contains(&"none"), "{condition:?}");
    holds.sort_unstable();
    Ok(holds)
}

/// Returns the result in the table, with the whole error text.
fn wanted<'t>(comparison: &str, values: &str, row: &'t str) -> Result<Vec<&'t str>, String> {
    let samples = samples();
    let mut holds: Vec<&str> = match row.split_once("all but ") {
        Some((_, others)) => {
            let others: Vec<&str> = others.split(' ').collect();
            let all = samples.keys().copied().chain(["none"]);
            all.filter(|name| !others.contains(name)).collect()
        }
        None => row.split(' ').filter(|name| *name != "-").collect(),
    };
    let rule = match row {
        "!count" => {
            format!("Invalid number of argument(s) for the {comparison} ComparisonOperator")
        }
        "!kind" => {
            let scalars = ["s", "s2", "n", "n2", "b", "b2"];
            let refused = values.split(' ').find(|name| {
                !scalars.contains(name) || (comparison == "BEGINS_WITH" && name.starts_with('n'))
            });
            let kind = samples[refused.unwrap()].kind();
            format!("ComparisonOperator {comparison} is not valid for {kind} AttributeValue type")
        }
        "!mixed" => "AttributeValues inside AttributeValueList must be of same type".to_owned(),
        "!order" => {
            return Err("The BETWEEN condition was provided a range where the lower bound is \
                        greater than the upper bound"
                .to_owned());
        }
        _ => {
            holds.sort_unstable();
            return Ok(holds);
        }
    };
    Err(format!("One or more parameter values were invalid: {rule}"))
}

#[test]
fn comparison_results_match_dynamodb_local() {
    let samples = samples();
    let mut compared = BTreeMap::new();
    for line in RESULTS.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (asked, message) = line.split_once(": ").unwrap();
        let (name, alternatives) = asked.split_once(' ').unwrap_or((asked, ""));
        let comparison = ComparisonOperator::from_name(name).unwrap();
        for names in alternatives.split(" | ") {
            let values: Vec<Value> = names
                .split(' ')
                .filter(|name| !name.is_empty())
                .map(|name| samples[name].clone())
                .collect();
            for found in both_ways(comparison, values) {
                assert_eq!(matching_samples(found), wanted(name, names, message), "{name} {names}");
            }
            *compared.entry(name).or_insert(0) += 1;
        }
    }
    // The table has every operator, and every sample for operators of one value.
    for comparison in ComparisonOperator::ALL {
        let at_least = match comparison {
            ComparisonOperator::Null | ComparisonOperator::NotNull => 1,
            _ => samples.len(),
        };
        assert!(compared[comparison.as_str()] >= at_least, "{comparison}");
    }
}

#[test]
fn limit_on_operators_does_not_apply_to_legacy_filters() {
    let many = |count: usize| {
        (0..count).map(|number| {
            let values = Some(vec![Value::from(number as u64)]);
            (
                format!("a{number}"),
                AttributeCondition { comparison: Some(ComparisonOperator::Eq), values },
            )
        })
    };
    for operator in [ConditionalOperator::And, ConditionalOperator::Or] {
        let condition = filter(many(400), Some(operator)).unwrap().unwrap();
        condition.validate(ExpressionKind::Filter).unwrap();
        // As part of an expression, it counts as any other condition.
        (condition.and(attr("z").exists())).validate(ExpressionKind::Filter).unwrap_err();
    }
    let values: Vec<Value> = (0..20_000).map(Value::from).collect();
    for condition in both_ways(ComparisonOperator::In, values) {
        let condition = condition.unwrap().unwrap();
        condition.validate(ExpressionKind::Condition).unwrap();
        assert!(condition.evaluate(&item! { "v" => 19_999 }));
        assert!(!condition.evaluate(&item! { "v" => 20_000 }));
    }
}

#[test]
fn operator_with_fewer_than_two_conditions_is_rejected() {
    let there = |count: usize| {
        let test =
            AttributeCondition { comparison: Some(ComparisonOperator::NotNull), values: None };
        ["a", "b", "c"].into_iter().take(count).map(move |name| (name.to_owned(), test.clone()))
    };
    let missing = |count: usize| {
        let one = ExpectedAttribute { exists: Some(false), ..ExpectedAttribute::default() };
        ["a", "b", "c"].into_iter().take(count).map(move |name| (name.to_owned(), one.clone()))
    };
    for operator in [ConditionalOperator::And, ConditionalOperator::Or] {
        for (count, text) in [
            (0, "ConditionalOperator cannot be used without Filter or Expected"),
            (
                1,
                "ConditionalOperator can only be used when Filter or Expected has two or more \
                 elements",
            ),
        ] {
            let refused =
                [filter(there(count), Some(operator)), expected(missing(count), Some(operator))];
            for refused in refused {
                assert_eq!(refused.unwrap_err().message(), text);
            }
        }
        // An error of a condition takes precedence.
        let wrong = expected([("a".to_owned(), ExpectedAttribute::default())], Some(operator));
        assert!(wrong.unwrap_err().message().ends_with("for Attribute: a"));
    }
    assert_eq!(filter([], None).unwrap(), None);
    assert_eq!(expected([], None).unwrap(), None);
    let and = expected(missing(3), Some(ConditionalOperator::And)).unwrap();
    assert_eq!(and, expected(missing(3), None).unwrap());
    let or = expected(missing(2), Some(ConditionalOperator::Or)).unwrap().unwrap();
    assert!(or.evaluate(&item! { "a" => 1 }));
    assert!(!or.evaluate(&item! { "a" => 1, "b" => 1 }));
}

#[test]
fn operator_names_parse_to_the_same_operator() {
    for comparison in ComparisonOperator::ALL {
        assert_eq!(ComparisonOperator::from_name(comparison.as_str()), Some(comparison));
    }
    for operator in [ConditionalOperator::And, ConditionalOperator::Or] {
        assert_eq!(ConditionalOperator::from_name(operator.as_str()), Some(operator));
    }
    assert_eq!(ComparisonOperator::from_name("eq"), None);
    assert_eq!(ConditionalOperator::from_name("and"), None);
}

#[test]
fn attributes_to_get_takes_distinct_top_level_names() {
    let get = |names: &[&str]| attributes_to_get(names.iter().map(|name| (*name).to_owned()));
    let message = |names: &[&str]| get(names).unwrap_err().message().to_owned();
    let item = item! { "a" => 1, "m" => map! { "x" => 1 }, "m.x" => 2 };
    assert_eq!(get(&["m.x", "a", "z"]).unwrap().project(&item), item! { "a" => 1, "m.x" => 2 });
    assert_eq!(
        message(&["b", "c", "b", "c"]),
        "One or more parameter values were invalid: Duplicate value in attribute name: b"
    );
    assert_eq!(message(&["b", ""]), "Empty attribute name");
    assert!(
        message(&[]).starts_with("1 validation error detected: Value '[]' at 'attributesToGet'")
    );
}

#[test]
fn expressions_with_legacy_parameters_are_rejected() {
    let keys = ["KeyConditions"];
    refuse_placeholders(false, false, &["FilterExpression"]).unwrap();
    let message = |names, expressions: &[&str]| {
        refuse_placeholders(names, true, expressions).unwrap_err().message().to_owned()
    };
    let text = "can only be specified when using expressions";
    assert_eq!(message(true, &[]), format!("ExpressionAttributeNames {text}"));
    assert_eq!(
        message(false, &["FilterExpression"]),
        format!("ExpressionAttributeValues {text}: FilterExpression is null")
    );
    assert_eq!(
        message(false, &["UpdateExpression", "ConditionExpression"]),
        format!(
            "ExpressionAttributeValues {text}: UpdateExpression and ConditionExpression are null"
        )
    );
    refuse_mixture(&["AttributesToGet", "ScanFilter"], &[]).unwrap();
    refuse_mixture(&[], &["ProjectionExpression", "FilterExpression"]).unwrap();
    // They can be combined with any other expression.
    refuse_mixture(&keys, &["ProjectionExpression", "FilterExpression"]).unwrap();
    let both = "Can not use both expression and non-expression parameters in the same request: \
                Non-expression parameters:";
    let message = |legacy: &[&str], expressions: &[&str]| {
        refuse_mixture(legacy, expressions).unwrap_err().message().to_owned()
    };
    assert_eq!(
        message(&keys, &["KeyConditionExpression"]),
        format!("{both} {{KeyConditions}} Expression parameters: {{KeyConditionExpression}}")
    );
    assert_eq!(
        message(&["QueryFilter", "ConditionalOperator", "KeyConditions"], &["FilterExpression"]),
        format!(
            "{both} {{QueryFilter, ConditionalOperator}} Expression parameters: {{FilterExpression}}"
        )
    );
    assert_eq!(
        message(&["AttributeUpdates", "Expected"], &["UpdateExpression", "ConditionExpression"]),
        format!(
            "{both} {{AttributeUpdates, Expected}} Expression parameters: {{UpdateExpression, \
             ConditionExpression}}"
        )
    );
}
