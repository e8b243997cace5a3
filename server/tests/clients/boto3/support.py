"""What the tests share: clients, and a table of orders.

The clients get no argument: AWS_ENDPOINT_URL, AWS_REGION and the credentials are in the
environment, as they would be for a program that knows nothing of this server.
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

# Polls soon and gives up soon; by default boto3 looks again after 20 seconds.
WAITER = {"Delay": 1, "MaxAttempts": 30}

# Whether these tests are being tested, on DynamoDB Local.
ON_LOCAL = os.environ.get("TABLA_CLIENTS_ON") == "dynamodb-local"

_numbers = itertools.count(1)


def orders(name, **more):
    """The request for a table of orders: by customer and number, and by status and day."""
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
    """An order as the client takes it: with the types of its values."""
    return {"customer": {"S": customer}, "number": {"N": str(number)}, **more}


def deviates(_reason):
    """A test that DynamoDB Local is known to fail; should it pass there, that is an error."""
    return unittest.expectedFailure if ON_LOCAL else lambda test: test


class Case(unittest.TestCase):
    """A test with tables of its own."""

    maxDiff = None

    def name(self):
        """A name that no other table has."""
        return f"{type(self).__name__}.{next(_numbers)}"

    def table(self, **more):
        """A new table of orders that takes requests; gives its name."""
        name = self.name()
        client.create_table(**orders(name, **more))
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig=WAITER)
        return name

    def get(self, table, customer, number):
        """What is stored under a key, or None."""
        key = order(customer, number)
        return client.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item")

    def eventually(self, read):
        """Waits until a reading is there, and gives it."""
        for _ in range(300):
            found = read()
            if found:
                return found
            time.sleep(0.1)
        return self.fail("it did not come within 30 seconds")

    @contextmanager
    def refused(self, exception, message):
        """Expects an exception of the client, which carries this message."""
        with self.assertRaisesRegex(exception, message) as context:
            yield context
        response = context.exception.response
        self.assertEqual(response["Error"]["Code"], exception.__name__)
        self.assertEqual(response["ResponseMetadata"]["HTTPStatusCode"], 400)
        self.assertTrue(response["ResponseMetadata"]["RequestId"])

    @contextmanager
    def invalid(self, message):
        """Expects a request to be refused as invalid, with this message if there is one.

        That is no shape of the API's model, so the client has no class of its own for it.
        """
        with self.assertRaises(client.exceptions.ClientError) as context:
            yield context
        error = context.exception.response["Error"]
        self.assertEqual(error["Code"], "ValidationException")
        self.assertEqual(error["Message"], message or error["Message"])
