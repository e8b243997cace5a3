"""Streams: described, read from the start, and read on from a record."""

from support import WAITER, Case, client, order, streams

ENABLED = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


class Streams(Case):
    def test_records_are_in_the_order_of_changes(self):
        table = self.table(StreamSpecification=ENABLED)
        stream = client.describe_table(TableName=table)["Table"]["LatestStreamArn"]
        listed = streams.list_streams(TableName=table)["Streams"]
        self.assertEqual([one["StreamArn"] for one in listed], [stream])

        self.change(table)
        description = streams.describe_stream(StreamArn=stream)["StreamDescription"]
        self.assertEqual(description["StreamStatus"], "ENABLED")
        self.assertEqual(description["StreamViewType"], "NEW_AND_OLD_IMAGES")
        self.assertEqual(description["TableName"], table)
        self.assertEqual(
            [key["AttributeName"] for key in description["KeySchema"]], ["customer", "number"]
        )
        records = self.eventually(lambda: self.records(stream, at_least=3))
        key, open_order, sent = self.images()
        expected = [
            ("INSERT", {"Keys": key, "NewImage": open_order}),
            ("MODIFY", {"Keys": key, "OldImage": open_order, "NewImage": sent}),
            ("REMOVE", {"Keys": key, "OldImage": sent}),
        ]
        images = lambda change: {k: v for k, v in change.items() if k in expected[1][1]}
        self.assertEqual([(r["eventName"], images(r["dynamodb"])) for r in records], expected)
        self.assertEqual({r["eventSource"] for r in records}, {"aws:dynamodb"})
        self.assertEqual(len({r["eventID"] for r in records}), 3)
        for record in records:
            change = record["dynamodb"]
            self.assertEqual(change["StreamViewType"], "NEW_AND_OLD_IMAGES")
            self.assertGreater(change["SizeBytes"], 0)
            self.assertIsNotNone(change["ApproximateCreationDateTime"].tzinfo)
        numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in records]
        self.assertEqual(numbers, sorted(numbers))

    def test_iterator_after_a_sequence_number_returns_later_records(self):
        table = self.table(StreamSpecification=ENABLED)
        stream = client.describe_table(TableName=table)["Table"]["LatestStreamArn"]
        self.change(table)
        self.eventually(lambda: self.records(stream, at_least=3))
        [(shard, records)] = [(s, r) for s, r in self.by_shard(stream).items() if r]
        iterator = streams.get_shard_iterator(
            StreamArn=stream,
            ShardId=shard,
            ShardIteratorType="AFTER_SEQUENCE_NUMBER",
            SequenceNumber=records[0]["dynamodb"]["SequenceNumber"],
        )["ShardIterator"]
        page = streams.get_records(ShardIterator=iterator, Limit=1)
        self.assertEqual([r["eventName"] for r in page["Records"]], ["MODIFY"])
        page = streams.get_records(ShardIterator=page["NextShardIterator"])
        self.assertEqual([r["eventName"] for r in page["Records"]], ["REMOVE"])

    def test_stream_can_be_enabled_and_disabled(self):
        table = self.table()
        self.assertNotIn("LatestStreamArn", client.describe_table(TableName=table)["Table"])
        keys_only = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
        client.update_table(TableName=table, StreamSpecification=keys_only)
        client.get_waiter("table_exists").wait(TableName=table, WaiterConfig=WAITER)
        described = client.describe_table(TableName=table)["Table"]
        self.assertEqual(described["StreamSpecification"], keys_only)
        stream = described["LatestStreamArn"]
        client.put_item(TableName=table, Item=order("ana", 1, status={"S": "open"}))
        [record] = self.eventually(lambda: self.records(stream, at_least=1))
        self.assertEqual(record["dynamodb"]["Keys"], order("ana", 1))
        self.assertNotIn("NewImage", record["dynamodb"])
        client.update_table(TableName=table, StreamSpecification={"StreamEnabled": False})
        client.get_waiter("table_exists").wait(TableName=table, WaiterConfig=WAITER)
        # The records of a disabled stream can still be read.
        self.assertEqual(len(self.records(stream, at_least=1)), 1)

    def test_missing_stream_is_not_found(self):
        table = self.table(StreamSpecification=ENABLED)
        stream = client.describe_table(TableName=table)["Table"]["LatestStreamArn"]
        other = stream.rsplit("/", 1)[0] + "/2020-01-01T00:00:00.000"
        with self.refused(streams.exceptions.ResourceNotFoundException, ".*"):
            streams.describe_stream(StreamArn=other)

    def images(self):
        key = order("ana", 1)
        return key, {**key, "status": {"S": "open"}}, {**key, "status": {"S": "sent"}}

    def change(self, table):
        """Puts an order, changes it, overwrites it unchanged, and deletes it."""
        key, open_order, sent = self.images()
        for item in (open_order, sent, sent):
            client.put_item(TableName=table, Item=item)
        client.delete_item(TableName=table, Key=key)

    def records(self, stream, at_least):
        records = [record for part in self.by_shard(stream).values() for record in part]
        return records if len(records) >= at_least else []

    def by_shard(self, stream):
        """Returns the records of each shard, read in pages until one is empty."""
        description = streams.describe_stream(StreamArn=stream)["StreamDescription"]
        found = {}
        for shard in (shard["ShardId"] for shard in description["Shards"]):
            found[shard] = []
            iterator = streams.get_shard_iterator(
                StreamArn=stream, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            while iterator:
                page = streams.get_records(ShardIterator=iterator, Limit=2)
                found[shard] += page["Records"]
                iterator = page.get("NextShardIterator") if page["Records"] else None
        return found
