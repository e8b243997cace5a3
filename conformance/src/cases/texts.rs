//! Tables of expression texts and their answers.
//!
//! A text alone makes a row: its placeholders stand for what [`names`] and [`values`] say, and
//! only those that occur in it are sent along.

use tabla_core::expr::{Names, Values};
use tabla_core::{Error, Result};

use super::prelude::*;

/// What the `#…` placeholders of these texts stand for: `#word` for the attribute `word`.
///
/// `#dotted` stands for the attribute `a.b`, `#also_a` for `a`, and `#unknown` for nothing.
pub(super) fn names(texts: &[&str]) -> Names {
    let of = |word: &str| match word {
        "unknown" => None,
        "dotted" => Some("a.b".to_owned()),
        "also_a" => Some("a".to_owned()),
        word => Some(word.to_owned()),
    };
    placeholders(texts, '#').filter_map(|word| Some((format!("#{word}"), of(word)?))).collect()
}

/// What the `:…` placeholders of these texts stand for; see [`value`].
pub(super) fn values(texts: &[&str]) -> Values {
    placeholders(texts, ':').filter_map(|word| Some((format!(":{word}"), value(word)?))).collect()
}

/// A value by its name. `None` for `unknown`.
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
        // In UTF-8 this is before any emoji, in UTF-16 after them.
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
        // Anything that is no type code.
        "STRING" | "n" => word.into(),
        word => panic!("the placeholder :{word} stands for nothing"),
    })
}

pub(super) fn number(digits: &str) -> Value {
    Number::parse(digits).expect("a number").into()
}

pub(super) fn strings<const N: usize>(members: [&str; N]) -> Value {
    Set::new(members.map(str::to_owned)).expect("a set").into()
}

pub(super) fn numbers<const N: usize>(members: [i32; N]) -> Value {
    Set::new(members.map(Number::from)).expect("a set").into()
}

pub(super) fn binaries<const N: usize, const L: usize>(members: [&[u8; L]; N]) -> Value {
    Set::new(members.map(|member| bytes::Bytes::copy_from_slice(member))).expect("a set").into()
}

/// The words after a mark, as often as they occur.
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

/// What a text must give.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer<'a> {
    /// Whether it holds.
    Holds(bool),
    /// Why it is refused, after `Invalid …Expression: `.
    Refused(&'a str),
}

/// A table with one item, of which texts are asked as conditions and as filters. All rows are
/// asked before the case fails, and the failure names each text that has another answer.
#[derive(Debug)]
pub(super) struct Asked {
    ctx: Ctx,
    table: Table,
    wrong: Vec<String>,
}

impl Asked {
    /// The table, with [`item`](Self::item) in it.
    pub(super) async fn new(ctx: &Ctx) -> Self {
        let table = ctx.table_with(TableSpec::s(), [Self::item()]).await;
        Self { ctx: ctx.clone(), table, wrong: Vec::new() }
    }

    /// An attribute of each type, empty ones too, maps and lists in each other; no `zz`.
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

    /// These texts must hold of the item, or not.
    pub(super) async fn hold(&mut self, rows: &[(&str, bool)]) {
        for (text, holds) in rows {
            self.ask(text, Answer::Holds(*holds)).await;
        }
    }

    /// These texts must be refused for these reasons.
    pub(super) async fn refuse(&mut self, rows: &[(&str, &str)]) {
        for (text, problem) in rows {
            self.ask(text, Answer::Refused(problem)).await;
        }
    }

    /// These texts must all be refused for this reason.
    pub(super) async fn refuse_all(&mut self, problem: &str, texts: &[&str]) {
        for text in texts {
            self.ask(text, Answer::Refused(problem)).await;
        }
    }

    /// The text must have this answer, as a condition and as a filter.
    pub(super) async fn ask(&mut self, text: &str, expected: Answer<'_>) {
        self.ask_with(text, names(&[text]), values(&[text]), expected).await;
    }

    /// The text with these placeholders must have this answer.
    pub(super) async fn ask_with(
        &mut self,
        text: &str,
        names: Names,
        values: Values,
        expected: Answer<'_>,
    ) {
        let mut update = UpdateItem::new(&self.table, item! { "pk" => "it" }).condition(text);
        (update.names, update.values) = (names.clone(), values.clone());
        let answer = match self.ctx.store().update(update).await {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(error),
        };
        self.check_answer(text, "ConditionExpression", answer, expected);
        let mut scan = Scan::new(&self.table).consistent_read(true).filter(text);
        (scan.names, scan.values) = (names, values);
        let answer = self.ctx.store().scan(scan).await.map(|page| page.count == 1);
        self.check_answer(text, "FilterExpression", answer, expected);
    }

    fn check_answer(&mut self, text: &str, kind: &str, answer: Result<bool>, expected: Answer<'_>) {
        let right = match (&answer, expected) {
            (Ok(holds), Answer::Holds(expected)) => *holds == expected,
            (Err(error), Answer::Refused(problem)) => {
                says(&self.ctx, error, &format!("Invalid {kind}: {problem}"))
            }
            _ => false,
        };
        if !right {
            let answer = answer.map_or_else(|error| error.to_string(), |holds| holds.to_string());
            self.wrong.push(format!("{kind} {text:?}: expected {expected:?}\n    got {answer}"));
        }
    }

    /// Ends the case: every text had its answer, and the item is as it was.
    #[track_caller]
    pub(super) fn done(self) -> impl Future<Output = ()> {
        assert!(self.wrong.is_empty(), "other answers:\n  {}", self.wrong.join("\n  "));
        async move { self.ctx.expect_table(&self.table, &[Self::item()]).await }
    }
}

/// Whether the error is a ValidationException with this message.
pub(super) fn says(ctx: &Ctx, error: &Error, message: &str) -> bool {
    matches!(error.kind(), ErrorKind::Validation)
        && error.code() == "ValidationException"
        && ctx.same_text(message, error.message())
}
