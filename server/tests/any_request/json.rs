//! JSON that may be invalid.

use std::fmt;

use serde_json::Value;

/// JSON as a tree that can be changed into anything: tokens may be invalid, and members of an
/// object may have the same name.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Token(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn parse(text: &str) -> Self {
        Self::from(serde_json::from_str::<Value>(text).expect("the text is valid JSON"))
    }

    pub(crate) fn token(token: &str) -> Self {
        Self::Token(token.to_owned())
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Token(quoted(text))
    }

    /// Number of nodes of the tree.
    pub(crate) fn size(&self) -> usize {
        1 + match self {
            Self::Token(_) => 0,
            Self::Array(elements) => elements.iter().map(Json::size).sum(),
            Self::Object(members) => members.iter().map(|(_, value)| value.size()).sum(),
        }
    }

    /// Returns the node with this number, in the order of the text.
    pub(crate) fn part(&mut self, number: usize) -> &mut Json {
        self.find(&mut { number }).expect("the number is below the size")
    }

    fn find(&mut self, number: &mut usize) -> Option<&mut Json> {
        if *number == 0 {
            return Some(self);
        }
        *number -= 1;
        match self {
            Self::Token(_) => None,
            Self::Array(elements) => elements.iter_mut().find_map(|part| part.find(number)),
            Self::Object(members) => members.iter_mut().find_map(|(_, part)| part.find(number)),
        }
    }

    /// Returns the names of the members that hold the nodes, in the order of the nodes.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.collect_names("", &mut names);
        names
    }

    fn collect_names<'a>(&'a self, own: &'a str, names: &mut Vec<&'a str>) {
        names.push(own);
        match self {
            Self::Token(_) => {}
            Self::Array(elements) => elements.iter().for_each(|it| it.collect_names(own, names)),
            Self::Object(members) => {
                members.iter().for_each(|(name, it)| it.collect_names(name, names));
            }
        }
    }

    /// Returns a copy in which one string contains `number`, so that copies differ.
    pub(crate) fn numbered(&self, number: usize) -> Self {
        let mut json = self.clone();
        let last = json.size() - 1;
        if let Self::Token(token) = json.part(last) {
            *token = match token.strip_suffix('"') {
                Some(text) => format!("{text}{number}\""),
                None => number.to_string(),
            };
        }
        json
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(elements) => Self::Array(elements.into_iter().map(Self::from).collect()),
            Value::Object(members) => Self::Object(
                members.into_iter().map(|(name, value)| (name, Self::from(value))).collect(),
            ),
            scalar => Self::Token(scalar.to_string()),
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = |place: usize| if place == 0 { "" } else { "," };
        match self {
            Self::Token(token) => f.write_str(token),
            Self::Array(elements) => {
                f.write_str("[")?;
                for (place, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", comma(place))?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (place, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}{}:{value}", comma(place), quoted(name))?;
                }
                f.write_str("}")
            }
        }
    }
}
