//! Assertions on responses and errors.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fmt::Write as _;

use bytes::Bytes;
use tabla_core::{CancellationReason, Error, ErrorKind, Item, Result};

use super::Ctx;
use crate::harness::Wording;
use crate::wording;

impl Ctx {
    /// Asserts that the result is an error, and returns it.
    #[track_caller]
    pub fn expect_error<T: Debug>(&self, result: Result<T>) -> Error {
        match result {
            Ok(answer) => panic!("expected an error, got success: {answer:?}"),
            Err(error) => error,
        }
    }

    /// Asserts that the result is an error with this exception name and message, and returns it.
    #[track_caller]
    pub fn expect_code<T: Debug>(&self, result: Result<T>, code: &str, message: &str) -> Error {
        match result {
            Ok(answer) => panic!("expected {code}: {message}\ngot success: {answer:?}"),
            Err(error) => {
                assert!(
                    error.code() == code && self.same_text(message, error.message()),
                    "expected {code}: {message}\ngot      {error}"
                );
                error
            }
        }
    }

    /// Asserts that the result is an error of this kind, with any message: for errors whose text is
    /// not stable. Returns the error. `what` names the kind in the failure, and `is` tests it:
    /// `ctx.expect_kind(result, "Throttled", |kind| matches!(kind, ErrorKind::Throttled))`.
    #[track_caller]
    pub fn expect_kind<T: Debug>(
        &self,
        result: Result<T>,
        what: &str,
        is: impl FnOnce(&ErrorKind) -> bool,
    ) -> Error {
        match result {
            Ok(answer) => panic!("expected an error of kind {what}, got success: {answer:?}"),
            Err(error) => {
                assert!(is(error.kind()), "expected an error of kind {what}, got {error:?}");
                error
            }
        }
    }

    /// Asserts that the result is a ValidationException with exactly this message.
    #[track_caller]
    pub fn expect_validation<T: Debug>(&self, result: Result<T>, message: &str) {
        let error = self.expect_code(result, "ValidationException", message);
        assert!(
            matches!(error.kind(), ErrorKind::Validation),
            "expected a ValidationException of kind Validation, got {:?}",
            error.kind()
        );
    }

    /// Asserts that the result is a ValidationException whose message contains this part: for
    /// messages that are not stable as a whole.
    #[track_caller]
    pub fn expect_validation_with<T: Debug>(&self, result: Result<T>, part: &str) {
        match result {
            Ok(answer) => panic!("expected ValidationException: …{part}…\ngot success: {answer:?}"),
            Err(error) => assert!(
                matches!(error.kind(), ErrorKind::Validation) && error.message().contains(part),
                "expected ValidationException: …{part}…\ngot      {error}"
            ),
        }
    }

    /// Asserts that the result is the error of a data operation on a missing table.
    #[track_caller]
    pub fn expect_table_missing<T: Debug>(&self, result: Result<T>) {
        self.expect_code(result, "ResourceNotFoundException", "Requested resource not found");
    }

    /// Asserts that the condition failed, and returns the item that the error carries.
    #[track_caller]
    pub fn expect_condition_failed<T: Debug>(&self, result: Result<T>) -> Option<Item> {
        let code = "ConditionalCheckFailedException";
        let error = self.expect_code(result, code, "The conditional request failed");
        match error.into_kind() {
            ErrorKind::ConditionFailed { item } => item,
            kind => panic!("expected a {code} of kind ConditionFailed, got {kind:?}"),
        }
    }

    /// Asserts that the transaction is canceled with these reason codes, one per operation in
    /// order, and that the message lists them. Returns the reasons.
    #[track_caller]
    pub fn expect_canceled<T: Debug>(
        &self,
        result: Result<T>,
        codes: &[&str],
    ) -> Vec<CancellationReason> {
        let message = format!(
            "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
            codes.join(", ")
        );
        let error = self.expect_code(result, "TransactionCanceledException", &message);
        let reasons = error.cancellation_reasons().to_vec();
        let got: Vec<&str> = reasons.iter().map(|reason| reason.code.as_str()).collect();
        assert_eq!(got, codes, "codes of the cancellation reasons");
        for reason in reasons.iter().filter(|reason| reason.code.as_str() == "None") {
            assert!(
                reason.message.is_none() && reason.item.is_none(),
                "an operation with code None has neither message nor item: {reason:?}"
            );
        }
        reasons
    }

    /// Asserts that a text is the expected one: for texts outside errors, such as
    /// cancellation reasons.
    #[track_caller]
    pub fn expect_text(&self, actual: &str, expected: &str) {
        assert!(
            self.same_text(expected, actual),
            "expected the text {expected}\ngot               {actual}"
        );
    }

    /// Whether the texts are equal, or known as the same where the store's wording is its own.
    pub(crate) fn same_text(&self, expected: &str, actual: &str) -> bool {
        match self.0.wording {
            Wording::Exact => expected == actual,
            Wording::Known => wording::same(expected, actual),
        }
    }

    /// Asserts that the items are the expected ones, in any order.
    #[track_caller]
    pub fn expect_items(&self, actual: &[Item], expected: &[Item]) {
        if let Some(difference) = difference(actual, expected) {
            panic!("{difference}");
        }
    }

    /// Asserts that the items are the expected ones, in this order.
    #[track_caller]
    pub fn expect_in_order(&self, actual: &[Item], expected: &[Item]) {
        if let Some(difference) = difference(actual, expected) {
            panic!("{difference}");
        }
        assert!(actual == expected, "the order is {actual:#?}\nexpected {expected:#?}");
    }

    /// Asserts that the attribute has these values, item by item: a short way to check an order.
    #[track_caller]
    pub fn expect_column<V: Into<tabla_core::Value>>(
        &self,
        items: &[Item],
        attribute: &str,
        expected: impl IntoIterator<Item = V>,
    ) {
        let value = |item: &Item| item.get(attribute).map(|value| value.to_value());
        let actual: Vec<Option<tabla_core::Value>> = items.iter().map(value).collect();
        let expected: Vec<Option<tabla_core::Value>> =
            expected.into_iter().map(|value| Some(value.into())).collect();
        assert!(actual == expected, "{attribute} is {actual:?}\nexpected {expected:?}");
    }
}

/// Description of the items that one list has more often than the other; `None` if there are none.
pub(super) fn difference(actual: &[Item], expected: &[Item]) -> Option<String> {
    // Equal items have equal encodings.
    let mut balance: BTreeMap<Bytes, (isize, &Item)> = BTreeMap::new();
    for (items, weight) in [(actual, 1), (expected, -1)] {
        for item in items {
            balance.entry(item.encode()).or_insert((0, item)).0 += weight;
        }
    }
    balance.retain(|_, (count, _)| *count != 0);
    if balance.is_empty() {
        return None;
    }
    let mut text = format!("expected {} items, got {}", expected.len(), actual.len());
    for (count, item) in balance.into_values() {
        let what = if count > 0 { "unexpected" } else { "missing" };
        write!(text, "\n  {what} ({}x): {item:?}", count.abs())
            .expect("writing to a string cannot fail");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabla_core::item;

    #[test]
    fn difference_counts_repeated_items() {
        let (a, b) = (item! { "pk" => "a" }, item! { "pk" => "b" });
        assert_eq!(difference(&[a.clone(), b.clone()], &[b.clone(), a.clone()]), None);
        let text = difference(&[a.clone(), a.clone()], &[a, b]).unwrap();
        assert!(text.contains("expected 2 items, got 2"), "{text}");
        assert!(text.contains("unexpected (1x)") && text.contains("missing (1x)"), "{text}");
    }
}
