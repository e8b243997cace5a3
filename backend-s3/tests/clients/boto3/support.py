"""Shared parts of the tests: the client, a bucket for each test, expected errors.

The client gets its endpoint, region and credentials from the environment, as a program that is not
written for this server. AWS_ENDPOINT_URL is an IP address, so boto3 puts the bucket into the path.
"""

import os
import unittest
import uuid
from contextlib import contextmanager

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

# Without the signature version, boto3 presigns URLs with Signature Version 2.
CONFIG = Config(signature_version="s3v4", retries={"total_max_attempts": 1})

client = boto3.client("s3", config=CONFIG)
resource = boto3.resource("s3", config=CONFIG)

# Whether the tests run against versitygw, to prove that they expect S3's behavior.
ON_VERSITYGW = os.environ.get("TABLA_CLIENTS_ON") == "versitygw"

REGION = os.environ["AWS_REGION"]


def deviates(_reason):
    """Marks a test that versitygw fails. If it passes there, the run fails."""
    return unittest.expectedFailure if ON_VERSITYGW else lambda test: test


def status(response):
    return response["ResponseMetadata"]["HTTPStatusCode"]


class Case(unittest.TestCase):
    """Base class of tests that create their own buckets."""

    maxDiff = None

    def name(self):
        """Returns a unique bucket name."""
        return f"{type(self).__name__.lower()}-{uuid.uuid4().hex[:12]}"

    def create_bucket(self, name):
        """Creates a bucket. S3 requires the region of the client, unless it is us-east-1."""
        more = {}
        if REGION != "us-east-1":
            more["CreateBucketConfiguration"] = {"LocationConstraint": REGION}
        client.create_bucket(Bucket=name, **more)

    def bucket(self):
        """Creates a bucket and returns its name."""
        name = self.name()
        self.create_bucket(name)
        return name

    def put(self, bucket, key, body=b"", **more):
        return client.put_object(Bucket=bucket, Key=key, Body=body, **more)

    def read(self, bucket, key, **more):
        """Returns the bytes of an object."""
        return client.get_object(Bucket=bucket, Key=key, **more)["Body"].read()

    def keys(self, bucket, **more):
        """Returns the keys of all objects of a bucket."""
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, **more)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]

    @contextmanager
    def refused(self, code, status):
        """Expects an error with this code and status."""
        with self.assertRaises(ClientError) as context:
            yield context
        response = context.exception.response
        metadata = response["ResponseMetadata"]
        self.assertEqual(
            (response["Error"]["Code"], metadata["HTTPStatusCode"]), (code, status), response
        )
