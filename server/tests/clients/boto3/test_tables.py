"""Tables: created, described, listed, changed and deleted."""

from support import WAITER, Case, client, order, orders, resource

PROTECTED = (
    "Resource cannot be deleted as it is currently protected against deletion. "
    "Disable deletion protection first."
)


class Tables(Case):
    def test_description_matches_the_created_table(self):
        name = self.name()
        made = client.create_table(**orders(name))["TableDescription"]
        self.assertIn(made["TableStatus"], ("CREATING", "ACTIVE"))
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig=WAITER)
        table = client.describe_table(TableName=name)["Table"]
        self.assertEqual(table["TableName"], name)
        self.assertEqual(table["TableStatus"], "ACTIVE")
        self.assertEqual(table["KeySchema"], orders(name)["KeySchema"])
        by_name = lambda definition: definition["AttributeName"]
        self.assertEqual(
            sorted(table["AttributeDefinitions"], key=by_name),
            sorted(orders(name)["AttributeDefinitions"], key=by_name),
        )
        self.assertEqual(table["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")
        self.assertEqual(table["ItemCount"], 0)
        self.assertRegex(table["TableArn"], rf"^arn:aws:dynamodb:.*:table/{name}$")
        [index] = table["GlobalSecondaryIndexes"]
        self.assertEqual(index["IndexName"], "by-status")
        self.assertEqual(index["IndexStatus"], "ACTIVE")
        self.assertEqual(index["Projection"], {"ProjectionType": "ALL"})
        self.assertEqual(index["IndexArn"], f"{table['TableArn']}/index/by-status")

    def test_table_name_is_unique(self):
        name = self.table()
        with self.refused(client.exceptions.ResourceInUseException, ".*"):
            client.create_table(**orders(name))

    def test_tables_are_listed_in_pages(self):
        names = sorted(self.table() for _ in range(5))
        pages = client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 2})
        pages = [page["TableNames"] for page in pages]
        self.assertTrue(all(len(page) <= 2 for page in pages))
        listed = [name for page in pages for name in page]
        self.assertEqual(listed, sorted(listed))
        self.assertEqual([name for name in listed if name in names], names)

    def test_index_can_be_added_back_filled_and_deleted(self):
        name = self.table()
        for number in range(10):
            town = {"S": "Quito" if number % 2 else "Cuenca"}
            client.put_item(TableName=name, Item=order("ana", number, town=town))
        client.update_table(
            TableName=name,
            AttributeDefinitions=[{"AttributeName": "town", "AttributeType": "S"}],
            GlobalSecondaryIndexUpdates=[
                {
                    "Create": {
                        "IndexName": "by-town",
                        "KeySchema": [{"AttributeName": "town", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "KEYS_ONLY"},
                    }
                }
            ],
        )
        self.eventually(lambda: self.index_status(name, "by-town") == "ACTIVE")
        found = client.query(
            TableName=name,
            IndexName="by-town",
            KeyConditionExpression="town = :town",
            ExpressionAttributeValues={":town": {"S": "Quito"}},
        )
        self.assertEqual(sorted(int(i["number"]["N"]) for i in found["Items"]), [1, 3, 5, 7, 9])

        client.update_table(
            TableName=name,
            GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-town"}}],
        )
        self.eventually(lambda: self.index_status(name, "by-town") is None)
        with self.invalid("The table does not have the specified index: by-town"):
            client.scan(TableName=name, IndexName="by-town")

    def index_status(self, table, index):
        described = client.describe_table(TableName=table)["Table"]
        indexes = described.get("GlobalSecondaryIndexes", [])
        return next((i["IndexStatus"] for i in indexes if i["IndexName"] == index), None)

    def test_protected_table_cannot_be_deleted(self):
        name = self.table(DeletionProtectionEnabled=True)
        with self.invalid(PROTECTED):
            client.delete_table(TableName=name)
        client.update_table(TableName=name, DeletionProtectionEnabled=False)
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig=WAITER)
        client.delete_table(TableName=name)
        client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig=WAITER)

    def test_deleted_table_is_not_found(self):
        name = self.table()
        client.put_item(TableName=name, Item=order("ana", 1))
        client.delete_table(TableName=name)
        client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig=WAITER)
        not_found = client.exceptions.ResourceNotFoundException
        with self.refused(not_found, ".*"):
            client.describe_table(TableName=name)
        with self.refused(not_found, ".*"):
            client.get_item(TableName=name, Key=order("ana", 1))

    def test_arn_is_accepted_as_table_name(self):
        name = self.table()
        arn = client.describe_table(TableName=name)["Table"]["TableArn"]
        client.put_item(TableName=arn, Item=order("ana", 1))
        self.assertEqual(self.get(arn, "ana", 1), order("ana", 1))
        self.assertEqual(client.describe_table(TableName=arn)["Table"]["TableName"], name)

    def test_table_resource_creates_and_deletes_a_table(self):
        name = self.name()
        table = resource.create_table(**orders(name))
        table.wait_until_exists()
        # A resource caches the response to CreateTable.
        table.reload()
        self.assertEqual(table.table_status, "ACTIVE")
        self.assertEqual([key["AttributeName"] for key in table.key_schema], ["customer", "number"])
        self.assertIn(name, [other.name for other in resource.tables.all()])
        table.delete()
        table.wait_until_not_exists()
        self.assertNotIn(name, [other.name for other in resource.tables.all()])
