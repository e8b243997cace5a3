//! `#[derive(Entity)]`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{DeriveInput, Error, Ident, Result};

use crate::attributes::{Declared, Source, declared};
use crate::fields::{FieldInfo, Kind, fields_of, no_field};
use crate::template::{Known, Role, Template, assertions};

/// Where a key comes from, checked.
pub(crate) enum Key {
    Template(Template),
    Field(String, Span),
}

pub(crate) struct Entity<'i> {
    pub(crate) input: &'i DeriveInput,
    pub(crate) fields: Vec<FieldInfo>,
    pub(crate) declared: Declared,
    pub(crate) pk: Key,
    pub(crate) sk: Option<Key>,
    /// Keys of the indexes, in the order of the declaration.
    pub(crate) indexes: Vec<IndexKeys>,
}

/// Keys of an index, checked.
pub(crate) struct IndexKeys {
    pub(crate) pk: Key,
    pub(crate) sk: Option<Key>,
}

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new_spanned(
            parameter,
            "an entity has no parameters: its items are of one type, which owns what it holds",
        ));
    }
    let fields = fields_of(input)?;
    let declared = declared(input)?;
    let pk = key(&declared.pk, &fields, Role::TablePartition, Known::default())?;
    let sk = match &declared.sk {
        Some(source) => Some(key(source, &fields, Role::TableSort, Known::default())?),
        None => None,
    };
    let known = Known { pk: pk.template(), sk: sk.as_ref().and_then(Key::template) };
    let indexes = declared.indexes.iter().map(|index| {
        let sort = index.sk.as_ref().map(|source| key(source, &fields, Role::IndexSort, known));
        Ok(IndexKeys {
            pk: key(&index.pk, &fields, Role::IndexPartition, known)?,
            sk: sort.transpose()?,
        })
    });
    let indexes = indexes.collect::<Result<Vec<IndexKeys>>>()?;
    let entity = Entity { input, fields, declared, pk, sk, indexes };
    entity.check_key_only()?;
    entity.check_own_fields()?;
    let design = entity.design()?;
    let key = entity.key_struct();
    let implementation = entity.implementation(&design);
    let constants = entity.constants();
    let queries = crate::queries::expand(&entity)?;
    Ok(quote! {
        #key
        #implementation
        #constants
        #queries
    })
}

fn key(source: &Source, fields: &[FieldInfo], role: Role, known: Known<'_>) -> Result<Key> {
    match source {
        Source::Template(literal) => {
            Template::parse(literal, fields, role, known).map(Key::Template)
        }
        Source::Field(ident) => {
            let field = find(fields, ident)?;
            let fail = |message: String| Err(Error::new(ident.span(), message));
            if field.is_optional && role.is_table() {
                return fail(format!(
                    "`{ident}` is an `Option`, and a key of the table always has a value: take the \
                     `Option` away, or make it the key of an index"
                ));
            }
            if field.is_key_only {
                return fail(format!(
                    "`{ident}` has no attribute of its own that could be a key: leave `key_only` \
                     out, or write a template, `\"{{{ident}}}\"`"
                ));
            }
            if field.keeps_null {
                return fail(format!(
                    "the attribute of `{ident}` may be NULL, which no key can be: leave `null` out"
                ));
            }
            Ok(Key::Field(field.name(), ident.span()))
        }
    }
}

pub(crate) fn find<'f>(fields: &'f [FieldInfo], ident: &Ident) -> Result<&'f FieldInfo> {
    let name = ident.to_string();
    let found = fields.iter().find(|field| field.name() == name.trim_start_matches("r#"));
    found.ok_or_else(|| Error::new(ident.span(), no_field(&name, fields)))
}

impl Key {
    fn fields(&self) -> Vec<String> {
        match self {
            Self::Template(template) => template.fields().into_iter().map(str::to_owned).collect(),
            Self::Field(name, _) => vec![name.clone()],
        }
    }

    fn tokens(&self, fields: &[FieldInfo]) -> TokenStream {
        let tabla = crate::root::path();
        match self {
            Self::Template(template) => {
                let template = template.tokens(fields);
                quote!(#tabla::KeySource::Template(#template))
            }
            Self::Field(name, _) => quote!(#tabla::KeySource::Attribute(#name)),
        }
    }

    pub(crate) fn template(&self) -> Option<&Template> {
        match self {
            Self::Template(template) => Some(template),
            Self::Field(..) => None,
        }
    }

    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Template(template) => template.span(),
            Self::Field(_, span) => *span,
        }
    }
}

/// Refuses fields that change by themselves in a key that would not follow them.
fn check_lasting<S: AsRef<str>>(
    restless: [&Option<Ident>; 2],
    fields: &[S],
    span: Span,
) -> Result<()> {
    let mut names = restless.into_iter().flatten();
    match names.find(|name| fields.iter().any(|field| *name == field.as_ref())) {
        Some(name) => Err(Error::new(
            span,
            format!("`{name}` changes with every write, and this key does not: leave it out"),
        )),
        None => Ok(()),
    }
}

fn optional(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

impl Entity<'_> {
    fn keys(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.pk).chain(&self.sk)
    }

    /// The fields of the table's key, once each.
    pub(crate) fn key_fields(&self) -> Vec<&FieldInfo> {
        let mut names: Vec<String> = Vec::new();
        for name in self.keys().flat_map(Key::fields) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
            .iter()
            .filter_map(|name| self.fields.iter().find(|field| field.name() == *name))
            .collect()
    }

    /// A field without an attribute has to be in the key, in a form that is read back.
    fn check_key_only(&self) -> Result<()> {
        let readable: Vec<&str> =
            self.keys().filter_map(Key::template).flat_map(Template::readable).collect();
        for field in self.fields.iter().filter(|field| field.is_key_only) {
            let name = field.name();
            if field.kind == Kind::Shard(1) {
                return Err(Error::new(
                    field.ident.span(),
                    format!(
                        "one shard is not written into keys, so that `{name}` needs an attribute of \
                         its own: leave `key_only` out"
                    ),
                ));
            }
            if !readable.contains(&name.as_str()) {
                return Err(Error::new(
                    field.ident.span(),
                    format!(
                        "`{name}` is `key_only`, so that it must stand in a template of the table's \
                         key, in a form that can be read back: not with `as` or `shard`"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// What the layer sets by itself has a type that it can set.
    fn check_own_fields(&self) -> Result<()> {
        let Self { fields, declared, .. } = self;
        for ident in declared.created_at.iter().chain(&declared.updated_at) {
            let field = find(fields, ident)?;
            if !matches!(field.kind, Kind::Seconds | Kind::Millis) {
                return Err(Error::new_spanned(
                    &field.whole,
                    format!("`{ident}` is set by itself: make it a `UtcTime` or a `UtcMillis`"),
                ));
            }
        }
        if let Some(ident) = &declared.revision {
            let field = find(fields, ident)?;
            if field.kind != Kind::Unsigned || field.is_optional {
                return Err(Error::new_spanned(
                    &field.whole,
                    format!("`{ident}` counts writes: make it a `u32` or a `u64`"),
                ));
            }
        }
        if let Some(ident) = &declared.ttl {
            let field = find(fields, ident)?;
            if matches!(field.kind, Kind::Text | Kind::Seconds | Kind::Millis) {
                return Err(Error::new_spanned(
                    &field.whole,
                    format!(
                        "`{ident}` says when the item expires, which is a number of seconds: make \
                         it a `u64`"
                    ),
                ));
            }
        }
        let restless = [&declared.revision, &declared.updated_at];
        self.keys().try_for_each(|key| check_lasting(restless, &key.fields(), key.span()))
    }

    fn design(&self) -> Result<TokenStream> {
        let tabla = crate::root::path();
        let Self { input, fields, declared, pk, sk, .. } = self;
        let name = input.ident.to_string();
        let table = &declared.table;
        let tag = optional(declared.tag.as_ref().map(|(name, value)| quote!((#name, #value))));
        let mut checks: Vec<TokenStream> = self
            .keys()
            .filter_map(Key::template)
            .map(|template| assertions(&input.ident, template, fields))
            .collect();
        let mut indexes = Vec::new();
        for (index, keys) in declared.indexes.iter().zip(&self.indexes) {
            let IndexKeys { pk: index_pk, sk: index_sk } = keys;
            for key in std::iter::once(index_pk).chain(index_sk) {
                // An update sets the other one, and writes the key again.
                check_lasting([&declared.revision, &None], &key.fields(), key.span())?;
                checks.extend(
                    key.template().map(|template| assertions(&input.ident, template, fields)),
                );
            }
            let when = match &index.when {
                Some(ident) => {
                    let field = find(fields, ident)?;
                    if !field.is_optional {
                        return Err(Error::new(
                            ident.span(),
                            format!("`{ident}` always has a value: `when` needs an `Option`"),
                        ));
                    }
                    let is_template = |key: &Key| key.template().is_some();
                    if !is_template(index_pk) && !index_sk.as_ref().is_some_and(is_template) {
                        return Err(Error::new(
                            ident.span(),
                            "both keys are attributes, which are there whatever `when` says: make \
                             one of them a template, or a field that is an `Option`",
                        ));
                    }
                    let name = field.name();
                    Some(quote!(#name))
                }
                None => None,
            };
            let (name, when) = (&index.name, optional(when));
            let partition = index_pk.tokens(fields);
            let sort = optional(index_sk.as_ref().map(|key| key.tokens(fields)));
            indexes.push(quote!(#tabla::IndexKeys {
                index: #name, partition: #partition, sort: #sort, when: #when,
            }));
        }
        let restless = [&declared.revision, &declared.updated_at];
        let mut unique = Vec::new();
        for declared in &declared.unique {
            let field = find(fields, &declared.field)?.name();
            let partition = Template::parse(&declared.pk, fields, Role::Guard, Known::default())?;
            let sort = match &declared.sk {
                Some(sk) => Some(Template::parse(sk, fields, Role::Guard, Known::default())?),
                None => None,
            };
            if !partition.fields().contains(&field.as_str()) {
                return Err(Error::new(
                    declared.pk.span(),
                    format!(
                        "the key stands for a value of `{field}`, and so has to have it: write \
                         `{{{field}}}` into it"
                    ),
                ));
            }
            for template in std::iter::once(&partition).chain(&sort) {
                check_lasting(restless, &template.fields(), template.span())?;
                checks.push(assertions(&input.ident, template, fields));
            }
            let partition = partition.tokens(fields);
            let sort = optional(sort.map(|template| template.tokens(fields)));
            unique.push(quote!(#tabla::UniqueDesign {
                field: #field, partition: #partition, sort: #sort,
            }));
        }
        let named = |ident: &Option<Ident>| -> Result<TokenStream> {
            Ok(optional(match ident {
                Some(ident) => {
                    let name = find(fields, ident)?.name();
                    Some(quote!(#name))
                }
                None => None,
            }))
        };
        let (ttl, revision) = (named(&declared.ttl)?, named(&declared.revision)?);
        let (created, updated) = (named(&declared.created_at)?, named(&declared.updated_at)?);
        let revision_limit = match &declared.revision {
            Some(ident) => {
                let value = &find(fields, ident)?.value;
                quote!(<#value>::MAX as u64)
            }
            None => quote!(u64::MAX),
        };
        let field_designs = fields.iter().map(|field| {
            let (name, attribute) = (field.name(), &field.attribute);
            let FieldInfo { is_key_only, is_immutable, is_optional, keeps_null, .. } = field;
            let is_millis = field.kind == Kind::Millis;
            let is_moment = is_millis || field.kind == Kind::Seconds;
            let values = field.count();
            // An optional field without a value has no attribute anyway.
            let default = optional(
                field
                    .default
                    .as_ref()
                    .filter(|_| !is_optional)
                    .map(|default| quote!(|| #tabla::__core::Value::from_struct(&#default))),
            );
            let kind =
                optional(field.stored_as().map(|kind| quote!(#tabla::__core::ValueKind::#kind)));
            quote!(#tabla::FieldDesign {
                name: #name,
                attribute: #attribute,
                key_only: #is_key_only,
                immutable: #is_immutable,
                optional: #is_optional,
                keeps_null: #keeps_null,
                default: #default,
                kind: #kind,
                is_moment: #is_moment,
                millis: #is_millis,
                values: #values,
            })
        });
        let partition = pk.tokens(fields);
        let sort = optional(sk.as_ref().map(|key| key.tokens(fields)));
        Ok(quote! {
            #(#checks)*
            static DESIGN: #tabla::EntityDesign = #tabla::EntityDesign {
                name: #name,
                table: || &#table,
                tag: #tag,
                partition: #partition,
                sort: #sort,
                indexes: &[#(#indexes),*],
                fields: &[#(#field_designs),*],
                ttl: #ttl,
                revision: #revision,
                revision_limit: #revision_limit,
                created: #created,
                updated: #updated,
                unique: &[#(#unique),*],
            };
        })
    }

    /// The struct of the key's fields.
    fn key_struct(&self) -> TokenStream {
        let tabla = crate::root::path();
        let Self { input, .. } = self;
        let (entity, visibility) = (&input.ident, &input.vis);
        let key = format_ident!("{entity}Key");
        let fields = self.key_fields();
        let documentation = format!("The fields that the key of [`{entity}`] is made of.");
        let declared = fields.iter().map(|field| {
            let FieldInfo { ident, whole, .. } = field;
            let documentation = format!("As in [`{entity}`].");
            quote!(#[doc = #documentation] pub #ident: #whole)
        });
        let found = fields.iter().map(|field| {
            let (ident, name) = (&field.ident, field.name());
            quote!(#name => ::core::option::Option::Some(&self.#ident))
        });
        let read = fields.iter().map(|field| {
            let (ident, name, attribute) = (&field.ident, field.name(), &field.attribute);
            quote!(#ident: #tabla::format::key_field(&values, #name, item, #attribute)?)
        });
        let attributes = self.keys().filter_map(|source| match source {
            Key::Template(_) => None,
            Key::Field(name, _) => {
                let field = self.fields.iter().find(|field| field.name() == *name)?;
                let (ident, attribute) = (&field.ident, &field.attribute);
                Some(quote! {
                    attributes.insert(#attribute, #tabla::__core::Value::from_struct(&self.#ident)?);
                })
            }
        });
        quote! {
            #[doc = #documentation]
            #[derive(Clone, Debug, PartialEq)]
            #visibility struct #key { #(#declared,)* }

            impl #tabla::EntityKey for #key {
                type Entity = #entity;

                fn field(&self, name: &str) -> ::core::option::Option<&dyn ::core::any::Any> {
                    match name {
                        #(#found,)*
                        _ => ::core::option::Option::None,
                    }
                }

                fn to_item(&self) -> #tabla::__core::Result<#tabla::__core::Item> {
                    #[allow(unused_mut)]
                    let mut attributes = #tabla::__core::Item::new();
                    #(#attributes)*
                    <#entity as #tabla::Entity>::design()
                        .key(&|name| #tabla::EntityKey::field(self, name), &attributes)
                }

                #[allow(unused_variables)]
                fn from_item(item: &#tabla::__core::Item) -> #tabla::__core::Result<Self> {
                    let design = <#entity as #tabla::Entity>::design();
                    let values = #tabla::format::read_key(design, item)?;
                    ::core::result::Result::Ok(Self { #(#read,)* })
                }
            }
        }
    }

    fn implementation(&self, design: &TokenStream) -> TokenStream {
        let tabla = crate::root::path();
        let Self { input, fields, declared, .. } = self;
        let entity = &input.ident;
        let key = format_ident!("{entity}Key");
        let found = fields.iter().map(|field| {
            let (ident, name) = (&field.ident, field.name());
            quote!(#name => ::core::option::Option::Some(&self.#ident))
        });
        let of_key = self.key_fields();
        let cloned = of_key.iter().map(|field| {
            let ident = &field.ident;
            quote!(#ident: ::core::clone::Clone::clone(&self.#ident))
        });
        let set = |ident: &Option<Ident>| {
            // The field may be an `Option` of the moment.
            let field = ident.as_ref().and_then(|ident| find(fields, ident).ok())?;
            let (ident, value) = (&field.ident, &field.value);
            Some(quote! {
                self.#ident = ::core::convert::From::from(
                    #tabla::format::moment::<#value>(stamp.now)
                );
            })
        };
        let (created, updated) = (set(&declared.created_at), set(&declared.updated_at));
        let created = created.map(|created| quote!(if stamp.is_new { #created }));
        let counted = declared.revision.as_ref().map(|ident| quote!(self.#ident += 1;));
        let revision = optional(
            declared
                .revision
                .as_ref()
                .map(|ident| quote!(::core::convert::Into::into(self.#ident))),
        );
        quote! {
            impl #tabla::Entity for #entity {
                type Key = #key;

                fn design() -> &'static #tabla::EntityDesign {
                    #design
                    &DESIGN
                }

                fn to_key(&self) -> #key {
                    #key { #(#cloned,)* }
                }

                fn field(&self, name: &str) -> ::core::option::Option<&dyn ::core::any::Any> {
                    match name {
                        #(#found,)*
                        _ => ::core::option::Option::None,
                    }
                }

                #[allow(unused_variables)]
                fn stamp(&mut self, stamp: &#tabla::Stamp) {
                    #created
                    #updated
                    #counted
                }

                fn revision(&self) -> ::core::option::Option<u64> {
                    #revision
                }
            }
        }
    }

    /// A constant for each field.
    fn constants(&self) -> TokenStream {
        let tabla = crate::root::path();
        let entity = &self.input.ident;
        let constants = self.fields.iter().map(|field| {
            let (name, attribute, value) = (field.name(), &field.attribute, &field.value);
            let constant = format_ident!("{}", name.to_uppercase(), span = field.ident.span());
            let documentation = format!("The field `{name}`.");
            quote! {
                #[doc = #documentation]
                pub const #constant: #tabla::Field<#entity, #value> =
                    #tabla::Field::new(#name, #attribute);
            }
        });
        quote! {
            #[allow(dead_code)]
            impl #entity { #(#constants)* }
        }
    }
}
