"""Presigned URLs, used with Python's own HTTP client."""

import os
import urllib.error
import urllib.request

import boto3
from botocore.config import Config

from support import CONFIG, ON_VERSITYGW, Case, client, deviates


def send(url, method="GET", body=None, headers=None):
    """Sends a request, and returns status, headers and body of the response."""
    request = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


class Presigned(Case):
    def url(self, operation, bucket, key, expires=60, **more):
        return client.generate_presigned_url(
            operation, Params={"Bucket": bucket, "Key": key, **more}, ExpiresIn=expires
        )

    def refused_url(self, code, *request):
        status, _, body = send(*request)
        self.assertEqual(status, 403, body)
        self.assertIn(f"<Code>{code}</Code>".encode(), body)

    def test_object_is_uploaded_and_downloaded(self):
        bucket, key = self.bucket(), "a b/ñ+%.txt"
        put = self.url("put_object", bucket, key, ContentType="text/plain", Metadata={"n": "1"})
        headers = {"Content-Type": "text/plain", "x-amz-meta-n": "1"}
        status, answered, _ = send(put, "PUT", b"hello", headers)
        self.assertEqual(status, 200)
        head = client.head_object(Bucket=bucket, Key=key)
        self.assertEqual(answered["ETag"], head["ETag"])
        self.assertEqual((head["ContentType"], head["Metadata"]), ("text/plain", {"n": "1"}))
        status, answered, body = send(self.url("get_object", bucket, key))
        self.assertEqual((status, body, answered["Content-Type"]), (200, b"hello", "text/plain"))
        status, answered, body = send(
            self.url("get_object", bucket, key), headers={"Range": "bytes=1-2"}
        )
        self.assertEqual((status, body), (206, b"el"))
        status, _, body = send(self.url("head_object", bucket, key), "HEAD")
        self.assertEqual((status, body), (200, b""))
        status, _, _ = send(self.url("delete_object", bucket, key), "DELETE")
        self.assertEqual(status, 204)
        status, _, body = send(self.url("get_object", bucket, key))
        self.assertEqual(status, 404)
        self.assertIn(b"<Code>NoSuchKey</Code>", body)

    def test_response_headers_are_replaced(self):
        bucket = self.bucket()
        self.put(bucket, "a", b"hello", ContentType="text/plain")
        url = self.url(
            "get_object",
            bucket,
            "a",
            ResponseContentType="application/pdf",
            ResponseContentDisposition='attachment; filename="a.pdf"',
        )
        status, answered, body = send(url)
        self.assertEqual((status, body), (200, b"hello"))
        self.assertEqual(answered["Content-Type"], "application/pdf")
        self.assertEqual(answered["Content-Disposition"], 'attachment; filename="a.pdf"')

    def test_changed_request_is_refused_and_writes_nothing(self):
        bucket = self.bucket()
        self.put(bucket, "a", b"kept")
        get = self.url("get_object", bucket, "a")
        put = self.url("put_object", bucket, "a", ContentType="text/plain")
        code = "SignatureDoesNotMatch"
        text = {"Content-Type": "text/plain"}
        self.refused_url(code, get.replace("/a?", "/b?"))
        self.refused_url(code, get.replace("X-Amz-Expires=60", "X-Amz-Expires=61"))
        self.refused_url(code, get, "PUT", b"x", text)
        self.refused_url(code, get, "DELETE")
        self.refused_url(code, put, "PUT", b"x", {"Content-Type": "text/html"})
        if not ON_VERSITYGW:
            self.refused_url("AccessDenied", put, "PUT", b"x", {**text, "x-amz-meta-n": "1"})
        self.assertEqual(self.read(bucket, "a"), b"kept")
        self.assertEqual(self.keys(bucket), ["a"])

    def refused_key(self, code, **credentials):
        """Expects the refusal of a URL and a request that are signed with another key."""
        bucket = self.bucket()
        self.put(bucket, "a", b"kept")
        where = {"Bucket": bucket, "Key": "a"}
        other = boto3.client("s3", config=CONFIG, **credentials)
        self.refused_url(code, other.generate_presigned_url("get_object", Params=where))
        with self.refused(code, 403):
            other.get_object(**where)

    def test_wrong_secret_is_refused(self):
        known = os.environ["AWS_ACCESS_KEY_ID"]
        self.refused_key(
            "SignatureDoesNotMatch", aws_access_key_id=known, aws_secret_access_key="another"
        )

    @deviates("it answers with XAdminUserNotFound")
    def test_unknown_key_is_refused(self):
        self.refused_key(
            "InvalidAccessKeyId", aws_access_key_id="TABLAUNKNOWN", aws_secret_access_key="secret"
        )

    def test_expiry_over_7_days_is_refused(self):
        bucket = self.bucket()
        self.put(bucket, "a", b"kept")
        self.assertEqual(send(self.url("get_object", bucket, "a", expires=604_800))[0], 200)
        status, _, body = send(self.url("get_object", bucket, "a", expires=604_801))
        self.assertEqual(status, 400)
        self.assertIn(b"<Code>AuthorizationQueryParametersError</Code>", body)

    def test_signature_version_2_is_refused(self):
        bucket = self.bucket()
        self.put(bucket, "a", b"kept")
        # The default of boto3 for us-east-1.
        old = boto3.client("s3", config=Config(signature_version="s3"))
        url = old.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "a"})
        self.assertNotIn("X-Amz-Signature", url)
        status, _, body = send(url)
        self.assertNotEqual(status, 200)
        self.assertNotIn(b"kept", body)
        if not ON_VERSITYGW:
            self.assertEqual(status, 400)
            self.assertIn(b"<Code>InvalidRequest</Code>", body)

    def test_anonymous_request_is_refused(self):
        bucket = self.bucket()
        self.put(bucket, "a", b"kept")
        url = self.url("get_object", bucket, "a").split("?")[0]
        self.refused_url("AccessDenied", url)
        self.refused_url("AccessDenied", url, "PUT", b"x", {"Content-Type": "text/plain"})
        self.assertEqual(self.read(bucket, "a"), b"kept")
