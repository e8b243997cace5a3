//! The fields of an entity, as far as their syntax tells.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Error, GenericArgument, Ident, LitInt, PathArguments, Result, Type};

use crate::names::{DefaultValue, Names};

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
    /// Value of an item that lacks the attribute, as an expression.
    pub(crate) default: Option<TokenStream>,
    /// Whether serde writes it in another way than its type does.
    pub(crate) is_written_otherwise: bool,
    /// How many values it has, as its declaration says.
    pub(crate) values: Option<u32>,
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
    /// Its name, of `r#type` just `type`.
    pub(crate) fn name(&self) -> String {
        let name = self.ident.to_string();
        name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
    }

    /// How many values it has, as an expression: what is declared, or else what the type knows.
    pub(crate) fn count(&self) -> TokenStream {
        let tabla = crate::root::path();
        match (self.values, &self.value) {
            (Some(values), _) => quote!(::core::option::Option::Some(#values)),
            (None, value) => quote!({
                use #tabla::format::Uncounted as _;
                #tabla::format::Values::<#value>::COUNT
            }),
        }
    }

    /// What its attribute is, as far as the name of its type tells.
    pub(crate) fn stored_as(&self) -> Option<Ident> {
        if self.is_written_otherwise {
            return None;
        }
        let name = match self.kind {
            Kind::Unsigned | Kind::Signed | Kind::Float => "N",
            Kind::Text | Kind::Seconds | Kind::Millis => "S",
            Kind::Shard(_) => return None,
            Kind::Other => match last_segment(&self.value)?.ident.to_string().as_str() {
                "bool" => "Bool",
                "Number" => "N",
                "Id" | "Day" | "Month" => "S",
                "Vec" => "L",
                "BTreeMap" | "HashMap" | "Map" => "M",
                _ => return None,
            },
        };
        Some(Ident::new(name, self.ident.span()))
    }

    /// How wide all texts of its part are, if they have one width.
    pub(crate) fn width(&self) -> Option<usize> {
        match self.kind {
            Kind::Seconds => Some("2025-08-18T10:30:00Z".len()),
            Kind::Millis => Some("2025-08-18T10:30:00.250Z".len()),
            Kind::Shard(shards) => Some(shard_width(shards)),
            _ => None,
        }
    }
}

/// How many digits the number of a shard has among so many.
pub(crate) fn shard_width(shards: u32) -> usize {
    shards.saturating_sub(1).max(1).ilog10() as usize + 1
}

/// How many shards there can be: as `Sharded` has it.
pub(crate) const SHARDS: std::ops::RangeInclusive<u32> = 1..=1000;

/// The fields, for a message that one is not among them.
pub(crate) fn no_field(name: &str, fields: &[FieldInfo]) -> String {
    let names: Vec<String> = fields.iter().map(|field| format!("`{}`", field.name())).collect();
    format!("there is no field `{name}`; the fields are {}", names.join(", "))
}

pub(crate) fn fields_of(input: &DeriveInput) -> Result<Vec<FieldInfo>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(
            input.ident.span(),
            "an entity is a struct with named fields: `struct Order { number: u32 }`",
        ));
    };
    let syn::Fields::Named(named) = &data.fields else {
        return Err(Error::new(
            input.ident.span(),
            "an entity is a struct with named fields: `struct Order { number: u32 }`",
        ));
    };
    let Names { rename_all: rule, default: of_struct, .. } = Names::of(&input.attrs)?;
    let entity = &input.ident;
    named
        .named
        .iter()
        .map(|field| {
            let ident = field.ident.clone().expect("the fields are named");
            let names = Names::of(&field.attrs)?;
            let inner = option_of(&field.ty);
            let value = inner.cloned().unwrap_or_else(|| field.ty.clone());
            let mut info = FieldInfo {
                kind: kind_of(&value)?,
                is_optional: inner.is_some(),
                whole: field.ty.clone(),
                ident,
                attribute: String::new(),
                value,
                is_key_only: false,
                is_immutable: false,
                keeps_null: false,
                default: None,
                is_written_otherwise: names.is_written_otherwise,
                values: None,
            };
            info.attribute = names.rename.unwrap_or_else(|| rule.field(&info.name()));
            let (own, whole) = (&info.ident, &info.whole);
            info.default = match (names.default, &of_struct) {
                (Some(DefaultValue::Function(function)), _) => Some(quote!(#function())),
                (Some(DefaultValue::OfType), _) => {
                    Some(quote!(<#whole as ::core::default::Default>::default()))
                }
                (None, Some(DefaultValue::OfType)) => {
                    Some(quote!(<#entity as ::core::default::Default>::default().#own))
                }
                (None, Some(DefaultValue::Function(function))) => Some(quote!(#function().#own)),
                (None, None) => None,
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
                    } else if meta.path.is_ident("values") {
                        let number: LitInt = meta.value()?.parse()?;
                        let values = number.base10_parse()?;
                        if values == 0 {
                            return Err(Error::new_spanned(number, "a field has a value at least"));
                        }
                        info.values = Some(values);
                    } else {
                        return Err(meta.error(format!(
                            "a field cannot be `{}`; it can be `key_only`, `immutable`, `null` or \
                             `values = 8`",
                            meta.path.to_token_stream()
                        )));
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
            let shards = number.base10_parse().unwrap_or(u32::MAX);
            if !SHARDS.contains(&shards) {
                return Err(Error::new_spanned(number, "there are from 1 to 1000 shards"));
            }
            Kind::Shard(shards)
        }
        _ => Kind::Other,
    })
}
