//! Conditional writes.

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure,
};

use super::{Sdk, invalid, n, order, order_with, s};

pub(super) async fn check(sdk: &Sdk) {
    conditional_put_succeeds_once(sdk).await;
    failed_condition_returns_the_stored_item(sdk).await;
    write_returns_old_and_new_values(sdk).await;
    validation_error_has_dynamodbs_message(sdk).await;
}

async fn conditional_put_succeeds_once(sdk: &Sdk) {
    let table = sdk.table("Once").await;
    let put = |status: &str| {
        let item = order_with("ana", 1, [("status", s(status))]);
        let put = sdk.client.put_item().table_name(&table).set_item(Some(item));
        put.condition_expression("attribute_not_exists(customer)").send()
    };
    put("open").await.expect("the first put succeeds");
    match put("paid").await.expect_err("the second put fails").into_service_error() {
        PutItemError::ConditionalCheckFailedException(failed) => {
            assert_eq!(failed.message(), Some("The conditional request failed"));
            assert_eq!(failed.item(), None);
        }
        other => panic!("another error: {other:?}"),
    }
    let stored = sdk.get(&table, order("ana", 1)).await;
    assert_eq!(stored, Some(order_with("ana", 1, [("status", s("open"))])));
}

async fn failed_condition_returns_the_stored_item(sdk: &Sdk) {
    let table = sdk.table("Refused").await;
    let stored = order_with("ana", 1, [("status", s("open")), ("amount", n("12.5"))]);
    sdk.put(&table, stored.clone()).await;
    let update = sdk.client.update_item().table_name(&table).set_key(Some(order("ana", 1)));
    let refused = update
        .update_expression("SET #s = :paid")
        .condition_expression("amount < :limit")
        .expression_attribute_names("#s", "status")
        .expression_attribute_values(":paid", s("paid"))
        .expression_attribute_values(":limit", n(10))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .send()
        .await;
    match refused.expect_err("the amount is over the limit").into_service_error() {
        UpdateItemError::ConditionalCheckFailedException(failed) => {
            assert_eq!(failed.item(), Some(&stored));
        }
        other => panic!("another error: {other:?}"),
    }
    assert_eq!(sdk.get(&table, order("ana", 1)).await, Some(stored));
}

async fn write_returns_old_and_new_values(sdk: &Sdk) {
    let table = sdk.table("Returned").await;
    let item = order_with("ana", 1, [("status", s("open")), ("pieces", n(1))]);
    let put = sdk.client.put_item().table_name(&table).set_item(Some(item));
    let put = put.return_values(ReturnValue::AllOld).send().await.expect("the put succeeds");
    assert_eq!(put.attributes(), None);
    let update = sdk.client.update_item().table_name(&table).set_key(Some(order("ana", 1)));
    let updated = update
        .update_expression("SET #s = :paid, parts = list_append(:none, :tea) ADD pieces :two")
        .expression_attribute_names("#s", "status")
        .expression_attribute_values(":paid", s("paid"))
        .expression_attribute_values(":none", AttributeValue::L(Vec::new()))
        .expression_attribute_values(":tea", AttributeValue::L(vec![s("tea")]))
        .expression_attribute_values(":two", n(2))
        .return_values(ReturnValue::AllNew)
        .return_consumed_capacity(ReturnConsumedCapacity::Total)
        .send()
        .await
        .expect("the update succeeds");
    let parts = AttributeValue::L(vec![s("tea")]);
    let paid = order_with("ana", 1, [("status", s("paid")), ("pieces", n(3)), ("parts", parts)]);
    assert_eq!(updated.attributes(), Some(&paid));
    let capacity = updated.consumed_capacity().expect("the request asked for it");
    assert_eq!(capacity.table_name(), Some(table.as_str()));
    assert_eq!(capacity.capacity_units(), Some(1.0));
    let delete = sdk.client.delete_item().table_name(&table).set_key(Some(order("ana", 1)));
    let deleted =
        delete.return_values(ReturnValue::AllOld).send().await.expect("the delete succeeds");
    assert_eq!(deleted.attributes(), Some(&paid));
    assert_eq!(sdk.get(&table, order("ana", 1)).await, None);
}

async fn validation_error_has_dynamodbs_message(sdk: &Sdk) {
    let table = sdk.table("Mistaken").await;
    let put = sdk.client.put_item().table_name(&table).set_item(Some(order("", 1)));
    let error = put.send().await.expect_err("the key is empty").into_service_error();
    assert_eq!(
        invalid(&error),
        "One or more parameter values are not valid. The AttributeValue for a key attribute \
         cannot contain an empty string value. Key: customer"
    );
}
