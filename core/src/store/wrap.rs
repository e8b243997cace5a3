//! Wrappers of stores: the list of operations, and the macros that delegate them.

/// Calls a macro with the signatures of all operations of [`Store`](crate::Store). This is the one
/// list of them.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_operations {
    ($callback:path, $($argument:tt)*) => {
        $callback! {
            $($argument)*;
            get(GetItem) -> GetItemOutput,
            put(PutItem) -> WriteOutput,
            update(UpdateItem) -> WriteOutput,
            delete(DeleteItem) -> WriteOutput,
            query(Query) -> Page,
            scan(Scan) -> Page,
            batch_get(BatchGetItem) -> BatchGetItemOutput,
            batch_write(BatchWriteItem) -> BatchWriteItemOutput,
            transact_get(TransactGetItems) -> TransactGetItemsOutput,
            transact_write(TransactWriteItems) -> TransactWriteItemsOutput,
            create_table(CreateTable) -> TableDescription,
            describe_table(DescribeTable) -> TableDescription,
            update_table(UpdateTable) -> TableDescription,
            delete_table(DeleteTable) -> TableDescription,
            list_tables(ListTables) -> ListTablesOutput,
            update_time_to_live(UpdateTimeToLive) -> UpdateTimeToLive,
            describe_time_to_live(DescribeTimeToLive) -> TimeToLiveDescription,
            tag_table(TagTable) -> (),
            untag_table(UntagTable) -> (),
            list_table_tags(ListTableTags) -> Tags,
            list_streams(ListStreams) -> ListStreamsOutput,
            describe_stream(DescribeStream) -> StreamDescription,
            get_shard_iterator(GetShardIterator) -> ShardIterator,
            get_records(GetRecords) -> GetRecordsOutput,
        }
    };
}

/// Implements [`Store`](crate::Store) for a wrapper of a store.
///
/// - `inner`: field of the wrapped store.
/// - `call`: macro that expands to the body of an operation, from `self`, the method and the
///   request. It has one arm for all operations, after one arm for each operation that differs.
/// - `capabilities`: method that returns the [`Capabilities`](crate::Capabilities). Default: those
///   of the wrapped store.
/// - `extensions`: method with the signature of
///   [`Store::extension_by_id`](crate::Store::extension_by_id), for a wrapper that adds extensions.
///   Default: those of the wrapped store, so that a wrapper hides none.
///
/// A store that wraps no other, such as one for tests, omits `inner` and `extensions`, and names
/// its `capabilities`. It has no extensions.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use tabla::ops::ListTables;
/// use tabla::{Error, MemoryStore, Store};
///
/// /// Store that counts requests, and refuses to delete tables.
/// #[derive(Debug)]
/// struct Counting<S> {
///     store: S,
///     requests: AtomicUsize,
/// }
///
/// macro_rules! counted {
///     ($self:ident, delete_table, $request:ident) => {
///         Err(Error::validation(format!("{} stays", $request.table)))
///     };
///     ($self:ident, $method:ident, $request:ident) => {{
///         $self.requests.fetch_add(1, Ordering::Relaxed);
///         $self.store.$method($request).await
///     }};
/// }
///
/// tabla::wrap_store! {
///     impl[S: Store] Store for Counting<S>, inner: store, call: counted
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = Counting { store: MemoryStore::new(), requests: AtomicUsize::new(0) };
/// store.list_tables(ListTables::default()).await?;
/// assert_eq!(store.requests.into_inner(), 1);
/// # Ok::<(), Error>(()) }).unwrap();
/// ```
#[macro_export]
macro_rules! wrap_store {
    (
        impl[$($generics:tt)*] Store for $wrapper:ty, inner: $inner:tt, call: $call:ident
        $(, capabilities: $capabilities:ident)? $(, extensions: $extensions:ident)?
    ) => {
        $crate::__store_operations! {
            $crate::__wrap_store,
            [$($generics)*] [$wrapper] [$inner] [$call] [$($capabilities)?] [$($extensions)?]
        }
    };
    (
        impl[$($generics:tt)*] Store for $wrapper:ty, call: $call:ident,
        capabilities: $capabilities:ident
    ) => {
        $crate::__store_operations! {
            $crate::__wrap_store, [$($generics)*] [$wrapper] [] [$call] [$capabilities] []
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __wrap_store {
    (
        [$($generics:tt)*] [$wrapper:ty] [$($inner:tt)?] [$call:ident]
        [$($capabilities:ident)?] [$($extensions:ident)?];
        $($method:ident($request:ident) -> $output:tt,)+
    ) => {
        #[$crate::__async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl<$($generics)*> $crate::Store for $wrapper {
            fn capabilities(&self) -> $crate::Capabilities {
                $crate::__first! {
                    [$(self.$capabilities())?]
                    [$(self.$inner.capabilities())?]
                }
            }

            fn extension_by_id(&self, id: ::std::any::TypeId) -> ::std::option::Option<$crate::Extension> {
                $crate::__first! {
                    [$(self.$extensions(id))?]
                    [$(self.$inner.extension_by_id(id))?]
                    [{
                        let _ = id;
                        ::std::option::Option::None
                    }]
                }
            }

            $(
                async fn $method(
                    &self,
                    request: $crate::ops::$request,
                ) -> $crate::Result<$crate::__output!($output)> {
                    $call!(self, $method, request)
                }
            )+
        }
    };
}

/// Expands to the first of these expressions that is not empty.
#[doc(hidden)]
#[macro_export]
macro_rules! __first {
    ([] $($others:tt)+) => {
        $crate::__first!($($others)+)
    };
    ([$($expression:tt)+] $($others:tt)*) => {
        $($expression)+
    };
}

/// Expands to the output type of an operation: `()`, or a type of [`ops`](crate::ops).
#[doc(hidden)]
#[macro_export]
macro_rules! __output {
    (()) => {
        ()
    };
    ($output:ident) => {
        $crate::ops::$output
    };
}

/// Implements [`Store`](crate::Store) for a pointer by forwarding every operation to its target.
///
/// The signatures are those that `async_trait` generates, so that the boxed future of the target is
/// returned as it is. Applications hold a pointer: `async fn` would box a second future per call.
macro_rules! forward {
    ($pointer:ty; $($method:ident($request:ident) -> $output:tt,)+) => {
        #[deny(clippy::missing_trait_methods)]
        impl<S: crate::Store + ?Sized> crate::Store for $pointer {
            fn capabilities(&self) -> crate::Capabilities {
                (**self).capabilities()
            }

            fn extension_by_id(&self, id: std::any::TypeId) -> Option<crate::Extension> {
                (**self).extension_by_id(id)
            }

            $(
                fn $method<'life0, 'async_trait>(
                    &'life0 self,
                    request: crate::ops::$request,
                ) -> futures::future::BoxFuture<'async_trait, crate::Result<crate::__output!($output)>>
                where
                    'life0: 'async_trait,
                    Self: 'async_trait,
                {
                    (**self).$method(request)
                }
            )+
        }
    };
}

__store_operations!(forward, std::sync::Arc<S>);
__store_operations!(forward, Box<S>);
__store_operations!(forward, &S);

#[cfg(test)]
mod tests {
    use std::any::TypeId;
    use std::sync::Arc;

    use crate::ops::ListTables;
    use crate::{
        Capabilities, Error, Extension, MemoryStore, Result, RetryPolicy, Store, StoreExt,
    };

    /// Extension of the tests.
    trait Ownership: Send + Sync {
        fn owner(&self) -> &str;
    }

    struct Owner(String);

    impl Ownership for Owner {
        fn owner(&self) -> &str {
            &self.0
        }
    }

    /// Store with the extension [`Ownership`].
    #[derive(Debug, Default)]
    struct Owned {
        store: MemoryStore,
    }

    impl Owned {
        fn own_extensions(&self, id: TypeId) -> Option<Extension> {
            if id == Extension::id::<dyn Ownership>() {
                return Some(Extension::new::<dyn Ownership>(Arc::new(Owner("alice".to_owned()))));
            }
            self.store.extension_by_id(id)
        }
    }

    macro_rules! passed_on {
        ($self:ident, $method:ident, $request:ident) => {
            $self.store.$method($request).await
        };
    }

    crate::wrap_store! {
        impl[] Store for Owned, inner: store, call: passed_on, extensions: own_extensions
    }

    fn owner(store: &dyn Store) -> Option<String> {
        store.extension::<dyn Ownership>().map(|extension| extension.owner().to_owned())
    }

    #[test]
    fn extension_is_reached_through_pointers_and_retries() {
        let alice = Some("alice".to_owned());
        let shared: Arc<dyn Store> = Arc::new(Owned::default());
        let boxed: Box<dyn Store> = Box::new(Owned::default());
        assert_eq!(owner(&Owned::default()), alice);
        assert_eq!(owner(&shared), alice);
        assert_eq!(owner(&boxed), alice);
        assert_eq!(owner(&&*shared), alice);
        assert_eq!(owner(&Arc::clone(&shared).with_retries(RetryPolicy::none())), alice);
        assert_eq!(owner(&Arc::new(Box::new(shared).with_retries(RetryPolicy::none()))), alice);
    }

    #[test]
    fn missing_extension_is_none() {
        trait Unknown: Send + Sync {}
        assert_eq!(owner(&MemoryStore::new()), None);
        assert_eq!(owner(&MemoryStore::new().with_retries(RetryPolicy::none())), None);
        assert!(Owned::default().extension::<dyn Unknown>().is_none());
    }

    /// Store that wraps no other.
    #[derive(Debug)]
    struct Closed;

    impl Closed {
        fn own_capabilities(&self) -> Capabilities {
            Capabilities::full("closed")
        }
    }

    macro_rules! refused {
        ($self:ident, $method:ident, $request:ident) => {{
            drop($request);
            Err(Error::validation(stringify!($method)))
        }};
    }

    crate::wrap_store! {
        impl[] Store for Closed, call: refused, capabilities: own_capabilities
    }

    #[tokio::test]
    async fn wrap_store_implements_a_store_without_an_inner_store() {
        let error: Result<_> = Closed.list_tables(ListTables::default()).await;
        assert_eq!(error.unwrap_err().message(), "list_tables");
        assert_eq!(Closed.capabilities(), Capabilities::full("closed"));
        assert_eq!(owner(&Closed), None);
    }
}
