"""Batches of writes and gets."""

from support import Case, client, order, resource


class Batches(Case):
    def test_batch_puts_and_deletes_in_several_tables(self):
        one, other = self.table(), self.table()
        client.put_item(TableName=one, Item=order("ana", 0))
        answer = client.batch_write_item(
            RequestItems={
                one: [{"PutRequest": {"Item": order("ana", n)}} for n in range(1, 21)]
                + [{"DeleteRequest": {"Key": order("ana", 0)}}],
                other: [{"PutRequest": {"Item": order("eva", 1)}}],
            }
        )
        self.assertEqual(answer["UnprocessedItems"], {})
        keys = [order("ana", n) for n in range(0, 21)]
        answer = client.batch_get_item(
            RequestItems={
                one: {"Keys": keys, "ConsistentRead": True},
                other: {"Keys": [order("eva", 1), order("eva", 2)]},
            }
        )
        self.assertEqual(answer["UnprocessedKeys"], {})
        found = sorted(int(item["number"]["N"]) for item in answer["Responses"][one])
        self.assertEqual(found, list(range(1, 21)))
        self.assertEqual(answer["Responses"][other], [order("eva", 1)])

    def test_batch_writer_splits_items_into_batches(self):
        table = resource.Table(self.table())
        with table.batch_writer(overwrite_by_pkeys=["customer", "number"]) as batch:
            for number in range(60):
                batch.put_item(Item={"customer": "ana", "number": number % 55})
            batch.delete_item(Key={"customer": "ana", "number": 54})
        found = table.scan(ConsistentRead=True)["Items"]
        self.assertEqual(sorted(item["number"] for item in found), list(range(54)))

    def test_batch_with_duplicate_keys_writes_nothing(self):
        table = self.table()
        put = {"PutRequest": {"Item": order("ana", 1)}}
        with self.invalid("Provided list of item keys contains duplicates"):
            client.batch_write_item(RequestItems={table: [put, put]})
        self.assertIsNone(self.get(table, "ana", 1))
