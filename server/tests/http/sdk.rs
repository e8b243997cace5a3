//! The AWS SDK: over a socket with signatures, and without a socket.

use std::sync::Arc;

use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType,
    ScalarAttributeType,
};
use tabla_core::ops::ListTables;
use tabla_core::{MemoryStore, Store};
use tabla_dynamo::{DynamoConfig, DynamoStore, Engine};
use tabla_server::{Credentials, ServerConfig, sdk_client, spawn};

use crate::client::Client;

#[tokio::test]
async fn sdk_client_works_without_a_socket() {
    let client = sdk_client(Arc::new(MemoryStore::new()));
    let attribute = AttributeDefinition::builder()
        .attribute_name("pk")
        .attribute_type(ScalarAttributeType::S)
        .build()
        .unwrap();
    let key = KeySchemaElement::builder().attribute_name("pk").key_type(KeyType::Hash).build();
    client
        .create_table()
        .table_name("things")
        .attribute_definitions(attribute)
        .key_schema(key.unwrap())
        .billing_mode(BillingMode::PayPerRequest)
        .send()
        .await
        .unwrap();
    let put = || {
        client
            .put_item()
            .table_name("things")
            .item("pk", AttributeValue::S("a".to_owned()))
            .condition_expression("attribute_not_exists(pk)")
            .send()
    };
    put().await.unwrap();
    let lost = put().await.unwrap_err().into_service_error();
    assert!(lost.is_conditional_check_failed_exception(), "{lost:?}");
    let found = client
        .get_item()
        .table_name("things")
        .key("pk", AttributeValue::S("a".to_owned()))
        .send()
        .await
        .unwrap();
    assert!(found.item.is_some_and(|item| item.contains_key("pk")));
}

/// Credentials that DynamoStore uses for an endpoint without its own.
const KEYS: &str = "[default]\naws_access_key_id = tabla\naws_secret_access_key = ";

#[tokio::test]
async fn signature_of_the_sdk_is_accepted_with_a_known_key() {
    for (secret, code) in [("tabla", None), ("another", Some("InvalidSignatureException"))] {
        let keys = Credentials::parse(&format!("{KEYS}{secret}\n")).unwrap();
        let config = ServerConfig::new().with_credentials(keys);
        let server = config.spawn(Arc::new(MemoryStore::new())).await.unwrap();
        let config = DynamoConfig::for_endpoint(server.url()).with_engine(Engine::Tabla);
        let store = DynamoStore::open(&config).await.unwrap();
        let listed = store.list_tables(ListTables::default()).await;
        match code {
            None => assert!(listed.unwrap().table_names.is_empty()),
            Some(code) => {
                let error = listed.unwrap_err();
                assert!(format!("{error:?}").contains(code), "{error:?}");
            }
        }
        let mut anybody = Client::connect(server.address()).await;
        let answer = anybody.ask("ListTables", "{}").await;
        assert_eq!(answer.exception(), "MissingAuthenticationTokenException");
        assert_eq!(answer.status, 400);
    }
}

#[tokio::test]
async fn client_recognizes_a_tabla_server() {
    let server = spawn(Arc::new(MemoryStore::new())).await.unwrap();
    let store = DynamoStore::open(&DynamoConfig::for_endpoint(server.url())).await.unwrap();
    assert_eq!(store.capabilities().engine, "tabla");
}
