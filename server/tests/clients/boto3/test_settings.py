"""Settings of a table and an account: expiry, tags, limits, backups."""

from support import Case, client, deviates


class Settings(Case):
    def test_expiry_can_be_enabled(self):
        table = self.table()
        before = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        self.assertEqual(before, {"TimeToLiveStatus": "DISABLED"})
        wanted = {"Enabled": True, "AttributeName": "expires"}
        answer = client.update_time_to_live(TableName=table, TimeToLiveSpecification=wanted)
        self.assertEqual(answer["TimeToLiveSpecification"], wanted)
        after = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        self.assertIn(after["TimeToLiveStatus"], ("ENABLING", "ENABLED"))
        self.assertEqual(after["AttributeName"], "expires")

    @deviates("DynamoDB Local does not support tags")
    def test_tags_can_be_added_listed_and_removed(self):
        table = self.table(Tags=[{"Key": "team", "Value": "shop"}])
        arn = client.describe_table(TableName=table)["Table"]["TableArn"]
        client.tag_resource(
            ResourceArn=arn,
            Tags=[{"Key": "stage", "Value": "test"}, {"Key": "team", "Value": "orders"}],
        )
        self.assertEqual(self.tags(arn), {"stage": "test", "team": "orders"})
        client.untag_resource(ResourceArn=arn, TagKeys=["team", "unknown"])
        self.assertEqual(self.tags(arn), {"stage": "test"})

    def tags(self, arn):
        tags = client.list_tags_of_resource(ResourceArn=arn)["Tags"]
        return {tag["Key"]: tag["Value"] for tag in tags}

    def test_describe_limits_returns_quotas(self):
        limits = client.describe_limits()
        self.assertGreater(limits["TableMaxReadCapacityUnits"], 0)
        self.assertGreaterEqual(
            limits["AccountMaxWriteCapacityUnits"], limits["TableMaxWriteCapacityUnits"]
        )

    def test_provisioned_capacity_can_be_changed(self):
        table = self.table()
        client.update_table(
            TableName=table,
            BillingMode="PROVISIONED",
            ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 3},
            GlobalSecondaryIndexUpdates=[
                {
                    "Update": {
                        "IndexName": "by-status",
                        "ProvisionedThroughput": {"ReadCapacityUnits": 2, "WriteCapacityUnits": 1},
                    }
                }
            ],
        )
        self.eventually(lambda: self.described(table)["TableStatus"] == "ACTIVE")
        capacity = self.described(table)["ProvisionedThroughput"]
        self.assertEqual((capacity["ReadCapacityUnits"], capacity["WriteCapacityUnits"]), (7, 3))
        [index] = self.described(table)["GlobalSecondaryIndexes"]
        self.assertEqual(index["ProvisionedThroughput"]["ReadCapacityUnits"], 2)

    def described(self, table):
        return client.describe_table(TableName=table)["Table"]
