//! The path under which the crate that derives can name `tabla-entity`.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

/// The path of `tabla-entity` in the crate that is compiled: the crate itself, or the facade's
/// module, each under the name that its Cargo.toml gives it.
pub(crate) fn path() -> TokenStream {
    if let Some(name) = found("tabla-entity") {
        return quote!(::#name);
    }
    match found("tabla") {
        Some(name) => quote!(::#name::entity),
        // Neither is a dependency: the compiler's error then names the crate to add.
        None => quote!(::tabla::entity),
    }
}

/// The name of a package in the crate that is compiled, if it is a dependency of it.
fn found(package: &str) -> Option<Ident> {
    let name = match crate_name(package).ok()? {
        // Tests and examples of the package name it as others do; the library names itself so by
        // `extern crate self`.
        FoundCrate::Itself => package.replace('-', "_"),
        FoundCrate::Name(name) => name,
    };
    Some(Ident::new(&name, Span::call_site()))
}
