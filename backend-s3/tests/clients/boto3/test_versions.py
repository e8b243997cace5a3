"""Versions of objects."""

from support import Case, client, resource


class Versions(Case):
    def versioned(self):
        bucket = self.bucket()
        self.assertNotIn("Status", client.get_bucket_versioning(Bucket=bucket))
        client.put_bucket_versioning(
            Bucket=bucket, VersioningConfiguration={"Status": "Enabled"}
        )
        self.assertEqual(client.get_bucket_versioning(Bucket=bucket)["Status"], "Enabled")
        return bucket

    def test_earlier_versions_are_listed_and_read(self):
        bucket = self.versioned()
        ids = [self.put(bucket, "a", text)["VersionId"] for text in (b"one", b"two", b"three")]
        self.assertEqual(len(set(ids)), 3)
        self.put(bucket, "b", b"other")
        listed = client.list_object_versions(Bucket=bucket, Prefix="a")["Versions"]
        self.assertEqual([found["VersionId"] for found in listed], ids[::-1])
        self.assertEqual([found["IsLatest"] for found in listed], [True, False, False])
        self.assertEqual([found["Size"] for found in listed], [5, 3, 3])
        self.assertEqual(self.read(bucket, "a"), b"three")
        for version, text in zip(ids, (b"one", b"two", b"three"), strict=True):
            got = client.get_object(Bucket=bucket, Key="a", VersionId=version)
            self.assertEqual((got["Body"].read(), got["VersionId"]), (text, version))
        # An earlier version is restored with a copy of it.
        source = {"Bucket": bucket, "Key": "a", "VersionId": ids[0]}
        client.copy_object(Bucket=bucket, Key="a", CopySource=source)
        self.assertEqual(self.read(bucket, "a"), b"one")

    def test_delete_adds_a_marker_and_deletes_one_version(self):
        bucket = self.versioned()
        first = self.put(bucket, "a", b"one")["VersionId"]
        second = self.put(bucket, "a", b"two")["VersionId"]
        deleted = client.delete_object(Bucket=bucket, Key="a")
        self.assertTrue(deleted["DeleteMarker"])
        marker = deleted["VersionId"]
        with self.refused("NoSuchKey", 404):
            self.read(bucket, "a")
        self.assertEqual(self.keys(bucket), [])
        listed = client.list_object_versions(Bucket=bucket)
        self.assertEqual([found["VersionId"] for found in listed["DeleteMarkers"]], [marker])
        self.assertEqual([found["VersionId"] for found in listed["Versions"]], [second, first])
        client.delete_object(Bucket=bucket, Key="a", VersionId=marker)
        self.assertEqual(self.read(bucket, "a"), b"two")
        client.delete_object(Bucket=bucket, Key="a", VersionId=second)
        self.assertEqual(self.read(bucket, "a"), b"one")
        with self.refused("NoSuchVersion", 404):
            self.read(bucket, "a", VersionId=second)

    def test_delete_marker_cannot_be_read(self):
        bucket = self.versioned()
        self.put(bucket, "a", b"one")
        marker = client.delete_object(Bucket=bucket, Key="a")["VersionId"]
        with self.refused("MethodNotAllowed", 405) as context:
            self.read(bucket, "a", VersionId=marker)
        headers = context.exception.response["ResponseMetadata"]["HTTPHeaders"]
        self.assertEqual(headers["x-amz-delete-marker"], "true")
        with self.refused("405", 405):
            client.head_object(Bucket=bucket, Key="a", VersionId=marker)
        deleted = client.delete_object(Bucket=bucket, Key="a", VersionId=marker)
        self.assertTrue(deleted["DeleteMarker"])
        self.assertEqual(self.read(bucket, "a"), b"one")

    def test_deletion_of_many_lists_delete_markers(self):
        bucket = self.versioned()
        first = self.put(bucket, "a", b"one")["VersionId"]
        self.put(bucket, "b", b"two")

        def delete(*objects):
            deleted = client.delete_objects(Bucket=bucket, Delete={"Objects": list(objects)})
            self.assertNotIn("Errors", deleted)
            return {found["Key"]: found for found in deleted["Deleted"]}

        created = delete({"Key": "a"}, {"Key": "b"})
        listed = client.list_object_versions(Bucket=bucket)["DeleteMarkers"]
        self.assertEqual(
            {key: found["DeleteMarkerVersionId"] for key, found in created.items()},
            {found["Key"]: found["VersionId"] for found in listed},
        )
        self.assertTrue(all(found["DeleteMarker"] for found in created.values()))
        marker = created["b"]["DeleteMarkerVersionId"]
        gone = delete({"Key": "a", "VersionId": first}, {"Key": "b", "VersionId": marker})
        self.assertEqual(gone["a"]["VersionId"], first)
        self.assertFalse(gone["a"].get("DeleteMarker", False))
        self.assertEqual(gone["b"]["VersionId"], marker)
        self.assertTrue(gone["b"]["DeleteMarker"])
        self.assertEqual(self.read(bucket, "b"), b"two")

    def test_versions_are_paged_and_all_deleted(self):
        bucket = self.versioned()
        for number in range(7):
            self.put(bucket, "ab"[number % 2], str(number).encode())
        pages = client.get_paginator("list_object_versions").paginate(
            Bucket=bucket, PaginationConfig={"PageSize": 2}
        )
        found = [(one["Key"], one["VersionId"]) for one in pages.search("Versions")]
        self.assertEqual([key for key, _ in found], ["a"] * 4 + ["b"] * 3)
        self.assertEqual(len(set(found)), 7)
        with self.refused("BucketNotEmpty", 409):
            client.delete_bucket(Bucket=bucket)
        resource.Bucket(bucket).object_versions.all().delete()
        client.delete_bucket(Bucket=bucket)
