//! The derive macros of tabla's typed entities. They are documented where `tabla` re-exports them.

mod attributes;
mod entity;
mod fields;
mod key_part;
mod names;
mod queries;
mod root;
mod template;
mod view;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct an entity: see the trait of the same name.
#[proc_macro_derive(Entity, attributes(entity))]
pub fn derive_entity(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    entity::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct a view of an entity: see the trait of the same name.
#[proc_macro_derive(View, attributes(view))]
pub fn derive_view(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    view::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes an enum of unit variants, or a struct around one part, a part of keys. Variants are
/// spelled as serde spells them.
#[proc_macro_derive(KeyPart)]
pub fn derive_key_part(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    key_part::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
