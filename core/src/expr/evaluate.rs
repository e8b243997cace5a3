//! Evaluation of conditions on views of items.

use std::cmp::Ordering;

use memchr::memmem;

use crate::expr::condition::{CompareOp, Condition, Operand};
use crate::{Item, MapRef, Number, ValueRef};

impl Condition {
    /// Whether the condition holds for an item; for a missing item, pass an empty one.
    ///
    /// A comparison with a missing value or a value of another type is false, except `<>`, which is
    /// true. Evaluation cannot fail: [`Condition::validate`] finds the errors that do not depend on
    /// the item.
    pub fn evaluate<'a>(&self, item: impl Into<MapRef<'a>>) -> bool {
        self.holds(item.into())
    }

    /// Evaluates the inner nodes. Leaves have their own function, so that the stack frames of this
    /// recursion stay small.
    fn holds(&self, item: MapRef<'_>) -> bool {
        match self {
            Self::And(branches) => branches.iter().all(|branch| branch.holds(item)),
            Self::Or(branches) => branches.iter().any(|branch| branch.holds(item)),
            Self::Not(branch) => !branch.holds(item),
            Self::TooDeep => false,
            leaf => leaf.leaf_holds(item),
        }
    }

    fn leaf_holds(&self, item: MapRef<'_>) -> bool {
        match self {
            Self::Compare { op, left, right } => compare(*op, left.of(item), right.of(item)),
            Self::Between { value, low, high } => {
                let value = value.of(item);
                compare(CompareOp::Ge, value, low.of(item))
                    && compare(CompareOp::Le, value, high.of(item))
            }
            Self::In { value, list } => {
                let value = value.of(item);
                list.iter().any(|other| compare(CompareOp::Eq, value, other.of(item)))
            }
            Self::AttributeExists(path) => path.resolve(item).is_some(),
            Self::AttributeNotExists(path) => path.resolve(item).is_none(),
            Self::AttributeType(operand, kind) => {
                operand.of(item).is_some_and(|value| value.kind() == *kind)
            }
            Self::BeginsWith(operand, prefix) => match (operand.of(item), prefix.of(item)) {
                (Some(ValueRef::S(text)), Some(ValueRef::S(prefix))) => text.starts_with(prefix),
                (Some(ValueRef::B(bytes)), Some(ValueRef::B(prefix))) => bytes.starts_with(prefix),
                _ => false,
            },
            Self::Contains(operand, part) => match (operand.of(item), part.of(item)) {
                (Some(value), Some(part)) => contains(value, part),
                _ => false,
            },
            Self::And(_) | Self::Or(_) | Self::Not(_) | Self::TooDeep => {
                unreachable!("`holds` handles inner nodes")
            }
        }
    }
}

impl Operand {
    /// Value of the operand for an item; `None` if it is missing.
    fn of<'v>(&'v self, item: MapRef<'v>) -> Option<ValueRef<'v>> {
        match self {
            Self::Path(path) => path.resolve(item),
            Self::Value(value) => Some(value.as_ref()),
            Self::Size(path) => path.resolve(item).and_then(size_of).map(ValueRef::N),
        }
    }
}

fn compare(op: CompareOp, left: Option<ValueRef<'_>>, right: Option<ValueRef<'_>>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return op == CompareOp::Ne };
    let order = || left.compare(right);
    match op {
        CompareOp::Eq => left == right,
        CompareOp::Ne => left != right,
        CompareOp::Lt => order() == Some(Ordering::Less),
        CompareOp::Le => order().is_some_and(Ordering::is_le),
        CompareOp::Gt => order() == Some(Ordering::Greater),
        CompareOp::Ge => order().is_some_and(Ordering::is_ge),
    }
}

fn contains(value: ValueRef<'_>, part: ValueRef<'_>) -> bool {
    match (value, part) {
        (ValueRef::S(text), ValueRef::S(part)) => has_part(text.as_bytes(), part.as_bytes()),
        (ValueRef::B(bytes), ValueRef::B(part)) => has_part(bytes, part),
        (ValueRef::Ss(set), ValueRef::S(member)) => set.contains(member),
        (ValueRef::Ns(set), ValueRef::N(member)) => set.contains(member),
        (ValueRef::Bs(set), ValueRef::B(member)) => set.contains(member),
        (ValueRef::L(list), element) => list.contains(element),
        _ => false,
    }
}

/// Whether the bytes contain a part: bytes of a binary, or the UTF-8 bytes of a substring.
///
/// Both can come from a request, so the time is linear in the sum of their lengths.
fn has_part(bytes: &[u8], part: &[u8]) -> bool {
    memmem::find(bytes, part).is_some()
}

/// Result of `size`: UTF-16 code units, bytes or elements; `None` for the other types.
pub(crate) fn size_of(value: ValueRef<'_>) -> Option<Number> {
    let size = match value {
        ValueRef::S(text) => text.encode_utf16().count(),
        ValueRef::B(bytes) => bytes.len(),
        ValueRef::M(map) => map.len(),
        ValueRef::L(list) => list.len(),
        ValueRef::Ss(set) => set.len(),
        ValueRef::Ns(set) => set.len(),
        ValueRef::Bs(set) => set.len(),
        ValueRef::N(_) | ValueRef::Bool(_) | ValueRef::Null => return None,
    };
    Some(Number::from(size))
}

impl<'a> From<&'a Item> for MapRef<'a> {
    fn from(item: &'a Item) -> Self {
        item.view()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Condition, Item, Number, Set, Value, ValueKind, attr, item};

    fn all_kinds() -> Item {
        item! {
            "s" => "abc",
            "n" => 5,
            "b" => Value::B(vec![1, 2, 3].into()),
            "bool" => true,
            "null" => Value::Null,
            "l" => Value::L(vec![1.into(), "x".into()]),
            "m" => item! { "x" => 1 }.into_map(),
            "ss" => Value::Ss(Set::new(["a".to_owned(), "b".to_owned()]).unwrap()),
            "ns" => Value::Ns(Set::new([Number::from(1), Number::from(2)]).unwrap()),
            "bs" => Value::Bs(Set::new([vec![1u8].into()]).unwrap()),
        }
    }

    fn holds(condition: Condition) -> bool {
        let item = all_kinds();
        let holds = condition.evaluate(&item);
        assert_eq!(condition.evaluate(&item.into_encoded()), holds, "{condition:?}");
        holds
    }

    #[test]
    fn missing_attribute_matches_only_not_equal() {
        assert!(holds(attr("z").ne(1)));
        assert!(holds(attr("z").ne(attr("y"))));
        assert!(holds(attr("z").size().ne(1)));
        assert!(holds(attr("n").size().ne(1)));
        for condition in [
            attr("z").eq(1),
            attr("z").eq(attr("y")),
            attr("z").lt(1),
            attr("z").ge(1),
            attr("z").between(1, 2),
            attr("z").is_in([attr("y")]),
            attr("z").begins_with(""),
            attr("z").contains(""),
            attr("z").has_type(ValueKind::Null),
            attr("z").size().ge(0),
            attr("z").exists(),
            attr("m").field("z").exists(),
            attr("l").index(2).exists(),
            attr("l").field("x").exists(),
        ] {
            assert!(!holds(condition.clone()), "{condition:?}");
            assert!(holds(!condition));
        }
    }

    #[test]
    fn values_of_different_types_are_unequal_and_unordered() {
        let item = all_kinds();
        for (one, left) in item.iter() {
            for (other, right) in item.iter() {
                let (left, right) = (left.to_value(), right.to_value());
                let same = one == other;
                assert_eq!(holds(attr(one).eq(right.clone())), same, "{one} {other}");
                assert_eq!(holds(attr(one).ne(right.clone())), !same);
                assert!(holds(attr(one).is_in([left, right])));
                let ordered = same && matches!(one, "s" | "n" | "b");
                assert!(!holds(attr(one).lt(attr(other))));
                assert_eq!(holds(attr(one).le(attr(other))), ordered);
                assert_eq!(holds(attr(one).ge(attr(other))), ordered);
                assert_eq!(holds(attr(one).between(attr(other), attr(other))), ordered);
            }
        }
    }

    #[test]
    fn between_includes_its_bounds() {
        assert!(holds(attr("n").between(5, 5)));
        assert!(holds(attr("n").between(4, 6)));
        assert!(!holds(attr("n").between(6, 9)));
        assert!(holds(attr("s").between("abc", "abd")));
    }

    #[test]
    fn size_counts_utf16_units_bytes_or_elements() {
        for (name, size) in
            [("s", 3), ("b", 3), ("l", 2), ("m", 1), ("ss", 2), ("ns", 2), ("bs", 1)]
        {
            assert!(holds(attr(name).size().eq(size)), "{name}");
        }
        assert!(attr("s").size().eq(4).evaluate(&item! { "s" => "a😀é" }));
        for name in ["n", "bool", "null"] {
            assert!(!holds(attr(name).size().ge(0)), "{name}");
        }
    }

    #[test]
    fn contains_compares_by_value() {
        assert!(holds(attr("s").contains("bc")));
        assert!(holds(attr("s").contains("")));
        assert!(!holds(attr("s").contains("ac")));
        assert!(holds(attr("b").contains(Value::B(vec![2, 3].into()))));
        assert!(holds(attr("b").contains(Value::B(Vec::new().into()))));
        assert!(!holds(attr("b").contains(Value::B(vec![3, 2].into()))));
        assert!(holds(attr("ss").contains("a")));
        assert!(holds(attr("ns").contains(Value::N("1.0".parse().unwrap()))));
        assert!(holds(attr("bs").contains(Value::B(vec![1].into()))));
        assert!(holds(attr("l").contains("x")));
        assert!(!holds(attr("l").contains("1")));
        assert!(!holds(attr("m").contains("x")));
        assert!(!holds(attr("n").contains(5)));
        assert!(holds(Condition::Contains("xabcx".into(), attr("s").into())));
    }

    #[test]
    fn contains_finds_parts_at_every_position() {
        let bytes = |text: &[u8]| Value::B(text.to_vec().into());
        // All strings of up to four of two letters, so that some parts overlap themselves.
        let all: Vec<String> = (1..32_u32)
            .map(|code| format!("{code:b}").split_off(1).replace('0', "a").replace('1', "é"))
            .collect();
        for text in &all {
            let item = item! { "s" => text.as_str(), "b" => bytes(text.as_bytes()) };
            for part in &all {
                let expected = text.contains(part.as_str());
                let found = attr("s").contains(part.as_str()).evaluate(&item);
                assert_eq!(found, expected, "{text} {part}");
                let found = attr("b").contains(bytes(part.as_bytes())).evaluate(&item);
                assert_eq!(found, expected, "{text} {part}, as bytes");
            }
        }
    }

    /// A search that restarts at every byte would compare 40 GB for the first part alone.
    #[test]
    fn contains_takes_linear_time_for_long_parts() {
        let text = "a".repeat(400_000);
        for part in ["a".repeat(200_000) + "b", "b".to_owned() + &"a".repeat(200_000)] {
            let item = item! {
                "s" => text.as_str(),
                "b" => Value::B(text.clone().into_bytes().into()),
            };
            let bytes = Value::B(part.clone().into_bytes().into());
            for condition in [attr("s").contains(part.as_str()), attr("b").contains(bytes)] {
                assert!(!condition.evaluate(&item));
            }
        }
        let middle = "a".repeat(100_000) + "b" + &"a".repeat(100_000);
        let item = item! { "s" => format!("{text}b{text}") };
        assert!(attr("s").contains(middle).evaluate(&item));
    }

    #[test]
    fn begins_with_requires_the_same_type() {
        assert!(holds(attr("s").begins_with("ab")));
        assert!(!holds(attr("s").begins_with("AB")));
        assert!(holds(attr("b").begins_with(Value::B(vec![1, 2].into()))));
        assert!(!holds(attr("b").begins_with("a")));
        assert!(!holds(attr("n").begins_with("5")));
        assert!(holds(attr("l").index(1).begins_with("x")));
    }

    #[test]
    fn missing_item_evaluates_as_an_empty_one() {
        let nothing = Item::new();
        assert!(attr("p").not_exists().evaluate(&nothing));
        assert!(!attr("p").exists().evaluate(&nothing));
    }
}
