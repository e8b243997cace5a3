"""Shared parts of the tests: clients, and a table of orders.

The clients have no arguments: AWS_ENDPOINT_URL, AWS_REGION and the credentials are in the
environment, as for a program that is not written for this server.
"""

import itertools
import os
import time
import unittest
from contextlib import contextmanager

import boto3

client = boto3.client("dynamodb")
streams = boto3.client("dynamodbstreams")
resource = boto3.resource("dynamodb")

# Polls every second, 30 times; boto3's default interval is 20 seconds.
WAITER = {"Delay": 1, "MaxAttempts": 30}

# Whether the tests run against DynamoDB Local, to prove that they expect DynamoDB's behavior.
ON_LOCAL = os.environ.get("TABLA_CLIENTS_ON") == "dynamodb-local"

_numbers = itertools.count(1)


def orders(name, **more):
    """Returns the request for a table of orders: by customer and number, and by status and day."""
    return {
        "TableName": name,
        "AttributeDefinitions": [
            {"AttributeName": "customer", "AttributeType": "S"},
            {"AttributeName": "number", "AttributeType": "N"},
            {"AttributeName": "status", "AttributeType": "S"},
            {"AttributeName": "day", "AttributeType": "S"},
        ],
        "KeySchema": [
            {"AttributeName": "customer", "KeyType": "HASH"},
            {"AttributeName": "number", "KeyType": "RANGE"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by-status",
                "KeySchema": [
                    {"AttributeName": "status", "KeyType": "HASH"},
                    {"AttributeName": "day", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "BillingMode": "PAY_PER_REQUEST",
        **more,
    }


def order(customer, number, **more):
    """Returns an order in DynamoDB JSON, as the low-level client expects it."""
    return {"customer": {"S": customer}, "number": {"N": str(number)}, **more}


def deviates(_reason):
    """Marks a test that DynamoDB Local fails. If it passes there, the run fails."""
    return unittest.expectedFailure if ON_LOCAL else lambda test: test


class Case(unittest.TestCase):
    """Base class of tests that create their own tables."""

    maxDiff = None

    def name(self):
        """Returns a unique table name."""
        return f"{type(self).__name__}.{next(_numbers)}"

    def table(self, **more):
        """Creates a table of orders, waits until it is active, and returns its name."""
        name = self.name()
        client.create_table(**orders(name, **more))
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig=WAITER)
        return name

    def get(self, table, customer, number):
        """Returns the item with a key, or None."""
        key = order(customer, number)
        return client.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item")

    def eventually(self, read):
        """Repeats `read` for 30 seconds until it returns a value, and returns that."""
        for _ in range(300):
            found = read()
            if found:
                return found
            time.sleep(0.1)
        return self.fail("no result within 30 seconds")

    @contextmanager
    def refused(self, exception, message):
        """Expects an exception of this class with a matching message, and status 400."""
        with self.assertRaisesRegex(exception, message) as context:
            yield context
        response = context.exception.response
        self.assertEqual(response["Error"]["Code"], exception.__name__)
        self.assertEqual(response["ResponseMetadata"]["HTTPStatusCode"], 400)
        self.assertTrue(response["ResponseMetadata"]["RequestId"])

    @contextmanager
    def invalid(self, message):
        """Expects a ValidationException, with this message if one is given.

        The API model does not define it, so the client has no class for it.
        """
        with self.assertRaises(client.exceptions.ClientError) as context:
            yield context
        error = context.exception.response["Error"]
        self.assertEqual(error["Code"], "ValidationException")
        self.assertEqual(error["Message"], message or error["Message"])
