//! Wrappers of stores: the list of operations, and the one way to delegate them.

/// Calls a macro with the signature of every operation of [`Store`](crate::Store), so that the list
/// of them stands here once.
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
/// `call` names a macro that gives the body of every operation, from `self`, the method and the
/// request: one arm for all operations, and one before it for each operation that differs. Capabilities
/// come from the wrapped store, or from the method that `capabilities` names. Powers come from the
/// wrapped store, so that a wrapper hides none.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use tabla::ops::ListTables;
/// use tabla::{Error, MemoryStore, Store};
///
/// /// Counts requests, and deletes no table.
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
    (impl[$($generics:tt)*] Store for $wrapper:ty, inner: $inner:ident, call: $call:ident) => {
        $crate::__store_operations! {
            $crate::__wrap_store,
            [$($generics)*] [$wrapper] [$inner] [$call] [$inner.capabilities()]
        }
    };
    (
        impl[$($generics:tt)*] Store for $wrapper:ty, inner: $inner:ident, call: $call:ident,
        capabilities: $capabilities:ident
    ) => {
        $crate::__store_operations! {
            $crate::__wrap_store,
            [$($generics)*] [$wrapper] [$inner] [$call] [$capabilities()]
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __wrap_store {
    (
        [$($generics:tt)*] [$wrapper:ty] [$inner:ident] [$call:ident] [$($capabilities:tt)*];
        $($method:ident($request:ident) -> $answer:tt,)+
    ) => {
        #[$crate::__async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl<$($generics)*> $crate::Store for $wrapper {
            fn capabilities(&self) -> $crate::Capabilities {
                self.$($capabilities)*
            }

            fn power_by_id(&self, id: ::std::any::TypeId) -> ::std::option::Option<$crate::Power> {
                self.$inner.power_by_id(id)
            }

            $(
                async fn $method(
                    &self,
                    request: $crate::ops::$request,
                ) -> $crate::Result<$crate::__answer!($answer)> {
                    $call!(self, $method, request)
                }
            )+
        }
    };
}

/// The type of an answer: nothing, or one of [`ops`](crate::ops).
#[doc(hidden)]
#[macro_export]
macro_rules! __answer {
    (()) => {
        ()
    };
    ($answer:ident) => {
        $crate::ops::$answer
    };
}

/// Implements [`Store`](crate::Store) for a pointer by passing every operation on to what it points
/// to.
///
/// The signatures are those that `async_trait` makes of the trait's, so that the future of the
/// store is handed on as it is: applications hold a pointer, and would pay for a second boxed
/// future around it at every call.
macro_rules! forward {
    ($pointer:ty; $($method:ident($request:ident) -> $answer:tt,)+) => {
        #[deny(clippy::missing_trait_methods)]
        impl<S: crate::Store + ?Sized> crate::Store for $pointer {
            fn capabilities(&self) -> crate::Capabilities {
                (**self).capabilities()
            }

            fn power_by_id(&self, id: std::any::TypeId) -> Option<crate::Power> {
                (**self).power_by_id(id)
            }

            $(
                fn $method<'life0, 'async_trait>(
                    &'life0 self,
                    request: crate::ops::$request,
                ) -> futures::future::BoxFuture<'async_trait, crate::Result<crate::__answer!($answer)>>
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
