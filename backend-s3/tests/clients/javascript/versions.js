// Versions of objects.

"use strict";

const assert = require("node:assert/strict");
const { suite, test } = require("node:test");
const {
  DeleteObjectCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} = require("@aws-sdk/client-s3");
const { bucket, client, refused, text } = require("./support.js");

suite("versions", () => {
  test("earlier versions are kept, listed and read", async () => {
    const where = { Bucket: await bucket(), Key: "a" };
    const { Bucket } = where;
    const VersioningConfiguration = { Status: "Enabled" };
    await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
    const { Status } = await client.send(new GetBucketVersioningCommand({ Bucket }));
    assert.equal(Status, "Enabled");
    const ids = [];
    for (const Body of ["one", "two"]) {
      ids.unshift((await client.send(new PutObjectCommand({ ...where, Body }))).VersionId);
    }
    const removed = await client.send(new DeleteObjectCommand(where));
    assert.equal(removed.DeleteMarker, true);
    await refused(client.send(new GetObjectCommand(where)), "NoSuchKey", 404);
    const listed = await client.send(new ListObjectVersionsCommand({ Bucket }));
    assert.deepEqual(listed.Versions.map(({ VersionId }) => VersionId), ids);
    const marker = listed.DeleteMarkers[0];
    assert.deepEqual([marker.VersionId, marker.IsLatest], [removed.VersionId, true]);
    const old = await client.send(new GetObjectCommand({ ...where, VersionId: ids[1] }));
    assert.equal(await text(old), "one");
    const VersionId = marker.VersionId;
    await client.send(new DeleteObjectCommand({ ...where, VersionId }));
    assert.equal(await text(await client.send(new GetObjectCommand(where))), "two");
  });
});
