//! Wrapper of blobs with an injected fault or injected failures.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tabla_core::Result;
use tabla_core::blobs::{Blobs, UploadSummary, Versions, WriteCondition};

use super::failure::{self, BlobFailure, BlobFailures, BlobOperation, blob_operation};
use super::kinds::BlobFault;
use crate::fault::PlanProgress;

/// Blobs with a [`BlobFault`], with [`BlobFailures`], or with neither, which then behave as the
/// wrapped ones.
#[derive(Debug)]
pub struct FaultBlobs<B> {
    pub(super) blobs: B,
    fault: Option<BlobFault>,
    failures: PlanProgress<BlobOperation, BlobFailure>,
    memory: Mutex<FaultMemory>,
}

/// Data that faults keep between calls.
#[derive(Debug, Default)]
pub(super) struct FaultMemory {
    /// Numbers of the parts of an upload, in the order in which they were uploaded.
    pub(super) numbers: BTreeMap<String, Vec<u32>>,
    /// Completed uploads that are still listed.
    pub(super) completed: Vec<UploadSummary>,
}

impl<B: Blobs> FaultBlobs<B> {
    /// Wraps blobs without fault or failures.
    pub fn new(blobs: B) -> Self {
        Self { blobs, fault: None, failures: PlanProgress::default(), memory: Mutex::default() }
    }

    /// Injects this fault.
    #[must_use]
    pub fn fault(mut self, fault: BlobFault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Injects failures by this plan.
    #[must_use]
    pub fn failures(mut self, failures: BlobFailures) -> Self {
        self.failures = PlanProgress::new(failures);
        self
    }

    /// Wrapped blobs, to look at their state.
    pub fn inner(&self) -> &B {
        &self.blobs
    }

    pub(super) fn has(&self, fault: BlobFault) -> bool {
        self.fault == Some(fault)
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, FaultMemory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn own_versions(&self) -> Option<&dyn Versions> {
        self.blobs.versions().map(|_| self as &dyn Versions)
    }

    /// Executes a call, or fails it as the plan says.
    pub(super) async fn call<T>(
        &self,
        operation: BlobOperation,
        is_conditional: bool,
        call: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        match self.failures.next(operation) {
            Some(BlobFailure::Throttled) => Err(failure::throttled()),
            Some(BlobFailure::Unavailable) => Err(failure::unavailable()),
            Some(BlobFailure::RequestLost) => {
                Err(failure::lost(operation, "the connection broke before a response"))
            }
            Some(BlobFailure::Conflict) if is_conditional => Err(failure::conflict()),
            Some(BlobFailure::ResponseLost) => {
                call.await?;
                Err(failure::lost(operation, "the response was lost"))
            }
            Some(BlobFailure::Conflict) | None => call.await,
        }
    }
}

/// Executes an operation of `Blobs` with the fault and the failures. Operations that a fault
/// changes have an arm of their own.
macro_rules! faulty {
    ($self:ident, put, $request:ident) => {{
        let is_conditional = $request.condition != WriteCondition::None;
        $self.call(blob_operation!(put), is_conditional, $self.faulty_put($request)).await
    }};
    ($self:ident, copy, $request:ident) => {{
        let is_conditional = $request.condition != WriteCondition::None;
        $self.call(blob_operation!(copy), is_conditional, $self.faulty_copy($request)).await
    }};
    ($self:ident, delete, $request:ident) => {{
        let is_conditional = $request.if_match.is_some();
        $self.call(blob_operation!(delete), is_conditional, $self.faulty_delete($request)).await
    }};
    ($self:ident, complete_upload, $request:ident) => {{
        let is_conditional = $request.condition != WriteCondition::None;
        let call = $self.faulty_complete_upload($request);
        $self.call(blob_operation!(complete_upload), is_conditional, call).await
    }};
    ($self:ident, get, $request:ident) => {
        $self.call(blob_operation!(get), false, $self.faulty_get($request)).await
    };
    ($self:ident, head, $request:ident) => {
        $self.call(blob_operation!(head), false, $self.faulty_head($request)).await
    };
    ($self:ident, delete_many, $request:ident) => {
        $self.call(blob_operation!(delete_many), false, $self.faulty_delete_many($request)).await
    };
    ($self:ident, list, $request:ident) => {
        $self.call(blob_operation!(list), false, $self.faulty_list($request)).await
    };
    ($self:ident, create_upload, $request:ident) => {{
        let call = $self.faulty_create_upload($request);
        $self.call(blob_operation!(create_upload), false, call).await
    }};
    ($self:ident, upload_part, $request:ident) => {
        $self.call(blob_operation!(upload_part), false, $self.faulty_upload_part($request)).await
    };
    ($self:ident, abort_upload, $request:ident) => {
        $self.call(blob_operation!(abort_upload), false, $self.faulty_abort_upload($request)).await
    };
    ($self:ident, list_uploads, $request:ident) => {
        $self.call(blob_operation!(list_uploads), false, $self.faulty_list_uploads($request)).await
    };
    ($self:ident, $method:ident, $request:ident) => {
        $self.call(blob_operation!($method), false, $self.blobs.$method($request)).await
    };
}

tabla_core::wrap_blobs! {
    impl[B: Blobs] Blobs for FaultBlobs<B>, inner: blobs, call: faulty, versions: own_versions
}
