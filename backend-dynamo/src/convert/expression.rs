//! Expressions: text is sent unchanged, trees are rendered to text.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use tabla_core::Result;
use tabla_core::backend::Renderer;
use tabla_core::expr::{Condition, Expr, ExpressionKind, Names, Projection, Update, Values};

use super::value_to_sdk;

/// Expressions of one request, which share their placeholders.
///
/// The service validates text. Core validates a tree before it is rendered, with the service's
/// messages, because only a tree within the limits can be rendered.
pub(crate) struct Expressions(Renderer);

impl Expressions {
    pub(crate) fn new(names: Names, values: Values) -> Self {
        Self(Renderer::with_placeholders(names, values))
    }

    pub(crate) fn condition(
        &mut self,
        kind: ExpressionKind,
        expression: Option<Expr<Condition>>,
    ) -> Result<Option<String>> {
        self.render(expression, |renderer, condition| {
            condition.validate(kind)?;
            Ok(condition.render(renderer))
        })
    }

    pub(crate) fn update(&mut self, expression: Option<Expr<Update>>) -> Result<Option<String>> {
        self.render(expression, |renderer, update| {
            update.validate()?;
            Ok(update.render(renderer))
        })
    }

    pub(crate) fn projection(
        &mut self,
        expression: Option<Expr<Projection>>,
    ) -> Result<Option<String>> {
        self.render(expression, |renderer, projection| {
            projection.validate()?;
            Ok(projection.render(renderer))
        })
    }

    fn render<T>(
        &mut self,
        expression: Option<Expr<T>>,
        tree: impl FnOnce(&mut Renderer, T) -> Result<String>,
    ) -> Result<Option<String>> {
        match expression {
            None => Ok(None),
            Some(Expr::Text(text)) => Ok(Some(text)),
            Some(Expr::Tree(built)) => tree(&mut self.0, built).map(Some),
        }
    }

    /// Returns the placeholders of all expressions, those of the caller and of rendered trees.
    pub(crate) fn finish(self) -> Result<SdkPlaceholders> {
        let (names, values) = self.0.into_placeholders();
        Ok(SdkPlaceholders { names: names_to_sdk(names), values: values_to_sdk(values)? })
    }
}

/// `ExpressionAttributeNames` and `ExpressionAttributeValues`. Absent without placeholders, because
/// the service refuses empty maps.
pub(crate) struct SdkPlaceholders {
    pub(crate) names: Option<HashMap<String, String>>,
    pub(crate) values: Option<HashMap<String, AttributeValue>>,
}

fn names_to_sdk(names: Names) -> Option<HashMap<String, String>> {
    (!names.is_empty()).then(|| names.into_iter().collect())
}

fn values_to_sdk(values: Values) -> Result<Option<HashMap<String, AttributeValue>>> {
    if values.is_empty() {
        return Ok(None);
    }
    values
        .into_iter()
        .map(|(name, value)| Ok((name, value_to_sdk(value)?)))
        .collect::<Result<_>>()
        .map(Some)
}

#[cfg(test)]
mod tests {
    use tabla_core::{Value, attr};

    use super::*;

    #[test]
    fn text_is_sent_unchanged() {
        let names = Names::from([("#a".to_owned(), "a".to_owned())]);
        let mut expressions = Expressions::new(names, Values::new());
        let text =
            expressions.condition(ExpressionKind::Condition, Some("  #a  = = ".into())).unwrap();
        assert_eq!(text.as_deref(), Some("  #a  = = "));
        let placeholders = expressions.finish().unwrap();
        assert_eq!(placeholders.names.unwrap()["#a"], "a");
        assert!(placeholders.values.is_none());
    }

    #[test]
    fn rendered_placeholders_do_not_collide_with_the_callers() {
        let names = Names::from([("#n0".to_owned(), "a".to_owned())]);
        let values = Values::from([(":v0".to_owned(), Value::from(1))]);
        let mut expressions = Expressions::new(names, values);
        let filter = expressions
            .condition(ExpressionKind::Filter, Some(attr("b").eq(2).into()))
            .unwrap()
            .unwrap();
        let placeholders = expressions.finish().unwrap();
        let (names, values) = (placeholders.names.unwrap(), placeholders.values.unwrap());
        assert_eq!(filter, "#n1 = :v1");
        assert_eq!((names["#n0"].as_str(), names["#n1"].as_str()), ("a", "b"));
        assert_eq!(values[":v0"], AttributeValue::N("1".into()));
        assert_eq!(values[":v1"], AttributeValue::N("2".into()));
    }

    #[test]
    fn tree_above_the_limits_is_refused_before_it_is_rendered() {
        let mut tree = attr("a").eq(1);
        for _ in 0..100_000 {
            tree = !tree;
        }
        let mut expressions = Expressions::new(Names::new(), Values::new());
        assert!(expressions.condition(ExpressionKind::Condition, Some(tree.into())).is_err());
    }

    #[test]
    fn absent_expression_has_no_placeholders() {
        let mut expressions = Expressions::new(Names::new(), Values::new());
        assert_eq!(expressions.update(None).unwrap(), None);
        let placeholders = expressions.finish().unwrap();
        assert!(placeholders.names.is_none() && placeholders.values.is_none());
    }
}
