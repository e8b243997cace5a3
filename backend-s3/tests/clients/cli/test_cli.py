"""Tests of the AWS CLI: `aws s3` and `aws s3api`, with the files of a folder.

Each command is a process that takes half a second to start, so the tests are few and long.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import uuid
from pathlib import Path

AWS = Path(sys.executable).with_name("aws")

# As in the documentation: without it, this version of the CLI presigns URLs for us-east-1 with
# Signature Version 2.
SETTINGS = """\
[default]
region = us-east-1
s3 =
    signature_version = s3v4
"""


def run(*words, settings=SETTINGS, **more):
    """Runs a command with these settings."""
    file = Path(os.environ["HOME"]) / f"settings-{uuid.uuid4().hex}"
    file.write_text(settings)
    kept = {name: value for name, value in os.environ.items() if "REGION" not in name}
    environment = {**kept, "AWS_CONFIG_FILE": str(file)}
    command = [AWS, *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=environment, **more
    )


def aws(*words, **more):
    """Runs a command that must succeed, and returns its output."""
    done = run(*words, **more)
    assert done.returncode == 0, f"aws {' '.join(map(str, words))}: {done.stdout}{done.stderr}"
    return done.stdout


def api(*words):
    """Runs a command of `aws s3api`, and returns its parsed output."""
    text = aws("s3api", *words)
    return json.loads(text) if text.strip() else None


def curl(*words):
    """Runs curl without settings of this machine, and returns its output: body and status."""
    command = ["curl", "--disable", "--silent", "--show-error", "--max-time", "30"]
    command += ["--write-out", "\n%{http_code}", *map(str, words)]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    body, _, status = done.stdout.rpartition(b"\n")
    return int(status), body


class Cli(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.bucket = f"cli-{uuid.uuid4().hex[:12]}"
        self.assertEqual(aws("s3", "mb", f"s3://{self.bucket}"), f"make_bucket: {self.bucket}\n")

    def address(self, key=""):
        return f"s3://{self.bucket}/{key}"

    def file(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def listed(self):
        """Returns the keys of the bucket, with sizes."""
        lines = aws("s3", "ls", "--recursive", self.address()).splitlines()
        return {line.split(None, 3)[3]: int(line.split()[2]) for line in lines}

    def test_file_is_copied_there_and_back(self):
        small = self.file("small ñ.txt", b"hello")
        large = self.file("large.bin", random.Random(1).randbytes(20 << 20))
        aws("s3", "cp", "--no-progress", small, self.address("in/small ñ.txt"))
        # The CLI uploads more than 8 MB in parts.
        aws("s3", "cp", "--no-progress", large, self.address("in/"))
        shown = aws("s3", "ls", self.address("in/"))
        self.assertRegex(shown, r"20971520 large\.bin\n.* 5 small ñ\.txt\n")
        self.assertIn("PRE in/", aws("s3", "ls", self.address()))
        self.assertIn(self.bucket, aws("s3", "ls"))
        for name, source in (("small ñ.txt", small), ("large.bin", large)):
            target = self.folder / "back"
            aws("s3", "cp", "--no-progress", self.address(f"in/{name}"), target)
            self.assertTrue(target.read_bytes() == source.read_bytes(), name)
        self.assertEqual(aws("s3", "cp", self.address("in/small ñ.txt"), "-"), "hello")
        aws("s3", "cp", "-", self.address("piped"), input="from a pipe")
        aws("s3", "cp", "--no-progress", self.address("piped"), self.address("copied"))
        aws("s3", "mv", "--no-progress", self.address("in/large.bin"), self.address("moved.bin"))
        self.assertEqual(
            self.listed(),
            {"copied": 11, "in/small ñ.txt": 5, "moved.bin": 20 << 20, "piped": 11},
        )
        head = api("head-object", "--bucket", self.bucket, "--key", "in/small ñ.txt")
        self.assertEqual(head["ContentType"], "text/plain")

        missing = run("s3", "cp", self.address("missing"), "-")
        self.assertNotEqual(missing.returncode, 0)
        self.assertIn("(404) when calling the HeadObject operation", missing.stderr)

        full = run("s3", "rb", self.address())
        self.assertNotEqual(full.returncode, 0)
        self.assertIn("(BucketNotEmpty) when calling the DeleteBucket operation", full.stderr)
        aws("s3", "rm", "--recursive", "--exclude", "*.bin", self.address())
        self.assertEqual(self.listed(), {"moved.bin": 20 << 20})
        aws("s3", "rm", "--recursive", self.address())
        self.assertEqual(aws("s3", "rb", self.address()), f"remove_bucket: {self.bucket}\n")
        self.assertNotIn(self.bucket, aws("s3", "ls"))

    def test_folder_is_synchronized_both_ways(self):
        site = self.folder / "site"
        for name in ("index.html", "css/a.css", "img/a b+c.svg", "img/ñ.txt"):
            self.file(f"site/{name}", name.encode())
        sync = ("s3", "sync", "--no-progress")
        self.assertEqual(len(aws(*sync, site, self.address("v1")).splitlines()), 4)
        self.assertEqual(aws(*sync, site, self.address("v1")), "")
        self.assertEqual(
            self.listed(),
            {
                f"v1/{name}": len(name.encode())
                for name in ("index.html", "css/a.css", "img/a b+c.svg", "img/ñ.txt")
            },
        )
        self.file("site/index.html", b"a longer index")
        (site / "css/a.css").unlink()
        changed = aws(*sync, "--delete", site, self.address("v1"))
        self.assertEqual(len(changed.splitlines()), 2, changed)
        aws(*sync, self.address("v1"), self.address("v2"))
        back = self.folder / "back"
        aws(*sync, self.address("v2"), back)
        found = {str(path.relative_to(back)) for path in back.rglob("*") if path.is_file()}
        self.assertEqual(found, {"index.html", "img/a b+c.svg", "img/ñ.txt"})
        self.assertEqual((back / "index.html").read_bytes(), b"a longer index")
        aws("s3", "rb", "--force", self.address())

    def test_presigned_url_is_downloaded_with_curl(self):
        path = self.file("a", b"hello")
        key = "a b/ñ+.txt"
        aws("s3", "cp", "--no-progress", path, self.address(key))
        url = aws("s3", "presign", self.address(key), "--expires-in", "60").strip()
        self.assertIn("X-Amz-Expires=60", url)
        self.assertEqual(curl(url), (200, b"hello"))
        self.assertEqual(curl("--range", "1-2", url), (206, b"el"))
        status, body = curl(url.replace("X-Amz-Expires=60", "X-Amz-Expires=600"))
        self.assertEqual(status, 403)
        self.assertIn(b"<Code>SignatureDoesNotMatch</Code>", body)
        status, body = curl("--upload-file", path, url)
        self.assertEqual(status, 403)
        self.assertIn(b"<Code>SignatureDoesNotMatch</Code>", body)

    def test_presigned_url_with_the_default_settings_is_refused_with_the_remedy(self):
        url = aws("s3", "presign", self.address("a"), settings="[default]\nregion = us-east-1\n")
        self.assertIn("AWSAccessKeyId=", url)
        status, body = curl(url.strip())
        self.assertEqual(status, 400)
        self.assertIn(b"<Code>InvalidRequest</Code>", body)
        self.assertIn(b"AWS4-HMAC-SHA256", body)

    def test_single_requests_have_options_and_errors(self):
        path = self.file("a.json", b"{}")
        words = ("--bucket", self.bucket, "--key", "a.json")
        put = ("put-object", *words, "--body", path, "--content-type", "application/json")
        tag = api(*put, "--metadata", "n=1", "--if-none-match", "*")["ETag"]
        again = run("s3api", *put, "--if-none-match", "*")
        self.assertIn("(PreconditionFailed) when calling the PutObject operation", again.stderr)
        got = api("get-object", *words, "--range", "bytes=0-0", self.folder / "part")
        self.assertEqual((got["ETag"], got["ContentRange"]), (tag, "bytes 0-0/2"))
        self.assertEqual((got["ContentType"], got["Metadata"]), ("application/json", {"n": "1"}))
        enabled = ("--versioning-configuration", "Status=Enabled")
        api("put-bucket-versioning", "--bucket", self.bucket, *enabled)
        self.assertEqual(
            api("get-bucket-versioning", "--bucket", self.bucket), {"Status": "Enabled"}
        )
        version = api(*put)["VersionId"]
        versions = api("list-object-versions", "--bucket", self.bucket)["Versions"]
        self.assertEqual([found["VersionId"] for found in versions], [version, "null"])
        api("delete-object", *words)
        missing = run("s3api", "get-object", *words, self.folder / "missing")
        self.assertIn("(NoSuchKey) when calling the GetObject operation", missing.stderr)
        api("get-object", *words, "--version-id", version, self.folder / "back")
        self.assertEqual((self.folder / "back").read_bytes(), b"{}")
        acl = run("s3api", "get-object-acl", *words)
        self.assertIn("(NotImplemented) when calling the GetObjectAcl operation", acl.stderr)
