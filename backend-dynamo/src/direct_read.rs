//! Items straight from the service's answer.
//!
//! The SDK reads an answer into a hash map per item, one allocation per name and value, which
//! would then be read once more into an encoded item. On the reads that applications make most,
//! the text of the answer is encoded instead, and the SDK's maps are never made. Everything else
//! is the SDK's: connections, signatures, time-outs, exceptions.
//!
//! The way in is an interceptor on the store's clients. It acts only on calls made through
//! [`read`]; calls that somebody makes on [`DynamoStore::client`](crate::DynamoStore::client) are
//! not touched, and a client that somebody else made answers as it always does.

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
    /// The answer to the call that is under way in this task.
    static SLOT: RefCell<Slot>;
}

struct Slot {
    operation: DirectRead,
    answer: Option<DirectOutput>,
}

/// The operations whose answers are read here.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DirectRead {
    GetItem,
    Query,
    Scan,
}

/// What an answer has of items. Their capacity units are the SDK's to read: a call that asks for
/// them goes the SDK's way.
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

/// Makes a call, and takes the items from its answer. There is no [`Answer`] if the client is not
/// the store's own: then they are in the SDK's output.
pub(crate) async fn read<T, E>(
    operation: DirectRead,
    capacity: ReturnConsumedCapacity,
    call: impl Future<Output = Result<T, E>>,
) -> Result<(T, Option<DirectOutput>), E> {
    if capacity != ReturnConsumedCapacity::None {
        return Ok((call.await?, None));
    }
    let slot = RefCell::new(Slot { operation, answer: None });
    let call = async {
        let output = call.await?;
        Ok((output, SLOT.with(|slot| slot.borrow_mut().answer.take())))
    };
    SLOT.scope(slot, call).await
}

/// Puts [`TakesItems`] in the place of the SDK's reader of answers.
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
        // Exceptions are left to the SDK.
        let is_answer = context.response().status().is_success();
        if is_answer && SLOT.try_with(|_| ()).is_ok() {
            config
                .interceptor_state()
                .store_put(SharedResponseDeserializer::new(DirectReadDeserializer));
        }
        Ok(())
    }
}

/// Reads an answer into the slot of the task, and leaves the SDK an empty output.
#[derive(Debug)]
struct DirectReadDeserializer;

impl DeserializeResponse for DirectReadDeserializer {
    fn deserialize_nonstreaming_with_config(
        &self,
        response: &HttpResponse,
        _config: &ConfigBag,
    ) -> Result<Output, OrchestratorError<Error>> {
        let body = response.body().bytes().unwrap_or_default();
        let answer: DirectOutput =
            serde_json::from_slice(body).map_err(OrchestratorError::other)?;
        SLOT.with(|slot| {
            let mut slot = slot.borrow_mut();
            slot.answer = Some(answer);
            Ok(match slot.operation {
                DirectRead::GetItem => Output::erase(GetItemOutput::builder().build()),
                DirectRead::Query => Output::erase(QueryOutput::builder().build()),
                DirectRead::Scan => Output::erase(ScanOutput::builder().build()),
            })
        })
    }
}
