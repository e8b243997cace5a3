"""Multipart uploads: those of boto3's transfer manager, and single requests."""

import base64
import hashlib
import random
import subprocess
import tempfile
import zlib
from pathlib import Path

from boto3.s3.transfer import TransferConfig

from support import Case, client

MB = 1 << 20


def content(size, seed=1):
    return random.Random(seed).randbytes(size)


class Multipart(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_file_of_20_mb_is_uploaded_and_downloaded_in_parts(self):
        bucket = self.bucket()
        source, target = self.folder / "source", self.folder / "target"
        source.write_bytes(content(20 * MB + 1))
        seen = []
        client.upload_file(
            str(source),
            bucket,
            "large",
            ExtraArgs={"ContentType": "video/mp4", "Metadata": {"n": "1"}},
            Callback=seen.append,
        )
        self.assertEqual(sum(seen), 20 * MB + 1)
        head = client.head_object(Bucket=bucket, Key="large", ChecksumMode="ENABLED")
        # The default parts of 8 MB.
        self.assertRegex(head["ETag"], r'-3"$')
        self.assertEqual(head["ContentLength"], 20 * MB + 1)
        self.assertEqual((head["ContentType"], head["Metadata"]), ("video/mp4", {"n": "1"}))
        # The default checksum of boto3.
        self.assertRegex(head["ChecksumCRC32"], r"==(-3)?$")
        client.download_file(bucket, "large", str(target))
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (source, target)]
        self.assertEqual(digests[0], digests[1])
        self.assertEqual(client.list_multipart_uploads(Bucket=bucket).get("Uploads", []), [])

    def test_upload_with_sha256_of_parts_is_verified(self):
        bucket = self.bucket()
        source = self.folder / "source"
        source.write_bytes(content(11 * MB))
        config = TransferConfig(multipart_threshold=5 * MB, multipart_chunksize=5 * MB)
        client.upload_file(
            str(source), bucket, "a", ExtraArgs={"ChecksumAlgorithm": "SHA256"}, Config=config
        )
        head = client.head_object(Bucket=bucket, Key="a", ChecksumMode="ENABLED")
        self.assertRegex(head["ChecksumSHA256"], r"-3$")
        self.assertEqual(head["ChecksumType"], "COMPOSITE")
        self.assertTrue(self.read(bucket, "a") == source.read_bytes())

    def test_stream_of_unknown_length_is_uploaded(self):
        bucket = self.bucket()
        source = self.folder / "source"
        source.write_bytes(content(9 * MB))
        with subprocess.Popen(["cat", source], stdout=subprocess.PIPE) as pipe:
            client.upload_fileobj(pipe.stdout, bucket, "piped")
        self.assertTrue(self.read(bucket, "piped") == source.read_bytes())

    def create(self, bucket, key):
        """Starts an upload whose parts have the default checksum of boto3."""
        where = {"Bucket": bucket, "Key": key}
        created = client.create_multipart_upload(**where, ChecksumAlgorithm="CRC32")
        return {**where, "UploadId": created["UploadId"]}

    def part(self, where, number, body):
        """Uploads a part, and returns what completes the upload with it."""
        part = client.upload_part(**where, PartNumber=number, Body=body, ChecksumAlgorithm="CRC32")
        return {"PartNumber": number, "ETag": part["ETag"], "ChecksumCRC32": part["ChecksumCRC32"]}

    def complete(self, where, parts):
        return client.complete_multipart_upload(**where, MultipartUpload={"Parts": parts})

    def test_parts_are_listed_copied_and_completed(self):
        bucket = self.bucket()
        self.put(bucket, "source", content(6 * MB))
        where = self.create(bucket, "in parts")
        copied = client.upload_part_copy(
            **where,
            PartNumber=1,
            CopySource={"Bucket": bucket, "Key": "source"},
            CopySourceRange=f"bytes=0-{5 * MB - 1}",
        )["CopyPartResult"]
        first = {name: copied[name] for name in ("ETag", "ChecksumCRC32")}
        parts = [{"PartNumber": 1, **first}, self.part(where, 7, content(5 * MB, 2))]
        listed = client.list_parts(**where)["Parts"]
        self.assertEqual(
            [(part["PartNumber"], part["Size"]) for part in listed], [(1, 5 * MB), (7, 5 * MB)]
        )
        uploads = client.list_multipart_uploads(Bucket=bucket)["Uploads"]
        self.assertEqual(
            [(found["Key"], found["UploadId"]) for found in uploads],
            [("in parts", where["UploadId"])],
        )
        self.assertEqual(self.keys(bucket), ["source"])
        with self.refused("InvalidPartOrder", 400):
            self.complete(where, parts[::-1])
        with self.refused("InvalidPart", 400):
            self.complete(where, [parts[0], {**parts[1], "ETag": parts[0]["ETag"]}])
        done = self.complete(where, parts)
        self.assertRegex(done["ETag"], r'-2"$')
        whole = content(6 * MB)[: 5 * MB] + content(5 * MB, 2)
        self.assertTrue(self.read(bucket, "in parts") == whole)

    def test_upload_without_an_algorithm_accepts_the_default_checksum_of_parts(self):
        bucket = self.bucket()
        where = {"Bucket": bucket, "Key": "a"}
        where["UploadId"] = client.create_multipart_upload(**where)["UploadId"]
        bodies = [content(5 * MB, 1), b"last"]
        parts = []
        for number, body in enumerate(bodies, 1):
            part = client.upload_part(**where, PartNumber=number, Body=body)
            # The default checksum of boto3 is verified and returned.
            crc = base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
            self.assertEqual(part["ChecksumCRC32"], crc)
            parts.append({"PartNumber": number, "ETag": part["ETag"]})
        with self.refused("BadDigest", 400):
            client.upload_part(**where, PartNumber=3, Body=b"1", ChecksumCRC32="AAAAAA==")
        # S3 stores CRC-64/NVME, and no other checksum of a part.
        with self.refused("InvalidPart", 400):
            self.complete(where, [{**parts[0], "ChecksumCRC32": crc}, parts[1]])
        done = self.complete(where, parts)
        self.assertEqual(done["ChecksumType"], "FULL_OBJECT")
        head = client.head_object(Bucket=bucket, Key="a", ChecksumMode="ENABLED")
        self.assertEqual(head["ChecksumCRC64NVME"], done["ChecksumCRC64NVME"])
        self.assertTrue(self.read(bucket, "a") == b"".join(bodies))

    def test_part_with_another_algorithm_than_the_upload_is_refused(self):
        bucket = self.bucket()
        where = {"Bucket": bucket, "Key": "a"}
        created = client.create_multipart_upload(**where, ChecksumAlgorithm="SHA256")
        where["UploadId"] = created["UploadId"]
        with self.refused("InvalidRequest", 400):
            client.upload_part(**where, PartNumber=1, Body=b"1", ChecksumAlgorithm="CRC32")
        client.upload_part(**where, PartNumber=1, Body=b"1", ChecksumAlgorithm="SHA256")

    def test_aborted_upload_leaves_nothing(self):
        bucket = self.bucket()
        where = self.create(bucket, "a")
        part = self.part(where, 1, b"1")
        client.abort_multipart_upload(**where)
        with self.refused("NoSuchUpload", 404):
            self.part(where, 2, b"2")
        with self.refused("NoSuchUpload", 404):
            self.complete(where, [part])
        client.delete_bucket(Bucket=bucket)

    def test_small_part_before_the_last_is_refused(self):
        bucket = self.bucket()
        where = self.create(bucket, "a")
        parts = [self.part(where, number, b"small") for number in (1, 2)]
        with self.refused("EntityTooSmall", 400):
            self.complete(where, parts)
        client.abort_multipart_upload(**where)
