//! Store wrapper with an injected fault or injected failures.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabla_core::env::{Clock, SystemClock};
use tabla_core::{Capabilities, Error, Item, Result, Store};

use super::failure::{self, Failure, Failures, Operation, PlanProgress, operation};
use super::kinds::Fault;

/// Store with a [`Fault`], with [`Failures`], or with neither, which then behaves as the
/// wrapped store.
#[derive(Debug)]
pub struct FaultStore<S> {
    pub(super) store: S,
    pub(super) clock: Arc<dyn Clock>,
    fault: Option<Fault>,
    failures: PlanProgress,
    loses_responses: bool,
    memory: Mutex<FaultState>,
}

/// Data that faults keep between calls.
#[derive(Debug, Default)]
pub(super) struct FaultState {
    /// Items, by table, whose index entries should have been deleted.
    pub(super) stale: Vec<(String, Item)>,
    /// Keys that an index does not show: table, index, key.
    pub(super) hidden: Vec<(String, String, Item)>,
    /// Client request tokens that the fault remembers.
    pub(super) tokens: BTreeSet<String>,
}

impl<S: Store> FaultStore<S> {
    /// Wraps a store without fault or failures.
    pub fn new(store: S) -> Self {
        Self {
            store,
            clock: Arc::new(SystemClock),
            fault: None,
            failures: PlanProgress::default(),
            loses_responses: false,
            memory: Mutex::default(),
        }
    }

    /// Injects this fault.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Injects failures by this plan.
    #[must_use]
    pub fn failures(mut self, failures: Failures) -> Self {
        self.failures = PlanProgress::new(failures);
        self.loses_responses = true;
        self
    }

    /// Sets the clock that faults read, which must be that of the wrapped store. Default:
    /// [`SystemClock`].
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Wrapped store, to look at its data.
    pub fn inner(&self) -> &S {
        &self.store
    }

    /// Whether no fault is injected, so that requests and responses pass unchanged.
    pub(super) fn is_sound(&self) -> bool {
        self.fault.is_none()
    }

    pub(super) fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// Injected fault, if it is one in evaluating conditions.
    pub(super) fn condition_fault(&self) -> Option<Fault> {
        self.fault.filter(|fault| fault.breaks_conditions())
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, FaultState> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes a call, or fails it as the plan says. `conflict` is the error of a call that
    /// conflicts with a transaction, if it can.
    async fn call<T>(
        &self,
        operation: Operation,
        conflict: Option<Error>,
        call: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let failure = self.failures.next(operation);
        self.outcome(operation, failure, conflict, call).await
    }

    /// Number of operations of a batch that stay unprocessed, or the failure of the whole batch.
    fn batch_failure(&self, operation: Operation) -> (usize, Option<Failure>) {
        match self.failures.next(operation) {
            Some(Failure::Unprocessed(count)) => (count, None),
            other => (0, other),
        }
    }

    async fn outcome<T>(
        &self,
        operation: Operation,
        failure: Option<Failure>,
        conflict: Option<Error>,
        call: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        match (failure, conflict) {
            (Some(Failure::Throttled), _) => Err(failure::throttled()),
            (Some(Failure::Unavailable), _) => Err(failure::unavailable()),
            (Some(Failure::Conflict), Some(conflict)) => Err(conflict),
            (Some(Failure::ResponseLost), _) => {
                call.await?;
                Err(failure::response_lost(operation))
            }
            (Some(Failure::Conflict | Failure::Unprocessed(_)) | None, _) => call.await,
        }
    }
}

/// Executes an operation of `Store` with the fault and the failures. Operations that a fault
/// changes, that can conflict, or that can be partly unprocessed have an arm of their own.
macro_rules! faulty {
    ($self:ident, get, $request:ident) => {
        $self.call(operation!(get), None, $self.faulty_get($request)).await
    };
    ($self:ident, query, $request:ident) => {
        $self.call(operation!(query), None, $self.faulty_query($request)).await
    };
    ($self:ident, scan, $request:ident) => {
        $self.call(operation!(scan), None, $self.faulty_scan($request)).await
    };
    ($self:ident, update_table, $request:ident) => {
        $self.call(operation!(update_table), None, $self.faulty_update_table($request)).await
    };
    ($self:ident, delete_table, $request:ident) => {
        $self.call(operation!(delete_table), None, $self.faulty_delete_table($request)).await
    };
    ($self:ident, list_tables, $request:ident) => {
        $self.call(operation!(list_tables), None, $self.faulty_list_tables($request)).await
    };
    ($self:ident, put, $request:ident) => {{
        let conflict = Some(failure::conflict());
        $self.call(operation!(put), conflict, $self.faulty_put($request)).await
    }};
    ($self:ident, update, $request:ident) => {{
        let conflict = Some(failure::conflict());
        $self.call(operation!(update), conflict, $self.faulty_update($request)).await
    }};
    ($self:ident, delete, $request:ident) => {{
        let conflict = Some(failure::conflict());
        $self.call(operation!(delete), conflict, $self.faulty_delete($request)).await
    }};
    ($self:ident, batch_get, $request:ident) => {{
        let (left, failure) = $self.batch_failure(operation!(batch_get));
        let call = $self.faulty_batch_get($request, left);
        $self.outcome(operation!(batch_get), failure, None, call).await
    }};
    ($self:ident, batch_write, $request:ident) => {{
        let (left, failure) = $self.batch_failure(operation!(batch_write));
        let call = $self.faulty_batch_write($request, left);
        $self.outcome(operation!(batch_write), failure, None, call).await
    }};
    ($self:ident, transact_get, $request:ident) => {{
        let conflict = Some(failure::cancelled($request.items.len()));
        $self.call(operation!(transact_get), conflict, $self.store.transact_get($request)).await
    }};
    ($self:ident, transact_write, $request:ident) => {{
        let conflict = Some(failure::cancelled($request.items.len()));
        $self
            .call(operation!(transact_write), conflict, $self.faulty_transact_write($request))
            .await
    }};
    ($self:ident, $method:ident, $request:ident) => {
        $self.call(operation!($method), None, $self.store.$method($request)).await
    };
}

impl<S: Store> FaultStore<S> {
    /// Those of the store, whose responses the injected failures can lose.
    fn faulty_capabilities(&self) -> Capabilities {
        let capabilities = self.store.capabilities();
        let lost = capabilities.responses_can_be_lost || self.loses_responses;
        capabilities.with_responses_can_be_lost(lost)
    }
}

tabla_core::wrap_store! {
    impl[S: Store] Store for FaultStore<S>, inner: store, call: faulty,
    capabilities: faulty_capabilities
}

#[cfg(test)]
mod tests {
    use tabla_core::MemoryStore;

    use super::*;
    use crate::extension::{ExtendedStore, reaches_extension};

    #[test]
    fn extension_is_reached_through_fault_store() {
        assert!(reaches_extension(&FaultStore::new(ExtendedStore::new())));
        assert!(!reaches_extension(&FaultStore::new(MemoryStore::new())));
    }
}
