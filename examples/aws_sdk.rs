//! An AWS SDK program on SQLite, without a socket: only the construction of the client differs.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType,
    ScalarAttributeType,
};
use tabla::server::sdk_client;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // On AWS, the program has `Client::new(&aws_config::load_from_env().await)` here.
    let folder = tempfile::tempdir()?;
    let address = format!("sqlite:{}", folder.path().join("tickets.db").display());
    let client = sdk_client(tabla::open(&address).await?);

    create_table(&client).await?;
    for visitor in ["ana", "bo", "cleo"] {
        match sell(&client, "concert").await? {
            Some(left) => println!("{visitor} has a ticket, {left} left"),
            None => println!("{visitor} comes too late"),
        }
    }
    assert_eq!(sell(&client, "concert").await?, None);
    Ok(())
}

// The code below uses only the AWS SDK.

async fn create_table(client: &Client) -> Result<(), aws_sdk_dynamodb::Error> {
    let name = AttributeDefinition::builder().attribute_name("event");
    let key = KeySchemaElement::builder().attribute_name("event").key_type(KeyType::Hash);
    client
        .create_table()
        .table_name("tickets")
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(name.attribute_type(ScalarAttributeType::S).build()?)
        .key_schema(key.build()?)
        .send()
        .await?;
    client
        .put_item()
        .table_name("tickets")
        .item("event", AttributeValue::S("concert".to_owned()))
        .item("seats", AttributeValue::N("2".to_owned()))
        .send()
        .await?;
    Ok(())
}

/// Sells a ticket, and returns the number of seats left; `None` if the event is sold out.
async fn sell(client: &Client, event: &str) -> Result<Option<u32>, aws_sdk_dynamodb::Error> {
    let sold = client
        .update_item()
        .table_name("tickets")
        .key("event", AttributeValue::S(event.to_owned()))
        .update_expression("SET seats = seats - :one")
        .condition_expression("seats >= :one")
        .expression_attribute_values(":one", AttributeValue::N("1".to_owned()))
        .return_values(aws_sdk_dynamodb::types::ReturnValue::UpdatedNew)
        .send()
        .await;
    match sold {
        Ok(sold) => {
            let seats = sold.attributes().and_then(|attributes| attributes.get("seats"));
            let seats = seats.and_then(|seats| seats.as_n().ok()?.parse().ok());
            Ok(Some(seats.expect("UPDATED_NEW has the number")))
        }
        Err(SdkError::ServiceError(error))
            if matches!(error.err(), UpdateItemError::ConditionalCheckFailedException(_)) =>
        {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
