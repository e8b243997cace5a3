//! What serde calls fields and variants.

use syn::{Attribute, LitStr, Result};

/// A rule that serde renames by.
#[derive(Clone, Copy, Default)]
pub(crate) enum Rule {
    #[default]
    None,
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

/// Value that serde gives a field which an item lacks.
pub(crate) enum DefaultValue {
    /// `Default::default()` of its type.
    OfType,
    /// What this function returns.
    Function(syn::ExprPath),
}

/// What serde's attributes say of names.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) rename: Option<String>,
    pub(crate) rename_all: Rule,
    /// Whether a field is written in another way than its type is.
    pub(crate) is_written_otherwise: bool,
    /// Value of a field, or of a struct's fields, that items may lack.
    pub(crate) default: Option<DefaultValue>,
}

impl Names {
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut names = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("rename") && meta.input.peek(syn::Token![=]) {
                    names.rename = Some(meta.value()?.parse::<LitStr>()?.value());
                } else if meta.path.is_ident("rename_all") && meta.input.peek(syn::Token![=]) {
                    let rule: LitStr = meta.value()?.parse()?;
                    names.rename_all = Rule::named(&rule)?;
                } else if meta.path.is_ident("default") {
                    names.default = Some(match meta.input.peek(syn::Token![=]) {
                        true => DefaultValue::Function(meta.value()?.parse::<LitStr>()?.parse()?),
                        false => DefaultValue::OfType,
                    });
                } else if meta.input.peek(syn::Token![=]) {
                    names.is_written_otherwise |=
                        meta.path.is_ident("with") || meta.path.is_ident("serialize_with");
                    meta.value()?.parse::<syn::Expr>()?;
                } else if meta.input.peek(syn::token::Paren) {
                    let content;
                    syn::parenthesized!(content in meta.input);
                    content.parse::<proc_macro2::TokenStream>()?;
                }
                Ok(())
            })?;
        }
        Ok(names)
    }
}

impl Rule {
    fn named(name: &LitStr) -> Result<Self> {
        Ok(match name.value().as_str() {
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "kebab-case" => Self::Kebab,
            "SCREAMING-KEBAB-CASE" => Self::ScreamingKebab,
            _ => return Err(syn::Error::new(name.span(), "serde has no such rule")),
        })
    }

    /// The name of a field, which is in snake case.
    pub(crate) fn field(self, name: &str) -> String {
        match self {
            Self::None | Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_uppercase(),
            Self::Pascal => name.split('_').map(capitalised).collect(),
            Self::Camel => uncapitalised(&Self::Pascal.field(name)),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_uppercase().replace('_', "-"),
        }
    }

    /// The name of a variant, which is in Pascal case.
    pub(crate) fn variant(self, name: &str) -> String {
        match self {
            Self::None | Self::Pascal => name.to_owned(),
            Self::Lower => name.to_lowercase(),
            Self::Upper => name.to_uppercase(),
            Self::Camel => uncapitalised(name),
            Self::Snake => {
                let mut snake = String::new();
                for (index, character) in name.char_indices() {
                    if index > 0 && character.is_uppercase() {
                        snake.push('_');
                    }
                    snake.extend(character.to_lowercase());
                }
                snake
            }
            Self::ScreamingSnake => Self::Snake.variant(name).to_uppercase(),
            Self::Kebab => Self::Snake.variant(name).replace('_', "-"),
            Self::ScreamingKebab => Self::ScreamingSnake.variant(name).replace('_', "-"),
        }
    }
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

fn uncapitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
