"""Queries and scans, in pages."""

from boto3.dynamodb.conditions import Attr, Key

from support import Case, client, order, resource


class Queries(Case):
    @classmethod
    def setUpClass(cls):
        """Creates a table for all tests: orders 1 to 25 of ana, and three of eva."""
        cls.name = Case.table(cls())
        table = resource.Table(cls.name)
        with table.batch_writer() as batch:
            for number in range(1, 26):
                status = "open" if number % 5 else "sent"
                day = f"2026-03-{number:02}"
                item = {"customer": "ana", "number": number, "status": status, "day": day}
                batch.put_item(Item=item)
            for number in range(1, 4):
                batch.put_item(Item={"customer": "eva", "number": number})

    def numbers(self, pages):
        return [[int(item["number"]["N"]) for item in page["Items"]] for page in pages]

    def test_query_returns_pages(self):
        request = {
            "TableName": self.name,
            "KeyConditionExpression": "customer = :c AND #n > :n",
            "ExpressionAttributeNames": {"#n": "number"},
            "ExpressionAttributeValues": {":c": {"S": "ana"}, ":n": {"N": "5"}},
            "ConsistentRead": True,
            "Limit": 8,
        }
        pages = [client.query(**request)]
        while "LastEvaluatedKey" in pages[-1]:
            start = pages[-1]["LastEvaluatedKey"]
            self.assertEqual(start, order("ana", pages[-1]["Items"][-1]["number"]["N"]))
            pages.append(client.query(**request, ExclusiveStartKey=start))
        expected = [list(range(6, 14)), list(range(14, 22)), list(range(22, 26))]
        self.assertEqual(self.numbers(pages), expected)
        self.assertEqual([page["Count"] for page in pages], [8, 8, 4])

    def test_paginator_reads_index_in_descending_order(self):
        pages = client.get_paginator("query").paginate(
            TableName=self.name,
            IndexName="by-status",
            KeyConditionExpression="#s = :sent",
            ExpressionAttributeNames={"#s": "status"},
            ExpressionAttributeValues={":sent": {"S": "sent"}},
            ScanIndexForward=False,
            PaginationConfig={"PageSize": 2},
        )
        pages = list(pages)
        self.assertEqual(self.numbers(pages), [[25, 20], [15, 10], [5]])
        last = pages[0]["LastEvaluatedKey"]
        self.assertEqual(sorted(last), ["customer", "day", "number", "status"])

    def test_index_query_reads_a_range_of_days(self):
        found = resource.Table(self.name).query(
            IndexName="by-status",
            KeyConditionExpression=Key("status").eq("open")
            & Key("day").between("2026-03-09", "2026-03-12"),
            ProjectionExpression="#n",
            ExpressionAttributeNames={"#n": "number"},
        )
        self.assertEqual(found["Items"], [{"number": n} for n in (9, 11, 12)])

    def test_filter_applies_to_items_that_were_read(self):
        found = resource.Table(self.name).query(
            KeyConditionExpression=Key("customer").eq("ana") & Key("number").lte(10),
            FilterExpression=Attr("status").eq("sent") | Attr("day").begins_with("2026-03-01"),
            ConsistentRead=True,
        )
        self.assertEqual([item["number"] for item in found["Items"]], [1, 5, 10])
        self.assertEqual((found["Count"], found["ScannedCount"]), (3, 10))

    def test_count_returns_no_items(self):
        found = client.query(
            TableName=self.name,
            KeyConditionExpression="customer = :c",
            ExpressionAttributeValues={":c": {"S": "eva"}},
            Select="COUNT",
        )
        self.assertEqual(found["Count"], 3)
        self.assertNotIn("Items", found)

    def test_query_accepts_legacy_parameters(self):
        found = client.query(
            TableName=self.name,
            KeyConditions={
                "customer": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "ana"}]},
                "number": {"ComparisonOperator": "GE", "AttributeValueList": [{"N": "20"}]},
            },
            QueryFilter={
                "status": {"ComparisonOperator": "NE", "AttributeValueList": [{"S": "sent"}]}
            },
            AttributesToGet=["number"],
        )
        self.assertEqual(found["Items"], [{"number": {"N": str(n)}} for n in range(21, 25)])

    def test_scan_returns_every_item_once(self):
        pages = client.get_paginator("scan").paginate(
            TableName=self.name, ConsistentRead=True, PaginationConfig={"PageSize": 10}
        )
        keys = [
            (item["customer"]["S"], int(item["number"]["N"]))
            for page in pages
            for item in page["Items"]
        ]
        everything = [("ana", n) for n in range(1, 26)] + [("eva", n) for n in range(1, 4)]
        self.assertEqual(sorted(keys), everything)

    def test_scan_segments_return_every_item_once(self):
        counts = [
            client.scan(TableName=self.name, TotalSegments=3, Segment=segment)["Count"]
            for segment in range(3)
        ]
        self.assertEqual(sum(counts), 28)
