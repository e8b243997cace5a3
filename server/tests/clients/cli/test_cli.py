"""Tests of the AWS CLI: commands and their output.

Each command is a process that takes half a second to start, so the tests are few and long.
"""

import json
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

AWS = Path(sys.executable).with_name("aws")

# Whether the tests run against DynamoDB Local, to prove that they expect DynamoDB's behavior.
ON_LOCAL = os.environ.get("TABLA_CLIENTS_ON") == "dynamodb-local"

ATTRIBUTES = [
    "AttributeName=customer,AttributeType=S",
    "AttributeName=number,AttributeType=N",
    "AttributeName=status,AttributeType=S",
]
INDEX = (
    "IndexName=by-status,"
    "KeySchema=[{AttributeName=status,KeyType=HASH},{AttributeName=number,KeyType=RANGE}],"
    "Projection={ProjectionType=ALL}"
)


def run(*words, service="dynamodb"):
    """Runs a command. Arguments that are not strings are passed as JSON."""
    words = [word if isinstance(word, str) else json.dumps(word) for word in words]
    command = [AWS, service, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def aws(*words, service="dynamodb"):
    """Runs a command that must succeed, and returns its parsed output."""
    done = run(*words, service=service)
    assert done.returncode == 0, f"aws {service} {' '.join(map(str, words))}: {done.stderr}"
    return json.loads(done.stdout) if done.stdout.strip() else None


def order(customer, number, **more):
    return {"customer": {"S": customer}, "number": {"N": str(number)}, **more}


def numbers(page):
    return [int(item["number"]["N"]) for item in page["Items"]]


class Cli(unittest.TestCase):
    maxDiff = None

    def table(self, name, *more):
        """Creates a table of orders, and waits until it is active."""
        aws(
            *("create-table", "--table-name", name, "--attribute-definitions", *ATTRIBUTES),
            *("--key-schema", "AttributeName=customer,KeyType=HASH"),
            "AttributeName=number,KeyType=RANGE",
            *("--global-secondary-indexes", INDEX, "--billing-mode", "PAY_PER_REQUEST", *more),
        )
        aws("wait", "table-exists", "--table-name", name)
        return name

    def put(self, table, item, *more):
        return aws("put-item", "--table-name", table, "--item", item, *more)

    def get(self, table, customer, number):
        answer = aws(
            *("get-item", "--table-name", table, "--key", order(customer, number)),
            "--consistent-read",
        )
        return answer and answer["Item"]

    def refused(self, code, operation, message, *words):
        done = run(*words)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(
            f"An error occurred ({code}) when calling the {operation} operation: {message}",
            done.stderr,
        )

    def test_table_is_created_changed_and_deleted(self):
        name = self.table("Whole")
        table = aws("describe-table", "--table-name", name)["Table"]
        self.assertEqual(table["TableStatus"], "ACTIVE")
        self.assertEqual(table["GlobalSecondaryIndexes"][0]["IndexStatus"], "ACTIVE")
        self.put(name, order("ana", 1, town={"S": "Quito"}))
        aws(
            *("update-table", "--table-name", name, "--attribute-definitions"),
            "AttributeName=town,AttributeType=S",
            "--global-secondary-index-updates",
            "Create={IndexName=by-town,KeySchema=[{AttributeName=town,KeyType=HASH}],"
            "Projection={ProjectionType=KEYS_ONLY}}",
        )
        self.until_active(name, "by-town")
        found = aws(
            *("query", "--table-name", name, "--index-name", "by-town"),
            *("--key-condition-expression", "town = :t"),
            *("--expression-attribute-values", {":t": {"S": "Quito"}}),
        )
        self.assertEqual(found["Items"], [order("ana", 1, town={"S": "Quito"})])
        listed = aws("list-tables", "--page-size", "1", "--query", "TableNames")
        self.assertIn(name, listed)

        expiry = ("--time-to-live-specification", "Enabled=true,AttributeName=expires")
        aws("update-time-to-live", "--table-name", name, *expiry)
        described = aws("describe-time-to-live", "--table-name", name)["TimeToLiveDescription"]
        self.assertEqual(described["AttributeName"], "expires")
        self.tag(table["TableArn"])

        aws("delete-table", "--table-name", name)
        aws("wait", "table-not-exists", "--table-name", name)
        self.refused(
            "ResourceNotFoundException",
            *("DescribeTable", "", "describe-table", "--table-name", name),
        )

    def until_active(self, table, index):
        """Waits until an index is active, for which `aws dynamodb wait` has no command."""
        status = f"Table.GlobalSecondaryIndexes[?IndexName=='{index}'].IndexStatus | [0]"
        for _ in range(30):
            if aws("describe-table", "--table-name", table, "--query", status) == "ACTIVE":
                return
            time.sleep(0.2)
        self.fail(f"the index {index} did not become active")

    def tag(self, arn):
        words = ("tag-resource", "--resource-arn", arn, "--tags", "Key=team,Value=shop")
        if ON_LOCAL:
            message = "Tagging is not currently supported in DynamoDB Local."
            self.refused("UnknownOperationException", "TagResource", message, *words)
            return
        aws(*words)
        tags = aws("list-tags-of-resource", "--resource-arn", arn)["Tags"]
        self.assertEqual(tags, [{"Key": "team", "Value": "shop"}])

    def test_write_with_a_failed_condition_is_refused(self):
        name = self.table("Writes")
        exact = "12345678901234567890123456789012345678"
        item = order(
            "ana",
            1,
            amount={"N": exact},
            bytes={"B": "ñ"},
            words={"SS": ["one"]},
            parts={"L": [{"M": {"tea": {"BOOL": True}}}, {"NULL": True}]},
        )
        once = ("--condition-expression", "attribute_not_exists(customer)")
        self.put(name, item, *once)
        self.refused(
            "ConditionalCheckFailedException",
            *("PutItem", "The conditional request failed"),
            *("put-item", "--table-name", name, "--item", order("ana", 1), *once),
        )
        # The CLI accepts raw bytes, and prints them in base64.
        item["bytes"] = {"B": "w7E="}
        self.assertEqual(self.get(name, "ana", 1), item)
        self.assertIsNone(self.get(name, "ana", 2))
        updated = aws(
            *("update-item", "--table-name", name, "--key", order("ana", 1)),
            *("--update-expression", "ADD amount :one, words :two REMOVE parts[1]"),
            *("--expression-attribute-values", {":one": {"N": "1"}, ":two": {"SS": ["two"]}}),
            *("--return-values", "ALL_NEW", "--return-consumed-capacity", "TOTAL"),
        )
        self.assertEqual(updated["Attributes"]["amount"], {"N": exact[:-1] + "9"})
        self.assertEqual(sorted(updated["Attributes"]["words"]["SS"]), ["one", "two"])
        self.assertEqual(updated["Attributes"]["parts"], {"L": item["parts"]["L"][:1]})
        self.assertEqual(updated["ConsumedCapacity"]["CapacityUnits"], 1.0)
        self.refused(
            *("ValidationException", "DeleteItem"),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:one}",
            *("delete-item", "--table-name", name, "--key", order("ana", 1)),
            *("--condition-expression", "attribute_exists(amount)"),
            *("--expression-attribute-values", {":one": {"N": "1"}}),
        )
        deleted = aws(
            *("delete-item", "--table-name", name, "--key", order("ana", 1)),
            *("--return-values", "ALL_OLD"),
        )
        self.assertEqual(deleted, {"Attributes": updated["Attributes"]})

    def test_transaction_is_atomic_and_executed_once_per_token(self):
        name = self.table("Transactions")
        put = lambda item, **more: {"Put": {"TableName": name, "Item": item, **more}}
        new = {"ConditionExpression": "attribute_not_exists(customer)"}
        both = [put(order("ana", 1), **new), put(order("ana", 2), **new)]
        token = ("--client-request-token", "once-and-only-once")
        for _ in range(2):
            aws("transact-write-items", "--transact-items", both, *token)
        self.refused(
            "IdempotentParameterMismatchException",
            *("TransactWriteItems", ""),
            *("transact-write-items", "--transact-items", both[:1], *token),
        )
        self.refused(
            "TransactionCanceledException",
            "TransactWriteItems",
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[None, ConditionalCheckFailed]",
            *("transact-write-items", "--transact-items"),
            [put(order("eva", 1), **new), put(order("ana", 2), **new)],
        )
        gets = [("ana", 1), ("eva", 1)]
        answer = aws(
            *("transact-get-items", "--transact-items"),
            [{"Get": {"TableName": name, "Key": order(*key)}} for key in gets],
        )
        self.assertEqual(answer["Responses"], [{"Item": order("ana", 1)}, {}])

    def test_batches_and_pages_return_every_item_once(self):
        name = self.table("Pages")
        items = [order("ana", number, status={"S": "open"}) for number in range(1, 13)]
        puts = [{"PutRequest": {"Item": item}} for item in items]
        answer = aws("batch-write-item", "--request-items", {name: puts})
        self.assertEqual(answer["UnprocessedItems"], {})
        keys = [order("ana", number) for number in (3, 99)]
        answer = aws("batch-get-item", "--request-items", {name: {"Keys": keys}})
        self.assertEqual(answer["Responses"], {name: [items[2]]})

        query = (
            *("query", "--table-name", name, "--key-condition-expression", "customer = :c"),
            *("--expression-attribute-values", {":c": {"S": "ana"}}),
        )
        # The CLI reads all pages by itself; --max-items and --starting-token limit it.
        self.assertEqual(numbers(aws(*query, "--page-size", "5")), list(range(1, 13)))
        some = aws(*query, "--max-items", "7")
        self.assertEqual(numbers(some), list(range(1, 8)))
        rest = aws(*query, "--starting-token", some["NextToken"])
        self.assertEqual(numbers(rest), list(range(8, 13)))
        # A single page, as DynamoDB returns it.
        page = aws(*query, "--limit", "4", "--no-paginate", "--no-scan-index-forward")
        self.assertEqual(numbers(page), [12, 11, 10, 9])
        self.assertEqual(page["LastEvaluatedKey"], order("ana", 9))
        index = aws(
            *("query", "--table-name", name, "--index-name", "by-status", "--page-size", "5"),
            *("--key-condition-expression", "#s = :s AND #n < :n", "--no-scan-index-forward"),
            *("--expression-attribute-names", {"#s": "status", "#n": "number"}),
            *("--expression-attribute-values", {":s": {"S": "open"}, ":n": {"N": "9"}}),
        )
        self.assertEqual(numbers(index), list(range(8, 0, -1)))
        scanned = aws("scan", "--table-name", name, "--page-size", "5")
        self.assertEqual(sorted(numbers(scanned)), list(range(1, 13)))

    def test_stream_records_have_old_and_new_images(self):
        view = "StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES"
        name = self.table("Stream", "--stream-specification", view)
        for status in ("open", "sent"):
            self.put(name, order("ana", 1, status={"S": status}))
        aws("delete-item", "--table-name", name, "--key", order("ana", 1))
        streams = lambda *words: aws(*words, service="dynamodbstreams")
        [stream] = streams("list-streams", "--table-name", name)["Streams"]
        arn = ("--stream-arn", stream["StreamArn"])
        description = streams("describe-stream", *arn)["StreamDescription"]
        self.assertEqual(description["StreamStatus"], "ENABLED")
        records = []
        for shard in description["Shards"]:
            iterator = streams(
                *("get-shard-iterator", *arn, "--shard-id", shard["ShardId"]),
                *("--shard-iterator-type", "TRIM_HORIZON"),
            )["ShardIterator"]
            records += streams("get-records", "--shard-iterator", iterator)["Records"]
        self.assertEqual([r["eventName"] for r in records], ["INSERT", "MODIFY", "REMOVE"])
        statuses = lambda image: [
            record["dynamodb"].get(image, {}).get("status", {}).get("S") for record in records
        ]
        self.assertEqual(statuses("OldImage"), [None, "open", "sent"])
        self.assertEqual(statuses("NewImage"), ["open", "sent", None])
