//! Tables of expression texts and their expected results.
//!
//! A row needs only a text: [`names`] and [`values`] define its placeholders, and the request
//! contains only those that occur in it.

use tabla_core::expr::{Names, Values};
use tabla_core::{Error, Result};

use super::prelude::*;

/// Returns the names of the `#…` placeholders in these texts: `#word` is the attribute `word`.
///
/// `#dotted` is the attribute `a.b`, `#also_a` is `a`, and `#unknown` is undefined.
pub(super) fn names(texts: &[&str]) -> Names {
    let of = |word: &str| match word {
        "unknown" => None,
        "dotted" => Some("a.b".to_owned()),
        "also_a" => Some("a".to_owned()),
        word => Some(word.to_owned()),
    };
    placeholders(texts, '#').filter_map(|word| Some((format!("#{word}"), of(word)?))).collect()
}

/// Returns the values of the `:…` placeholders in these texts, as [`value`] defines them.
pub(super) fn values(texts: &[&str]) -> Values {
    placeholders(texts, ':').filter_map(|word| Some((format!(":{word}"), value(word)?))).collect()
}

/// Returns the value of a placeholder, or `None` for `unknown`.
fn value(word: &str) -> Option<Value> {
    Some(match word {
        "unknown" => return None,
        "zero" => 0.into(),
        "one" => 1.into(),
        "two" => 2.into(),
        "three" => 3.into(),
        "four" => 4.into(),
        "five" => 5.into(),
        "nine" => 9.into(),
        "little_more" => number("1.0000000000000000000000000000000000001"),
        "a" | "b" | "ab" | "abc" | "abcd" | "bc" | "ac" | "ABC" | "AB" | "x" | "é" => word.into(),
        "e_acute" => "é".into(),
        "xabcx" => "xabcx".into(),
        "digit" => "5".into(),
        "empty" => "".into(),
        // This sorts before emoji in UTF-8, and after them in UTF-16.
        "a_ffff" => "a\u{ffff}".into(),
        "bin" => b"\x01\x02\x03".into(),
        "bin1" => b"\x01".into(),
        "bin12" => b"\x01\x02".into(),
        "bin23" => b"\x02\x03".into(),
        "bin32" => b"\x03\x02".into(),
        "bin1234" => b"\x01\x02\x03\x04".into(),
        "bin255" => b"\xff".into(),
        "true" => true.into(),
        "false" => false.into(),
        "null" => Value::Null,
        "list" => list![1],
        "empty_list" => list![],
        "list9" => list![9],
        "list_abc" => list!["abc"],
        "map" => map! { "x" => 1 }.into(),
        "empty_map" => Map::new().into(),
        "map78" => map! { "q" => 7, "r" => 8 }.into(),
        "ss" => strings(["a", "b"]),
        "ss_a" => strings(["a"]),
        "ss_abc" => strings(["abc"]),
        "ns" => numbers([1, 2, 3]),
        "ns5" => numbers([5]),
        "bs" => binaries([b"\x01", b"\x02"]),
        "S" | "N" | "B" | "BOOL" | "NULL" | "L" | "M" | "SS" | "NS" | "BS" => word.into(),
        // These are no type codes.
        "STRING" | "n" => word.into(),
        word => panic!("the placeholder :{word} is undefined; add it to `value`"),
    })
}

pub(super) fn number(digits: &str) -> Value {
    Number::parse(digits).expect("valid number").into()
}

pub(super) fn strings<const N: usize>(members: [&str; N]) -> Value {
    Set::new(members.map(str::to_owned)).expect("valid set").into()
}

pub(super) fn numbers<const N: usize>(members: [i32; N]) -> Value {
    Set::new(members.map(Number::from)).expect("valid set").into()
}

pub(super) fn binaries<const N: usize, const L: usize>(members: [&[u8; L]; N]) -> Value {
    Set::new(members.map(|member| bytes::Bytes::copy_from_slice(member))).expect("valid set").into()
}

/// Returns the words after a mark, with repetitions.
fn placeholders<'t>(texts: &'t [&'t str], mark: char) -> impl Iterator<Item = &'t str> {
    texts
        .iter()
        .flat_map(move |text| text.split(mark).skip(1))
        .map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
        .filter(|word| !word.is_empty())
}

/// Expected result of a text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expected<'a> {
    /// The condition is valid, with this truth value.
    Holds(bool),
    /// The text is rejected with this message, after `Invalid …Expression: `.
    Refused(&'a str),
}

/// Table with one item, which evaluates texts as conditions and as filters. It evaluates all rows
/// before the case fails, and the failure lists each unexpected result.
#[derive(Debug)]
pub(super) struct Asked {
    ctx: Ctx,
    table: Table,
    wrong: Vec<String>,
}

impl Asked {
    /// Creates the table with [`item`](Self::item).
    pub(super) async fn new(ctx: &Ctx) -> Self {
        let table = ctx.table_with(TableSpec::s(), [Self::item()]).await;
        Self { ctx: ctx.clone(), table, wrong: Vec::new() }
    }

    /// Returns an item with an attribute of each type, also empty and nested ones; `zz` is missing.
    pub(super) fn item() -> Item {
        let map = map! { "x" => 1, "y" => map! { "z" => 2 }, "l" => list![1, 2, 3] };
        item! {
            "pk" => "it",
            "a" => 1, "n" => 5, "n2" => 5,
            "st" => "abc", "em" => "a😀é", "es" => "", "a.b" => "dotted", "name" => "Ann",
            "b" => b"\x01\x02\x03",
            "bo" => true, "bf" => false, "nu" => Value::Null,
            "l" => list![0, "x", map! { "q" => 7, "r" => 8 }, list![9]], "l0" => list![],
            "m" => map.clone(), "m2" => map, "m0" => Map::new(),
            "ss" => strings(["a", "b"]), "ss2" => strings(["b", "a"]),
            "ns" => numbers([1, 2, 3]), "ns2" => numbers([3, 2, 1]),
            "bs" => binaries([b"\x01", b"\x02"]),
        }
    }

    /// Expects each text to be true or false of the item.
    pub(super) async fn hold(&mut self, rows: &[(&str, bool)]) {
        for (text, holds) in rows {
            self.ask(text, Expected::Holds(*holds)).await;
        }
    }

    /// Expects each text to be rejected with its message.
    pub(super) async fn refuse(&mut self, rows: &[(&str, &str)]) {
        for (text, problem) in rows {
            self.ask(text, Expected::Refused(problem)).await;
        }
    }

    /// Expects all texts to be rejected with one message.
    pub(super) async fn refuse_all(&mut self, problem: &str, texts: &[&str]) {
        for text in texts {
            self.ask(text, Expected::Refused(problem)).await;
        }
    }

    /// Evaluates the text as a condition and as a filter, and compares the results with `expected`.
    pub(super) async fn ask(&mut self, text: &str, expected: Expected<'_>) {
        self.ask_with(text, names(&[text]), values(&[text]), expected).await;
    }

    /// Evaluates the text with these placeholders, and compares the results with `expected`.
    pub(super) async fn ask_with(
        &mut self,
        text: &str,
        names: Names,
        values: Values,
        expected: Expected<'_>,
    ) {
        let mut update = UpdateItem::new(&self.table, item! { "pk" => "it" }).condition(text);
        (update.names, update.values) = (names.clone(), values.clone());
        let result = match self.ctx.store().update(update).await {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(error),
        };
        self.check_result(text, "ConditionExpression", result, expected);
        let mut scan = Scan::new(&self.table).consistent_read(true).filter(text);
        (scan.names, scan.values) = (names, values);
        let result = self.ctx.store().scan(scan).await.map(|page| page.count == 1);
        self.check_result(text, "FilterExpression", result, expected);
    }

    fn check_result(
        &mut self,
        text: &str,
        kind: &str,
        result: Result<bool>,
        expected: Expected<'_>,
    ) {
        let right = match (&result, expected) {
            (Ok(holds), Expected::Holds(expected)) => *holds == expected,
            (Err(error), Expected::Refused(problem)) => {
                says(&self.ctx, error, &format!("Invalid {kind}: {problem}"))
            }
            _ => false,
        };
        if !right {
            let result = result.map_or_else(|error| error.to_string(), |holds| holds.to_string());
            self.wrong.push(format!("{kind} {text:?}: expected {expected:?}\n    got {result}"));
        }
    }

    /// Ends the case: fails if a result was unexpected or the item has changed.
    #[track_caller]
    pub(super) fn done(self) -> impl Future<Output = ()> {
        assert!(self.wrong.is_empty(), "unexpected results:\n  {}", self.wrong.join("\n  "));
        async move { self.ctx.expect_table(&self.table, &[Self::item()]).await }
    }
}

/// Whether the error is a ValidationException with this message.
pub(super) fn says(ctx: &Ctx, error: &Error, message: &str) -> bool {
    matches!(error.kind(), ErrorKind::Validation)
        && error.code() == "ValidationException"
        && ctx.same_text(message, error.message())
}
