//! Requests and answers, one pair per operation.
//!
//! They have the shape of DynamoDB's own API, so that a request says exactly what the service
//! would be asked, and core can refuse with the service's own words.
//!
//! Requests, answers and descriptions are `#[non_exhaustive]`: a new field breaks no caller. A
//! request has a `new` with the fields that it requires, and methods that set the rest. Public
//! fields can be read and assigned; [`assign!`](crate::assign) assigns several in one expression.
//!
//! Enums that a request is made of are exhaustive, so that a backend that does not know a new variant
//! fails to compile. Statuses, which only answers have, are `#[non_exhaustive]`.

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

/// Methods that set the optional fields of a request.
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

/// Methods that fill in the placeholders of a request's expressions.
macro_rules! placeholder_setters {
    () => {
        /// Stands `name` for the attribute name behind the placeholder `#…`.
        #[must_use]
        pub fn name(mut self, placeholder: impl Into<String>, name: impl Into<String>) -> Self {
            self.names.insert(placeholder.into(), name.into());
            self
        }

        /// Stands `value` for the placeholder `:…`.
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

use {placeholder_setters, setters};
