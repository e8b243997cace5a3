//! Core's types to the SDK's and back, one place for each.

mod answer;
mod expression;
mod request;
mod stream;
mod table;
mod value;

pub(crate) use answer::*;
pub(crate) use expression::*;
pub(crate) use request::*;
pub(crate) use stream::*;
pub(crate) use table::*;
pub(crate) use value::*;
