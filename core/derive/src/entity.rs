//! `#[derive(Entity)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, Error, Ident, Result};

use crate::attributes::{Declared, Source, declared};
use crate::fields::{FieldInfo, Kind, fields_of};
use crate::template::{Known, Role, Template, assertions};

/// Where a key comes from, checked.
enum Key {
    Template(Template),
    Field(String),
}

struct Entity<'i> {
    input: &'i DeriveInput,
    fields: Vec<FieldInfo>,
    declared: Declared,
    pk: Key,
    sk: Option<Key>,
}

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new_spanned(parameter, "an entity has no type parameters"));
    }
    let fields = fields_of(input)?;
    let declared = declared(input)?;
    let pk = key(&declared.pk, &fields, Role::TablePartition, Known::default())?;
    let sk = match &declared.sk {
        Some(source) => Some(key(source, &fields, Role::TableSort, Known::default())?),
        None => None,
    };
    let entity = Entity { input, fields, declared, pk, sk };
    entity.check_key_only()?;
    let design = entity.design()?;
    let key = entity.key_struct();
    let implementation = entity.implementation(&design);
    let constants = entity.constants();
    Ok(quote! {
        #key
        #implementation
        #constants
    })
}

fn key(source: &Source, fields: &[FieldInfo], role: Role, known: Known<'_>) -> Result<Key> {
    match source {
        Source::Template(literal) => {
            Template::parse(literal, fields, role, known).map(Key::Template)
        }
        Source::Field(ident) => {
            let field = find(fields, ident)?;
            Ok(Key::Field(field.name()))
        }
    }
}

fn find<'f>(fields: &'f [FieldInfo], ident: &Ident) -> Result<&'f FieldInfo> {
    fields.iter().find(|field| field.ident == *ident).ok_or_else(|| {
        let names: Vec<String> = fields.iter().map(FieldInfo::name).collect();
        Error::new(
            ident.span(),
            format!("there is no field `{ident}`; the fields are {}", names.join(", ")),
        )
    })
}

impl Key {
    fn fields(&self) -> Vec<String> {
        match self {
            Self::Template(template) => template.fields().into_iter().map(str::to_owned).collect(),
            Self::Field(name) => vec![name.clone()],
        }
    }

    fn tokens(&self, fields: &[FieldInfo]) -> TokenStream {
        match self {
            Self::Template(template) => {
                let template = template.tokens(fields);
                quote!(::tabla::entity::KeySource::Template(#template))
            }
            Self::Field(name) => quote!(::tabla::entity::KeySource::Attribute(#name)),
        }
    }

    fn template(&self) -> Option<&Template> {
        match self {
            Self::Template(template) => Some(template),
            Self::Field(_) => None,
        }
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
    fn key_fields(&self) -> Vec<&FieldInfo> {
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
            if !readable.contains(&name.as_str()) {
                return Err(Error::new(
                    field.ident.span(),
                    format!(
                        "`{name}` has no attribute of its own, so that it must stand in a template \
                         of the table's key, in a form that can be read back"
                    ),
                ));
            }
        }
        Ok(())
    }

    fn design(&self) -> Result<TokenStream> {
        let Self { input, fields, declared, pk, sk } = self;
        let name = input.ident.to_string();
        let table = &declared.table;
        let tag = optional(declared.tag.as_ref().map(|(name, value)| quote!((#name, #value))));
        let known = Known { pk: pk.template(), sk: sk.as_ref().and_then(Key::template) };
        let mut checks: Vec<TokenStream> = self
            .keys()
            .filter_map(Key::template)
            .map(|template| assertions(&input.ident, template, fields))
            .collect();
        let mut indexes = Vec::new();
        for index in &declared.indexes {
            let index_pk = key(&index.pk, fields, Role::IndexPartition, known)?;
            let index_sk = match &index.sk {
                Some(source) => Some(key(source, fields, Role::IndexSort, known)?),
                None => None,
            };
            for template in std::iter::once(&index_pk).chain(&index_sk).filter_map(Key::template) {
                checks.push(assertions(&input.ident, template, fields));
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
                    let name = field.name();
                    Some(quote!(#name))
                }
                None => None,
            };
            let (name, when) = (&index.name, optional(when));
            let partition = index_pk.tokens(fields);
            let sort = optional(index_sk.map(|key| key.tokens(fields)));
            indexes.push(quote!(::tabla::entity::IndexKeys {
                index: #name, partition: #partition, sort: #sort, when: #when,
            }));
        }
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
                    format!("the key that stands for a value of `{field}` has to have it"),
                ));
            }
            checks.push(assertions(&input.ident, &partition, fields));
            let partition = partition.tokens(fields);
            let sort = optional(sort.map(|template| template.tokens(fields)));
            unique.push(quote!(::tabla::entity::UniqueDesign {
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
        let field_designs = fields.iter().map(|field| {
            let (name, attribute) = (field.name(), &field.attribute);
            let FieldInfo { is_key_only, is_immutable, is_optional, keeps_null, .. } = field;
            let is_millis = field.kind == Kind::Millis;
            let is_moment = is_millis || field.kind == Kind::Seconds;
            quote!(::tabla::entity::FieldDesign {
                name: #name,
                attribute: #attribute,
                key_only: #is_key_only,
                immutable: #is_immutable,
                optional: #is_optional,
                keeps_null: #keeps_null,
                is_moment: #is_moment,
                millis: #is_millis,
            })
        });
        let partition = pk.tokens(fields);
        let sort = optional(sk.as_ref().map(|key| key.tokens(fields)));
        Ok(quote! {
            #(#checks)*
            static DESIGN: ::tabla::entity::EntityDesign = ::tabla::entity::EntityDesign {
                name: #name,
                table: || &#table,
                tag: #tag,
                partition: #partition,
                sort: #sort,
                indexes: &[#(#indexes),*],
                fields: &[#(#field_designs),*],
                ttl: #ttl,
                revision: #revision,
                created: #created,
                updated: #updated,
                unique: &[#(#unique),*],
            };
        })
    }

    /// The struct of the key's fields.
    fn key_struct(&self) -> TokenStream {
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
            quote!(#ident: ::tabla::entity::format::key_field(&values, #name, item, #attribute)?)
        });
        let attributes = self.keys().filter_map(|source| match source {
            Key::Template(_) => None,
            Key::Field(name) => {
                let field = self.fields.iter().find(|field| field.name() == *name)?;
                let (ident, attribute) = (&field.ident, &field.attribute);
                Some(quote! {
                    attributes.insert(#attribute, ::tabla::Value::from_struct(&self.#ident)?);
                })
            }
        });
        quote! {
            #[doc = #documentation]
            #[derive(Clone, Debug, PartialEq)]
            #visibility struct #key { #(#declared,)* }

            impl ::tabla::entity::EntityKey for #key {
                type Entity = #entity;

                fn field(&self, name: &str) -> ::core::option::Option<&dyn ::core::any::Any> {
                    match name {
                        #(#found,)*
                        _ => ::core::option::Option::None,
                    }
                }

                fn to_item(&self) -> ::tabla::Result<::tabla::Item> {
                    #[allow(unused_mut)]
                    let mut attributes = ::tabla::Item::new();
                    #(#attributes)*
                    <#entity as ::tabla::entity::Entity>::design()
                        .key(&|name| ::tabla::entity::EntityKey::field(self, name), &attributes)
                }

                #[allow(unused_variables)]
                fn from_item(item: &::tabla::Item) -> ::tabla::Result<Self> {
                    let design = <#entity as ::tabla::entity::Entity>::design();
                    let values = ::tabla::entity::format::read_key(design, item)?;
                    ::core::result::Result::Ok(Self { #(#read,)* })
                }
            }
        }
    }

    fn implementation(&self, design: &TokenStream) -> TokenStream {
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
            ident
                .as_ref()
                .map(|ident| quote!(self.#ident = ::tabla::entity::format::moment(stamp.now);))
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
            impl ::tabla::entity::Entity for #entity {
                type Key = #key;

                fn design() -> &'static ::tabla::entity::EntityDesign {
                    #design
                    &DESIGN
                }

                fn key(&self) -> #key {
                    #key { #(#cloned,)* }
                }

                fn field(&self, name: &str) -> ::core::option::Option<&dyn ::core::any::Any> {
                    match name {
                        #(#found,)*
                        _ => ::core::option::Option::None,
                    }
                }

                #[allow(unused_variables)]
                fn stamp(&mut self, stamp: &::tabla::entity::Stamp) {
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
        let entity = &self.input.ident;
        let constants = self.fields.iter().map(|field| {
            let (name, attribute, value) = (field.name(), &field.attribute, &field.value);
            let constant = format_ident!("{}", name.to_uppercase(), span = field.ident.span());
            let documentation = format!("The field `{name}`.");
            quote! {
                #[doc = #documentation]
                pub const #constant: ::tabla::entity::Field<#entity, #value> =
                    ::tabla::entity::Field::new(#name, #attribute);
            }
        });
        quote! {
            #[allow(dead_code)]
            impl #entity { #(#constants)* }
        }
    }
}
