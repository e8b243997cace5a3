//! Requests with one or two deviations, generated from valid ones along their shapes.

use serde_json::{Map, Value as Json, json};

use crate::src::shape::{Shape, Structure};

/// Change of a request at one place.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    place: Vec<Step>,
    /// New value at the place. `None` removes it.
    value: Option<Json>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Name(String),
    Number(usize),
}

impl Change {
    /// Returns the changed request, or `None` if it has no such place.
    pub(crate) fn apply(&self, request: &Json) -> Option<Json> {
        let mut request = request.clone();
        let (last, way) = self.place.split_last()?;
        let mut at = &mut request;
        for step in way {
            at = match step {
                Step::Name(name) => at.get_mut(name)?,
                Step::Number(number) => at.get_mut(number)?,
            };
        }
        match (last, at, &self.value) {
            (Step::Name(name), Json::Object(members), Some(value)) => {
                members.insert(name.clone(), value.clone());
            }
            (Step::Name(name), Json::Object(members), None) => {
                members.remove(name)?;
            }
            (Step::Number(number), Json::Array(elements), Some(value)) => {
                *elements.get_mut(*number)? = value.clone();
            }
            (Step::Number(number), Json::Array(elements), None) => {
                (*number < elements.len()).then(|| elements.remove(*number))?;
            }
            _ => return None,
        }
        Some(request)
    }

    /// Whether the two changes are at different places, of which neither contains the other.
    pub(crate) fn is_apart_from(&self, other: &Self) -> bool {
        !self.place.starts_with(&other.place) && !other.place.starts_with(&self.place)
    }
}

/// Returns all changes of a request of this shape.
pub(crate) fn changes(input: &'static Structure, request: &Json) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.members(input, request.as_object().expect("a request is an object"));
    changes.found
}

#[derive(Default)]
struct Changes {
    found: Vec<Change>,
    place: Vec<Step>,
    /// Number of places so far: each gets some of the possible values, in turn.
    places: usize,
}

impl Changes {
    fn change(&mut self, value: Option<Json>) {
        self.found.push(Change { place: self.place.clone(), value });
    }

    fn at(&mut self, step: Step, look: impl FnOnce(&mut Self)) {
        self.place.push(step);
        look(self);
        self.place.pop();
    }

    fn members(&mut self, structure: &'static Structure, members: &Map<String, Json>) {
        for member in structure.members {
            self.at(Step::Name(member.name.to_owned()), |changes| match members.get(member.name) {
                Some(value) => {
                    changes.change(None);
                    changes.replaced(member.shape, value);
                }
                None => {
                    changes.change(Some(sample(member.shape)));
                    changes.change(Some(Json::Null));
                    changes.change(Some(mistyped(member.shape)));
                }
            });
        }
        self.at(Step::Name("Unknown".to_owned()), |changes| {
            changes.change(Some(json!({ "a": [1] })));
        });
    }

    /// Adds all replacements of this value and of its parts.
    fn replaced(&mut self, shape: &'static Shape, value: &Json) {
        self.places += 1;
        let types = in_turn(types(), self.places, 4);
        for other in types.into_iter().chain(others(shape, value, self.places)) {
            if other != *value {
                self.change(Some(other));
            }
        }
        match (shape, value) {
            (Shape::Structure(structure), Json::Object(members)) => {
                self.members(structure, members);
            }
            (Shape::List { of, .. }, Json::Array(elements)) => {
                for (number, element) in elements.iter().enumerate() {
                    self.at(Step::Number(number), |changes| changes.replaced(of, element));
                }
            }
            (Shape::Map { of, .. }, Json::Object(entries)) => {
                for (name, entry) in entries {
                    self.at(Step::Name(name.clone()), |changes| {
                        changes.change(None);
                        changes.replaced(of, entry);
                    });
                }
                self.at(Step::Name(String::new()), |changes| changes.change(Some(sample(of))));
            }
            _ => {}
        }
    }
}

/// Returns some of the values: others for each place.
fn in_turn(mut all: Vec<Json>, place: usize, count: usize) -> Vec<Json> {
    let first = place * count % all.len();
    all.rotate_left(first);
    all.truncate(count);
    all
}

/// Returns a null, and a value of each JSON type.
fn types() -> Vec<Json> {
    vec![json!("23"), json!([]), Json::Null, json!(23), json!({}), json!(true), json!(34.56)]
}

/// Returns values of this shape that are out of bounds or only different.
fn others(shape: &Shape, value: &Json, place: usize) -> Vec<Json> {
    match *shape {
        Shape::Text { .. } | Shape::Name { .. } => {
            vec![json!(""), json!("a"), json!("not-there"), json!("a!"), json!("x".repeat(300))]
        }
        Shape::Choice(choices) => {
            let all = choices.iter().map(|choice| json!(choice));
            all.chain([json!("X"), json!(""), json!(choices[0].to_lowercase())]).collect()
        }
        Shape::Integer { .. } | Shape::Long { .. } | Shape::Time => vec![
            json!(0),
            json!(-1),
            json!(1),
            json!(101),
            json!(1_000_001),
            json!(i64::from(i32::MAX) + 1),
            json!(1e30),
        ],
        Shape::Boolean => vec![json!(false), json!("true"), json!("no")],
        Shape::Binary => Vec::new(),
        Shape::Value => in_turn(values(), place, 8),
        Shape::List { of, .. } => {
            let first = value.get(0).cloned().unwrap_or_else(|| sample(of));
            vec![
                json!([null]),
                json!([first, first]),
                Json::Array(vec![first; 101]),
                json!([mistyped(of)]),
            ]
        }
        Shape::Map { of, .. } => {
            vec![json!({ "a": null }), json!({ "a": sample(of) }), json!({ "a": mistyped(of) })]
        }
        Shape::Structure(_) => vec![json!({ "a": 1 })],
    }
}

/// Returns attribute values that are invalid or only different.
fn values() -> Vec<Json> {
    let long = "1".repeat(39);
    vec![
        json!({ "S": "a" }),
        json!({ "S": "" }),
        json!({ "N": "x" }),
        json!({ "SS": [] }),
        json!({ "M": {} }),
        json!({ "S": "a", "N": "1" }),
        json!({ "N": 1 }),
        json!({ "L": [{}] }),
        json!({ "N": "1" }),
        json!({ "B": "" }),
        json!({ "N": "1e126" }),
        json!({ "SS": ["a", "a"] }),
        json!({ "L": [] }),
        json!({ "NULL": false }),
        json!({ "B": "YQ" }),
        json!({ "L": [null] }),
        json!({ "B": "YQ==" }),
        json!({ "S": null }),
        json!({ "N": "1e-131" }),
        json!({ "SS": [null] }),
        json!({ "BOOL": true }),
        json!({ "BOOL": "x" }),
        json!({ "M": [] }),
        json!({ "M": { "a": null } }),
        json!({ "NULL": true }),
        json!({ "N": "" }),
        json!({ "N": long }),
        json!({ "NS": ["1", "1.0"] }),
        json!({ "SS": ["a"] }),
        json!({ "S": 1 }),
        json!({ "BS": ["YQ==", "YQ=="] }),
        json!({ "M": { "a": {} } }),
        json!({ "L": "a" }),
        json!({ "X": "a" }),
        json!({ "NS": [] }),
    ]
}

/// Returns a valid value of this shape.
fn sample(shape: &Shape) -> Json {
    match shape {
        Shape::Text { .. } | Shape::Name { .. } => json!("abc"),
        Shape::Choice(choices) => json!(choices[0]),
        Shape::Integer { .. } | Shape::Long { .. } | Shape::Time => json!(1),
        Shape::Boolean => json!(true),
        Shape::Binary => json!("YQ=="),
        Shape::Value => json!({ "S": "a" }),
        Shape::List { of, .. } => json!([sample(of)]),
        Shape::Map { of, .. } => json!({ "abc": sample(of) }),
        Shape::Structure(structure) => {
            let needed = structure.members.iter().filter(|member| member.need.is_needed());
            needed.map(|member| (member.name.to_owned(), sample(member.shape))).collect()
        }
    }
}

/// Returns values of another JSON type.
fn mistyped(shape: &Shape) -> Json {
    match shape {
        Shape::Text { .. } | Shape::Name { .. } | Shape::Choice(_) => json!([]),
        Shape::Structure(_) | Shape::Map { .. } | Shape::Value => json!("a"),
        _ => json!({ "a": 1 }),
    }
}
