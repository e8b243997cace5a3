//! The fields of an entity, as far as their syntax tells.

use syn::{Data, DeriveInput, Error, GenericArgument, Ident, LitInt, PathArguments, Result, Type};

use crate::names::Names;

/// A field of the struct.
pub(crate) struct FieldInfo {
    pub(crate) ident: Ident,
    pub(crate) attribute: String,
    /// The type of its value: of an `Option`, what is in it.
    pub(crate) value: Type,
    pub(crate) whole: Type,
    pub(crate) is_optional: bool,
    pub(crate) kind: Kind,
    pub(crate) is_key_only: bool,
    pub(crate) is_immutable: bool,
    pub(crate) keeps_null: bool,
}

/// What a type is by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Unsigned,
    Signed,
    Float,
    Text,
    Seconds,
    Millis,
    Shard(u32),
    Other,
}

impl FieldInfo {
    pub(crate) fn name(&self) -> String {
        self.ident.to_string()
    }

    /// Whether all texts of its part have one width.
    pub(crate) fn is_fixed_width(&self) -> bool {
        matches!(self.kind, Kind::Seconds | Kind::Millis | Kind::Shard(_))
    }
}

pub(crate) fn fields_of(input: &DeriveInput) -> Result<Vec<FieldInfo>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "an entity is a struct with named fields"));
    };
    let syn::Fields::Named(named) = &data.fields else {
        return Err(Error::new(input.ident.span(), "an entity is a struct with named fields"));
    };
    let rule = Names::of(&input.attrs)?.rename_all;
    named
        .named
        .iter()
        .map(|field| {
            let ident = field.ident.clone().expect("the fields are named");
            let names = Names::of(&field.attrs)?;
            let plain = ident.to_string();
            let plain = plain.trim_start_matches("r#");
            let attribute = names.rename.unwrap_or_else(|| rule.field(plain));
            let inner = option_of(&field.ty);
            let value = inner.cloned().unwrap_or_else(|| field.ty.clone());
            let mut info = FieldInfo {
                kind: kind_of(&value)?,
                is_optional: inner.is_some(),
                whole: field.ty.clone(),
                ident,
                attribute,
                value,
                is_key_only: false,
                is_immutable: false,
                keeps_null: false,
            };
            let own = field.attrs.iter().filter(|attribute| attribute.path().is_ident("entity"));
            for attribute in own {
                attribute.parse_nested_meta(|meta| {
                    if meta.path.is_ident("key_only") {
                        info.is_key_only = true;
                    } else if meta.path.is_ident("immutable") {
                        info.is_immutable = true;
                    } else if meta.path.is_ident("null") {
                        info.keeps_null = true;
                    } else {
                        return Err(meta.error(
                            "a field of an entity can be `key_only`, `immutable` or `null`",
                        ));
                    }
                    Ok(())
                })?;
            }
            Ok(info)
        })
        .collect()
}

fn last_segment(kind: &Type) -> Option<&syn::PathSegment> {
    match kind {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

fn argument(segment: &syn::PathSegment) -> Option<&GenericArgument> {
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.first(),
        _ => None,
    }
}

fn option_of(kind: &Type) -> Option<&Type> {
    let segment = last_segment(kind).filter(|segment| segment.ident == "Option")?;
    match argument(segment)? {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}

fn kind_of(value: &Type) -> Result<Kind> {
    let Some(segment) = last_segment(value) else { return Ok(Kind::Other) };
    Ok(match segment.ident.to_string().as_str() {
        "u8" | "u16" | "u32" | "u64" => Kind::Unsigned,
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u128" | "usize" => Kind::Signed,
        "f32" | "f64" => Kind::Float,
        "String" => Kind::Text,
        "UtcTime" => Kind::Seconds,
        "UtcMillis" => Kind::Millis,
        "Sharded" => {
            let number = match argument(segment) {
                Some(GenericArgument::Const(syn::Expr::Lit(literal))) => match &literal.lit {
                    syn::Lit::Int(number) => Some(number),
                    _ => None,
                },
                _ => None,
            };
            let number: &LitInt = number.ok_or_else(|| {
                Error::new_spanned(value, "say the number of shards as a number: `Sharded<10>`")
            })?;
            Kind::Shard(number.base10_parse()?)
        }
        _ => Kind::Other,
    })
}
