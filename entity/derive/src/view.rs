//! `#[derive(View)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, Error, Path, Result};

use crate::fields::fields_of;

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let tabla = crate::root::path();
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new_spanned(
            parameter,
            "a view has no parameters, as an entity has none",
        ));
    }
    let of = entity(input)?;
    let (name, text) = (&input.ident, input.ident.to_string());
    let fields = fields_of(input)?;
    // The constants of the entity check name and type of each field.
    let attributes = fields.iter().map(|field| {
        let constant = format_ident!("{}", field.name().to_uppercase(), span = field.ident.span());
        let value = &field.value;
        quote!(#tabla::attribute_of::<#of, #value>(<#of>::#constant))
    });
    let names = fields.iter().map(|field| {
        let (constant, attribute) =
            (format_ident!("{}", field.name().to_uppercase()), &field.attribute);
        let message = format!(
            "the field `{}` of the view has another attribute than that of the entity: give both \
             the same `#[serde(rename)]`",
            field.name()
        );
        quote!(
            const _: () = ::core::assert!(
                #tabla::format::is_same(<#of>::#constant.attribute, #attribute),
                #message
            );
        )
    });
    Ok(quote! {
        #(#names)*

        impl #tabla::View for #name {
            type Of = #of;

            fn view_attributes() -> ::core::option::Option<&'static [&'static str]> {
                const ATTRIBUTES: &[&str] = &[#(#attributes),*];
                ::core::option::Option::Some(ATTRIBUTES)
            }

            fn read_item(item: &#tabla::__core::Item) -> #tabla::__core::Result<Self> {
                #tabla::read_view::<#of, Self>(#text, item)
            }
        }
    })
}

/// The entity that `#[view(of = …)]` names.
fn entity(input: &DeriveInput) -> Result<Path> {
    let mut of = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("view")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("of") {
                return Err(meta.error("a view has `of` alone: `#[view(of = Article)]`"));
            }
            of = Some(meta.value()?.parse()?);
            Ok(())
        })?;
    }
    of.ok_or_else(|| {
        Error::new(input.ident.span(), "name the entity of the view: `#[view(of = Article)]`")
    })
}
