"""Objects: put, get, head, delete, copy; metadata, ranges, conditions, checksums."""

import base64
import hashlib
from datetime import timedelta

from botocore.exceptions import ClientError

from support import Case, client, deviates, status

# Keys with characters that paths, URLs and XML treat specially.
KEYS = [
    "a b+c%20d",
    "a/../b",
    "a//b/",
    "ñandú/日本語/🙂.txt",
    "<a>&'\"=?#;:@,",
    "x" * 1024,
]


class Objects(Case):
    def test_object_is_written_read_and_deleted(self):
        bucket = self.bucket()
        written = self.put(
            bucket,
            "notes/one.txt",
            b"hello",
            ContentType="text/plain; charset=utf-8",
            CacheControl="max-age=3600",
            ContentDisposition='attachment; filename="one.txt"',
            ContentEncoding="identity",
            ContentLanguage="es",
            Metadata={"author": "ana", "Mixed-Case": "1"},
        )
        self.assertRegex(written["ETag"], r'^".+"$')
        head = client.head_object(Bucket=bucket, Key="notes/one.txt")
        got = client.get_object(Bucket=bucket, Key="notes/one.txt")
        self.assertEqual(got["Body"].read(), b"hello")
        for answer in (head, got):
            self.assertEqual(answer["ETag"], written["ETag"])
            self.assertEqual(answer["ContentLength"], 5)
            self.assertEqual(answer["ContentType"], "text/plain; charset=utf-8")
            self.assertEqual(answer["CacheControl"], "max-age=3600")
            self.assertEqual(answer["ContentDisposition"], 'attachment; filename="one.txt"')
            self.assertEqual(answer["ContentLanguage"], "es")
            self.assertEqual(answer["Metadata"], {"author": "ana", "mixed-case": "1"})
            self.assertIn("LastModified", answer)
        self.assertEqual(
            status(client.delete_object(Bucket=bucket, Key="notes/one.txt")), 204
        )
        with self.refused("NoSuchKey", 404):
            self.read(bucket, "notes/one.txt")
        with self.refused("404", 404):
            client.head_object(Bucket=bucket, Key="notes/one.txt")
        # Deleting a missing object succeeds.
        client.delete_object(Bucket=bucket, Key="notes/one.txt")

    def test_object_without_content_or_type_has_the_defaults_of_s3(self):
        bucket = self.bucket()
        self.put(bucket, "empty")
        got = client.get_object(Bucket=bucket, Key="empty")
        self.assertEqual((got["Body"].read(), got["ContentLength"]), (b"", 0))
        self.assertEqual(got["ContentType"], "binary/octet-stream")
        self.assertEqual(got["Metadata"], {})

    @deviates("it stores keys as paths: `..` and `//` are resolved, and names have up to 255 bytes")
    def test_keys_with_special_characters_are_kept(self):
        bucket = self.bucket()
        for key in KEYS:
            with self.subTest(key=key):
                self.put(bucket, key, key.encode())
                self.assertEqual(self.read(bucket, key), key.encode())
        self.assertEqual(self.keys(bucket), sorted(KEYS, key=str.encode))
        for key in KEYS:
            client.delete_object(Bucket=bucket, Key=key)
        self.assertEqual(self.keys(bucket), [])

    def test_conditional_put_creates_only_once(self):
        bucket = self.bucket()
        first = self.put(bucket, "a", b"1", IfNoneMatch="*")
        with self.refused("PreconditionFailed", 412):
            self.put(bucket, "a", b"2", IfNoneMatch="*")
        self.assertEqual(self.read(bucket, "a"), b"1")
        second = self.put(bucket, "a", b"3", IfMatch=first["ETag"])
        with self.refused("PreconditionFailed", 412):
            self.put(bucket, "a", b"4", IfMatch=first["ETag"])
        with self.refused("NoSuchKey", 404):
            self.put(bucket, "missing", b"5", IfMatch=second["ETag"])
        self.assertEqual(self.read(bucket, "a"), b"3")
        self.assertEqual(self.keys(bucket), ["a"])

    def test_conditional_reads_are_not_modified_or_refused(self):
        bucket = self.bucket()
        tag = self.put(bucket, "a", b"1")["ETag"]
        at = client.head_object(Bucket=bucket, Key="a")["LastModified"]
        self.assertEqual(self.read(bucket, "a", IfMatch=tag), b"1")
        self.assertEqual(self.read(bucket, "a", IfNoneMatch='"other"'), b"1")
        self.assertEqual(self.read(bucket, "a", IfModifiedSince=at - timedelta(hours=1)), b"1")
        with self.refused("304", 304):
            self.read(bucket, "a", IfNoneMatch=tag)
        for condition in (
            {"IfMatch": '"other"'},
            {"IfUnmodifiedSince": at - timedelta(hours=1)},
        ):
            with self.refused("PreconditionFailed", 412):
                self.read(bucket, "a", **condition)
            with self.refused("412", 412):
                client.head_object(Bucket=bucket, Key="a", **condition)

    @deviates("it compares with the fraction of a second that LastModified does not show")
    def test_object_is_not_modified_since_its_time(self):
        bucket = self.bucket()
        self.put(bucket, "a", b"1")
        at = client.head_object(Bucket=bucket, Key="a")["LastModified"]
        with self.refused("304", 304):
            self.read(bucket, "a", IfModifiedSince=at)

    def test_ranges_are_read(self):
        bucket = self.bucket()
        content = bytes(range(256)) * 1000
        self.put(bucket, "a", content)
        for spec, expected, shown in (
            ("bytes=0-9", content[:10], "bytes 0-9/256000"),
            ("bytes=255990-", content[-10:], "bytes 255990-255999/256000"),
            ("bytes=-5", content[-5:], "bytes 255995-255999/256000"),
            ("bytes=255999-999999", content[-1:], "bytes 255999-255999/256000"),
        ):
            with self.subTest(spec=spec):
                got = client.get_object(Bucket=bucket, Key="a", Range=spec)
                self.assertEqual(got["Body"].read(), expected)
                self.assertEqual((status(got), got["ContentRange"]), (206, shown))
        with self.refused("InvalidRange", 416):
            self.read(bucket, "a", Range="bytes=256000-")

    def test_checksums_are_verified_and_returned(self):
        bucket = self.bucket()
        # boto3 sends CRC-32 if no checksum is given.
        written = self.put(bucket, "default", b"hello")
        self.assertEqual(written["ChecksumCRC32"], "NhCmhg==")
        for algorithm in ("CRC32", "SHA1", "SHA256"):
            with self.subTest(algorithm=algorithm):
                name = f"Checksum{algorithm}"
                written = self.put(bucket, algorithm, b"hello", ChecksumAlgorithm=algorithm)
                got = client.get_object(Bucket=bucket, Key=algorithm, ChecksumMode="ENABLED")
                self.assertEqual(got["Body"].read(), b"hello")
                self.assertEqual(got[name], written[name])
        right = base64.b64encode(hashlib.sha256(b"hello").digest()).decode()
        wrong = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
        self.put(bucket, "right", b"hello", ChecksumSHA256=right)
        with self.refused("BadDigest", 400):
            self.put(bucket, "wrong", b"hello", ChecksumSHA256=wrong)
        with self.refused("BadDigest", 400):
            md5 = base64.b64encode(hashlib.md5(b"other").digest()).decode()
            self.put(bucket, "wrong", b"hello", ContentMD5=md5)
        self.assertNotIn("wrong", self.keys(bucket))

    def test_object_is_copied_with_its_metadata_or_new_one(self):
        bucket, other = self.bucket(), self.bucket()
        self.put(bucket, "a b/ñ", b"hello", ContentType="text/plain", Metadata={"n": "1"})
        source = {"Bucket": bucket, "Key": "a b/ñ"}
        copied = client.copy_object(Bucket=bucket, Key="same", CopySource=source)
        self.assertRegex(copied["CopyObjectResult"]["ETag"], r'^".+"$')
        client.copy_object(
            Bucket=other,
            Key="new",
            CopySource=source,
            MetadataDirective="REPLACE",
            ContentType="text/html",
            Metadata={"n": "2"},
        )
        same = client.get_object(Bucket=bucket, Key="same")
        new = client.get_object(Bucket=other, Key="new")
        self.assertEqual((same["ContentType"], same["Metadata"]), ("text/plain", {"n": "1"}))
        self.assertEqual((new["ContentType"], new["Metadata"]), ("text/html", {"n": "2"}))
        self.assertEqual((same["Body"].read(), new["Body"].read()), (b"hello", b"hello"))
        with self.refused("NoSuchKey", 404):
            client.copy_object(
                Bucket=bucket, Key="x", CopySource={"Bucket": bucket, "Key": "missing"}
            )
        # The managed copy of boto3 reads the size first.
        client.copy(source, other, "managed")
        self.assertEqual(self.read(other, "managed"), b"hello")

    def test_many_objects_are_deleted_at_once(self):
        bucket = self.bucket()
        keys = [f"k/{number:04}&<>" for number in range(1000)]
        for key in keys[::50]:
            self.put(bucket, key)
        self.put(bucket, "kept")
        wanted = [{"Key": key} for key in keys]
        answer = client.delete_objects(Bucket=bucket, Delete={"Objects": wanted})
        self.assertEqual(sorted(found["Key"] for found in answer["Deleted"]), keys)
        self.assertNotIn("Errors", answer)
        self.assertEqual(self.keys(bucket), ["kept"])

    @deviates("it has no limit")
    def test_more_than_1000_objects_at_once_are_refused(self):
        bucket = self.bucket()
        wanted = [{"Key": str(number)} for number in range(1001)]
        with self.refused("MalformedXML", 400):
            client.delete_objects(Bucket=bucket, Delete={"Objects": wanted})

    @deviates("it ignores Quiet")
    def test_quiet_delete_returns_only_errors(self):
        bucket = self.bucket()
        self.put(bucket, "a")
        wanted = {"Objects": [{"Key": "a"}], "Quiet": True}
        answer = client.delete_objects(Bucket=bucket, Delete=wanted)
        self.assertNotIn("Deleted", answer)
        self.assertEqual(self.keys(bucket), [])

    def test_refused_objects_have_codes_of_s3(self):
        bucket = self.bucket()
        with self.refused("KeyTooLongError", 400):
            self.put(bucket, "x" * 1025)
        with self.refused("MetadataTooLarge", 400):
            self.put(bucket, "a", Metadata={"long": "x" * 2049})
        with self.assertRaises(ClientError):
            self.read(bucket, "a", VersionId="no-version")
        self.assertEqual(self.keys(bucket), [])
