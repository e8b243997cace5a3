//! Test that the suite fails on a store that ignores a field of a request.
//!
//! Requests gain fields without breaking a store at compile time. So every field has a row in
//! [`rows`] with the id of a case that fails if a store ignores the field. The tests below compare
//! the rows with the fields of the requests, and run each case on a store that resets the field
//! before it passes the request on.

mod parts;
mod rows;

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tabla_core::Store;

use self::rows::groups;
use crate::harness::{CaseStore, Harness};
use crate::memory::MemoryHarness;
use crate::report::{CaseResult, Status};
use crate::run::run_case;
use crate::{Case, cases};

/// File of the rows, for messages.
const ROWS: &str = "conformance/src/request_fields/rows.rs";

/// Rows of the fields of one type: of a request, or of a part of a request.
struct Group {
    /// Request that [`Store`] takes.
    request: &'static str,
    /// Type that has the fields.
    part: &'static str,
    /// Function of [`parts`] that reaches the values of the type in the request.
    reach: &'static str,
    /// Pretty `Debug` text of a value of the type, from which its fields are read.
    sample: String,
    rows: Vec<Row>,
}

/// Row of one field.
#[derive(Clone, Copy)]
struct Row {
    field: &'static str,
    proof: Proof,
    loss: Loss,
}

/// Evidence that a store ignores a field.
#[derive(Clone, Copy)]
enum Proof {
    /// The case of this id fails.
    Case(&'static str),
    /// Nothing, for this reason.
    None(&'static str),
}

/// Resets a field of a request, and does nothing to other requests.
#[derive(Clone, Copy)]
struct Loss(fn(&mut dyn Any));

impl fmt::Debug for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Loss")
    }
}

impl Group {
    /// Name of a field in messages: `GetItem.key`, or, for a part of another request,
    /// `GetItem.key in TransactGetItems, by transaction_gets`.
    fn name(&self, field: &str) -> String {
        if self.is_whole() {
            format!("{}.{field}", self.part)
        } else {
            format!("{}.{field} in {}, by {}", self.part, self.request, self.reach)
        }
    }

    /// Whether the fields are those of the request itself.
    fn is_whole(&self) -> bool {
        self.part == self.request
    }

    /// Names of the fields that the type has.
    fn fields(&self) -> BTreeSet<&str> {
        self.sample.lines().filter_map(field_of_line).collect()
    }
}

/// Field that begins on a line of pretty `Debug` text, if it is a field of the outermost value.
fn field_of_line(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("    ")?.split_once(": ")?;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

/// Number of calls after which a [`Lossy`] store fails its case: a case that gets the same page at
/// every call would never end.
const MOST_CALLS: usize = 20_000;

/// Store that ignores a field of its requests.
#[derive(Debug)]
struct Lossy {
    store: Arc<dyn Store>,
    loss: Option<Loss>,
    calls: AtomicUsize,
}

macro_rules! without_field {
    ($self:ident, $method:ident, $request:ident) => {{
        let calls = $self.calls.fetch_add(1, Ordering::Relaxed);
        assert!(calls < MOST_CALLS, "the case has not ended after {MOST_CALLS} calls");
        let mut request = $request;
        if let Some(Loss(reset)) = $self.loss {
            reset(&mut request);
        }
        $self.store.$method(request).await
    }};
}

tabla_core::wrap_store! {
    impl[] Store for Lossy, inner: store, call: without_field
}

/// Harness of [`MemoryHarness`] whose stores ignore a field; none without a loss.
struct LossyHarness(Option<Loss>);

#[async_trait]
impl Harness for LossyHarness {
    fn engine(&self) -> &'static str {
        MemoryHarness.engine()
    }

    async fn case_store(&self) -> CaseStore {
        let mut inner = MemoryHarness.case_store().await;
        let store = Lossy { store: inner.store, loss: self.0, calls: AtomicUsize::new(0) };
        inner.store = Arc::new(store);
        inner
    }
}

/// Runs a case on a store with this loss.
async fn result(case: &'static Case, loss: Option<Loss>) -> CaseResult {
    run_case(Arc::new(LossyHarness(loss)), case).await
}

macro_rules! names_of_requests {
    ($name:ident; $($method:ident($request:ident) -> $answer:tt,)+) => {
        /// Names of the requests that [`Store`] takes.
        const $name: &[&str] = &[$(stringify!($request)),+];
    };
}

tabla_core::__store_operations!(names_of_requests, REQUESTS);

#[test]
fn every_request_has_a_group() {
    let groups = groups();
    let with_group: BTreeSet<&str> =
        groups.iter().filter(|group| group.is_whole()).map(|group| group.request).collect();
    let requests: BTreeSet<&str> = REQUESTS.iter().copied().collect();
    assert_eq!(with_group, requests, "each request of `Store` needs a group in {ROWS}");
}

#[test]
fn every_field_has_one_row() {
    let mut faults = Vec::new();
    for group in groups() {
        let fields = group.fields();
        assert!(!fields.is_empty(), "no field found in: {}", group.sample);
        let mut seen = BTreeSet::new();
        for row in &group.rows {
            if !seen.insert(row.field) {
                faults.push(format!("{} has two rows", group.name(row.field)));
            }
        }
        for field in fields.difference(&seen) {
            faults.push(format!(
                "{name} has no row. Choose the conformance case that fails if a store ignores the \
                 field, or write one, and add `{field} => \"<id of the case>\";`. If the type of \
                 the field is a struct, add a group for the fields of that, too.",
                name = group.name(field),
            ));
        }
        for field in seen.difference(&fields) {
            faults.push(format!("{} is missing from the text of its sample", group.name(field)));
        }
    }
    assert!(faults.is_empty(), "change {ROWS}:\n  {}", faults.join("\n  "));
}

#[tokio::test(start_paused = true)]
async fn ignored_field_fails_its_case() {
    let mut faults = Vec::new();
    let mut sound = BTreeSet::new();
    for group in groups() {
        for row in &group.rows {
            let Proof::Case(id) = row.proof else { continue };
            let name = group.name(row.field);
            let Some(case) = cases().find(|case| case.id == id) else {
                faults.push(format!("{name}: there is no case `{id}`"));
                continue;
            };
            if sound.insert(id) {
                let CaseResult { status, message, .. } = result(case, None).await;
                assert_eq!(
                    status,
                    Status::Pass,
                    "`{id}` on a store that ignores nothing: {message}"
                );
            }
            if result(case, Some(row.loss)).await.status != Status::Fail {
                faults.push(format!(
                    "{name}: case `{id}` passes on a store that ignores the field. Name a case \
                     that fails, or write one. The rule of `{id}`: {}",
                    case.title
                ));
            }
        }
    }
    assert!(faults.is_empty(), "change {ROWS}, or add a case:\n  {}", faults.join("\n  "));
}

#[test]
fn field_without_proof_has_a_reason() {
    for group in groups() {
        for row in &group.rows {
            if let Proof::None(reason) = row.proof {
                assert!(reason.ends_with('.'), "{}: {reason}", group.name(row.field));
            }
        }
    }
}

#[test]
fn fields_are_read_from_debug_text() {
    #[derive(Debug)]
    #[expect(dead_code, reason = "Debug reads the fields")]
    struct Inner {
        hidden: Option<&'static str>,
    }
    #[derive(Debug)]
    #[expect(dead_code, reason = "Debug reads the fields")]
    struct Outer {
        plain: &'static str,
        inner_2: Inner,
        list: Vec<Inner>,
    }
    let inner = || Inner { hidden: Some("a\n    b: c") };
    let sample = format!("{:#?}", Outer { plain: "x: y", inner_2: inner(), list: vec![inner()] });
    let (request, part, reach) = ("Outer", "Outer", "whole");
    let group = Group { request, part, reach, sample, rows: Vec::new() };
    assert_eq!(group.fields(), BTreeSet::from(["plain", "inner_2", "list"]));
}
