//! Extensions: optional traits of a store, reached through every wrapper.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

/// Optional trait of a store, as an `Arc` with its type erased.
///
/// An extension has operations that only some stores support, such as recovery or backups. A store
/// returns it from [`Store::extension_by_id`](super::Store::extension_by_id); callers use
/// [`StoreExt::extension`](super::StoreExt::extension).
pub struct Extension {
    /// `Arc<P>`, where `P` is the trait object.
    erased: Box<dyn Any + Send + Sync>,
}

impl Extension {
    /// Erases the type of an extension. `P` is the trait object:
    /// `Extension::new::<dyn Recovery>(…)`.
    pub fn new<P: ?Sized + Send + Sync + 'static>(extension: Arc<P>) -> Self {
        Self { erased: Box::new(extension) }
    }

    /// Type id by which a store finds the extension of trait object `P`.
    pub fn id<P: ?Sized + 'static>() -> TypeId {
        TypeId::of::<P>()
    }

    /// Restores the type; `None` if this is an extension of another trait.
    pub fn downcast<P: ?Sized + Send + Sync + 'static>(self) -> Option<Arc<P>> {
        self.erased.downcast::<Arc<P>>().ok().map(|extension| *extension)
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extension").finish_non_exhaustive()
    }
}
