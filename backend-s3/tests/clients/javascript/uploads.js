// Multipart uploads of @aws-sdk/lib-storage.

"use strict";

const assert = require("node:assert/strict");
const { createHash, randomBytes } = require("node:crypto");
const { Readable } = require("node:stream");
const { suite, test } = require("node:test");
const {
  AbortMultipartUploadCommand,
  DeleteBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
} = require("@aws-sdk/client-s3");
const { Upload } = require("@aws-sdk/lib-storage");
const { bucket, client, keys } = require("./support.js");

const MB = 1 << 20;

/** Returns a stream of these bytes, in pieces of 100 KB. */
const stream = (bytes) =>
  Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
    })(),
    { objectMode: false },
  );

const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");

suite("multipart uploads", () => {
  test("stream of 17 MB is uploaded in parts with progress", async () => {
    const where = { Bucket: await bucket(), Key: "large" };
    const bytes = randomBytes(17 * MB + 1);
    const upload = new Upload({
      client,
      params: { ...where, Body: stream(bytes), ContentType: "video/mp4", Metadata: { n: "1" } },
      partSize: 5 * MB,
      queueSize: 3,
    });
    let loaded = 0;
    upload.on("httpUploadProgress", (progress) => {
      loaded = Math.max(loaded, progress.loaded);
    });
    const done = await upload.done();
    assert.match(done.ETag, /-4"$/);
    assert.equal(loaded, bytes.length);
    const head = await client.send(new HeadObjectCommand(where));
    assert.equal(head.ContentLength, bytes.length);
    assert.deepEqual([head.ContentType, head.Metadata], ["video/mp4", { n: "1" }]);
    const got = await client.send(new GetObjectCommand(where));
    assert.equal(digest(await got.Body.transformToByteArray()), digest(bytes));
  });

  test("small stream is uploaded with one request", async () => {
    const where = { Bucket: await bucket(), Key: "small" };
    const params = { ...where, Body: stream(Buffer.from("hello")) };
    const done = await new Upload({ client, params }).done();
    assert.doesNotMatch(done.ETag, /-/);
    assert.deepEqual(await keys(where.Bucket), ["small"]);
  });

  test("aborted upload writes no object", async () => {
    const where = { Bucket: await bucket(), Key: "aborted" };
    const { Bucket } = where;
    const params = { ...where, Body: stream(randomBytes(12 * MB)) };
    const upload = new Upload({ client, params, partSize: 5 * MB, queueSize: 1 });
    upload.on("httpUploadProgress", () => upload.abort());
    await assert.rejects(upload.done(), { name: "AbortError" });
    // The SDK aborts the upload on the server only after `done` has failed.
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    for (const { Key, UploadId } of Uploads) {
      const abort = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
      await client.send(abort).catch((error) => assert.equal(error.name, "NoSuchUpload"));
    }
    assert.deepEqual(await keys(Bucket), []);
    await client.send(new DeleteBucketCommand({ Bucket }));
  });
});
