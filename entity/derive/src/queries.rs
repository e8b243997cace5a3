//! Query functions: one for the table's key, one for each index; and functions that make keys and
//! changes.
//!
//! The arguments of a query function are the fields of the partition key. It returns a struct whose
//! methods restrict the fields of the sort key. The struct's parameter is the number of fields that
//! have one value, so that a field can be restricted only after those before it.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Error, Ident, Result, Type};

use crate::entity::{Entity, Key};
use crate::fields::FieldInfo;
use crate::template::{Format, Piece};

/// Methods of every query, which no method of a field may hide.
const OPTIONS: [&str; 10] = [
    "view",
    "into_query",
    "describe",
    "whole_partition",
    "filter",
    "unexpired",
    "descending",
    "newest_first",
    "limit",
    "after",
];

/// Functions of every entity, which no query function may hide.
const FUNCTIONS: [&str; 9] =
    ["key", "change", "design", "to_key", "field", "stamp", "revision", "to_item", "from_item"];

/// A query by the table's key or by an index.
struct Query<'e> {
    /// Name of the index; `None` for the table's key.
    index: Option<&'e str>,
    function: Ident,
    pk: &'e Key,
    sk: Option<&'e Key>,
}

/// An argument: a field of the partition key.
struct Argument<'e> {
    field: &'e FieldInfo,
    /// The type that the template converts it to, if that is all that the partition key has of it.
    converted: Option<&'e Type>,
}

/// A field of the sort key that can be restricted.
struct Step<'e> {
    field: &'e FieldInfo,
    /// Type of its values: the field's, or what the template converts it to.
    value: &'e Type,
}

pub(crate) fn expand(entity: &Entity<'_>) -> Result<TokenStream> {
    let key = key_functions(entity);
    let mut queries = vec![Query {
        index: None,
        function: table_function(entity),
        pk: &entity.pk,
        sk: entity.sk.as_ref(),
    }];
    for (declared, keys) in entity.declared.indexes.iter().zip(&entity.indexes) {
        let function = match &declared.query {
            Some(name) => name.clone(),
            None => index_function(&declared.name, declared.span)?,
        };
        queries.push(Query {
            index: Some(&declared.name),
            function,
            pk: &keys.pk,
            sk: keys.sk.as_ref(),
        });
    }
    let mut names: HashSet<String> = FUNCTIONS.map(str::to_owned).into();
    if let Some(twice) = queries.iter().find(|query| !names.insert(query.function.to_string())) {
        return Err(Error::new(
            twice.function.span(),
            format!(
                "two functions of `{}` would be called `{}`: name this one with `query = …`",
                entity.input.ident, twice.function
            ),
        ));
    }
    let queries = queries.iter().map(|query| query.expand(entity)).collect::<Result<Vec<_>>>()?;
    Ok(quote! { #key #(#queries)* })
}

/// `of`, or `all` if the partition key is constant.
fn table_function(entity: &Entity<'_>) -> Ident {
    let is_constant = arguments(&entity.pk, &entity.fields).is_empty();
    let default = if is_constant { "all" } else { "of" };
    entity.declared.query.clone().unwrap_or_else(|| Ident::new(default, entity.pk.span()))
}

/// The name of an index in snake case: `by-status` is queried by `by_status`.
fn index_function(index: &str, span: Span) -> Result<Ident> {
    let mut name = String::new();
    let mut was_lower = false;
    for character in index.chars() {
        if character.is_ascii_alphanumeric() {
            if character.is_ascii_uppercase() && was_lower {
                name.push('_');
            }
            name.push(character.to_ascii_lowercase());
        } else if !name.ends_with('_') {
            name.push('_');
        }
        was_lower = character.is_ascii_lowercase();
    }
    let named = syn::parse_str::<Ident>(&name).map(|parsed| Ident::new(&parsed.to_string(), span));
    named.map_err(|_| {
        let message =
            format!("index `{index}` has no name of a function: give it one with `query = by_…`");
        Error::new(span, message)
    })
}

/// `Post::key(id)`, `post.change()` and `key.change()`.
fn key_functions(entity: &Entity<'_>) -> TokenStream {
    let tabla = crate::root::path();
    let (name, visibility) = (&entity.input.ident, &entity.input.vis);
    let key = format_ident!("{name}Key");
    let fields = entity.key_fields();
    let arguments = fields
        .iter()
        .map(|FieldInfo { ident, whole, .. }| quote!(#ident: impl #tabla::KeyValue<#whole>));
    let values = fields
        .iter()
        .map(|FieldInfo { ident, .. }| quote!(#ident: #tabla::KeyValue::into_value(#ident)));
    let documentation = format!("Key of a [`{name}`].");
    let function = Ident::new("key", entity.pk.span());
    quote! {
        #[allow(dead_code)]
        impl #name {
            #[doc = #documentation]
            #visibility fn #function(#(#arguments),*) -> #key {
                #key { #(#values),* }
            }

            /// Change of this entity, which was read.
            #visibility fn change(&self) -> #tabla::Change<#name> {
                #tabla::Change::of(self)
            }
        }

        #[allow(dead_code)]
        impl #key {
            /// Change of the entity with this key, which need not be read.
            #visibility fn change(self) -> #tabla::Change<#name> {
                #tabla::Change::at(self)
            }
        }
    }
}

/// The fields of a partition key, but for those that choose a shard.
fn arguments<'e>(pk: &'e Key, fields: &'e [FieldInfo]) -> Vec<Argument<'e>> {
    let find = |name: &str| {
        fields.iter().find(|field| field.name() == name).expect("the key was checked before")
    };
    let template = match pk {
        Key::Field(name, _) => return vec![Argument { field: find(name), converted: None }],
        Key::Template(template) => template,
    };
    let mut arguments: Vec<Argument<'_>> = Vec::new();
    for piece in &template.pieces {
        let Piece::Field { name, format, .. } = piece else { continue };
        if piece.shards(fields) > 0 {
            continue;
        }
        let converted = match format {
            Format::As(other) => Some(&**other),
            _ => None,
        };
        match arguments.iter_mut().find(|argument| argument.field.name() == *name) {
            // Several forms of one field are all made of its value.
            Some(argument) => argument.converted = None,
            None => arguments.push(Argument { field: find(name), converted }),
        }
    }
    arguments
}

impl Query<'_> {
    fn expand(&self, entity: &Entity<'_>) -> Result<TokenStream> {
        let tabla = crate::root::path();
        let (name, visibility) = (&entity.input.ident, &entity.input.vis);
        let Self { function, .. } = self;
        let query = format_ident!("{name}{}", pascal(&function.to_string()));
        let arguments = arguments(self.pk, &entity.fields);
        let steps = self.steps(&arguments, &entity.fields)?;
        let parameters = arguments.iter().map(|Argument { field, converted }| {
            let ident = &field.ident;
            match converted {
                Some(other) => quote!(#ident: impl ::core::convert::Into<#other>),
                None => {
                    let value = &field.value;
                    quote!(#ident: impl #tabla::KeyValue<#value>)
                }
            }
        });
        let values = arguments.iter().map(|Argument { field, converted }| {
            let (ident, value) = (&field.ident, &field.value);
            match converted {
                Some(other) => quote!(let #ident: #other = ::core::convert::Into::into(#ident);),
                None => quote!(let #ident: #value = #tabla::KeyValue::into_value(#ident);),
            }
        });
        let index = match self.index {
            Some(index) => quote!(::core::option::Option::Some(#index)),
            None => quote!(::core::option::Option::None),
        };
        let created = match self.pk {
            Key::Field(..) => {
                let ident = &arguments[0].field.ident;
                quote!(#tabla::EntityQuery::by_attribute(#index, &#ident))
            }
            Key::Template(_) => {
                let found = arguments.iter().map(|Argument { field, converted }| {
                    let (ident, name) = (&field.ident, field.name());
                    let variant = format_ident!(
                        "{}",
                        if converted.is_some() { "Converted" } else { "Field" }
                    );
                    quote!(#name => ::core::option::Option::Some(
                        #tabla::format::Argument::#variant(&#ident)
                    ))
                });
                // A field may have the name of the parameter.
                let asked = Ident::new("asked", Span::mixed_site());
                quote!(#tabla::EntityQuery::by_template(#index, &|#asked| match #asked {
                    #(#found,)*
                    _ => ::core::option::Option::None,
                }))
            }
        };
        let by = match self.index {
            Some(index) => format!("index `{index}`"),
            None => "the table's key".to_owned(),
        };
        let documentation = format!("Query of [`{name}`] by {by}, for one partition.");
        let methods = steps.iter().enumerate().map(|(at, step)| {
            let next = match at + 1 {
                next if next == steps.len() => None,
                next => Some(next),
            };
            let method = step.method(entity, &query, next);
            // A field that stands in the key twice has two methods of one name.
            let is_once = |step: &Step<'_>| {
                steps.iter().filter(|other| other.field.ident == step.field.ident).count() == 1
            };
            match at.checked_sub(1).map(|before| &steps[before]) {
                Some(before) if is_once(step) => step.checked_order(before, &query, at, &method),
                _ => quote! {
                    #[allow(dead_code)]
                    impl #query<#at> { #method }
                },
            }
        });
        let options = options(name, visibility);
        Ok(quote! {
            #[doc = #documentation]
            #[must_use = "a query does nothing until it is passed to a method of `Db`"]
            #visibility struct #query<const FIELDS: usize = 0>(#tabla::EntityQuery<#name>);

            #[allow(dead_code)]
            impl #name {
                #[doc = #documentation]
                #visibility fn #function(#(#parameters),*) -> #query {
                    #(#values)*
                    #query(#created)
                }
            }

            #(#methods)*

            #[allow(dead_code)]
            impl<const FIELDS: usize> #query<FIELDS> { #options }

            impl<const FIELDS: usize> #tabla::IntoQuery for #query<FIELDS> {
                type Entity = #name;
                type View = #name;

                fn into_query(self) -> #tabla::EntityQuery<#name> {
                    self.0
                }
            }
        })
    }

    /// The fields of the sort key that can be restricted, in order: those that the arguments do not
    /// tell, up to a shard.
    fn steps<'e>(
        &'e self,
        arguments: &[Argument<'_>],
        fields: &'e [FieldInfo],
    ) -> Result<Vec<Step<'e>>> {
        let find = |name: &str| fields.iter().find(|field| field.name() == name);
        let mut steps = Vec::new();
        match self.sk {
            None => {}
            Some(Key::Field(name, _)) => {
                steps.extend(find(name).map(|field| Step { field, value: &field.value }));
            }
            Some(Key::Template(template)) => {
                for piece in &template.pieces {
                    let Piece::Field { name, format, .. } = piece else { continue };
                    if piece.shards(fields) > 0 {
                        break;
                    }
                    let is_known = arguments.iter().any(|argument| {
                        argument.field.name() == *name && argument.converted.is_none()
                    });
                    let Some(field) = find(name).filter(|_| !is_known) else { continue };
                    let value = match format {
                        Format::As(other) => &**other,
                        _ => &field.value,
                    };
                    steps.push(Step { field, value });
                }
            }
        }
        match steps.iter().find(|step| OPTIONS.contains(&step.field.name().as_str())) {
            Some(Step { field, .. }) => Err(Error::new(
                field.ident.span(),
                format!(
                    "`{0}` stands in a sort key, and every query has a method `{0}`: give the field \
                     another name, and keep its attribute with `#[serde(rename = \"{0}\")]`",
                    field.name()
                ),
            )),
            None => Ok(steps),
        }
    }
}

impl Step<'_> {
    /// The method that restricts the field. After one value, the field `next` can be restricted.
    fn method(&self, entity: &Entity<'_>, query: &Ident, next: Option<usize>) -> Method {
        let tabla = crate::root::path();
        let (name, visibility) = (&entity.input.ident, &entity.input.vis);
        let (ident, value) = (&self.field.ident, self.value);
        let (next_query, make_next) = match next {
            None => (quote!(#tabla::EntityQuery<#name>), quote!(|query| query)),
            Some(next) => (quote!(#query<#next>), quote!(#query)),
        };
        let documentation = format!(
            "Restricts `{}` to one value, or to a range that includes its ends.",
            self.field.name()
        );
        // The parameter must not have the name of the field's type.
        Method {
            signature: quote! {
                #[doc = #documentation]
                #visibility fn #ident<FieldBound: #tabla::KeyBound<#value>>(
                    self,
                    #ident: FieldBound,
                ) -> FieldBound::Then<#next_query, #tabla::EntityQuery<#name>>
            },
            body: quote! {{
                let query = self.0.restrict(#tabla::KeyBound::into_bound(#ident));
                FieldBound::then(query, #make_next, |query| query)
            }},
        }
    }

    /// The method, with a message of the compiler if the field before it has no value yet.
    fn checked_order(
        &self,
        before: &Step<'_>,
        query: &Ident,
        at: usize,
        Method { signature, body }: &Method,
    ) -> TokenStream {
        let (field, before) = (self.field.name(), before.field.name());
        let message = format!("`{field}` comes after `{before}` in the sort key");
        let label = format!("restrict `{before}` to one value first: `.{before}(…).{field}(…)`");
        quote! {
            const _: () = {
                #[diagnostic::on_unimplemented(message = #message, label = #label)]
                pub trait IsNext {}

                #[diagnostic::do_not_recommend]
                impl IsNext for #query<#at> {}

                #[allow(dead_code)]
                impl<const FIELDS: usize> #query<FIELDS> {
                    #signature
                    where
                        Self: IsNext,
                    #body
                }
            };
        }
    }
}

/// A method, up to its bounds and after them.
struct Method {
    signature: TokenStream,
    body: TokenStream,
}

impl quote::ToTokens for Method {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.signature.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}

/// The methods of every query, which end the restriction of the sort key.
fn options(entity: &Ident, visibility: &syn::Visibility) -> TokenStream {
    let tabla = crate::root::path();
    let query = quote!(#tabla::EntityQuery<#entity>);
    let option = |name: &str, summary: &str, parameter: TokenStream, argument: TokenStream| {
        let (method, summary) = (format_ident!("{name}"), summary.to_owned());
        quote! {
            #[doc = #summary]
            #visibility fn #method(self, #parameter) -> #query {
                self.0.#method(#argument)
            }
        }
    };
    let none = TokenStream::new;
    let methods = [
        option("whole_partition", "Reads every entity of the partition.", none(), none()),
        option(
            "filter",
            "Keeps only entities for which the condition holds.",
            quote!(check: #tabla::Check<#entity>),
            quote!(check),
        ),
        option("unexpired", "Drops expired items that are not deleted yet.", none(), none()),
        option("descending", "Reads from the end of the sort key.", none(), none()),
        option("newest_first", "The same as `descending`.", none(), none()),
        option("limit", "Limits a page to this many items.", quote!(limit: u32), quote!(limit)),
        option(
            "after",
            "Continues after a page.",
            quote!(cursor: ::core::option::Option<#tabla::__core::Cursor>),
            quote!(cursor),
        ),
    ];
    quote! {
        /// The query, without further restrictions of the sort key.
        #visibility fn into_query(self) -> #query {
            self.0
        }

        /// Reads some fields of each entity.
        #visibility fn view<V: #tabla::View<Of = #entity>>(self) -> #tabla::EntityQuery<#entity, V> {
            self.0.view()
        }

        /// The request that the query makes of a store.
        ///
        /// # Errors
        /// An argument cannot stand in a key.
        #visibility fn describe(self) -> #tabla::__core::Result<#tabla::Call> {
            self.0.describe()
        }

        #(#methods)*
    }
}

fn pascal(snake: &str) -> String {
    snake
        .trim_start_matches("r#")
        .split('_')
        .map(|word| {
            let mut characters = word.chars();
            characters
                .next()
                .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
        })
        .collect()
}
