"""Transactions: atomic, canceled with reasons, and executed once per request token."""

from support import Case, client, order, resource

CANCELED = client.exceptions.TransactionCanceledException


class Transactions(Case):
    def test_transaction_applies_all_operations(self):
        table = self.table()
        client.put_item(TableName=table, Item=order("ana", 1, amount={"N": "5"}))
        client.put_item(TableName=table, Item=order("ana", 2))
        client.put_item(TableName=table, Item=order("ana", 3))
        client.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": table, "Item": order("eva", 1)}},
                {
                    "Update": {
                        "TableName": table,
                        "Key": order("ana", 1),
                        "UpdateExpression": "SET amount = amount + :n",
                        "ExpressionAttributeValues": {":n": {"N": "0.5"}},
                    }
                },
                {"Delete": {"TableName": table, "Key": order("ana", 2)}},
                {
                    "ConditionCheck": {
                        "TableName": table,
                        "Key": order("ana", 3),
                        "ConditionExpression": "attribute_exists(customer)",
                    }
                },
            ]
        )
        keys = [("eva", 1), ("ana", 1), ("ana", 2)]
        answer = client.transact_get_items(
            TransactItems=[{"Get": {"TableName": table, "Key": order(*key)}} for key in keys]
        )
        self.assertEqual(
            answer["Responses"],
            [{"Item": order("eva", 1)}, {"Item": order("ana", 1, amount={"N": "5.5"})}, {}],
        )

    def test_canceled_transaction_returns_reasons_and_changes_nothing(self):
        table = self.table()
        stored = order("ana", 1, status={"S": "sent"})
        client.put_item(TableName=table, Item=stored)
        with self.refused(
            CANCELED,
            r"Transaction cancelled, please refer cancellation reasons for specific reasons "
            r"\[None, ConditionalCheckFailed\]",
        ) as context:
            client.transact_write_items(
                TransactItems=[
                    {"Put": {"TableName": table, "Item": order("eva", 1)}},
                    {
                        "Delete": {
                            "TableName": table,
                            "Key": order("ana", 1),
                            "ConditionExpression": "#s = :open",
                            "ExpressionAttributeNames": {"#s": "status"},
                            "ExpressionAttributeValues": {":open": {"S": "open"}},
                            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        }
                    },
                ]
            )
        self.assertEqual(
            context.exception.response["CancellationReasons"],
            [
                {"Code": "None"},
                {
                    "Code": "ConditionalCheckFailed",
                    "Message": "The conditional request failed",
                    "Item": stored,
                },
            ],
        )
        self.assertIsNone(self.get(table, "eva", 1))
        self.assertEqual(self.get(table, "ana", 1), stored)

    def test_transaction_with_a_token_is_executed_once(self):
        table = self.table()
        client.put_item(TableName=table, Item=order("ana", 1, amount={"N": "1"}))

        def add(amount):
            return {
                "ClientRequestToken": f"{table}.token",
                "TransactItems": [
                    {
                        "Update": {
                            "TableName": table,
                            "Key": order("ana", 1),
                            "UpdateExpression": "ADD amount :n",
                            "ExpressionAttributeValues": {":n": {"N": str(amount)}},
                        }
                    }
                ],
            }

        for _ in range(3):
            client.transact_write_items(**add(1))
        self.assertEqual(self.get(table, "ana", 1), order("ana", 1, amount={"N": "2"}))
        with self.refused(client.exceptions.IdempotentParameterMismatchException, ".*"):
            client.transact_write_items(**add(5))
        self.assertEqual(self.get(table, "ana", 1), order("ana", 1, amount={"N": "2"}))

    def test_client_of_a_resource_accepts_python_values(self):
        table = resource.Table(self.table())
        plain = table.meta.client
        plain.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": table.name, "Item": {"customer": "ana", "number": 1}}},
                {"Put": {"TableName": table.name, "Item": {"customer": "ana", "number": 2}}},
            ]
        )
        self.assertEqual(table.scan(ConsistentRead=True)["Count"], 2)
        with self.assertRaises(plain.exceptions.TransactionCanceledException) as context:
            plain.transact_write_items(
                TransactItems=[
                    {
                        "ConditionCheck": {
                            "TableName": table.name,
                            "Key": {"customer": "ana", "number": 9},
                            "ConditionExpression": "attribute_exists(customer)",
                        }
                    }
                ]
            )
        codes = [r["Code"] for r in context.exception.response["CancellationReasons"]]
        self.assertEqual(codes, ["ConditionalCheckFailed"])
