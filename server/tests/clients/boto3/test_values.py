"""Values are returned as they were written: numbers, bytes, sets, and nested values."""

from decimal import Decimal

from boto3.dynamodb.types import Binary

from support import Case, client, order, resource


class Values(Case):
    def test_every_type_is_returned_unchanged(self):
        table = self.table()
        item = order(
            "ana",
            1,
            text={"S": "añejo ☕ \u0000 \U0001f600"},
            empty={"S": ""},
            binary={"B": bytes(range(256))},
            no_bytes={"B": b""},
            yes={"BOOL": True},
            nothing={"NULL": True},
            texts={"SS": ["a", "ñ"]},
            numbers={"NS": ["-1", "0", "2.5"]},
            binaries={"BS": [b"\x00", b"\xff\xfe"]},
            list={"L": [{"N": "1"}, {"L": []}, {"M": {"x": {"NULL": True}}}]},
            map={"M": {"a.b": {"M": {"ñ[0]": {"S": "any name"}}}}},
        )
        client.put_item(TableName=table, Item=item)
        found = self.get(table, "ana", 1)
        for name, (kind, value) in ((n, *v.items()) for n, v in found.items()):
            if kind in ("SS", "NS", "BS"):
                found[name] = {kind: sorted(value, key=float if kind == "NS" else None)}
        self.assertEqual(found, item)

    def test_numbers_keep_38_digits(self):
        table = resource.Table(self.table())
        numbers = [
            Decimal("12345678901234567890123456789012345678"),
            Decimal("-0.12345678901234567890123456789012345678"),
            Decimal("1E-130"),
            Decimal("0.1"),
        ]
        for place, number in enumerate(numbers):
            table.put_item(Item={"customer": "ana", "number": place, "value": number})
            found = table.get_item(Key={"customer": "ana", "number": place}, ConsistentRead=True)
            self.assertEqual(found["Item"]["value"], number)
        answer = table.update_item(
            Key={"customer": "ana", "number": 0},
            UpdateExpression="ADD #v :one",
            ExpressionAttributeNames={"#v": "value"},
            ExpressionAttributeValues={":one": 1},
            ReturnValues="UPDATED_NEW",
        )
        self.assertEqual(
            answer["Attributes"]["value"], Decimal("12345678901234567890123456789012345679")
        )

    def test_largest_number_is_stored(self):
        table = self.table()
        # A table resource cannot read it: boto3 would round the number with all its zeros.
        largest = "9.9999999999999999999999999999999999999E+125"
        client.put_item(TableName=table, Item=order("ana", 1, value={"N": largest}))
        found = self.get(table, "ana", 1)["value"]["N"]
        self.assertEqual(Decimal(found), Decimal(largest))

    def test_number_with_39_digits_is_refused(self):
        table = self.table()
        with self.invalid(None):
            client.put_item(TableName=table, Item=order("ana", 1, value={"N": "1" * 39}))
        self.assertIsNone(self.get(table, "ana", 1))

    def test_table_resource_converts_python_values(self):
        table = resource.Table(self.table())
        item = {
            "customer": "ana",
            "number": 1,
            "bytes": Binary(b"\x00\x01"),
            "texts": {"a", "b"},
            "numbers": {Decimal("1"), Decimal("2.5")},
            "binaries": {Binary(b"x"), Binary(b"y")},
            "list": [1, "two", None, False],
            "map": {"deep": {"deeper": Decimal("0.5")}},
        }
        table.put_item(Item=item)
        key = {"customer": "ana", "number": 1}
        self.assertEqual(table.get_item(Key=key, ConsistentRead=True)["Item"], item)
        answer = table.update_item(
            Key=key,
            UpdateExpression="DELETE texts :a ADD #n :more SET #l[4] = :end REMOVE #m.deep.deeper",
            ExpressionAttributeNames={"#n": "numbers", "#l": "list", "#m": "map"},
            ExpressionAttributeValues={
                ":a": {"a"},
                ":more": {Decimal("3")},
                ":end": "end",
            },
            ReturnValues="ALL_NEW",
        )["Attributes"]
        self.assertEqual(answer["texts"], {"b"})
        self.assertEqual(answer["numbers"], {1, Decimal("2.5"), 3})
        self.assertEqual(answer["list"], [1, "two", None, False, "end"])
        self.assertEqual(answer["map"], {"deep": {}})

    def test_large_item_is_written_and_read(self):
        table = self.table()
        # 390 KiB of binary data are 520 KiB of request, and a response that is compressed.
        item = order("ana", 1, large={"B": bytes(390 * 1024)})
        client.put_item(TableName=table, Item=item)
        self.assertEqual(self.get(table, "ana", 1), item)
        item["large"] = {"B": bytes(400 * 1024)}
        with self.invalid("Item size has exceeded the maximum allowed size"):
            client.put_item(TableName=table, Item=item)
