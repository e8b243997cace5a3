//! Item collections: entities of several kinds under one partition key.

use tabla_core::Item;
use tabla_core::Result;

/// What the items of one partition are gathered in; [`collection!`](crate::collection!) makes one.
pub trait Collection: Default {
    /// Takes an item; one that is of no known kind is kept as it is.
    ///
    /// # Errors
    /// The collection does without none of its items, and this one cannot be read.
    fn add(&mut self, item: Item) -> Result<()>;
}

/// A place for the entities of one kind: one, or many.
pub trait Collected<E> {
    /// Takes one.
    fn take(&mut self, entity: E);
}

impl<E> Collected<E> for Option<E> {
    fn take(&mut self, entity: E) {
        *self = Some(entity);
    }
}

impl<E> Collected<E> for Vec<E> {
    fn take(&mut self, entity: E) {
        self.push(entity);
    }
}

/// Makes a struct that an item collection is gathered in, with a field for each kind of entity,
/// `Option` for one and `Vec` for many, `unknown` for the items of no known kind, and `unreadable`
/// for the keys of items that are of a known kind and cannot be read.
///
/// ```
/// # use std::sync::{Arc, LazyLock};
/// # use serde::{Deserialize, Serialize};
/// # use tabla::MemoryStore;
/// # use tabla::entity::{Db, Entity, Id, TableDesign};
/// # static TABLE: LazyLock<TableDesign> =
/// #     LazyLock::new(|| TableDesign::new("game").key("PK", "SK"));
/// # #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
/// # #[entity(table = TABLE, tag("entityType" = "profile"), pk = "USER#{user}", sk = "PROFILE")]
/// # struct Profile { #[entity(key_only)] user: Id, name: String }
/// # #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
/// # #[entity(table = TABLE, tag("entityType" = "goal"), pk = "USER#{user}", sk = "GOAL#{goal}")]
/// # struct Goal { #[entity(key_only)] user: Id, #[entity(key_only)] goal: Id, done: bool }
/// tabla::collection! {
///     /// Everything about a user.
///     pub struct Dashboard {
///         /// Who it is.
///         pub profile: Option<Profile>,
///         /// What they want.
///         pub goals: Vec<Goal>,
///     }
/// }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let db = Db::new(Arc::new(MemoryStore::new()));
/// # db.create_table(&TABLE).await?;
/// # let user = Id::new("ana")?;
/// # db.create(Profile { user: user.clone(), name: "Ana".into() }).await?.done().unwrap();
/// # db.create(Goal { user: user.clone(), goal: Id::new("1")?, done: true }).await?.done().unwrap();
/// let dashboard: Dashboard = db.collect(Profile::of(user)).await?;
/// assert_eq!(dashboard.profile.unwrap().name, "Ana");
/// assert_eq!(dashboard.goals.len(), 1);
/// # Ok::<(), tabla::Error>(()) }).unwrap();
/// ```
#[macro_export]
macro_rules! collection {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[$field_attribute:meta])*
                $field_visibility:vis $field:ident: $holder:ident<$entity:ty>
            ),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $visibility struct $name {
            $(
                $(#[$field_attribute])*
                $field_visibility $field: $holder<$entity>,
            )+
            /// The items of no known kind, as they are.
            $visibility unknown: Vec<$crate::__core::Item>,
            /// The items of a known kind that cannot be read, by their keys.
            $visibility unreadable: Vec<$crate::Unreadable>,
        }

        impl $crate::Collection for $name {
            fn add(&mut self, item: $crate::__core::Item) -> $crate::__core::Result<()> {
                use $crate::{Collected, Entity, Unreadable};
                $(
                    let design = <$entity as Entity>::design();
                    if design.recognises(&item) {
                        match <$entity as Entity>::from_item(&item) {
                            Ok(entity) => Collected::take(&mut self.$field, entity),
                            Err(error) => {
                                self.unreadable.push(Unreadable::new(design, &item, &error));
                            }
                        }
                        return Ok(());
                    }
                )+
                self.unknown.push(item);
                Ok(())
            }
        }
    };
}
