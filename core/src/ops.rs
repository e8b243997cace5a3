//! Requests and outputs of all operations of [`Store`](crate::Store), in the shape of DynamoDB's
//! API.
//!
//! This module has data only. What an operation does is documented at the methods of
//! [`Store`](crate::Store); rules are checked when a request is executed, not when it is built.
//!
//! Requests, outputs and descriptions are `#[non_exhaustive]`: a new field breaks no caller. A
//! request has a `new` with its required fields, and methods that set the others. Public fields can
//! be read and assigned; [`assign!`](crate::assign) assigns several in one expression.
//!
//! Enums of requests are exhaustive, so that a backend that does not handle a new variant fails to
//! compile. Statuses, which only outputs have, are `#[non_exhaustive]`.

mod assign;
mod batch;
mod capacity;
mod item;
mod read;
mod stream;
mod table;
mod transact;

pub use batch::*;
pub use capacity::*;
pub use item::*;
pub use read::*;
pub use stream::*;
pub use table::*;
pub use transact::*;

/// Defines methods that set the fields of a request or an output.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $kind:ty),+ $(,)?) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: $kind) -> Self {
                self.$name = $name;
                self
            }
        )+
    };
}

/// Defines methods that set the placeholders of a request's expressions.
macro_rules! placeholder_setters {
    () => {
        /// Sets the attribute name of the placeholder `#…`.
        #[must_use]
        pub fn name(mut self, placeholder: impl Into<String>, name: impl Into<String>) -> Self {
            self.names.insert(placeholder.into(), name.into());
            self
        }

        /// Sets the value of the placeholder `:…`.
        #[must_use]
        pub fn value(
            mut self,
            placeholder: impl Into<String>,
            value: impl Into<crate::Value>,
        ) -> Self {
            self.values.insert(placeholder.into(), value.into());
            self
        }
    };
}

use placeholder_setters;
pub(crate) use setters;
