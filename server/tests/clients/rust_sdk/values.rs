//! Values are returned as they were written: numbers, bytes, sets, and nested values.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue};

use super::{Sdk, invalid, n, order, order_with, s};

pub(super) async fn check(sdk: &Sdk) {
    every_type_is_returned_unchanged(sdk).await;
    numbers_keep_38_digits(sdk).await;
    number_with_39_digits_is_refused(sdk).await;
}

async fn every_type_is_returned_unchanged(sdk: &Sdk) {
    let table = sdk.table("Types").await;
    let map = [("a.b".to_owned(), AttributeValue::L(vec![n(1), AttributeValue::Null(true)]))];
    let mut item = order_with(
        "ana",
        1,
        [
            ("text", s("añejo ☕ \0 😀")),
            ("empty", s("")),
            ("binary", AttributeValue::B(Blob::new(Vec::from_iter(0..=255)))),
            ("no-bytes", AttributeValue::B(Blob::new([]))),
            ("yes", AttributeValue::Bool(true)),
            ("nothing", AttributeValue::Null(true)),
            ("list", AttributeValue::L(vec![n("-2.5"), AttributeValue::L(Vec::new())])),
            ("map", AttributeValue::M(map.into())),
        ],
    );
    // Sets have one element, so that their order is defined.
    item.insert("texts".to_owned(), AttributeValue::Ss(vec!["ñ".to_owned()]));
    item.insert("numbers".to_owned(), AttributeValue::Ns(vec!["0.5".to_owned()]));
    item.insert("binaries".to_owned(), AttributeValue::Bs(vec![Blob::new([255, 254])]));
    sdk.put(&table, item.clone()).await;
    assert_eq!(sdk.get(&table, order("ana", 1)).await, Some(item));
}

async fn numbers_keep_38_digits(sdk: &Sdk) {
    let table = sdk.table("Numbers").await;
    for number in [
        "12345678901234567890123456789012345678",
        "-0.12345678901234567890123456789012345678",
        "0.1",
    ] {
        let item = order_with("ana", 1, [("value", n(number))]);
        sdk.put(&table, item.clone()).await;
        assert_eq!(sdk.get(&table, order("ana", 1)).await, Some(item));
    }
    let update = sdk.client.update_item().table_name(&table).set_key(Some(order("ana", 1)));
    let updated = update
        .update_expression("SET #v = #v + :more")
        .expression_attribute_names("#v", "value")
        .expression_attribute_values(":more", n("0.0000000000000000000000000000000000001"))
        .return_values(ReturnValue::UpdatedNew)
        .send()
        .await
        .expect("a number may have 38 digits");
    let sum = n("0.1000000000000000000000000000000000001");
    assert_eq!(updated.attributes(), Some(&[("value".to_owned(), sum)].into()));
}

async fn number_with_39_digits_is_refused(sdk: &Sdk) {
    let table = sdk.table("Too-many-digits").await;
    let item = order_with("ana", 1, [("value", n("1".repeat(39)))]);
    let put = sdk.client.put_item().table_name(&table).set_item(Some(item)).send().await;
    let error = put.expect_err("a number may have at most 38 digits").into_service_error();
    assert!(invalid(&error).contains("38"), "{error:?}");
    assert_eq!(sdk.get(&table, order("ana", 1)).await, None);
}
