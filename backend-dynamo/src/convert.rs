//! Conversion between core's types and the SDK's. Each type is converted in one module.
//!
//! Calls of the SDK are in `items`, `batches`, `tables` and `streams`.

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
