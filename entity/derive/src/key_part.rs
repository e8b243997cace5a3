//! `#[derive(KeyPart)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Result};

use crate::names::Names;

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    match &input.data {
        Data::Enum(data) => of_enum(input, data),
        Data::Struct(data) => match &data.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let inner = &fields.unnamed[0].ty;
                Ok(of_wrapper(input, inner))
            }
            _ => Err(refused(input)),
        },
        Data::Union(_) => Err(refused(input)),
    }
}

fn refused(input: &DeriveInput) -> Error {
    Error::new(
        input.ident.span(),
        "a part of a key is an enum without data, or a struct around one part: `struct Code(Id);`",
    )
}

fn of_enum(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let tabla = crate::root::path();
    let rule = Names::of(&input.attrs)?.rename_all;
    let mut texts = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(
                variant,
                format!(
                    "a part of a key has no data in its variants: make this `{}`, and the data a \
                     field of its own",
                    variant.ident
                ),
            ));
        }
        let names = Names::of(&variant.attrs)?;
        let text = names.rename.unwrap_or_else(|| rule.variant(&variant.ident.to_string()));
        if text.is_empty() || text.contains('#') {
            return Err(Error::new_spanned(
                variant,
                format!(
                    "{text:?} cannot be a part of a key, because it is empty or has the separator \
                     `#`: give it another name with `#[serde(rename = \"…\")]`"
                ),
            ));
        }
        if texts.contains(&text) {
            return Err(Error::new_spanned(
                variant,
                format!("{text:?} is the text of another variant, too: give it one of its own"),
            ));
        }
        texts.push(text);
    }
    let Some(first) = data.variants.first() else { return Err(refused(input)) };
    let (name, first) = (&input.ident, &first.ident);
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let is_ordered = texts.is_sorted();
    let count = u32::try_from(texts.len()).unwrap_or(u32::MAX);
    let message = format!("is not one of {}", texts.join(", "));
    Ok(quote! {
        impl #tabla::KeyPart for #name {
            const SAFE: bool = true;
            const ORDERED: bool = #is_ordered;
            const VALUES: ::core::option::Option<u32> = ::core::option::Option::Some(#count);

            fn write_key(&self, out: &mut ::std::string::String) -> #tabla::__core::Result<()> {
                out.push_str(match self { #(Self::#variants => #texts,)* });
                ::core::result::Result::Ok(())
            }

            fn read_key(text: &str) -> #tabla::__core::Result<Self> {
                match text {
                    #(#texts => ::core::result::Result::Ok(Self::#variants),)*
                    other => ::core::result::Result::Err(#tabla::__core::Error::validation(
                        ::std::format!("{other:?} {}", #message),
                    )),
                }
            }

            fn example(_: &str) -> Self {
                Self::#first
            }
        }
    })
}

fn of_wrapper(input: &DeriveInput, inner: &syn::Type) -> TokenStream {
    let tabla = crate::root::path();
    let name = &input.ident;
    let part = quote!(<#inner as #tabla::KeyPart>);
    quote! {
        impl #tabla::KeyPart for #name {
            const SAFE: bool = #part::SAFE;
            const ORDERED: bool = #part::ORDERED;
            const VALUES: ::core::option::Option<u32> = #part::VALUES;

            fn write_key(&self, out: &mut ::std::string::String) -> #tabla::__core::Result<()> {
                #part::write_key(&self.0, out)
            }

            fn read_key(text: &str) -> #tabla::__core::Result<Self> {
                #part::read_key(text).map(Self)
            }

            fn example(name: &str) -> Self {
                Self(#part::example(name))
            }
        }
    }
}
