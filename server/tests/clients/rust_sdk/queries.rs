//! Queries and scans, in pages.

use aws_sdk_dynamodb::types::{PutRequest, Select, WriteRequest};

use super::{Attributes, Sdk, n, numbers, order, order_with, s};

pub(super) async fn check(sdk: &Sdk) {
    let table = filled(sdk).await;
    query_returns_pages(sdk, &table).await;
    paginator_reads_index_in_descending_order(sdk, &table).await;
    filter_applies_to_items_that_were_read(sdk, &table).await;
    count_returns_no_items(sdk, &table).await;
    scan_returns_every_item_once(sdk, &table).await;
}

/// Creates a table with 25 orders: every fifth is sent, one on each day of a month.
async fn filled(sdk: &Sdk) -> String {
    let table = sdk.table("Queried").await;
    let puts = (1..=25).map(|number| {
        let status = if number % 5 == 0 { "sent" } else { "open" };
        let day = format!("2026-03-{number:02}");
        let item = order_with("ana", number, [("status", s(status)), ("day", s(day))]);
        let put = PutRequest::builder().set_item(Some(item)).build().expect("all fields are set");
        WriteRequest::builder().put_request(put).build()
    });
    let batch = sdk.client.batch_write_item().request_items(&table, puts.collect());
    let answer = batch.send().await.expect("the batch is written");
    assert!(answer.unprocessed_items().is_none_or(|left| left.is_empty()));
    table
}

async fn query_returns_pages(sdk: &Sdk, table: &str) {
    let mut pages = Vec::new();
    let mut start: Option<Attributes> = None;
    loop {
        let page = sdk
            .client
            .query()
            .table_name(table)
            .key_condition_expression("customer = :c AND #n > :n")
            .expression_attribute_names("#n", "number")
            .expression_attribute_values(":c", s("ana"))
            .expression_attribute_values(":n", n(5))
            .consistent_read(true)
            .limit(8)
            .set_exclusive_start_key(start)
            .send()
            .await
            .expect("the page is read");
        let found = numbers(page.items());
        assert_eq!(page.count() as usize, found.len());
        start = page.last_evaluated_key;
        if let Some(start) = &start {
            assert_eq!(Some(start), found.last().map(|last| order("ana", *last)).as_ref());
        }
        pages.push(found);
        if start.is_none() {
            break;
        }
    }
    let expected = [6..=13, 14..=21, 22..=25].map(Vec::from_iter);
    assert_eq!(pages, expected);
}

async fn paginator_reads_index_in_descending_order(sdk: &Sdk, table: &str) {
    let query = sdk
        .client
        .query()
        .table_name(table)
        .index_name("by-status")
        .key_condition_expression("#s = :sent AND #d < :d")
        .expression_attribute_names("#s", "status")
        .expression_attribute_names("#d", "day")
        .expression_attribute_values(":sent", s("sent"))
        .expression_attribute_values(":d", s("2026-04-01"))
        .scan_index_forward(false);
    let mut stream = query.into_paginator().page_size(2).send();
    let mut pages = Vec::new();
    while let Some(page) = stream.try_next().await.expect("the page is read") {
        pages.push(numbers(page.items()));
        if let Some(last) = page.last_evaluated_key() {
            let mut names: Vec<_> = last.keys().collect();
            names.sort();
            assert_eq!(names, ["customer", "day", "number", "status"]);
        }
    }
    assert_eq!(pages, [vec![25, 20], vec![15, 10], vec![5]]);
}

async fn filter_applies_to_items_that_were_read(sdk: &Sdk, table: &str) {
    let page = sdk
        .client
        .query()
        .table_name(table)
        .key_condition_expression("customer = :c AND #n BETWEEN :from AND :to")
        .filter_expression("#s = :sent OR begins_with(#d, :first)")
        .expression_attribute_names("#n", "number")
        .expression_attribute_names("#s", "status")
        .expression_attribute_names("#d", "day")
        .expression_attribute_values(":c", s("ana"))
        .expression_attribute_values(":from", n(1))
        .expression_attribute_values(":to", n(10))
        .expression_attribute_values(":sent", s("sent"))
        .expression_attribute_values(":first", s("2026-03-01"))
        .projection_expression("#n")
        .send()
        .await
        .expect("the page is read");
    assert_eq!(numbers(page.items()), [1, 5, 10]);
    assert!(page.items().iter().all(|item| item.len() == 1));
    assert_eq!((page.count(), page.scanned_count()), (3, 10));
}

async fn count_returns_no_items(sdk: &Sdk, table: &str) {
    let query = sdk.client.query().table_name(table).select(Select::Count);
    let page = query
        .key_condition_expression("customer = :c")
        .expression_attribute_values(":c", s("ana"))
        .send()
        .await
        .expect("the page is read");
    assert_eq!(page.count(), 25);
    assert_eq!(page.items, None);
}

async fn scan_returns_every_item_once(sdk: &Sdk, table: &str) {
    let mut met = Vec::new();
    for segment in 0..3 {
        let scan = sdk.client.scan().table_name(table).segment(segment).total_segments(3);
        let mut pages = scan.into_paginator().page_size(4).send();
        while let Some(page) = pages.try_next().await.expect("the page is read") {
            met.extend(numbers(page.items()));
        }
    }
    met.sort();
    assert_eq!(met, Vec::from_iter(1..=25));
}
