//! Tables: created, described, listed, changed and deleted.

use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::types::{
    CreateGlobalSecondaryIndexAction, DeleteGlobalSecondaryIndexAction, GlobalSecondaryIndexUpdate,
    IndexStatus, KeyType, Projection, ProjectionType, ScalarAttributeType, TableStatus,
};

use super::{PATIENCE, Sdk, attribute, eventually, invalid, key, numbers, order, order_with, s};

pub(super) async fn check(sdk: &Sdk) {
    description_matches_the_created_table(sdk).await;
    table_name_is_unique(sdk).await;
    tables_are_listed_in_pages(sdk).await;
    index_can_be_added_back_filled_and_deleted(sdk).await;
    deleted_table_is_not_found(sdk).await;
}

async fn description_matches_the_created_table(sdk: &Sdk) {
    let name = sdk.table("Described").await;
    let table = sdk.describe(&name).await;
    assert_eq!(table.table_status(), Some(&TableStatus::Active));
    assert_eq!(table.key_schema(), [key("customer", KeyType::Hash), key("number", KeyType::Range)]);
    assert_eq!(table.attribute_definitions().len(), 4);
    assert_eq!(table.item_count(), Some(0));
    let [index] = table.global_secondary_indexes() else { panic!("one index: {table:?}") };
    assert_eq!(index.index_name(), Some("by-status"));
    assert_eq!(index.index_status(), Some(&IndexStatus::Active));
    let arn = table.table_arn().expect("the table has an ARN");
    assert_eq!(index.index_arn(), Some(format!("{arn}/index/by-status").as_str()));
    let by_arn = sdk.describe(arn).await;
    assert_eq!(by_arn.table_name(), Some(name.as_str()));
}

async fn table_name_is_unique(sdk: &Sdk) {
    let name = sdk.table("Taken").await;
    let error = sdk.orders(&name).send().await.expect_err("the table exists");
    let error = error.into_service_error();
    assert!(error.is_resource_in_use_exception(), "{error:?}");
}

async fn tables_are_listed_in_pages(sdk: &Sdk) {
    let mut names = Vec::new();
    for number in 1..=5 {
        names.push(sdk.table(&format!("Listed-{number}")).await);
    }
    let mut pages = sdk.client.list_tables().limit(2).into_paginator().send();
    let mut listed = Vec::new();
    while let Some(page) = pages.try_next().await.expect("the page is read") {
        assert!(page.table_names().len() <= 2);
        listed.extend_from_slice(page.table_names());
    }
    assert!(listed.is_sorted(), "{listed:?}");
    listed.retain(|name| names.contains(name));
    assert_eq!(listed, names);
}

async fn index_can_be_added_back_filled_and_deleted(sdk: &Sdk) {
    let name = sdk.table("Indexed").await;
    for number in 0..10 {
        let town = if number % 2 == 0 { "Cuenca" } else { "Quito" };
        sdk.put(&name, order_with("ana", number, [("town", s(town))])).await;
    }
    let status = async || {
        let table = sdk.describe(&name).await;
        let indexes = table.global_secondary_indexes();
        let found = indexes.iter().find(|index| index.index_name() == Some("by-town"));
        found.map(|index| index.index_status().expect("the index has a status").clone())
    };
    let create = CreateGlobalSecondaryIndexAction::builder()
        .index_name("by-town")
        .key_schema(key("town", KeyType::Hash))
        .projection(Projection::builder().projection_type(ProjectionType::KeysOnly).build())
        .build()
        .expect("all fields are set");
    sdk.client
        .update_table()
        .table_name(&name)
        .attribute_definitions(attribute("town", ScalarAttributeType::S))
        .global_secondary_index_updates(
            GlobalSecondaryIndexUpdate::builder().create(create).build(),
        )
        .send()
        .await
        .expect("the index is created");
    eventually(async || (status().await == Some(IndexStatus::Active)).then_some(())).await;
    let query = sdk.client.query().table_name(&name).index_name("by-town");
    let found = query
        .key_condition_expression("town = :town")
        .expression_attribute_values(":town", s("Quito"))
        .send()
        .await
        .expect("the page is read");
    let mut found = numbers(found.items());
    found.sort();
    assert_eq!(found, [1, 3, 5, 7, 9]);

    let delete = DeleteGlobalSecondaryIndexAction::builder().index_name("by-town").build();
    let delete = delete.expect("all fields are set");
    sdk.client
        .update_table()
        .table_name(&name)
        .global_secondary_index_updates(
            GlobalSecondaryIndexUpdate::builder().delete(delete).build(),
        )
        .send()
        .await
        .expect("the index is deleted");
    eventually(async || status().await.is_none().then_some(())).await;
    let scan = sdk.client.scan().table_name(&name).index_name("by-town").send().await;
    let error = scan.expect_err("the index does not exist").into_service_error();
    assert_eq!(invalid(&error), "The table does not have the specified index: by-town");
}

async fn deleted_table_is_not_found(sdk: &Sdk) {
    let name = sdk.table("Deleted").await;
    sdk.client.delete_table().table_name(&name).send().await.expect("the table is deleted");
    let waiter = sdk.client.wait_until_table_not_exists().table_name(&name);
    waiter.wait(PATIENCE).await.expect("the table is deleted");
    let error = sdk.client.describe_table().table_name(&name).send().await;
    let error = error.expect_err("the table is deleted").into_service_error();
    assert!(error.is_resource_not_found_exception(), "{error:?}");
    let get = sdk.client.get_item().table_name(&name).set_key(Some(order("ana", 1)));
    let error = get.send().await.expect_err("the table is deleted").into_service_error();
    assert!(error.is_resource_not_found_exception(), "{error:?}");
}
