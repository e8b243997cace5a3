//! Rendering of expression trees as text with placeholders, for services that take text.

use crate::expr::condition::{Condition, Operand};
use crate::expr::path::{Path, PathElement};
use crate::expr::projection::Projection;
use crate::expr::text::{Names, Values};
use crate::expr::update::{SetFallback, SetOperand, SetValue, Update};
use crate::{Value, limits};

/// Assigns placeholders to names and values while the expressions of one request are rendered.
///
/// Every name gets a placeholder, so reserved words and special characters are allowed. Parsing the
/// rendered text with these placeholders results in the same tree.
///
/// ```
/// use tabla::attr;
/// use tabla::backend::Renderer;
///
/// let mut renderer = Renderer::new();
/// let text = attr("status").eq("draft").render(&mut renderer);
/// assert_eq!(text, "#n0 = :v0");
/// assert_eq!(renderer.names()["#n0"], "status");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Renderer {
    names: Names,
    values: Values,
    /// Placeholder of each name that has been rendered.
    known: std::collections::BTreeMap<String, String>,
    next_name: usize,
    next_value: usize,
}

impl Renderer {
    /// Creates a renderer without placeholders.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a renderer that keeps the placeholders of a request whose other expressions
    /// are text.
    pub fn with_placeholders(names: Names, values: Values) -> Self {
        Self { names, values, ..Self::default() }
    }

    /// Names that have placeholders.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Values that have placeholders.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Returns the names and values that have placeholders.
    pub fn into_placeholders(self) -> (Names, Values) {
        (self.names, self.values)
    }

    fn name(&mut self, name: &str) -> String {
        if let Some(key) = self.known.get(name) {
            return key.clone();
        }
        let key = loop {
            let key = format!("#n{}", self.next_name);
            self.next_name += 1;
            if !self.names.contains_key(&key) {
                break key;
            }
        };
        self.names.insert(key.clone(), name.to_owned());
        self.known.insert(name.to_owned(), key.clone());
        key
    }

    fn value(&mut self, value: &Value) -> String {
        let key = loop {
            let key = format!(":v{}", self.next_value);
            self.next_value += 1;
            if !self.values.contains_key(&key) {
                break key;
            }
        };
        self.values.insert(key.clone(), value.clone());
        key
    }

    fn path(&mut self, path: &Path) -> String {
        let mut text = self.name(path.root());
        for step in path.elements() {
            match step {
                PathElement::Field(name) => {
                    text.push('.');
                    text.push_str(&self.name(name));
                }
                PathElement::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    fn operand(&mut self, operand: &Operand) -> String {
        match operand {
            Operand::Path(path) => self.path(path),
            Operand::Value(value) => self.value(value),
            Operand::Size(path) => format!("size({})", self.path(path)),
        }
    }

    fn set_operand(&mut self, operand: &SetOperand) -> String {
        let mut text = String::new();
        for path in &operand.candidates {
            text.push_str(&format!("if_not_exists({}, ", self.path(path)));
        }
        text.push_str(&match &operand.last {
            SetFallback::Path(path) => self.path(path),
            SetFallback::Value(value) => self.value(value),
        });
        text.push_str(&")".repeat(operand.candidates.len()));
        text
    }

    fn set_value(&mut self, value: &SetValue) -> String {
        match value {
            SetValue::Operand(operand) => self.set_operand(operand),
            SetValue::Plus(left, right) => {
                format!("{} + {}", self.set_operand(left), self.set_operand(right))
            }
            SetValue::Minus(left, right) => {
                format!("{} - {}", self.set_operand(left), self.set_operand(right))
            }
            SetValue::ListAppend(left, right) => {
                format!("list_append({}, {})", self.set_operand(left), self.set_operand(right))
            }
        }
    }
}

impl Condition {
    /// Renders the condition as text.
    pub fn render(&self, renderer: &mut Renderer) -> String {
        let mut text = String::new();
        self.write(renderer, &mut text);
        text
    }

    /// Renders the inner nodes. Leaves have their own function, so that the stack frames of this
    /// recursion stay small.
    fn write(&self, renderer: &mut Renderer, text: &mut String) {
        match self {
            Self::And(branches) => {
                for (position, branch) in branches.iter().enumerate() {
                    text.push_str(if position > 0 { " AND " } else { "" });
                    branch.write_inside(renderer, text, matches!(branch, Self::Or(_)));
                }
            }
            Self::Or(branches) => {
                for (position, branch) in branches.iter().enumerate() {
                    text.push_str(if position > 0 { " OR " } else { "" });
                    branch.write(renderer, text);
                }
            }
            Self::Not(branch) => {
                text.push_str("NOT ");
                let joined = matches!(**branch, Self::And(_) | Self::Or(_));
                branch.write_inside(renderer, text, joined);
            }
            // Every service rejects this text for the same reason as the tree: too many operators.
            Self::TooDeep => {
                text.push_str(&"NOT ".repeat(limits::EXPRESSION_OPERATORS));
                text.push_str(&format!("attribute_exists({})", renderer.name("a")));
            }
            leaf => text.push_str(&leaf.render_leaf(renderer)),
        }
    }

    fn write_inside(&self, renderer: &mut Renderer, text: &mut String, parentheses: bool) {
        text.push_str(if parentheses { "(" } else { "" });
        self.write(renderer, text);
        text.push_str(if parentheses { ")" } else { "" });
    }

    fn render_leaf(&self, renderer: &mut Renderer) -> String {
        match self {
            Self::Compare { op, left, right } => {
                format!("{} {op} {}", renderer.operand(left), renderer.operand(right))
            }
            Self::Between { value, low, high } => format!(
                "{} BETWEEN {} AND {}",
                renderer.operand(value),
                renderer.operand(low),
                renderer.operand(high)
            ),
            Self::In { value, list } => {
                let value = renderer.operand(value);
                let list: Vec<String> = list.iter().map(|other| renderer.operand(other)).collect();
                format!("{value} IN ({})", list.join(", "))
            }
            Self::AttributeExists(path) => format!("attribute_exists({})", renderer.path(path)),
            Self::AttributeNotExists(path) => {
                format!("attribute_not_exists({})", renderer.path(path))
            }
            Self::AttributeType(operand, kind) => format!(
                "attribute_type({}, {})",
                renderer.operand(operand),
                renderer.value(&Value::from(kind.to_string()))
            ),
            Self::BeginsWith(operand, prefix) => {
                format!("begins_with({}, {})", renderer.operand(operand), renderer.operand(prefix))
            }
            Self::Contains(operand, part) => {
                format!("contains({}, {})", renderer.operand(operand), renderer.operand(part))
            }
            Self::And(_) | Self::Or(_) | Self::Not(_) | Self::TooDeep => {
                unreachable!("`write` handles inner nodes")
            }
        }
    }
}

impl Update {
    /// Renders the update as text; the text is empty if the update has no actions.
    pub fn render(&self, renderer: &mut Renderer) -> String {
        let mut sections = Vec::new();
        let mut section = |keyword: &str, actions: Vec<String>| {
            if !actions.is_empty() {
                sections.push(format!("{keyword} {}", actions.join(", ")));
            }
        };
        section(
            "SET",
            self.set
                .iter()
                .map(|(path, value)| {
                    format!("{} = {}", renderer.path(path), renderer.set_value(value))
                })
                .collect(),
        );
        section("REMOVE", self.remove.iter().map(|path| renderer.path(path)).collect());
        for (keyword, actions) in [("ADD", &self.add), ("DELETE", &self.delete)] {
            section(
                keyword,
                actions
                    .iter()
                    .map(|(path, value)| {
                        format!("{} {}", renderer.path(path), renderer.value(value))
                    })
                    .collect(),
            );
        }
        sections.join(" ")
    }
}

impl Projection {
    /// Renders the projection as text; the text is empty if the projection has no paths.
    pub fn render(&self, renderer: &mut Renderer) -> String {
        self.paths.iter().map(|path| renderer.path(path)).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ValueKind, attr};

    #[test]
    fn rendered_condition_has_minimal_parentheses() {
        let mut renderer = Renderer::new();
        let condition = attr("a").eq(1).or(attr("b").exists()).and(!attr("a").field("b").le("x"));
        assert_eq!(
            condition.render(&mut renderer),
            "(#n0 = :v0 OR attribute_exists(#n1)) AND NOT #n0.#n1 <= :v1"
        );
        let condition = attr("c").index(3).is_in([1, 2]).and(attr("a").size().between(1, 2));
        assert_eq!(
            (!condition).render(&mut renderer),
            "NOT (#n2[3] IN (:v2, :v3) AND size(#n0) BETWEEN :v4 AND :v5)"
        );
        assert_eq!(
            attr("a").has_type(ValueKind::Ss).render(&mut renderer),
            "attribute_type(#n0, :v6)"
        );
        let (names, values) = renderer.into_placeholders();
        assert_eq!(names.keys().collect::<Vec<_>>(), ["#n0", "#n1", "#n2"]);
        assert_eq!(values[":v6"], Value::from("SS"));
    }

    #[test]
    fn rendered_update_orders_its_sections() {
        let mut renderer = Renderer::new();
        let update = Update::new()
            .delete("d", 1)
            .add("c", 1)
            .remove("b")
            .set("a", attr("a").if_not_exists(attr("x").if_not_exists(0)).plus(1))
            .set("l", attr("l").append(attr("m")));
        assert_eq!(
            update.render(&mut renderer),
            "SET #n0 = if_not_exists(#n0, if_not_exists(#n1, :v0)) + :v1, #n2 = \
             list_append(#n2, #n3) REMOVE #n4 ADD #n5 :v2 DELETE #n6 :v3"
        );
        assert_eq!(Update::new().render(&mut renderer), "");
    }

    #[test]
    fn renderer_keeps_existing_placeholders() {
        let names = Names::from([("#n0".to_owned(), "x".to_owned())]);
        let values = Values::from([(":v0".to_owned(), Value::from(7))]);
        let mut renderer = Renderer::with_placeholders(names, values);
        assert_eq!(attr("a").eq(1).render(&mut renderer), "#n1 = :v1");
        assert_eq!(Projection::new(["a", "b"]).render(&mut renderer), "#n1, #n2");
        assert_eq!(renderer.names()["#n0"], "x");
        assert_eq!(renderer.values()[":v0"], Value::from(7));
    }
}
