//! Conversion of errors through the SDK: every code, and every failure without a response.

use std::time::Duration;

use aws_smithy_runtime_api::client::result::ConnectorError;
use tabla_core::ops::{DeleteItem, GetItem, GetRecords, PutItem, TransactWriteItems, UpdateTable};
use tabla_core::{Item, Store};

use super::*;
use crate::fake::{FakeResponse, FakeService};
use crate::{DynamoConfig, DynamoStore};

fn key() -> Item {
    Item::new().with("pk", "a")
}

fn store(fake: &FakeService) -> DynamoStore {
    fake.store(&DynamoConfig::new())
}

/// Returns the error of a write with this response.
async fn written(response: FakeResponse) -> Error {
    store(&FakeService::new([response])).put(PutItem::new("orders", key())).await.unwrap_err()
}

/// Returns the error of a read with this response.
async fn read(response: FakeResponse) -> Error {
    store(&FakeService::new([response])).get(GetItem::new("orders", key())).await.unwrap_err()
}

fn kind_of(meaning: ErrorClass) -> (ErrorKind, Retry) {
    match meaning {
        ErrorClass::Validation => (ErrorKind::Validation, Retry::Never),
        ErrorClass::ConditionFailed => (ErrorKind::ConditionFailed { item: None }, Retry::Never),
        ErrorClass::TransactionCanceled => {
            (ErrorKind::TransactionCanceled { reasons: vec![] }, Retry::Never)
        }
        ErrorClass::TransactionConflict => (ErrorKind::TransactionConflict, Retry::Later),
        ErrorClass::TransactionInProgress => (ErrorKind::TransactionInProgress, Retry::Later),
        ErrorClass::IdempotentParameterMismatch => {
            (ErrorKind::IdempotentParameterMismatch, Retry::Never)
        }
        ErrorClass::NotFound => (ErrorKind::NotFound, Retry::Never),
        ErrorClass::InUse => (ErrorKind::InUse, Retry::Never),
        ErrorClass::ItemCollectionTooLarge => (ErrorKind::ItemCollectionTooLarge, Retry::Never),
        ErrorClass::LimitExceeded => (ErrorKind::LimitExceeded, Retry::Later),
        ErrorClass::Throttled => (ErrorKind::Throttled, Retry::Later),
        ErrorClass::TrimmedData => (ErrorKind::TrimmedData, Retry::Never),
        ErrorClass::ExpiredIterator => (ErrorKind::ExpiredIterator, Retry::Never),
        ErrorClass::AccessDenied => (ErrorKind::AccessDenied, Retry::Never),
        ErrorClass::Unsupported => (ErrorKind::Unsupported, Retry::Never),
        ErrorClass::Unavailable => (ErrorKind::Unavailable, Retry::Later),
    }
}

#[tokio::test]
async fn every_code_has_its_kind_in_every_operation() {
    for &(code, meaning) in CODES {
        let status = if meaning == ErrorClass::Unavailable { 500 } else { 400 };
        let service = || FakeService::exception(status, code, "as it is.");
        let write = store(&service()).put(PutItem::new("orders", key())).await.unwrap_err();
        let stream = store(&service()).get_records(GetRecords::new("i".into())).await.unwrap_err();
        for error in [&write, &stream] {
            let (kind, retry) = kind_of(meaning);
            assert_eq!(error.code(), code);
            assert_eq!(error.message(), "as it is.", "{code}");
            assert_eq!(error.kind(), &kind, "{code}");
            assert_eq!(error.retry(), retry, "{code}");
            assert_eq!(error.request_id(), Some("REQUEST-1"), "{code}");
            assert!(StdError::source(error).is_some(), "{code}");
        }
        let maybe = matches!(meaning, ErrorClass::Unavailable | ErrorClass::TransactionInProgress);
        let expected = if maybe { Applied::Maybe } else { Applied::No };
        assert_eq!(write.applied(), expected, "{code}");
        assert_eq!(stream.applied(), Applied::No, "{code}");
    }
}

#[tokio::test]
async fn status_507_is_a_full_disk_without_retry() {
    let service = FakeService::exception(507, "InternalServerError", "no space");
    let error = store(&service).put(PutItem::new("orders", key())).await.unwrap_err();
    assert!(error.is_disk_full(), "{error}");
    assert_eq!((error.kind(), error.message()), (&ErrorKind::Unavailable, "no space"));
    assert_eq!((error.retry(), error.applied()), (Retry::Exhausted, Applied::Maybe));
}

#[tokio::test]
async fn failed_condition_has_its_item() {
    let body = r#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
        "Message":"The conditional request failed",
        "Item":{"pk":{"S":"a"},"n":{"N":"1"}}}"#;
    let fake = FakeService::new([FakeResponse::Body(400, body.into())]);
    let error = store(&fake).delete(DeleteItem::new("orders", key())).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::ConditionFailed { item: Some(key().with("n", 1)) });
    assert_eq!(error.message(), "The conditional request failed");
}

#[tokio::test]
async fn canceled_transaction_has_all_reasons() {
    let body = r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message":"Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, Novelty]",
        "CancellationReasons":[{"Code":"None"},
            {"Code":"ConditionalCheckFailed","Message":"The conditional request failed",
             "Item":{"pk":{"S":"a"}}},
            {"Code":"Novelty","Message":"m"}]}"#;
    let fake = FakeService::new([FakeResponse::Body(400, body.into())]);
    let error = store(&fake).transact_write(TransactWriteItems::new()).await.unwrap_err();
    assert_eq!(
        error.cancellation_reasons(),
        [
            CancellationReason::none(),
            CancellationReason::condition_failed(Some(key())),
            CancellationReason::new(CancellationCode::Other).with_message("m".to_owned()),
        ]
    );
    assert!(error.is_condition_failed());
    assert!(error.message().ends_with("[None, ConditionalCheckFailed, Novelty]"));
}

#[tokio::test]
async fn transaction_canceled_by_conflicts_only_can_be_retried() {
    let body = r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message":"m","CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict"}]}"#;
    let fake = FakeService::new([FakeResponse::Body(400, body.into())]);
    let error = store(&fake).transact_write(TransactWriteItems::new()).await.unwrap_err();
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::No));
}

#[tokio::test]
async fn unknown_code_is_in_the_message() {
    let fake = FakeService::exception(400, "NovelException", "what is this");
    let error = store(&fake).put(PutItem::new("orders", key())).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unexpected);
    assert_eq!(error.code(), UNKNOWN);
    assert_eq!(error.message(), "NovelException: what is this");
    assert_eq!((error.retry(), error.applied()), (Retry::Never, Applied::No));

    let fake = FakeService::exception(503, "NovelException", "later");
    let error = store(&fake).put(PutItem::new("orders", key())).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::Maybe));
}

#[tokio::test]
async fn response_without_a_code_is_classified_by_status() {
    let page = || "<html>Bad gateway</html>".to_owned();
    let error = written(FakeResponse::Body(502, page())).await;
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::Maybe));
    let error = written(FakeResponse::Body(429, page())).await;
    assert_eq!(error.kind(), &ErrorKind::Throttled);
    assert_eq!(error.applied(), Applied::No);
    let error = written(FakeResponse::Body(404, page())).await;
    assert_eq!(error.kind(), &ErrorKind::Unexpected);
}

#[tokio::test]
async fn refused_connection_is_not_applied() {
    let refused = || {
        ConnectorError::io(Box::new(io::Error::new(io::ErrorKind::ConnectionRefused, "refused")))
    };
    let error = written(FakeResponse::Fails(refused)).await;
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::No));
    assert_eq!(error.message(), "the service cannot be reached: refused");
}

#[tokio::test]
async fn unused_port_is_a_refused_connection() {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    drop(socket);
    let config = DynamoConfig::for_endpoint(format!("http://{address}"));
    let error = DynamoStore::open(&config).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!(error.applied(), Applied::No);

    let store = DynamoStore::open(&config.with_engine(crate::Engine::Local)).await.unwrap();
    let error = store.put(PutItem::new("orders", key())).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::No));
}

#[tokio::test]
async fn lost_response_of_a_write_is_maybe_applied() {
    let reset =
        || ConnectorError::io(Box::new(io::Error::new(io::ErrorKind::ConnectionReset, "reset")));
    let error = written(FakeResponse::Fails(reset)).await;
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::Maybe));
    let error = read(FakeResponse::Fails(reset)).await;
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::No));

    let late = || ConnectorError::timeout("too late".into());
    assert_eq!(written(FakeResponse::Fails(late)).await.applied(), Applied::Maybe);
    assert_eq!(read(FakeResponse::Fails(late)).await.applied(), Applied::No);
}

#[tokio::test]
async fn unreadable_response_of_a_write_is_maybe_applied() {
    let error = written(FakeResponse::Body(200, "{\"Attributes\":".into())).await;
    assert_eq!(
        error.message(),
        "cannot read the response of the service, which has HTTP status 200"
    );
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::Maybe));
}

#[tokio::test(start_paused = true)]
async fn missing_response_fails_at_the_time_limit() {
    let config = DynamoConfig::new().with_operation_timeout(Duration::from_secs(20));
    let fake = FakeService::new([FakeResponse::Silence]);
    let error = fake.store(&config).put(PutItem::new("orders", key())).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    let message = error.message();
    assert!(message.starts_with("the service did not respond in time: "), "{message}");
    assert!(message.ends_with("20s"), "{message}");
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::Maybe));
}

#[tokio::test]
async fn invalid_http_request_is_not_retried() {
    let error = written(FakeResponse::Fails(|| ConnectorError::user("no host".into()))).await;
    assert_eq!(error.kind(), &ErrorKind::Unexpected);
    assert_eq!((error.retry(), error.applied()), (Retry::Never, Applied::No));
}

#[tokio::test]
async fn missing_credentials_are_a_configuration_error() {
    let missing =
        || ConnectorError::other(Box::new(CredentialsError::not_loaded("none in the chain")), None);
    let error = written(FakeResponse::Fails(missing)).await;
    assert_eq!(error.kind(), &ErrorKind::Config);
    assert_eq!(
        error.message(),
        "no AWS credentials: none in the chain; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
         name a profile that has them"
    );
    assert_eq!((error.retry(), error.applied()), (Retry::Never, Applied::No));
}

#[tokio::test]
async fn sdk_does_not_retry() {
    let fake = FakeService::new([
        FakeResponse::Body(500, r#"{"__type":"InternalServerError","message":"m"}"#.into()),
        FakeResponse::Body(200, "{}".into()),
    ]);
    store(&fake).update_table(UpdateTable::new("orders")).await.unwrap_err();
    assert_eq!(fake.requests().len(), 1);
}
