"""Conditional writes: through the client, and through a table resource."""

from decimal import Decimal

from boto3.dynamodb.conditions import Attr

from support import Case, client, order, resource

FAILED = client.exceptions.ConditionalCheckFailedException
MESSAGE = "The conditional request failed"


class Writes(Case):
    def test_conditional_put_succeeds_once(self):
        table = self.table()
        put = {
            "TableName": table,
            "Item": order("ana", 1, status={"S": "open"}),
            "ConditionExpression": "attribute_not_exists(customer)",
        }
        client.put_item(**put)
        put["Item"] = order("ana", 1, status={"S": "paid"})
        with self.refused(FAILED, MESSAGE) as context:
            client.put_item(**put)
        self.assertNotIn("Item", context.exception.response)
        self.assertEqual(self.get(table, "ana", 1), order("ana", 1, status={"S": "open"}))

    def test_failed_condition_returns_the_stored_item(self):
        table = self.table()
        stored = order("ana", 1, status={"S": "open"}, amount={"N": "12.5"})
        client.put_item(TableName=table, Item=stored)
        with self.refused(FAILED, MESSAGE) as context:
            client.update_item(
                TableName=table,
                Key=order("ana", 1),
                UpdateExpression="SET #s = :paid",
                ConditionExpression="amount < :limit",
                ExpressionAttributeNames={"#s": "status"},
                ExpressionAttributeValues={":paid": {"S": "paid"}, ":limit": {"N": "10"}},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        self.assertEqual(context.exception.response["Item"], stored)
        with self.refused(FAILED, MESSAGE) as context:
            client.delete_item(
                TableName=table,
                Key=order("ana", 1),
                ConditionExpression="attribute_not_exists(amount)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        self.assertEqual(context.exception.response["Item"], stored)
        self.assertEqual(self.get(table, "ana", 1), stored)

    def test_write_returns_old_and_new_values(self):
        table = self.table()
        open_order = order("ana", 1, status={"S": "open"}, pieces={"N": "1"})
        answer = client.put_item(TableName=table, Item=open_order, ReturnValues="ALL_OLD")
        self.assertNotIn("Attributes", answer)
        answer = client.update_item(
            TableName=table,
            Key=order("ana", 1),
            UpdateExpression="SET #s = :paid, parts = list_append(:none, :line) ADD #p :two",
            ExpressionAttributeNames={"#s": "status", "#p": "pieces"},
            ExpressionAttributeValues={
                ":paid": {"S": "paid"},
                ":none": {"L": []},
                ":line": {"L": [{"S": "tea"}]},
                ":two": {"N": "2"},
            },
            ReturnValues="UPDATED_NEW",
            ReturnConsumedCapacity="TOTAL",
        )
        paid = {"status": {"S": "paid"}, "pieces": {"N": "3"}, "parts": {"L": [{"S": "tea"}]}}
        self.assertEqual(answer["Attributes"], paid)
        self.assertEqual(answer["ConsumedCapacity"], {"TableName": table, "CapacityUnits": 1.0})
        answer = client.delete_item(TableName=table, Key=order("ana", 1), ReturnValues="ALL_OLD")
        self.assertEqual(answer["Attributes"], order("ana", 1, **paid))
        self.assertIsNone(self.get(table, "ana", 1))

    def test_write_accepts_legacy_conditions(self):
        table = self.table()
        client.put_item(TableName=table, Item=order("ana", 1, status={"S": "open"}))
        with self.refused(FAILED, MESSAGE):
            client.update_item(
                TableName=table,
                Key=order("ana", 1),
                AttributeUpdates={"status": {"Action": "PUT", "Value": {"S": "sent"}}},
                Expected={"status": {"Value": {"S": "paid"}}},
            )
        answer = client.update_item(
            TableName=table,
            Key=order("ana", 1),
            AttributeUpdates={"status": {"Action": "PUT", "Value": {"S": "sent"}}},
            Expected={
                "status": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "open"}]}
            },
            ReturnValues="ALL_NEW",
        )
        self.assertEqual(answer["Attributes"], order("ana", 1, status={"S": "sent"}))

    def test_table_resource_accepts_condition_objects(self):
        table = resource.Table(self.table())
        stock = {"customer": "shop", "number": 7, "left": Decimal("2")}
        table.put_item(Item=stock, ConditionExpression=Attr("customer").not_exists())
        take = {
            "Key": {"customer": "shop", "number": 7},
            "UpdateExpression": "SET #l = #l - :one",
            "ExpressionAttributeNames": {"#l": "left"},
            "ExpressionAttributeValues": {":one": 1},
            "ConditionExpression": Attr("left").gte(1) & Attr("left").attribute_type("N"),
            "ReturnValues": "ALL_NEW",
        }
        left = [table.update_item(**take)["Attributes"]["left"] for _ in range(2)]
        self.assertEqual(left, [1, 0])
        failed = table.meta.client.exceptions.ConditionalCheckFailedException
        with self.assertRaises(failed) as context:
            table.update_item(**take, ReturnValuesOnConditionCheckFailure="ALL_OLD")
        self.assertEqual(context.exception.response["Error"]["Message"], MESSAGE)
        answer = table.get_item(Key=take["Key"], ConsistentRead=True)
        self.assertEqual(answer["Item"], {"customer": "shop", "number": 7, "left": 0})

    def test_validation_error_has_dynamodbs_message(self):
        table = self.table()
        with self.invalid(
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: customer"
        ):
            client.put_item(TableName=table, Item=order("", 1))
