//! All causes of failure, each at the last operation of a transaction.

use super::super::prelude::*;
use super::fixture::{Fixture, key};

const CONDITION: &str = "ConditionalCheckFailed";
const LOST: &str = "The conditional request failed";
const INVALID: &str = "ValidationError";

/// Returns an update of the last item of the fixture.
fn update_last(stage: &Fixture, update: Update) -> UpdateItem {
    UpdateItem::new(&stage.table, Fixture::last()).update(update)
}

fn number(text: &str) -> Number {
    Number::parse(text).expect("valid number")
}

pub(super) async fn failed_put_condition_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let put = PutItem::new(&stage.table, Fixture::last()).condition(attr("pk").not_exists());
    let result = stage.run(&ctx, put).await;
    stage.expect_last(&ctx, result, CONDITION, LOST);
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn failed_update_condition_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let update = update_last(&stage, Update::new().set("gsk", "moved").add("n", 1));
    let result = stage.run(&ctx, update.condition(attr("n").gt(1))).await;
    stage.expect_last(&ctx, result, CONDITION, LOST);
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn failed_delete_condition_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let delete = DeleteItem::new(&stage.table, Fixture::last()).condition(attr("s").ne("text"));
    let result = stage.run(&ctx, delete).await;
    stage.expect_last(&ctx, result, CONDITION, LOST);
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn failed_condition_check_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for condition in [
        attr("m").field("a").eq(2),
        attr("l").index(0).exists().and(attr("l").index(1).exists()),
        attr("s").begins_with("T"),
        attr("n").eq("1"),
        attr("s").size().gt(4),
        !attr("pk").exists(),
    ] {
        let check = ConditionCheck::new(&stage.table, Fixture::last(), condition);
        let result = stage.run(&ctx, check).await;
        stage.expect_last(&ctx, result, CONDITION, LOST);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn failed_condition_on_missing_item_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let table = &stage.table;
    let absent = key("absent");
    let operations: [TransactWriteItem; 4] = [
        PutItem::new(table, absent.clone()).condition(attr("pk").exists()).into(),
        UpdateItem::new(table, absent.clone())
            .update(Update::new().add("n", 1))
            .condition(attr("n").lt(5))
            .into(),
        DeleteItem::new(table, absent.clone()).condition(attr("n").eq(1)).into(),
        ConditionCheck::new(table, absent, attr("sk").exists()).into(),
    ];
    for operation in operations {
        let result = stage.run(&ctx, operation).await;
        stage.expect_last(&ctx, result, CONDITION, LOST);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn key_of_wrong_type_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let table = &stage.table;
    let wrong = item! { "pk" => "a", "sk" => 1 };
    let result = stage.run(&ctx, PutItem::new(table, wrong.clone())).await;
    let text =
        "One or more parameter values were invalid: Type mismatch for key sk expected: S actual: N";
    stage.expect_last(&ctx, result, INVALID, text);
    stage.expect_unchanged(&ctx).await;
    let operations: [TransactWriteItem; 3] = [
        UpdateItem::new(table, wrong.clone()).update(Update::new().set("n", 1)).into(),
        DeleteItem::new(table, wrong.clone()).into(),
        ConditionCheck::new(table, wrong, attr("pk").not_exists()).into(),
    ];
    for operation in operations {
        let result = stage.run(&ctx, operation).await;
        let text = "The provided key element does not match the schema";
        stage.expect_last(&ctx, result, INVALID, text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn key_too_long_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let table = &stage.table;
    let partition = item! { "pk" => "p".repeat(2049), "sk" => "b" };
    let sort = item! { "pk" => "a", "sk" => "s".repeat(1025) };
    let hash = "One or more parameter values were invalid: Size of hashkey has exceeded the \
                maximum size limit of2048 bytes";
    let range = "One or more parameter values were invalid: Aggregated size of all range keys has \
                 exceeded the size limit of 1024 bytes";
    for (long, text) in [(partition, hash), (sort, range)] {
        let operations: [TransactWriteItem; 4] = [
            PutItem::new(table, long.clone()).into(),
            UpdateItem::new(table, long.clone()).update(Update::new().set("n", 1)).into(),
            DeleteItem::new(table, long.clone()).into(),
            ConditionCheck::new(table, long, attr("pk").not_exists()).into(),
        ];
        for operation in operations {
            let result = stage.run(&ctx, operation).await;
            stage.expect_last(&ctx, result, INVALID, text);
        }
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn index_key_of_wrong_type_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for (attribute, index) in [("gpk", "gsi"), ("gsk", "gsi"), ("lsk", "lsi")] {
        let put = PutItem::new(&stage.table, Fixture::last().with(attribute, 1));
        let result = stage.run(&ctx, put).await;
        let text = format!(
            "One or more parameter values were invalid: Type mismatch for Index Key {attribute} \
             Expected: S Actual: N IndexName: {index}"
        );
        stage.expect_last(&ctx, result, INVALID, &text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn update_to_index_key_of_wrong_type_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for attribute in ["gpk", "gsk", "lsk"] {
        let update = update_last(&stage, Update::new().set(attribute, attr("n")));
        let result = stage.run(&ctx, update).await;
        let text = "The update expression attempted to update the secondary index key to \
                    unsupported type";
        stage.expect_last(&ctx, result, INVALID, text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn update_to_index_key_too_long_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for (attribute, length) in [("gpk", 2049), ("gsk", 1025), ("lsk", 1025)] {
        let update = update_last(&stage, Update::new().set(attribute, "k".repeat(length)));
        let result = stage.run(&ctx, update).await;
        let text = "The update expression attempted to update the secondary index key beyond \
                    allowed size limits";
        stage.expect_last(&ctx, result, INVALID, text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn put_of_index_key_too_long_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for (attribute, length) in [("gpk", 2049), ("gsk", 1025), ("lsk", 1025)] {
        let item = key("long").with("gpk", "g").with("gsk", "long").with("lsk", "long");
        let put = PutItem::new(&stage.table, item.with(attribute, "k".repeat(length)));
        let result = stage.run(&ctx, put).await;
        let (index, limit) = (if attribute == "lsk" { "lsi" } else { "gsi" }, length - 1);
        let text = format!(
            "One or more parameter values were invalid: Size limit exceeded for Index Key \
             {attribute} Actual Size: {length} bytes Max Size: {limit} bytes IndexName: {index}"
        );
        ctx.expect_validation(result, &text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn update_of_key_attribute_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for attribute in ["pk", "sk"] {
        let update = update_last(&stage, Update::new().set(attribute, "other"));
        let result = stage.run(&ctx, update).await;
        let text = format!(
            "One or more parameter values were invalid: Cannot update attribute {attribute}. This \
             attribute is part of the key"
        );
        stage.expect_last(&ctx, result, INVALID, &text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn update_over_400_kb_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let half = "x".repeat(210_000);
    let large = key("large").with("v", half.clone());
    let table = ctx.table_with(TableSpec::s_s(), [large]).await;
    let before = ctx.snapshot(&table).await;
    let update = UpdateItem::new(&table, key("large")).update(Update::new().set("w", half));
    let result = stage.run(&ctx, update).await;
    let text = "Item size to update has exceeded the maximum allowed size";
    stage.expect_last(&ctx, result, INVALID, text);
    ctx.expect_unchanged(&before).await;
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn update_with_wrong_operand_type_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for change in [
        Update::new().add("s", 1),
        Update::new().set("n", attr("s").plus(1)),
        Update::new().set("l", attr("n").append(list![2])),
        Update::new().delete("n", Set::new(["a".to_owned()]).expect("a set")),
    ] {
        let result = stage.run(&ctx, update_last(&stage, change)).await;
        let text = "An operand in the update expression has an incorrect data type";
        stage.expect_last(&ctx, result, INVALID, text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn update_reading_missing_attribute_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let change = Update::new().set("n", attr("absent").plus(1));
    let result = stage.run(&ctx, update_last(&stage, change)).await;
    let text = "The provided expression refers to an attribute that does not exist in the item";
    stage.expect_last(&ctx, result, INVALID, text);
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn update_of_invalid_path_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for path in [attr("absent").field("a"), attr("s").field("a"), attr("m").index(0)] {
        let result = stage.run(&ctx, update_last(&stage, Update::new().set(path, 1))).await;
        let text = "The document path provided in the update expression is invalid for update";
        stage.expect_last(&ctx, result, INVALID, text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn update_overflow_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let large = number("9E125");
    let table = ctx.table_with(TableSpec::s_s(), [key("large").with("n", large)]).await;
    let before = ctx.snapshot(&table).await;
    let update = UpdateItem::new(&table, key("large")).update(Update::new().add("n", large));
    let result = stage.run(&ctx, update).await;
    let text = "Number overflow. Attempting to store a number with magnitude larger than \
                supported range";
    stage.expect_last(&ctx, result, INVALID, text);
    ctx.expect_unchanged(&before).await;
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn update_over_38_digits_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let change = Update::new().set("n", attr("n").plus(number("1E38")));
    let result = stage.run(&ctx, update_last(&stage, change)).await;
    let text = "Attempting to store more than 38 significant digits in a Number";
    stage.expect_last(&ctx, result, INVALID, text);
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn update_nested_too_deep_cancels(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    // 31 containers are the deepest valid value; the map that receives it adds one more.
    let deep = (0..31).fold(Value::from("core"), |inner, _| list![inner]);
    let change = Update::new().set(attr("m").field("deep"), deep);
    let result = stage.run(&ctx, update_last(&stage, change)).await;
    let text = "Nesting Levels have exceeded supported limits";
    stage.expect_last(&ctx, result, INVALID, text);
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn empty_key_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let table = &stage.table;
    for (attribute, empty) in
        [("pk", item! { "pk" => "", "sk" => "b" }), ("sk", item! { "pk" => "a", "sk" => "" })]
    {
        let operations: [TransactWriteItem; 4] = [
            PutItem::new(table, empty.clone()).into(),
            UpdateItem::new(table, empty.clone()).update(Update::new().set("n", 1)).into(),
            DeleteItem::new(table, empty.clone()).into(),
            ConditionCheck::new(table, empty, attr("pk").not_exists()).into(),
        ];
        for operation in operations {
            let result = stage.run(&ctx, operation).await;
            let text = format!(
                "One or more parameter values are not valid. The AttributeValue for a key \
                 attribute cannot contain an empty string value. Key: {attribute}"
            );
            ctx.expect_validation(result, &text);
        }
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn empty_index_key_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for (attribute, index) in [("gpk", "gsi"), ("gsk", "gsi"), ("lsk", "lsi")] {
        let put = PutItem::new(&stage.table, Fixture::last().with(attribute, ""));
        let result = stage.run(&ctx, put).await;
        let text = format!(
            "One or more parameter values are not valid. A value specified for a secondary index \
             key is not supported. The AttributeValue for a key attribute cannot contain an empty \
             string value. IndexName: {index}, IndexKey: {attribute}"
        );
        ctx.expect_validation(result, &text);
        let update = update_last(&stage, Update::new().set(attribute, ""));
        let result = stage.run(&ctx, update).await;
        let text = "One or more parameter values are not valid. The update expression attempted \
                    to update a secondary index key to a value that is not supported. The \
                    AttributeValue for a key attribute cannot contain an empty string value.";
        ctx.expect_validation(result, text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn key_with_wrong_attributes_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let table = &stage.table;
    for wrong in [item! { "pk" => "a" }, Fixture::last().with("n", 1)] {
        let operations: [TransactWriteItem; 3] = [
            UpdateItem::new(table, wrong.clone()).update(Update::new().set("x", 1)).into(),
            DeleteItem::new(table, wrong.clone()).into(),
            ConditionCheck::new(table, wrong, attr("pk").not_exists()).into(),
        ];
        for operation in operations {
            let result = stage.run(&ctx, operation).await;
            let text = "The provided key element does not match the schema";
            ctx.expect_validation(result, text);
        }
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn item_without_key_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for (missing, item) in [("sk", item! { "pk" => "a" }), ("pk", item! { "sk" => "last" })] {
        let result = stage.run(&ctx, PutItem::new(&stage.table, item)).await;
        let text = format!(
            "One or more parameter values were invalid: Missing the key {missing} in the item"
        );
        ctx.expect_validation(result, &text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn oversized_put_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let item = Fixture::last();
    let filler = "x".repeat(409_600 - item.size());
    let result = stage.run(&ctx, PutItem::new(&stage.table, item.with("v", filler))).await;
    ctx.expect_validation(result, "Item size has exceeded the maximum allowed size");
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn invalid_expression_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let table = &stage.table;
    let long = format!("attribute_exists(s){}", " ".repeat(4097 - 19));
    let operations: [(TransactWriteItem, &str); 4] = [
        (
            PutItem::new(table, Fixture::last()).condition("s = = s").into(),
            "Invalid ConditionExpression: Syntax error; token: \"=\", near: \"= = s\"",
        ),
        (
            UpdateItem::new(table, Fixture::last()).update("SET").into(),
            "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"SET\"",
        ),
        (
            DeleteItem::new(table, Fixture::last()).condition("status = s").into(),
            "Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: \
             status",
        ),
        (
            ConditionCheck::new(table, Fixture::last(), long.as_str()).into(),
            "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; \
             expression size: 4097",
        ),
    ];
    for (operation, text) in operations {
        let result = stage.run(&ctx, operation).await;
        ctx.expect_validation(result, text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn unused_placeholder_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let table = &stage.table;
    let value = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}";
    let name = "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}";
    let operations: [(TransactWriteItem, &str); 4] = [
        (
            PutItem::new(table, Fixture::last())
                .condition("attribute_exists(s)")
                .value(":x", 1)
                .into(),
            value,
        ),
        (UpdateItem::new(table, Fixture::last()).update("REMOVE s").name("#x", "s").into(), name),
        (
            DeleteItem::new(table, Fixture::last())
                .condition("attribute_exists(s)")
                .name("#x", "s")
                .into(),
            name,
        ),
        (
            ConditionCheck::new(table, Fixture::last(), "attribute_exists(s)")
                .value(":x", 1)
                .into(),
            value,
        ),
    ];
    for (operation, text) in operations {
        let result = stage.run(&ctx, operation).await;
        ctx.expect_validation(result, text);
        stage.expect_unchanged(&ctx).await;
    }
    let values_alone = PutItem::new(table, Fixture::last()).value(":x", 1);
    ctx.expect_validation(
        stage.run(&ctx, values_alone).await,
        "ExpressionAttributeValues can only be specified when using expressions: \
         ConditionExpression is null",
    );
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn undefined_placeholder_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let table = &stage.table;
    let check = ConditionCheck::new(table, Fixture::last(), "n = :x");
    ctx.expect_validation(
        stage.run(&ctx, check).await,
        "Invalid ConditionExpression: An expression attribute value used in expression is not \
         defined; attribute value: :x",
    );
    let update = UpdateItem::new(table, Fixture::last()).update("REMOVE #x");
    ctx.expect_validation(
        stage.run(&ctx, update).await,
        "Invalid UpdateExpression: An expression attribute name used in the document path is not \
         defined; attribute name: #x",
    );
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn overlapping_paths_reject_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let update = UpdateItem::new(&stage.table, Fixture::last()).update("REMOVE m, m.a");
    ctx.expect_validation(
        stage.run(&ctx, update).await,
        "Invalid UpdateExpression: Two document paths overlap with each other; must remove or \
         rewrite one of these paths; path one: [m], path two: [m, a]",
    );
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn invalid_table_name_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for name in ["a!b", "ab"] {
        let result = stage.run(&ctx, PutItem::new(name, Fixture::last())).await;
        ctx.expect_kind(result, "Validation", |kind| matches!(kind, ErrorKind::Validation));
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn missing_table_fails_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let missing = ctx.unused_table_name();
    let operations: [TransactWriteItem; 4] = [
        PutItem::new(&missing, Fixture::last()).into(),
        UpdateItem::new(&missing, Fixture::last()).update(Update::new().set("n", 1)).into(),
        DeleteItem::new(&missing, Fixture::last()).into(),
        ConditionCheck::new(&missing, Fixture::last(), attr("pk").exists()).into(),
    ];
    for operation in operations {
        let result = stage.run(&ctx, operation).await;
        ctx.expect_table_missing(result);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn duplicate_item_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    for name in ["added", "replaced", "changed", "removed", "checked"] {
        let result = stage.run(&ctx, DeleteItem::new(&stage.table, key(name))).await;
        let text = "Transaction request cannot include multiple operations on one item";
        ctx.expect_validation(result, text);
        stage.expect_unchanged(&ctx).await;
    }
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn operation_101_rejects_the_request(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let mut request = stage.innocent();
    while request.items.len() < 101 {
        let name = format!("more-{}", request.items.len());
        request = request.item(PutItem::new(&stage.table, key(&name)));
    }
    ctx.expect_validation_with(
        ctx.store().transact_write(request).await,
        "Member must have length less than or equal to 100",
    );
    stage.expect_untouched(&ctx).await;
}

pub(super) async fn failed_first_operation_leaves_no_trace(ctx: Ctx) {
    let stage = Fixture::new(&ctx).await;
    let mut request = stage.innocent();
    let first = ConditionCheck::new(&stage.table, Fixture::last(), attr("n").eq(2));
    request.items.insert(0, first.into());
    let result = ctx.store().transact_write(request).await;
    ctx.expect_canceled(result, &[CONDITION, "None", "None", "None", "None", "None"]);
    stage.expect_untouched(&ctx).await;
}
