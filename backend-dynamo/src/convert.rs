//! Conversion between core's types and the SDK's. Each type is converted in one module.
//!
//! Calls of the SDK are in `items`, `batches`, `tables` and `streams`.

mod expression;
mod request;
mod response;
mod stream;
mod table;
mod value;

pub(crate) use expression::*;
pub(crate) use request::*;
pub(crate) use response::*;
pub(crate) use stream::*;
pub(crate) use table::*;
pub(crate) use value::*;
