//! Conversion of `AttributeUpdates`, the legacy update of an item.

use super::{check_name, invalid};
use crate::expr::{Update, attr};
use crate::{Result, Value, ValueKind};

/// Action on an attribute: `AttributeAction`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AttributeAction {
    /// Sets the attribute to the value, `PUT`.
    #[default]
    Put,
    /// Adds the number, the set members or the list elements, `ADD`.
    Add,
    /// Deletes the members from the set; without a value, removes the attribute, `DELETE`.
    Delete,
}

/// Update of one attribute: `AttributeValueUpdate`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AttributeUpdate {
    /// Operand of the action: `Value`.
    pub value: Option<Value>,
    /// Action, `PUT` by default: `Action`.
    pub action: Option<AttributeAction>,
}

impl AttributeAction {
    /// Name of the action in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Put => "PUT",
            Self::Add => "ADD",
            Self::Delete => "DELETE",
        }
    }

    /// Parses the name of an action.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Put, Self::Add, Self::Delete].into_iter().find(|action| action.as_str() == name)
    }
}

/// Converts `AttributeUpdates` to an update; `None` if there are none.
///
/// # Errors
/// With DynamoDB's message, if an action has no value or one of the wrong type, or an attribute
/// name is invalid.
pub fn attribute_updates(
    updates: impl IntoIterator<Item = (String, AttributeUpdate)>,
) -> Result<Option<Update>> {
    let mut update = Update::new();
    for (name, one) in updates {
        check_name(&name)?;
        update = one.append_to(update, name)?;
    }
    Ok((!update.is_empty()).then_some(update))
}

impl AttributeUpdate {
    fn append_to(self, update: Update, name: String) -> Result<Update> {
        use ValueKind::{Bs, L, N, Ns, Ss};
        let action = self.action.unwrap_or_default();
        let Some(value) = self.value else {
            return match action {
                AttributeAction::Delete => Ok(update.remove(name)),
                AttributeAction::Put | AttributeAction::Add => Err(invalid(
                    "Only DELETE action is allowed when no attribute value is specified",
                )),
            };
        };
        match (action, value.kind()) {
            (AttributeAction::Put, _) => Ok(update.set(name, value)),
            // Only a legacy `ADD` accepts a list: a missing attribute counts as an empty one.
            (AttributeAction::Add, L) => {
                let list = attr(&name).if_not_exists(Value::L(Vec::new()));
                Ok(update.set(name, list.append(value)))
            }
            (AttributeAction::Add, N | Ss | Ns | Bs) => Ok(update.add(name, value)),
            (AttributeAction::Delete, Ss | Ns | Bs) => Ok(update.delete(name, value)),
            (AttributeAction::Add, kind) => {
                Err(invalid(format_args!("ADD action is not supported for the type {kind}")))
            }
            (AttributeAction::Delete, kind) => Err(invalid(format_args!(
                "DELETE action with value is not supported for the type {kind}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::legacy::LegacyParameters;
    use crate::{Item, Number, Set, item, list, map};

    fn strings<const N: usize>(members: [&str; N]) -> Value {
        Value::Ss(Set::new(members.map(str::to_owned)).unwrap())
    }

    fn numbers<const N: usize>(members: [i32; N]) -> Value {
        Value::Ns(Set::new(members.map(Number::from)).unwrap())
    }

    fn bytes<const N: usize>(members: [u8; N]) -> Value {
        Value::Bs(Set::new(members.map(|byte| vec![byte].into())).unwrap())
    }

    /// Returns the value of `x` after the update, or DynamoDB's error.
    fn updated(
        action: Option<AttributeAction>,
        value: Option<Value>,
        before: Option<Value>,
    ) -> Result<Option<Value>, String> {
        let wording = LegacyParameters { attribute_updates: true, ..LegacyParameters::default() };
        let item = before.map_or_else(Item::new, |before| item! { "x" => before });
        attribute_updates([("x".to_owned(), AttributeUpdate { value, action })])
            .and_then(|update| update.unwrap().apply(&item))
            .map(|item| item.get("x").map(|value| value.to_value()))
            .map_err(|error| wording.reword(error).message().to_owned())
    }

    #[test]
    fn put_replaces_any_value() {
        for value in [Value::from(1), "".into(), Value::Null, list![], strings(["a"])] {
            for action in [None, Some(AttributeAction::Put)] {
                for before in [None, Some(2.into()), Some(strings(["b"]))] {
                    assert_eq!(
                        updated(action, Some(value.clone()), before),
                        Ok(Some(value.clone()))
                    );
                }
            }
        }
    }

    #[test]
    fn add_of_another_type_is_rejected() {
        let cases = [
            (5.into(), None, Some(5.into())),
            (5.into(), Some(2.into()), Some(7.into())),
            (strings(["a"]), None, Some(strings(["a"]))),
            (strings(["a"]), Some(strings(["a", "b"])), Some(strings(["a", "b"]))),
            (numbers([1]), Some(numbers([2])), Some(numbers([1, 2]))),
            (bytes([1]), None, Some(bytes([1]))),
            (list![], None, Some(list![])),
            (list![1], None, Some(list![1])),
            (list![1], Some(list![1, "a"]), Some(list![1, "a", 1])),
            (5.into(), Some("5".into()), None),
            (5.into(), Some(Value::Null), None),
            (5.into(), Some(list![]), None),
            (strings(["a"]), Some("a".into()), None),
            (strings(["a"]), Some(numbers([1])), None),
            (numbers([1]), Some(1.into()), None),
            (list![1], Some(2.into()), None),
            (list![1], Some(Value::Null), None),
        ];
        for (value, before, after) in cases {
            let wanted = match after {
                Some(after) => Ok(Some(after)),
                None => Err("Type mismatch for attribute to update".to_owned()),
            };
            let found = updated(Some(AttributeAction::Add), Some(value.clone()), before.clone());
            assert_eq!(found, wanted, "{value:?} {before:?}");
        }
        let huge = Value::N("9.9E125".parse().unwrap());
        assert_eq!(
            updated(Some(AttributeAction::Add), Some(huge.clone()), Some(huge)).unwrap_err(),
            "Number overflow. Attempting to store a number with magnitude larger than supported \
             range"
        );
    }

    #[test]
    fn delete_removes_members_or_the_attribute() {
        let delete = |value, before| updated(Some(AttributeAction::Delete), value, before);
        for before in [None, Some(1.into()), Some(strings(["a"]))] {
            assert_eq!(delete(None, before), Ok(None));
        }
        let members = |before| delete(Some(strings(["a"])), before);
        assert_eq!(members(None), Ok(None));
        assert_eq!(members(Some(strings(["a"]))), Ok(None));
        assert_eq!(members(Some(strings(["a", "b"]))), Ok(Some(strings(["b"]))));
        assert_eq!(members(Some(strings(["b"]))), Ok(Some(strings(["b"]))));
        for before in [Value::from("a"), numbers([1]), list!["a"]] {
            assert_eq!(members(Some(before)).unwrap_err(), "Type mismatch for attribute to update");
        }
    }

    #[test]
    fn action_with_invalid_value_is_rejected() {
        for action in [None, Some(AttributeAction::Put), Some(AttributeAction::Add)] {
            assert_eq!(
                updated(action, None, None).unwrap_err(),
                "One or more parameter values were invalid: Only DELETE action is allowed when no \
                 attribute value is specified"
            );
        }
        let scalars: [(Value, &str); 6] = [
            ("a".into(), "S"),
            (Value::B(vec![1].into()), "B"),
            (true.into(), "BOOL"),
            (Value::Null, "NULL"),
            (map! {}.into(), "M"),
            (1.into(), "N"),
        ];
        for (value, code) in scalars {
            assert_eq!(
                updated(Some(AttributeAction::Delete), Some(value.clone()), None).unwrap_err(),
                format!(
                    "One or more parameter values were invalid: DELETE action with value is not \
                     supported for the type {code}"
                )
            );
            if code != "N" {
                assert_eq!(
                    updated(Some(AttributeAction::Add), Some(value), None).unwrap_err(),
                    format!(
                        "One or more parameter values were invalid: ADD action is not supported \
                         for the type {code}"
                    )
                );
            }
        }
        updated(Some(AttributeAction::Delete), Some(list![]), None).unwrap_err();
    }

    #[test]
    fn empty_attribute_name_is_rejected() {
        let refused = attribute_updates([(String::new(), AttributeUpdate::default())]);
        assert_eq!(refused.unwrap_err().message(), "Empty attribute name");
        // A dot is part of a name.
        let put = AttributeUpdate { value: Some(1.into()), action: None };
        let update = attribute_updates([("m.x".to_owned(), put)]).unwrap().unwrap();
        assert_eq!(update.apply(&item! {}).unwrap(), item! { "m.x" => 1 });
        assert_eq!(attribute_updates([]).unwrap(), None);
    }

    #[test]
    fn action_names_parse_to_the_same_action() {
        for action in [AttributeAction::Put, AttributeAction::Add, AttributeAction::Delete] {
            assert_eq!(AttributeAction::from_name(action.as_str()), Some(action));
        }
        assert_eq!(AttributeAction::from_name("put"), None);
    }
}
