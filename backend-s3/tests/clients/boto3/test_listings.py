"""Listings: prefixes, delimiters, pages."""

from support import Case, client, deviates

KEYS = ["a.txt", "b/1", "b/2", "b/c/3", "d/", "e f/4", "ñ/5"]


class Listings(Case):
    def full(self):
        bucket = self.bucket()
        for key in KEYS:
            # A folder, as the console of S3 creates it, is an empty object.
            self.put(bucket, key, b"" if key.endswith("/") else key.encode())
        return bucket

    def test_delimiter_groups_keys_into_prefixes(self):
        bucket = self.full()
        page = client.list_objects_v2(Bucket=bucket, Delimiter="/")
        self.assertEqual([found["Key"] for found in page["Contents"]], ["a.txt"])
        prefixes = [found["Prefix"] for found in page["CommonPrefixes"]]
        self.assertEqual(prefixes, ["b/", "d/", "e f/", "ñ/"])
        self.assertEqual((page["KeyCount"], page["IsTruncated"]), (5, False))
        page = client.list_objects_v2(Bucket=bucket, Delimiter="/", Prefix="b/")
        self.assertEqual([found["Key"] for found in page["Contents"]], ["b/1", "b/2"])
        self.assertEqual(page["CommonPrefixes"], [{"Prefix": "b/c/"}])
        first = page["Contents"][0]
        self.assertEqual((first["Size"], first["StorageClass"]), (3, "STANDARD"))
        head = client.head_object(Bucket=bucket, Key="b/1")
        self.assertEqual(first["ETag"], head["ETag"])
        self.assertEqual(first["LastModified"].replace(microsecond=0), head["LastModified"])

    def test_paginator_returns_every_key_once(self):
        bucket = self.full()
        paginator = client.get_paginator("list_objects_v2")
        for size in (1, 2, 3, 7):
            with self.subTest(size=size):
                pages = list(
                    paginator.paginate(Bucket=bucket, PaginationConfig={"PageSize": size})
                )
                found = [key["Key"] for page in pages for key in page["Contents"]]
                self.assertEqual(found, KEYS)
                self.assertEqual(len(pages), -(-len(KEYS) // size))
        pages = paginator.paginate(Bucket=bucket, Delimiter="/", PaginationConfig={"PageSize": 2})
        self.assertEqual(
            [found["Prefix"] for found in pages.search("CommonPrefixes") if found],
            ["b/", "d/", "e f/", "ñ/"],
        )
        self.assertEqual(self.keys(bucket, StartAfter="b/2"), KEYS[3:])
        self.assertEqual(self.keys(bucket, Prefix="b/"), KEYS[1:4])
        self.assertEqual(self.keys(bucket, Prefix="none"), [])

    def test_first_version_of_the_listing_has_markers(self):
        bucket = self.full()
        paginator = client.get_paginator("list_objects")
        pages = paginator.paginate(Bucket=bucket, PaginationConfig={"PageSize": 3})
        self.assertEqual([found["Key"] for found in pages.search("Contents")], KEYS)
        page = client.list_objects(Bucket=bucket, Delimiter="/", MaxKeys=2)
        self.assertEqual((page["IsTruncated"], page["NextMarker"]), (True, "b/"))

    @deviates("it takes any token")
    def test_malformed_token_is_refused(self):
        bucket = self.full()
        with self.refused("InvalidArgument", 400):
            client.list_objects_v2(Bucket=bucket, ContinuationToken="not a token")
