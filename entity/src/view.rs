//! Views: some fields of an entity, read without the others.

use serde::de::DeserializeOwned;

use super::{Entity, Field, read_fields};
use tabla_core::{Item, Result};

/// Some fields of an entity: derive it.
///
/// A view is read where the whole entity need not be, or cannot be, such as through an index that
/// does not carry every attribute. A query of a view asks for its attributes alone, so that less
/// comes over the network; it costs as much. A view is never written.
///
/// `#[view(of = Article)]` names the entity. Each field has the name, the type and the attribute of
/// one of the entity's; a field that it does not have is an error of the compiler.
///
/// ```
/// # use std::sync::{Arc, LazyLock};
/// # use serde::{Deserialize, Serialize};
/// # use tabla::MemoryStore;
/// # use tabla::entity::{Db, Entity, Id, TableDesign, View};
/// # static PRESS: LazyLock<TableDesign> =
/// #     LazyLock::new(|| TableDesign::new("press").key("PK", "SK"));
/// #[derive(Clone, Serialize, Deserialize, Entity)]
/// #[entity(table = PRESS, pk = "SECTION#{section}", sk = "ARTICLE#{id}")]
/// struct Article {
///     section: Id,
///     id: Id,
///     title: String,
///     text: String,
/// }
///
/// #[derive(Deserialize, View)]
/// #[view(of = Article)]
/// struct Headline {
///     id: Id,
///     title: String,
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let db = Db::new(Arc::new(MemoryStore::new()));
/// # db.create_table(&PRESS).await?;
/// # let (section, id) = (Id::new("world")?, Id::new("7")?);
/// # let text = "Long".repeat(100);
/// # db.put(Article { section: section.clone(), id: id.clone(), title: "News".into(), text }).await?;
/// let headlines = db.all(Article::of(&section).view::<Headline>()).await?;
/// assert_eq!(headlines[0].title, "News");
/// let headline: Option<Headline> = db.get_view(&Article::key(&section, &id)).await?;
/// assert_eq!(headline.unwrap().id, id);
/// # Ok::<(), tabla::Error>(()) }).unwrap();
/// ```
pub trait View: Sized + Send + 'static {
    /// Entity whose fields these are.
    type Of: Entity;

    /// Attributes of the fields; `None` for all of the entity.
    fn view_attributes() -> Option<&'static [&'static str]>;

    /// The view of an item.
    ///
    /// # Errors
    /// The item is of another kind, lacks an attribute or has one of another type.
    fn read_item(item: &Item) -> Result<Self>;
}

impl<E: Entity> View for E {
    type Of = E;

    fn view_attributes() -> Option<&'static [&'static str]> {
        None
    }

    fn read_item(item: &Item) -> Result<Self> {
        <E as Entity>::from_item(item)
    }
}

/// Reads the fields of a view. For generated code.
#[doc(hidden)]
pub fn read_view<E: Entity, V: DeserializeOwned>(name: &str, item: &Item) -> Result<V> {
    read_fields(E::design(), name, item)
}

/// Attribute of a field, whose type must be this. For generated code.
#[doc(hidden)]
pub const fn attribute_of<E, T>(field: Field<E, T>) -> &'static str {
    field.attribute
}
