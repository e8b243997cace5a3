//! Transactions: atomic, canceled with reasons, and executed once per request token.

use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Get, Put, ReturnValuesOnConditionCheckFailure, TransactGetItem,
    TransactWriteItem, Update,
};

use super::{Attributes, Sdk, n, order, order_with, s};

pub(super) async fn check(sdk: &Sdk) {
    transaction_applies_all_operations(sdk).await;
    canceled_transaction_returns_reasons_and_changes_nothing(sdk).await;
    transaction_with_a_token_is_executed_once(sdk).await;
}

fn put(table: &str, item: Attributes) -> TransactWriteItem {
    let put = Put::builder().table_name(table).set_item(Some(item));
    TransactWriteItem::builder().put(put.build().expect("all fields are set")).build()
}

fn add(table: &str, key: Attributes, amount: &str) -> TransactWriteItem {
    let update = Update::builder()
        .table_name(table)
        .set_key(Some(key))
        .update_expression("ADD amount :n")
        .expression_attribute_values(":n", n(amount));
    TransactWriteItem::builder().update(update.build().expect("all fields are set")).build()
}

async fn transaction_applies_all_operations(sdk: &Sdk) {
    let table = sdk.table("All").await;
    sdk.put(&table, order_with("ana", 1, [("amount", n(5))])).await;
    sdk.put(&table, order("ana", 2)).await;
    sdk.put(&table, order("ana", 3)).await;
    let delete = Delete::builder().table_name(&table).set_key(Some(order("ana", 2)));
    let check = ConditionCheck::builder()
        .table_name(&table)
        .set_key(Some(order("ana", 3)))
        .condition_expression("attribute_exists(customer)");
    sdk.client
        .transact_write_items()
        .transact_items(put(&table, order("eva", 1)))
        .transact_items(add(&table, order("ana", 1), "0.5"))
        .transact_items(
            TransactWriteItem::builder()
                .delete(delete.build().expect("all fields are set"))
                .build(),
        )
        .transact_items(
            TransactWriteItem::builder()
                .condition_check(check.build().expect("all fields are set"))
                .build(),
        )
        .send()
        .await
        .expect("the transaction commits");
    let mut gets = sdk.client.transact_get_items();
    for (customer, number) in [("eva", 1), ("ana", 1), ("ana", 2)] {
        let get = Get::builder().table_name(&table).set_key(Some(order(customer, number)));
        gets = gets.transact_items(
            TransactGetItem::builder().get(get.build().expect("all fields are set")).build(),
        );
    }
    let answer = gets.send().await.expect("the items are read");
    let found: Vec<_> = answer.responses().iter().map(|one| one.item().cloned()).collect();
    let changed = order_with("ana", 1, [("amount", n("5.5"))]);
    assert_eq!(found, [Some(order("eva", 1)), Some(changed), None]);
}

async fn canceled_transaction_returns_reasons_and_changes_nothing(sdk: &Sdk) {
    let table = sdk.table("Cancelled").await;
    let stored = order_with("ana", 1, [("status", s("sent"))]);
    sdk.put(&table, stored.clone()).await;
    let delete = Delete::builder()
        .table_name(&table)
        .set_key(Some(order("ana", 1)))
        .condition_expression("#s = :open")
        .expression_attribute_names("#s", "status")
        .expression_attribute_values(":open", s("open"))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    let cancelled = sdk
        .client
        .transact_write_items()
        .transact_items(put(&table, order("eva", 1)))
        .transact_items(
            TransactWriteItem::builder()
                .delete(delete.build().expect("all fields are set"))
                .build(),
        )
        .send()
        .await;
    let error = match cancelled.expect_err("the order is already sent").into_service_error() {
        TransactWriteItemsError::TransactionCanceledException(error) => error,
        other => panic!("another error: {other:?}"),
    };
    assert_eq!(
        error.message(),
        Some(
            "Transaction cancelled, please refer cancellation reasons for specific reasons \
             [None, ConditionalCheckFailed]"
        )
    );
    let [none, failed] = error.cancellation_reasons() else { panic!("two reasons: {error:?}") };
    assert_eq!((none.code(), none.message(), none.item()), (Some("None"), None, None));
    assert_eq!(failed.code(), Some("ConditionalCheckFailed"));
    assert_eq!(failed.message(), Some("The conditional request failed"));
    assert_eq!(failed.item(), Some(&stored));
    assert_eq!(sdk.get(&table, order("eva", 1)).await, None);
    assert_eq!(sdk.get(&table, order("ana", 1)).await, Some(stored));
}

async fn transaction_with_a_token_is_executed_once(sdk: &Sdk) {
    let table = sdk.table("Once-for-a-token").await;
    let send = |amount: &str| {
        let request = sdk.client.transact_write_items().client_request_token("a-token");
        request.transact_items(add(&table, order("ana", 1), amount)).send()
    };
    for _ in 0..3 {
        send("1").await.expect("the transaction is committed");
    }
    let error =
        send("5").await.expect_err("the token belongs to another request").into_service_error();
    assert!(error.is_idempotent_parameter_mismatch_exception(), "{error:?}");
    let stored = sdk.get(&table, order("ana", 1)).await;
    assert_eq!(stored, Some(order_with("ana", 1, [("amount", n(1))])));
}
