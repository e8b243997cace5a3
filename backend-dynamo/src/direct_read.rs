//! Fast path of GetItem, Query and Scan: encodes items directly from the JSON of the response.
//!
//! The SDK would parse each item into a hash map, with one allocation per name and value, which
//! would then be converted to an encoded item. Connections, signatures, time-outs and exceptions
//! stay with the SDK.
//!
//! An interceptor of the store's client replaces the deserializer, only for calls through [`read`].
//! Calls on [`DynamoStore::client`](crate::DynamoStore::client) are not affected. Clients of the
//! caller have no interceptor, and the SDK parses their responses.

use std::cell::RefCell;
use std::future::Future;

use aws_sdk_dynamodb::operation::get_item::GetItemOutput;
use aws_sdk_dynamodb::operation::query::QueryOutput;
use aws_sdk_dynamodb::operation::scan::ScanOutput;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeDeserializationInterceptorContextMut, Error, Output,
};
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::orchestrator::{HttpResponse, OrchestratorError};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::client::ser_de::{DeserializeResponse, SharedResponseDeserializer};
use aws_smithy_types::config_bag::ConfigBag;
use serde::Deserialize;
use tabla_core::DynamoJson;
use tabla_core::ops::ReturnConsumedCapacity;

tokio::task_local! {
    /// Operation and response of the current call of this task.
    static SLOT: RefCell<Slot>;
}

struct Slot {
    operation: DirectRead,
    output: Option<DirectOutput>,
}

/// Operation with a direct read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DirectRead {
    GetItem,
    Query,
    Scan,
}

/// Items and position of a response. Capacity units are missing: [`read`] leaves calls that ask for
/// them to the SDK.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct DirectOutput {
    pub(crate) item: Option<DynamoJson>,
    #[serde(default)]
    pub(crate) items: Vec<DynamoJson>,
    #[serde(default)]
    pub(crate) count: i32,
    #[serde(default)]
    pub(crate) scanned_count: i32,
    pub(crate) last_evaluated_key: Option<DynamoJson>,
}

/// Makes a call, and returns the SDK's output with the items of the response.
///
/// The [`DirectOutput`] is `None` if the call asks for capacity or the client has no interceptor.
/// The items are then in the SDK's output.
pub(crate) async fn read<T, E>(
    operation: DirectRead,
    capacity: ReturnConsumedCapacity,
    call: impl Future<Output = Result<T, E>>,
) -> Result<(T, Option<DirectOutput>), E> {
    if capacity != ReturnConsumedCapacity::None {
        return Ok((call.await?, None));
    }
    let slot = RefCell::new(Slot { operation, output: None });
    let call = async {
        let output = call.await?;
        Ok((output, SLOT.with(|slot| slot.borrow_mut().output.take())))
    };
    SLOT.scope(slot, call).await
}

/// Interceptor that replaces the SDK's deserializer with [`DirectReadDeserializer`].
#[derive(Debug)]
pub(crate) struct DirectReadInterceptor;

#[dyn_dispatch_hint]
impl Intercept for DirectReadInterceptor {
    fn name(&self) -> &'static str {
        "ReadsDirectly"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        // The SDK deserializes exceptions.
        let is_success = context.response().status().is_success();
        if is_success && SLOT.try_with(|_| ()).is_ok() {
            config
                .interceptor_state()
                .store_put(SharedResponseDeserializer::new(DirectReadDeserializer));
        }
        Ok(())
    }
}

/// Deserializer that stores the response in [`SLOT`] and returns an empty output to the SDK.
#[derive(Debug)]
struct DirectReadDeserializer;

impl DeserializeResponse for DirectReadDeserializer {
    fn deserialize_nonstreaming_with_config(
        &self,
        response: &HttpResponse,
        _config: &ConfigBag,
    ) -> Result<Output, OrchestratorError<Error>> {
        let body = response.body().bytes().unwrap_or_default();
        let output: DirectOutput =
            serde_json::from_slice(body).map_err(OrchestratorError::other)?;
        SLOT.with(|slot| {
            let mut slot = slot.borrow_mut();
            slot.output = Some(output);
            Ok(match slot.operation {
                DirectRead::GetItem => Output::erase(GetItemOutput::builder().build()),
                DirectRead::Query => Output::erase(QueryOutput::builder().build()),
                DirectRead::Scan => Output::erase(ScanOutput::builder().build()),
            })
        })
    }
}
