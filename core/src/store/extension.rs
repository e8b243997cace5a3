//! Optional powers of a store, reached through every wrapper.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

/// A power that some stores have besides the operations of [`Store`](super::Store), such as recovery
/// or backups: an `Arc` of a small trait of its own, with its type erased.
///
/// A store hands one out from [`Store::extension_by_id`](super::Store::extension_by_id); callers ask with
/// [`StoreExt::power`](super::StoreExt::power).
pub struct Extension {
    /// An `Arc<P>`, where `P` is the trait object.
    power: Box<dyn Any + Send + Sync>,
}

impl Extension {
    /// Erases the type of a power. `P` is the trait object: `Power::new::<dyn Recovery>(…)`.
    pub fn new<P: ?Sized + Send + Sync + 'static>(power: Arc<P>) -> Self {
        Self { power: Box::new(power) }
    }

    /// The id that callers ask for this power with.
    pub fn id<P: ?Sized + 'static>() -> TypeId {
        TypeId::of::<P>()
    }

    /// The power, if it is of this trait.
    pub fn downcast<P: ?Sized + Send + Sync + 'static>(self) -> Option<Arc<P>> {
        self.power.downcast::<Arc<P>>().ok().map(|power| *power)
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Power").finish_non_exhaustive()
    }
}
