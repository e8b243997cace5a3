//! Settings of a table: expiry and tags.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::{Tag, TimeToLiveSpecification, TimeToLiveStatus};

use super::Sdk;

pub(super) async fn check(sdk: &Sdk) {
    expiry_can_be_enabled(sdk).await;
    if sdk.has_tags {
        tags_can_be_added_listed_and_removed(sdk).await;
    } else {
        tags_are_not_supported(sdk).await;
    }
}

async fn expiry_can_be_enabled(sdk: &Sdk) {
    let table = sdk.table("Expiring").await;
    let described = async || {
        let answer = sdk.client.describe_time_to_live().table_name(&table).send().await;
        answer
            .expect("the request succeeds")
            .time_to_live_description
            .expect("the description exists")
    };
    let before = described().await;
    assert_eq!(before.time_to_live_status(), Some(&TimeToLiveStatus::Disabled));
    assert_eq!(before.attribute_name(), None);
    let expiry = TimeToLiveSpecification::builder().enabled(true).attribute_name("expires");
    let expiry = expiry.build().expect("all fields are set");
    let update = sdk.client.update_time_to_live().table_name(&table);
    update.time_to_live_specification(expiry).send().await.expect("expiry is enabled");
    let after = described().await;
    let (enabling, enabled) = (TimeToLiveStatus::Enabling, TimeToLiveStatus::Enabled);
    let status = after.time_to_live_status();
    assert!([Some(&enabling), Some(&enabled)].contains(&status), "{status:?}");
    assert_eq!(after.attribute_name(), Some("expires"));
}

fn tag(key: &str, value: &str) -> Tag {
    Tag::builder().key(key).value(value).build().expect("all fields are set")
}

async fn tags_can_be_added_listed_and_removed(sdk: &Sdk) {
    let table = sdk.table("Tagged").await;
    let arn = sdk.describe(&table).await.table_arn.expect("the table has an ARN");
    let tags = async || {
        let answer = sdk.client.list_tags_of_resource().resource_arn(&arn).send().await;
        let tags = answer.expect("the tags are listed").tags.unwrap_or_default();
        let pairs = tags.into_iter().map(|tag| (tag.key, tag.value));
        BTreeMap::from_iter(pairs)
    };
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let put = sdk.client.tag_resource().resource_arn(&arn);
    let put = put.tags(tag("team", "shop")).tags(tag("stage", "test"));
    put.send().await.expect("the tags are added");
    assert_eq!(tags().await, [pair("stage", "test"), pair("team", "shop")].into());
    let take = sdk.client.untag_resource().resource_arn(&arn).tag_keys("team");
    take.send().await.expect("the tag is removed");
    assert_eq!(tags().await, [pair("stage", "test")].into());
}

async fn tags_are_not_supported(sdk: &Sdk) {
    let table = sdk.table("Tagged").await;
    let arn = sdk.describe(&table).await.table_arn.expect("the table has an ARN");
    let put = sdk.client.tag_resource().resource_arn(&arn).tags(tag("team", "shop"));
    let error =
        put.send().await.expect_err("the server does not support tags").into_service_error();
    assert!(format!("{error:?}").contains("not currently supported"), "{error:?}");
}
