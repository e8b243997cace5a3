"""Buckets: creation, listing, location, deletion."""

from support import Case, client, resource, status


class Buckets(Case):
    def test_bucket_is_created_listed_and_deleted(self):
        name = self.bucket()
        client.get_waiter("bucket_exists").wait(
            Bucket=name, WaiterConfig={"Delay": 1, "MaxAttempts": 10}
        )
        self.assertEqual(status(client.head_bucket(Bucket=name)), 200)
        client.get_bucket_location(Bucket=name)
        listed = {bucket["Name"]: bucket for bucket in client.list_buckets()["Buckets"]}
        self.assertIn("CreationDate", listed[name])
        self.assertIn(name, [bucket.name for bucket in resource.buckets.all()])
        self.assertEqual(status(client.delete_bucket(Bucket=name)), 204)
        with self.refused("404", 404):
            client.head_bucket(Bucket=name)
        self.assertNotIn(name, [bucket["Name"] for bucket in client.list_buckets()["Buckets"]])

    def test_refused_requests_on_buckets_have_codes_of_s3(self):
        name = self.bucket()
        with self.refused("BucketAlreadyOwnedByYou", 409):
            self.create_bucket(name)
        self.put(name, "a")
        with self.refused("BucketNotEmpty", 409):
            client.delete_bucket(Bucket=name)
        missing = self.name()
        for request in (
            lambda: client.delete_bucket(Bucket=missing),
            lambda: client.list_objects_v2(Bucket=missing),
            lambda: client.get_object(Bucket=missing, Key="a"),
            lambda: client.put_object(Bucket=missing, Key="a", Body=b"1"),
        ):
            with self.refused("NoSuchBucket", 404):
                request()
        # boto3 checks only a part of S3's rules for names.
        with self.refused("InvalidBucketName", 400):
            self.create_bucket("Upper-Case")

    def test_bucket_of_the_resource_is_emptied_and_deleted(self):
        bucket = resource.Bucket(self.bucket())
        for number in range(3):
            bucket.put_object(Key=f"a/{number}", Body=b"x" * number)
        self.assertEqual([found.size for found in bucket.objects.filter(Prefix="a/")], [0, 1, 2])
        bucket.objects.all().delete()
        self.assertEqual(list(bucket.objects.all()), [])
        bucket.delete()
