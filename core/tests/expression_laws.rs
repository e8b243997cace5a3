//! Property tests of expressions, on any expression and any item.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use tabla_core::backend::{KeySpec, Placeholders, Renderer, SortRange};
use tabla_core::expr::{CompareOp, ExpressionKind, Names, Operand, SetOperand, SetValue, Values};
use tabla_core::{
    Condition, Item, KeyType, Map, Number, Path, Projection, Set, Update, Value, ValueKind, attr,
};

const KIND: ExpressionKind = ExpressionKind::Condition;

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-d]",
        Just("size".to_owned()),
        Just("Status".to_owned()),
        Just("a.b".to_owned()),
        Just("l[0]".to_owned()),
        Just("#n0".to_owned()),
        "[\\PC]{1,4}",
    ]
}

fn path() -> impl Strategy<Value = Path> {
    let step = prop_oneof![name().prop_map(Ok), (0u32..5).prop_map(Err)];
    (name(), vec(step, 0..3)).prop_map(|(root, steps)| {
        steps.into_iter().fold(attr(root), |path, step| match step {
            Ok(name) => path.field(name),
            Err(index) => path.index(index),
        })
    })
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[\\PC]{0,3}".prop_map(Value::from),
        (-5i32..5).prop_map(Value::from),
        vec(any::<u8>(), 0..3).prop_map(|bytes| Value::B(bytes.into())),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Null),
        vec("[a-c]", 1..3).prop_map(|members| Value::Ss(Set::merged(members).unwrap())),
        vec(0i32..5, 1..3).prop_map(|members| Value::Ns(
            Set::merged(members.into_iter().map(Number::from)).unwrap()
        )),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::L),
            btree_map("[a-d]", inner, 0..3).prop_map(Value::M),
        ]
    })
}

fn item() -> impl Strategy<Value = Item> {
    btree_map("[a-d]", value(), 0..4).prop_map(Item::from)
}

fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        3 => path().prop_map(Operand::Path),
        3 => value().prop_map(Operand::Value),
        1 => path().prop_map(Operand::Size),
    ]
}

fn compare_op() -> impl Strategy<Value = CompareOp> {
    prop::sample::select(vec![
        CompareOp::Eq,
        CompareOp::Ne,
        CompareOp::Lt,
        CompareOp::Le,
        CompareOp::Gt,
        CompareOp::Ge,
    ])
}

fn leaf() -> impl Strategy<Value = Condition> {
    prop_oneof![
        (compare_op(), operand(), operand()).prop_map(|(op, left, right)| Condition::Compare {
            op,
            left,
            right
        }),
        (operand(), operand(), operand()).prop_map(|(value, low, high)| Condition::Between {
            value,
            low,
            high
        }),
        (operand(), vec(operand(), 1..4)).prop_map(|(value, list)| Condition::In { value, list }),
        path().prop_map(Condition::AttributeExists),
        path().prop_map(Condition::AttributeNotExists),
        (operand(), prop::sample::select(vec![ValueKind::S, ValueKind::Ns, ValueKind::Null]))
            .prop_map(|(operand, kind)| Condition::AttributeType(operand, kind)),
        (operand(), operand()).prop_map(|(operand, part)| Condition::BeginsWith(operand, part)),
        (operand(), operand()).prop_map(|(operand, part)| Condition::Contains(operand, part)),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    leaf().prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 1..4).prop_map(|parts| Condition::all(parts).unwrap()),
            vec(inner.clone(), 1..4).prop_map(|parts| Condition::any(parts).unwrap()),
            inner.prop_map(|part| !part),
        ]
    })
}

fn set_operand() -> impl Strategy<Value = SetOperand> {
    let last = prop_oneof![path().prop_map(SetOperand::from), value().prop_map(SetOperand::from)];
    (vec(path(), 0..3), last).prop_map(|(candidates, last)| {
        candidates.into_iter().rev().fold(last, |operand, path| path.if_not_exists(operand))
    })
}

fn set_value() -> impl Strategy<Value = SetValue> {
    prop_oneof![
        set_operand().prop_map(SetValue::Operand),
        (set_operand(), set_operand()).prop_map(|(left, right)| left.plus(right)),
        (set_operand(), set_operand()).prop_map(|(left, right)| left.minus(right)),
        (set_operand(), set_operand()).prop_map(|(left, right)| left.append(right)),
    ]
}

fn update() -> impl Strategy<Value = Update> {
    (
        vec((path(), set_value()), 0..3),
        vec(path(), 0..2),
        vec((path(), value()), 0..2),
        vec((path(), value()), 0..2),
    )
        .prop_map(|(set, remove, add, delete)| {
            let update = set.into_iter().fold(Update::new(), |u, (path, value)| u.set(path, value));
            let update = remove.into_iter().fold(update, Update::remove);
            let update = add.into_iter().fold(update, |u, (path, value)| u.add(path, value));
            delete.into_iter().fold(update, |u, (path, value)| u.delete(path, value))
        })
}

fn refusal<T: std::fmt::Debug>(result: tabla_core::Result<T>) -> String {
    result.unwrap_err().message().to_owned()
}

/// Random text that is often close to an expression.
fn soup() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a",
        "b.c",
        "l[0]",
        "#n",
        ":v",
        ":w",
        "(",
        ")",
        ",",
        "=",
        "<>",
        "<=",
        "AND",
        "OR",
        "NOT",
        "BETWEEN",
        "IN",
        "SET",
        "REMOVE",
        "ADD",
        "DELETE",
        "size(",
        "attribute_exists(",
        "attribute_type(",
        "begins_with(",
        "contains(",
        "if_not_exists(",
        "list_append(",
        "+",
        "-",
        "name",
        "[",
        "]",
        ".",
        "99999999999",
        "é",
        "😀",
        "\"",
        "\u{0}",
    ]);
    prop_oneof![vec(word, 0..14).prop_map(|words| words.join(" ")), "\\PC{0,40}", any::<String>(),]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    /// Parsing is the inverse of rendering. Parsing and validation reject a condition with the
    /// same message.
    #[test]
    fn rendered_condition_parses_to_the_same_condition(condition in condition()) {
        let mut renderer = Renderer::new();
        let text = condition.render(&mut renderer);
        prop_assume!(text.len() <= 4096);
        let mut placeholders = Placeholders::new(renderer.names(), renderer.values()).unwrap();
        let parsed = placeholders.parse_condition(KIND, &text);
        match condition.validate(KIND) {
            Ok(()) => {
                prop_assert_eq!(parsed.unwrap(), condition);
                placeholders.finish().unwrap();
            }
            Err(error) => prop_assert_eq!(refusal(parsed), error.message()),
        }
    }

    #[test]
    fn rendered_update_parses_to_the_same_update(update in update()) {
        let mut renderer = Renderer::new();
        let text = update.render(&mut renderer);
        let mut placeholders = Placeholders::new(renderer.names(), renderer.values()).unwrap();
        let parsed = placeholders.parse_update(&text);
        match update.validate() {
            Ok(()) => {
                prop_assert_eq!(parsed.unwrap(), update);
                placeholders.finish().unwrap();
            }
            Err(error) => prop_assert_eq!(refusal(parsed), error.message()),
        }
    }

    #[test]
    fn rendered_projection_parses_to_the_same_projection(paths in vec(path(), 0..4)) {
        let projection = Projection::new(paths);
        let mut renderer = Renderer::new();
        let text = projection.render(&mut renderer);
        let mut placeholders = Placeholders::new(renderer.names(), renderer.values()).unwrap();
        let parsed = placeholders.parse_projection(&text);
        match projection.validate() {
            Ok(()) => {
                prop_assert_eq!(parsed.unwrap(), projection);
                placeholders.finish().unwrap();
            }
            Err(error) => prop_assert_eq!(refusal(parsed), error.message()),
        }
    }

    /// Placeholders that a request already has are kept and never reused.
    #[test]
    fn renderer_avoids_existing_placeholders(condition in condition()) {
        let names = Names::from([("#n0".to_owned(), "mine".to_owned())]);
        let values = Values::from([(":v1".to_owned(), Value::from("mine"))]);
        let mut renderer = Renderer::with_placeholders(names, values);
        let text = condition.render(&mut renderer);
        prop_assert_eq!(&renderer.names()["#n0"], "mine");
        prop_assert_eq!(&renderer.values()[":v1"], &Value::from("mine"));
        prop_assume!(text.len() <= 4096 && condition.validate(KIND).is_ok());
        let mut placeholders = Placeholders::new(renderer.names(), renderer.values()).unwrap();
        prop_assert_eq!(placeholders.parse_condition(KIND, &text).unwrap(), condition);
    }

    /// The result is a valid tree, or an error that names the parameter.
    #[test]
    fn any_text_parses_or_is_rejected(text in soup()) {
        let names = Names::from([("#n".to_owned(), "n".to_owned())]);
        let values = Values::from([
            (":v".to_owned(), Value::from(1)),
            (":w".to_owned(), Value::from("S")),
        ]);
        let mut placeholders = Placeholders::new(&names, &values).unwrap();
        for kind in [KIND, ExpressionKind::Filter, ExpressionKind::KeyCondition] {
            match placeholders.parse_condition(kind, &text) {
                Ok(condition) => condition.validate(kind).unwrap(),
                Err(error) => {
                    let beginning = format!("Invalid {kind}: ");
                    prop_assert!(error.message().starts_with(&beginning));
                }
            }
        }
        match placeholders.parse_update(&text) {
            Ok(update) => update.validate().unwrap(),
            Err(error) => prop_assert!(error.message().starts_with("Invalid UpdateExpression: ")),
        }
        match placeholders.parse_projection(&text) {
            Ok(projection) => projection.validate().unwrap(),
            Err(error) => {
                prop_assert!(error.message().starts_with("Invalid ProjectionExpression: "))
            }
        }
    }

    #[test]
    fn deeply_nested_text_does_not_overflow_the_stack(
        opening in prop::sample::select(vec![
            "(", "NOT ", "NOT (", "size(", "SET a = (", "SET a = if_not_exists(b,", "a = (", "a[0]",
            "a.é", "contains(a, size(", "a = :v OR (", "a IN (", "((",
        ]),
        times in 1usize..2000,
        closing in prop::sample::select(vec!["", ")", ":v)", "a = :v)", "a) > :v"]),
    ) {
        let text = opening.repeat(times) + &closing.repeat(times);
        let text: String = text.chars().take(4096).collect();
        let names = Names::new();
        let values = Values::from([(":v".to_owned(), Value::from(1))]);
        let mut placeholders = Placeholders::new(&names, &values).unwrap();
        let _ = placeholders.parse_condition(KIND, &text);
        let _ = placeholders.parse_update(&text);
        let _ = placeholders.parse_projection(&text);
    }

    /// Conditions, projections and updates have the same results on an encoded item and on
    /// its tree.
    #[test]
    fn encoded_items_and_trees_have_equal_results(
        item in item(),
        condition in condition(),
        update in update(),
        paths in vec(path(), 1..4),
    ) {
        let encoded = item.clone().into_encoded();
        prop_assert_eq!(condition.evaluate(&item), condition.evaluate(&encoded));
        prop_assert_eq!((!condition.clone()).evaluate(&item), !condition.evaluate(&item));
        let projection = Projection::new(paths);
        prop_assert_eq!(projection.project(&item), projection.project(&encoded));
        match (update.apply(&item), update.apply(&encoded)) {
            (Ok(one), Ok(other)) => prop_assert_eq!(one, other),
            (one, other) => prop_assert_eq!(refusal(one), refusal(other)),
        }
    }

    /// A projection returns the values at its paths, and nothing else.
    #[test]
    fn projection_returns_only_parts_of_the_item(item in item(), paths in vec(path(), 1..4)) {
        let projection = Projection::new(paths);
        prop_assume!(projection.validate().is_ok());
        let projected = projection.project(&item);
        for (name, value) in projected.iter() {
            prop_assert!(projection.paths().iter().any(|path| path.root() == name));
            prop_assert_eq!(item.get(name).map(|whole| whole.kind()), Some(value.kind()));
        }
        for path in projection.paths() {
            let found = path.resolve(&item).is_some();
            prop_assert!(!found || projected.contains(path.root()));
        }
        let everything = Projection::new(item.iter().map(|(name, _)| name));
        prop_assert_eq!(everything.project(&item), item);
    }

    /// A value that was set exists afterwards, a removed one does not, and all others
    /// are unchanged.
    #[test]
    fn update_changes_only_its_paths(item in item(), path in path(), value in value()) {
        if let Ok(updated) = Update::new().set(&path, value.clone()).apply(&item) {
            let past_the_end = path.resolve(&updated).is_none();
            prop_assert!(past_the_end || path.resolve(&updated).unwrap() == value);
            prop_assert!(!past_the_end || path.resolve(&item).is_none());
            for (name, before) in item.iter().filter(|(name, _)| *name != path.root()) {
                prop_assert_eq!(updated.get(name), Some(before));
            }
            prop_assert_eq!(
                Update::new().set(&path, value).touched_parts(&updated),
                Projection::new([&path]).project(&updated)
            );
        }
        if let Ok(removed) = Update::new().remove(&path).apply(&item) {
            let was_there = path.resolve(&item).is_some();
            prop_assert_eq!(removed == item, !was_there);
        }
    }

    /// Every action of an update reads the item as it was, so two values can be swapped.
    #[test]
    fn update_actions_read_the_item_before_the_update(one in value(), other in value()) {
        let item = Item::new().with("a", one.clone()).with("b", other.clone());
        let swap = Update::new().set("a", attr("b")).set("b", attr("a"));
        let swapped = swap.apply(&item).unwrap();
        prop_assert_eq!(&swapped, &Item::new().with("a", other).with("b", one));
        prop_assert_eq!(swap.apply(&swapped).unwrap(), item);
    }

    #[test]
    fn delete_reverts_add(
        number in -1000i64..1000,
        delta in -1000i64..1000,
        members in vec("[a-f]", 1..4),
    ) {
        let item = Item::new().with("n", number);
        let there = Update::new().add("n", delta).apply(&item).unwrap();
        prop_assert_eq!(there.get("n").unwrap(), Value::from(number + delta));
        prop_assert_eq!(Update::new().add("n", -delta).apply(&there).unwrap(), item);
        let set = Value::Ss(Set::merged(members).unwrap());
        let filled = Update::new().add("s", set.clone()).apply(&Item::new()).unwrap();
        prop_assert_eq!(filled.get("s").unwrap(), set.clone());
        prop_assert_eq!(Update::new().delete("s", set).apply(&filled).unwrap(), Item::new());
    }

    /// A key query selects the items for which its condition holds.
    #[test]
    fn key_query_selects_the_items_of_its_condition(
        op in prop::sample::select(vec![CompareOp::Eq, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge]),
        mirrored in any::<bool>(),
        bound in 0i32..4,
        partition in 0i32..2,
        sort in 0i32..4,
    ) {
        let on_sort = if mirrored {
            Condition::Compare { op: op.mirrored(), left: bound.into(), right: attr("s").into() }
        } else {
            attr("s").compare(op, bound)
        };
        let condition = on_sort.and(attr("p").eq(1));
        let key = |name: &str| [(name.to_owned(), KeyType::N)];
        let query = condition
            .to_key_query(&KeySpec { partition: &key("p"), sort: &key("s") })
            .unwrap();
        let item = Item::new().with("p", partition).with("s", sort);
        let sort = Value::from(sort);
        let less = |one: &Value, other: &Value| one.as_number() < other.as_number();
        let in_range = match &query.sort_range {
            None => query.sort_prefix == [sort],
            Some(SortRange::Less(bound)) => less(&sort, bound),
            Some(SortRange::AtMost(bound)) => !less(bound, &sort),
            Some(SortRange::Greater(bound)) => less(bound, &sort),
            Some(SortRange::AtLeast(bound)) => !less(&sort, bound),
            Some(other) => panic!("{other:?}"),
        };
        let selected = query.partition == [Value::from(partition)] && in_range;
        prop_assert_eq!(selected, condition.evaluate(&item));
    }
}

/// A built tree can have any depth. It is rejected without a stack overflow.
#[test]
fn deep_trees_are_rejected_without_stack_overflow() {
    let run = || {
        let leaf = || attr("a").eq(1);
        let mut nots = leaf();
        let mut alternating = leaf();
        let mut chain = leaf();
        for turn in 0..100_000 {
            nots = !nots;
            alternating =
                if turn % 2 == 0 { alternating.and(leaf()) } else { alternating.or(leaf()) };
            chain = chain.and(leaf());
        }
        let mut highest = leaf();
        for _ in 0..299 {
            highest = !highest;
        }
        highest.validate(KIND).unwrap();
        for tree in [nots, alternating, chain, !highest.clone()] {
            let error = tree.clone().validate(KIND).unwrap_err();
            assert_eq!(
                error.message(),
                "Invalid ConditionExpression: The expression contains too many operators; \
                 operator count: 301"
            );
        }
        let mut renderer = Renderer::new();
        let text = highest.render(&mut renderer);
        let mut placeholders = Placeholders::new(renderer.names(), renderer.values()).unwrap();
        assert_eq!(placeholders.parse_condition(KIND, &text).unwrap(), highest);
        assert!(highest.evaluate(&Item::from(Map::new())));
        assert_eq!(highest.paths().len(), 1);
        assert!(!format!("{highest:?}").is_empty());
    };
    // A quarter of a thread's default stack.
    std::thread::Builder::new().stack_size(512 * 1024).spawn(run).unwrap().join().unwrap();
}

/// A tree that was replaced for its depth renders to a text that is rejected for the same reason.
#[test]
fn too_deep_tree_renders_to_a_rejected_text() {
    let mut tree = attr("a").exists();
    for _ in 0..1000 {
        tree = !tree;
    }
    assert!(!tree.evaluate(&Item::new().with("a", 1)));
    let mut renderer = Renderer::new();
    let text = tree.render(&mut renderer);
    let error = Placeholders::new(renderer.names(), renderer.values())
        .unwrap()
        .parse_condition(KIND, &text)
        .unwrap_err();
    assert_eq!(error.message(), tree.validate(KIND).unwrap_err().message());
}
