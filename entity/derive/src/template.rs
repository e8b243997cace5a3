//! Key templates: parsed, checked, and turned into the pieces that `tabla` writes keys with.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Error, LitStr, Result, Type};

use crate::fields::{FieldInfo, Kind, SHARDS, no_field, shard_width};

/// A template, parsed.
#[derive(Clone)]
pub(crate) struct Template {
    pub(crate) pieces: Vec<Piece>,
    literal: LitStr,
}

#[derive(Clone)]
pub(crate) enum Piece {
    Text(String),
    Field { name: String, format: Format, text: String },
}

#[derive(Clone)]
pub(crate) enum Format {
    Plain,
    Padded(usize),
    Descending(usize),
    Checked,
    Escaped,
    Unordered,
    As(Box<Type>),
    Shard(u32),
}

/// What a template is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    TablePartition,
    TableSort,
    IndexPartition,
    IndexSort,
    Guard,
}

impl Role {
    fn is_sort(self) -> bool {
        matches!(self, Self::TableSort | Self::IndexSort)
    }

    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::TablePartition | Self::TableSort)
    }
}

/// The templates that `{@pk}` and `{@sk}` stand for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known<'a> {
    pub(crate) pk: Option<&'a Template>,
    pub(crate) sk: Option<&'a Template>,
}

impl Template {
    pub(crate) fn parse(
        literal: &LitStr,
        fields: &[FieldInfo],
        role: Role,
        known: Known<'_>,
    ) -> Result<Self> {
        let text = literal.value();
        let fail = |message: String| Err(Error::new(literal.span(), message));
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let open = rest.find(['{', '}']).unwrap_or(rest.len());
            if open > 0 {
                pieces.push(Piece::Text(rest[..open].to_owned()));
                rest = &rest[open..];
                continue;
            }
            let Some(end) = rest.find('}').filter(|_| rest.starts_with('{')) else {
                return fail(format!(
                    "a brace of {text:?} has no partner: a field stands between two, `{{field}}`"
                ));
            };
            let inside = &rest[1..end];
            rest = &rest[end + 1..];
            match inside {
                "@pk" | "@sk" => {
                    let other = if inside == "@pk" { known.pk } else { known.sk };
                    let Some(other) = other else {
                        return fail(format!(
                            "`{{{inside}}}` stands, in an index, for a template of the table's \
                             key, and there is none: write the fields themselves"
                        ));
                    };
                    other.check_again(literal, fields, role)?;
                    pieces.extend(other.pieces.iter().cloned());
                }
                _ => {
                    let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
                    let Some(field) = fields.iter().find(|field| field.name() == name) else {
                        return fail(no_field(name, fields));
                    };
                    let piece = parse_field(literal, field, format, role)?;
                    push_field(&mut pieces, piece, fields);
                }
            }
        }
        if pieces.is_empty() {
            return fail("a key cannot be empty: write a text, a `{field}`, or both".to_owned());
        }
        if pieces.iter().filter(|piece| piece.shards(fields) > 1).count() > 1 {
            return fail("a key has one shard: those of several cannot all be read".to_owned());
        }
        let template = Self { pieces, literal: literal.clone() };
        template.check_boundaries(fields)?;
        Ok(template)
    }

    /// Whether a template of the table may stand in one with this role.
    fn check_again(&self, literal: &LitStr, fields: &[FieldInfo], role: Role) -> Result<()> {
        for piece in &self.pieces {
            if let Piece::Field { name, text, .. } = piece
                && let Some(field) = fields.iter().find(|field| field.name() == *name)
            {
                parse_field(literal, field, text, role)?;
            }
        }
        Ok(())
    }

    /// The literal, to point at.
    pub(crate) fn span(&self) -> proc_macro2::Span {
        self.literal.span()
    }

    /// Where each field ends must be told from what follows it.
    fn check_boundaries(&self, fields: &[FieldInfo]) -> Result<()> {
        for pair in self.pieces.windows(2) {
            let Piece::Field { name, format, .. } = &pair[0] else { continue };
            let field = fields.iter().find(|field| field.name() == *name);
            let is_fixed = field.is_some_and(|field| format.width(field).is_some());
            let is_told = match &pair[1] {
                Piece::Text(text) => is_fixed || text.starts_with('#'),
                Piece::Field { .. } => is_fixed,
            };
            if !is_told {
                return Err(Error::new(
                    self.literal.span(),
                    format!(
                        "where `{name}` ends cannot be told: begin what follows it with `#`, as in \
                         `{{{name}}}#…`"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The fields in it, once each.
    pub(crate) fn fields(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for piece in &self.pieces {
            if let Piece::Field { name, .. } = piece
                && !names.contains(&name.as_str())
            {
                names.push(name.as_str());
            }
        }
        names
    }

    /// The fields that can be read back from a key.
    pub(crate) fn readable(&self) -> Vec<&str> {
        self.pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Field { format: Format::As(_) | Format::Shard(_), .. } => None,
                Piece::Field { name, .. } => Some(name.as_str()),
                Piece::Text(_) => None,
            })
            .collect()
    }

    /// The template as `tabla` has it.
    pub(crate) fn tokens(&self, fields: &[FieldInfo]) -> TokenStream {
        let tabla = crate::root::path();
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => quote!(#tabla::Piece::Text(#text)),
            Piece::Field { name, format, text } => {
                let field = fields.iter().find(|field| field.name() == *name);
                part(field.expect("it was found before"), format, text)
            }
        });
        quote!(#tabla::Template { pieces: &[#(#pieces),*] })
    }
}

impl Piece {
    /// Among how many shards it chooses; 0 if it is no shard.
    pub(crate) fn shards(&self, fields: &[FieldInfo]) -> u32 {
        match self {
            Self::Field { format: Format::Shard(shards), .. } => *shards,
            Self::Field { name, .. } => {
                match fields.iter().find(|field| field.name() == *name).map(|field| field.kind) {
                    Some(Kind::Shard(shards)) => shards,
                    _ => 0,
                }
            }
            Self::Text(_) => 0,
        }
    }
}

impl Format {
    /// How wide all texts of a field are, if they have one width.
    fn width(&self, field: &FieldInfo) -> Option<usize> {
        match self {
            Self::Padded(width) | Self::Descending(width) => Some(*width),
            Self::Shard(shards) => Some(shard_width(*shards)),
            Self::Plain => field.width(),
            Self::Checked | Self::Escaped | Self::Unordered | Self::As(_) => None,
        }
    }
}

fn push_field(pieces: &mut Vec<Piece>, piece: Piece, fields: &[FieldInfo]) {
    match piece.shards(fields) {
        // One shard is none: the key is as if nobody had thought of shards.
        1 => {}
        0 => pieces.push(piece),
        _ => {
            pieces.push(Piece::Text("#shard".to_owned()));
            pieces.push(piece);
        }
    }
}

fn parse_field(literal: &LitStr, field: &FieldInfo, format: &str, role: Role) -> Result<Piece> {
    let name = field.name();
    let fail = |message: String| Err(Error::new(literal.span(), message));
    if field.is_optional && role.is_table() {
        return fail(format!(
            "`{name}` is an `Option`, and a key of the table always has a value: take the `Option` \
             away, or write it into the key of an index"
        ));
    }
    let parsed = match format {
        "" => Format::Plain,
        "checked" => Format::Checked,
        "escaped" => Format::Escaped,
        "unordered" => Format::Unordered,
        _ => {
            let number = |text: &str| text.parse::<usize>().ok().filter(|width| *width > 0);
            if let Some(other) = format.strip_prefix("as ") {
                Format::As(Box::new(
                    syn::parse_str(other).map_err(|_| {
                        Error::new(literal.span(), format!(
                            "`{other}` is not a type: `{{{name}:as Day}}` names one that is made of \
                             the field"
                        ))
                    })?,
                ))
            } else if let Some(width) = format.strip_prefix("desc").and_then(number) {
                Format::Descending(width)
            } else if let Some(shards) = format.strip_prefix("shard ").and_then(number) {
                Format::Shard(u32::try_from(shards).unwrap_or(u32::MAX))
            } else if let Some(width) = format.strip_prefix('0').and_then(number) {
                Format::Padded(width)
            } else {
                return fail(format!(
                    "`{format}` is no way to write `{name}`; there are `08` and `desc08` (digits), \
                     `as Type`, `shard 10`, `checked`, `escaped` and `unordered`"
                ));
            }
        }
    };
    if let Format::Padded(width) | Format::Descending(width) = parsed
        && width > 19
    {
        return fail(format!(
            "a number has at most 19 digits in a key, not {width}: write `{{{name}:019}}` or less"
        ));
    }
    if let Format::Shard(shards) = parsed
        && !SHARDS.contains(&shards)
    {
        return fail(format!("there are from 1 to 1000 shards, not {shards}"));
    }
    match (&parsed, field.kind) {
        (Format::As(_), _) | (Format::Plain, Kind::Shard(_)) => {}
        (_, Kind::Shard(_)) => {
            return fail(format!("`{name}` is a shard, which is written as `{{{name}}}`"));
        }
        (Format::Shard(_), _) => {}
        (_, Kind::Signed | Kind::Float) => {
            return fail(format!(
                "`{name}` is a number whose digits do not sort as it does: use an unsigned type, \
                 from u8 to u64, or a type of your own with `{{{name}:as Type}}`"
            ));
        }
        (Format::Plain, Kind::Unsigned) if role.is_sort() => {
            return fail(format!(
                "`{name}` is a number, and in a sort key \"10\" comes before \"9\": write \
                 `{{{name}:08}}` for eight digits, or `{{{name}:unordered}}` if nothing relies on \
                 the order"
            ));
        }
        (Format::Plain | Format::Unordered, Kind::Text) => {
            return fail(format!(
                "`{name}` is a String, and could contain the separator `#`: make it a \
                 `tabla::entity::Id`, or write `{{{name}:checked}}` to refuse such values, or \
                 `{{{name}:escaped}}` to escape them"
            ));
        }
        (Format::Padded(_) | Format::Descending(_), Kind::Text) => {
            return fail(format!(
                "`{name}` is a String, and has no digits: write `{{{name}:checked}}` or \
                 `{{{name}:escaped}}`"
            ));
        }
        _ => {}
    }
    Ok(Piece::Field { name, format: parsed, text: format.to_owned() })
}

/// A field in a template, as `tabla` has it.
fn part(field: &FieldInfo, format: &Format, text: &str) -> TokenStream {
    let tabla = crate::root::path();
    let (name, value) = (field.name(), &field.value);
    let support = quote!(#tabla::format);
    let plain = || quote!(::core::option::Option::Some(#support::read_plain::<#value>));
    let (write, read, ordered) = match format {
        Format::Plain | Format::Unordered => (
            quote!(#support::plain::<#value>),
            plain(),
            quote!(<#value as #tabla::KeyPart>::ORDERED),
        ),
        Format::Padded(width) => (
            quote!(#support::padded::<#value, #width>),
            quote!(::core::option::Option::Some(#support::read_padded::<#value, #width>)),
            quote!(true),
        ),
        Format::Descending(width) => (
            quote!(#support::descending::<#value, #width>),
            quote!(::core::option::Option::Some(#support::read_descending::<#value, #width>)),
            quote!(true),
        ),
        Format::Checked => (
            quote!(#support::checked::<#value>),
            plain(),
            quote!(<#value as #tabla::KeyPart>::ORDERED),
        ),
        Format::Escaped => (
            quote!(#support::escaped::<#value>),
            quote!(::core::option::Option::Some(#support::read_escaped::<#value>)),
            quote!(false),
        ),
        Format::As(other) => (
            quote!(#support::converted::<#value, #other>),
            quote!(::core::option::Option::None),
            quote!(<#other as #tabla::KeyPart>::ORDERED),
        ),
        Format::Shard(shards) => (
            quote!(#support::sharded::<#value, #shards>),
            quote!(::core::option::Option::None),
            quote!(true),
        ),
    };
    let argument = match format {
        Format::As(other) => quote!(#support::plain::<#other>),
        _ => write.clone(),
    };
    let write = match field.is_optional {
        true => quote!(|value, out| #support::optional::<#value>(value, out, #write)),
        false => write,
    };
    let shards = match (format, field.kind) {
        (Format::Shard(shards), _) => *shards,
        (Format::Plain, Kind::Shard(shards)) => shards,
        _ => 0,
    };
    let count = field.count();
    let values = match format {
        // No field makes more texts than it has values.
        Format::As(other) => {
            quote!(#support::fewer(<#other as #tabla::KeyPart>::VALUES, #count))
        }
        Format::Shard(shards) => {
            quote!(#support::fewer(::core::option::Option::Some(#shards), #count))
        }
        _ => count,
    };
    let width = match format.width(field) {
        Some(width) => quote!(::core::option::Option::Some(#width)),
        None => quote!(::core::option::Option::None),
    };
    quote!(#tabla::Piece::Field(#tabla::Part {
        field: #name,
        format: #text,
        write: #write,
        argument: #argument,
        read: #read,
        ordered: #ordered,
        shards: #shards,
        width: #width,
        values: #values,
    }))
}

/// Refuses at compile time what could contain the separator, where only the type tells.
pub(crate) fn assertions(
    entity: &syn::Ident,
    template: &Template,
    fields: &[FieldInfo],
) -> TokenStream {
    let tabla = crate::root::path();
    let last = template.pieces.len() - 1;
    let checks = template.pieces.iter().enumerate().filter_map(|(at, piece)| {
        let Piece::Field { name, format, .. } = piece else { return None };
        let field = fields.iter().find(|field| field.name() == *name)?;
        let (kind, advice) = match format {
            Format::Plain | Format::Unordered => (
                &field.value,
                format!(
                    "use a part that cannot, such as `tabla::entity::Id`, or write \
                     `{{{name}:checked}}` or `{{{name}:escaped}}`"
                ),
            ),
            // At the end, nothing has to be told from it.
            Format::As(other) if at < last => {
                (&**other, "use a part that cannot, or let it stand at the end".to_owned())
            }
            _ => return None,
        };
        let message = format!(
            "the field `{name}` of `{entity}` stands in a key and could contain the separator `#`: \
             {advice}"
        );
        // The assertion takes it for a format.
        let message = message.replace('{', "{{").replace('}', "}}");
        Some(quote_spanned!(template.span()=> const _: () =
            ::core::assert!(<#kind as #tabla::KeyPart>::SAFE, #message);))
    });
    quote!(#(#checks)*)
}
