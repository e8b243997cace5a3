//! The wrapper.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabla_core::env::{Clock, SystemClock};
use tabla_core::{Error, Item, Result, Store};

use super::failure::{self, Failure, Failures, Operation, PlanProgress, operation};
use super::kinds::Fault;

/// A store with a [`Fault`], with [`Failures`], or with neither: then it is as the store inside.
#[derive(Debug)]
pub struct FaultStore<S> {
    pub(super) store: S,
    pub(super) clock: Arc<dyn Clock>,
    fault: Option<Fault>,
    failures: PlanProgress,
    memory: Mutex<FaultState>,
}

/// What faults remember.
#[derive(Debug, Default)]
pub(super) struct FaultState {
    /// Items of a table whose index entries should be gone.
    pub(super) stale: Vec<(String, Item)>,
    /// Keys that an index of a table does not show.
    pub(super) hidden: Vec<(String, String, Item)>,
    /// Client request tokens.
    pub(super) tokens: BTreeSet<String>,
}

impl<S: Store> FaultStore<S> {
    /// This store, as it is.
    pub fn new(store: S) -> Self {
        Self {
            store,
            clock: Arc::new(SystemClock),
            fault: None,
            failures: PlanProgress::default(),
            memory: Mutex::default(),
        }
    }

    /// Breaks this rule.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Fails by this plan.
    #[must_use]
    pub fn failures(mut self, failures: Failures) -> Self {
        self.failures = PlanProgress::new(failures);
        self
    }

    /// The clock of the store inside, for faults that look at it.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The store inside, to see what it holds.
    pub fn inner(&self) -> &S {
        &self.store
    }

    /// Whether no rule is broken, so that requests and answers pass as they are.
    pub(super) fn is_sound(&self) -> bool {
        self.fault.is_none()
    }

    pub(super) fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// The fault, if it is one in judging conditions.
    pub(super) fn condition_fault(&self) -> Option<Fault> {
        self.fault.filter(|fault| fault.breaks_conditions())
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, FaultState> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call, or lets it fail as the plan says. `conflict` is the error of a call that
    /// meets a transaction, if it can.
    async fn call<T>(
        &self,
        operation: Operation,
        conflict: Option<Error>,
        call: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let failure = self.failures.next(operation);
        self.outcome(operation, failure, conflict, call).await
    }

    /// How many operations of a batch stay unprocessed, and how it fails as a whole.
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
            (Some(Failure::AnswerLost), _) => {
                call.await?;
                Err(failure::answer_lost(operation))
            }
            (Some(Failure::Conflict | Failure::Unprocessed(_)) | None, _) => call.await,
        }
    }
}

/// Operations that a fault spoils, that meet transactions or that leave parts of a batch have an arm.
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

tabla_core::wrap_store! {
    impl[S: Store] Store for FaultStore<S>, inner: store, call: faulty
}

#[cfg(test)]
mod tests {
    use tabla_core::MemoryStore;

    use super::*;
    use crate::extension::{ExtendedStore, reaches_extension};

    #[test]
    fn power_is_reached_through_a_fault_store() {
        assert!(reaches_extension(&FaultStore::new(ExtendedStore::new())));
        assert!(!reaches_extension(&FaultStore::new(MemoryStore::new())));
    }
}
