//! Expressions: conditions, filters, key conditions, updates and projections.
//!
//! An expression is a tree, built in Rust or parsed from text; both are validated by the same
//! rules. Embedded engines evaluate the tree. For a remote service, it is rendered to text with
//! placeholders. Reads and writes that use expressions are planned in `engine`.
//!
//! ```
//! use tabla::backend::Placeholders;
//! use tabla::expr::{ExpressionKind, Names, Values};
//! use tabla::{attr, item};
//!
//! // Built in Rust:
//! let built = attr("tags").contains("x").or(attr("name").size().gt(3));
//! built.validate(ExpressionKind::Condition)?;
//!
//! // Parsed from text:
//! let names = Names::from([("#n".to_owned(), "name".to_owned())]);
//! let values =
//!     Values::from([(":x".to_owned(), "x".into()), (":three".to_owned(), 3.into())]);
//! let mut placeholders = Placeholders::new(&names, &values)?;
//! let parsed = placeholders
//!     .parse_condition(ExpressionKind::Condition, "contains(tags, :x) OR size(#n) > :three")?;
//! placeholders.finish()?;
//!
//! assert_eq!(parsed, built);
//! assert!(parsed.evaluate(&item! { "name" => "Ada L." }));
//! # Ok::<(), tabla::Error>(())
//! ```

mod condition;
mod path;
mod projection;
pub(crate) mod text;
mod update;

mod apply;
mod evaluate;
pub(crate) mod key;
pub(crate) mod render;
mod validate;

mod lexer;
mod lower;
mod reserved;
mod syntax;

pub(crate) mod legacy;

pub(crate) use self::apply::too_large;
pub use self::condition::{Branch, Branches, CompareOp, Condition, Operand, Size};
pub(crate) use self::key::{KeyQuery, KeySpec, SortRange};
pub use self::path::{Path, PathElement, attr};
pub use self::projection::Projection;

pub(crate) use self::render::Renderer;
pub(crate) use self::text::Placeholders;
pub use self::text::{Expr, ExpressionKind, Names, Values};
pub use self::update::{SetFallback, SetOperand, SetValue, Update};

use self::text::ExpressionProblem;
