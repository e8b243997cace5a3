//! What `#[entity(…)]` says of a struct.

use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{DeriveInput, Error, Ident, LitStr, Path, Result, Token, parenthesized};

/// What was declared of the struct.
pub(crate) struct Declared {
    pub(crate) table: Path,
    pub(crate) tag: Option<(LitStr, LitStr)>,
    pub(crate) pk: Source,
    pub(crate) sk: Option<Source>,
    /// Name of the function that queries by the table's key.
    pub(crate) query: Option<Ident>,
    pub(crate) indexes: Vec<IndexDeclared>,
    pub(crate) ttl: Option<Ident>,
    pub(crate) revision: Option<Ident>,
    pub(crate) created_at: Option<Ident>,
    pub(crate) updated_at: Option<Ident>,
    pub(crate) unique: Vec<UniqueDeclared>,
}

/// Where a key comes from: a template, or a field.
pub(crate) enum Source {
    Template(LitStr),
    Field(Ident),
}

pub(crate) struct IndexDeclared {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) pk: Source,
    pub(crate) sk: Option<Source>,
    pub(crate) when: Option<Ident>,
    /// Name of the function that queries by it.
    pub(crate) query: Option<Ident>,
}

pub(crate) struct UniqueDeclared {
    pub(crate) field: Ident,
    pub(crate) pk: LitStr,
    pub(crate) sk: Option<LitStr>,
}

fn source(input: ParseStream<'_>) -> Result<Source> {
    if input.peek(LitStr) {
        input.parse().map(Source::Template)
    } else {
        let field = input.call(Ident::parse_any);
        let field = field.map_err(|error| {
            Error::new(error.span(), "a key is a template, `\"ORDER#{number:08}\"`, or a field")
        });
        field.map(Source::Field)
    }
}

fn set<T, N: ToTokens>(slot: &mut Option<T>, value: T, name: &N) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::new_spanned(
            name,
            format!("`{}` is said twice: leave one of them out", name.to_token_stream()),
        )),
    }
}

pub(crate) fn declared(input: &DeriveInput) -> Result<Declared> {
    let (mut table, mut tag, mut pk, mut sk) = (None, None, None, None);
    let (mut ttl, mut revision, mut created_at, mut updated_at) = (None, None, None, None);
    let (mut indexes, mut unique) = (Vec::new(), Vec::new());
    let mut query = None;
    let attributes = input.attrs.iter().filter(|attribute| attribute.path().is_ident("entity"));
    for attribute in attributes {
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
            match name.as_str() {
                "table" => set(&mut table, meta.value()?.parse()?, &meta.path),
                "tag" => {
                    let content;
                    parenthesized!(content in meta.input);
                    let name: LitStr = content.parse()?;
                    content.parse::<Token![=]>()?;
                    set(&mut tag, (name, content.parse()?), &meta.path)
                }
                "pk" => set(&mut pk, source(meta.value()?)?, &meta.path),
                "sk" => set(&mut sk, source(meta.value()?)?, &meta.path),
                "query" => set(&mut query, meta.value()?.parse()?, &meta.path),
                "ttl" => set(&mut ttl, meta.value()?.parse()?, &meta.path),
                "revision" => set(&mut revision, meta.value()?.parse()?, &meta.path),
                "created_at" => set(&mut created_at, meta.value()?.parse()?, &meta.path),
                "updated_at" => set(&mut updated_at, meta.value()?.parse()?, &meta.path),
                "index" => {
                    let content;
                    parenthesized!(content in meta.input);
                    let index = index(&content)?;
                    if indexes.iter().any(|other: &IndexDeclared| other.name == index.name) {
                        return Err(Error::new(
                            index.span,
                            format!(
                                "the index `{}` is said twice: an entity is in it once",
                                index.name
                            ),
                        ));
                    }
                    indexes.push(index);
                    Ok(())
                }
                "unique" => {
                    let content;
                    parenthesized!(content in meta.input);
                    unique.push(unique_field(&content)?);
                    Ok(())
                }
                _ => Err(meta.error(format!(
                    "an entity has no `{}`; there are `table`, `tag`, `pk`, `sk`, `query`, `index`, \
                     `ttl`, `revision`, `created_at`, `updated_at` and `unique`",
                    meta.path.to_token_stream()
                ))),
            }
        })?;
    }
    let missing = |what: &str| Error::new(input.ident.span(), format!("say {what}"));
    Ok(Declared {
        table: table.ok_or_else(|| {
            missing("which table it is in: `#[entity(table = TABLE)]`, with a static `TableDesign`")
        })?,
        pk: pk.ok_or_else(|| {
            missing("what its key is: `#[entity(pk = \"ORDER#{id}\")]`, or `pk = field`")
        })?,
        tag,
        sk,
        query,
        indexes,
        ttl,
        revision,
        created_at,
        updated_at,
        unique,
    })
}

fn index(content: ParseStream<'_>) -> Result<IndexDeclared> {
    let span = content.span();
    let name = if content.peek(LitStr) {
        content.parse::<LitStr>()?.value()
    } else {
        content.parse::<Ident>()?.to_string()
    };
    let (mut pk, mut sk, mut when, mut query) = (None, None, None, None);
    while !content.is_empty() {
        content.parse::<Token![,]>()?;
        if content.is_empty() {
            break;
        }
        let part = content.call(Ident::parse_any)?;
        content.parse::<Token![=]>()?;
        match part.to_string().as_str() {
            "pk" => set(&mut pk, source(content)?, &part)?,
            "sk" => set(&mut sk, source(content)?, &part)?,
            "when" => set(&mut when, content.parse()?, &part)?,
            "query" => set(&mut query, content.parse()?, &part)?,
            _ => {
                return Err(Error::new(
                    part.span(),
                    format!("an index has no `{part}`; there are `pk`, `sk`, `when` and `query`"),
                ));
            }
        }
    }
    let pk = pk.ok_or_else(|| {
        Error::new(span, format!("say what the key of the index `{name}` is: `pk = \"…\"`"))
    })?;
    Ok(IndexDeclared { name, span, pk, sk, when, query })
}

fn unique_field(content: ParseStream<'_>) -> Result<UniqueDeclared> {
    let field: Ident = content.parse()?;
    let (mut pk, mut sk) = (None, None);
    while !content.is_empty() {
        content.parse::<Token![,]>()?;
        if content.is_empty() {
            break;
        }
        let part = content.call(Ident::parse_any)?;
        content.parse::<Token![=]>()?;
        match part.to_string().as_str() {
            "pk" => set(&mut pk, content.parse()?, &part)?,
            "sk" => set(&mut sk, content.parse()?, &part)?,
            _ => {
                return Err(Error::new(
                    part.span(),
                    format!("a unique field has no `{part}`; there are `pk` and `sk`"),
                ));
            }
        }
    }
    let pk = pk.ok_or_else(|| {
        Error::new(field.span(), "say the key of the item that stands for a value: `pk = \"…\"`")
    })?;
    Ok(UniqueDeclared { field, pk, sk })
}
