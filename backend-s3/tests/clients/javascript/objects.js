// Buckets and objects: put, get, head, list, copy, delete; conditions and errors.

"use strict";

const assert = require("node:assert/strict");
const { Readable } = require("node:stream");
const { suite, test } = require("node:test");
const {
  BucketAlreadyOwnedByYou,
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  paginateListObjectsV2,
  waitUntilBucketExists,
} = require("@aws-sdk/client-s3");
const { bucket, client, keys, name, refused, text } = require("./support.js");

suite("objects", () => {
  test("bucket is created, listed and deleted", async () => {
    const Bucket = await bucket();
    await waitUntilBucketExists({ client, maxWaitTime: 10 }, { Bucket });
    const listed = async () =>
      (await client.send(new ListBucketsCommand({}))).Buckets.map(({ Name }) => Name);
    assert.ok((await listed()).includes(Bucket));
    const twice = client.send(new CreateBucketCommand({ Bucket }));
    const error = await refused(twice, "BucketAlreadyOwnedByYou", 409);
    assert.ok(error instanceof BucketAlreadyOwnedByYou);
    await client.send(new DeleteBucketCommand({ Bucket }));
    await refused(client.send(new HeadBucketCommand({ Bucket })), "NotFound", 404);
    assert.ok(!(await listed()).includes(Bucket));
    const missing = client.send(new ListObjectsV2Command({ Bucket: name() }));
    await refused(missing, "NoSuchBucket", 404);
  });

  test("object is written, read and deleted", async () => {
    const where = { Bucket: await bucket(), Key: "a b/ñ+%/../🙂.txt" };
    const written = await client.send(
      new PutObjectCommand({
        ...where,
        Body: "hello",
        ContentType: "text/plain",
        CacheControl: "no-cache",
        Metadata: { author: "ana" },
      }),
    );
    // The default checksum of the SDK.
    assert.equal(written.ChecksumCRC32, "NhCmhg==");
    const got = await client.send(new GetObjectCommand(where));
    assert.equal(await text(got), "hello");
    const head = await client.send(new HeadObjectCommand(where));
    for (const answer of [got, head]) {
      assert.equal(answer.ETag, written.ETag);
      assert.equal(answer.ContentLength, 5);
      assert.equal(answer.ContentType, "text/plain");
      assert.equal(answer.CacheControl, "no-cache");
      assert.deepEqual(answer.Metadata, { author: "ana" });
      assert.ok(answer.LastModified instanceof Date);
    }
    const part = await client.send(new GetObjectCommand({ ...where, Range: "bytes=1-2" }));
    assert.equal(part.ContentRange, "bytes 1-2/5");
    assert.equal(await text(part), "el");
    assert.deepEqual(await keys(where.Bucket), [where.Key]);
    await client.send(new DeleteObjectCommand(where));
    const missing = await refused(client.send(new GetObjectCommand(where)), "NoSuchKey", 404);
    assert.ok(missing instanceof NoSuchKey);
    const unknown = await refused(client.send(new HeadObjectCommand(where)), "NotFound", 404);
    assert.ok(unknown instanceof NotFound);
  });

  test("stream of a known length is written in signed chunks with a trailing checksum", async () => {
    const where = { Bucket: await bucket(), Key: "a" };
    const content = Buffer.alloc(3 << 20, "tabla ");
    const Body = Readable.from(
      (function* () {
        for (let at = 0; at < content.length; at += 100_000) {
          yield content.subarray(at, at + 100_000);
        }
      })(),
      { objectMode: false },
    );
    const put = new PutObjectCommand({
      ...where, Body, ContentLength: content.length, ChecksumAlgorithm: "SHA256",
    });
    const written = await client.send(put);
    assert.ok(written.ChecksumSHA256);
    const got = await client.send(new GetObjectCommand({ ...where, ChecksumMode: "ENABLED" }));
    assert.equal(got.ChecksumSHA256, written.ChecksumSHA256);
    const bytes = await got.Body.transformToByteArray();
    assert.ok(content.equals(bytes));
  });

  test("failed conditions are refused", async () => {
    const where = { Bucket: await bucket(), Key: "a" };
    const put = (more) => client.send(new PutObjectCommand({ ...where, Body: "1", ...more }));
    const { ETag } = await put({ IfNoneMatch: "*" });
    await refused(put({ IfNoneMatch: "*", Body: "2" }), "PreconditionFailed", 412);
    await refused(put({ IfMatch: '"other"', Body: "2" }), "PreconditionFailed", 412);
    assert.equal(await text(await client.send(new GetObjectCommand(where))), "1");
    const read = client.send(new GetObjectCommand({ ...where, IfNoneMatch: ETag }));
    const error = await read.then(() => assert.fail("read"), (error) => error);
    assert.equal(error.$metadata.httpStatusCode, 304);
    await put({ IfMatch: ETag, Body: "3" });
    assert.equal(await text(await client.send(new GetObjectCommand(where))), "3");
  });

  test("objects are listed in pages, copied and deleted together", async () => {
    const Bucket = await bucket();
    const all = ["a/1", "a/2", "b/1", "c"];
    for (const Key of all) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    const found = [];
    const prefixes = [];
    const pages = paginateListObjectsV2({ client, pageSize: 1 }, { Bucket, Delimiter: "/" });
    for await (const { Contents = [], CommonPrefixes = [] } of pages) {
      found.push(...Contents.map(({ Key }) => Key));
      prefixes.push(...CommonPrefixes.map(({ Prefix }) => Prefix));
    }
    assert.deepEqual([found, prefixes], [["c"], ["a/", "b/"]]);
    const copy = new CopyObjectCommand({ Bucket, Key: "d", CopySource: `${Bucket}/a/1` });
    assert.ok((await client.send(copy)).CopyObjectResult.ETag);
    assert.equal(await text(await client.send(new GetObjectCommand({ Bucket, Key: "d" }))), "a/1");
    const Objects = [...all, "missing"].map((Key) => ({ Key }));
    const deleted = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    assert.equal(deleted.Deleted.length, 5);
    assert.equal(deleted.Errors, undefined);
    assert.deepEqual(await keys(Bucket), ["d"]);
  });
});
