// Presigned URLs of @aws-sdk/s3-request-presigner, used with fetch.

"use strict";

const assert = require("node:assert/strict");
const { suite, test } = require("node:test");
const {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
} = require("@aws-sdk/client-s3");
const { getSignedUrl } = require("@aws-sdk/s3-request-presigner");
const { bucket, client, keys } = require("./support.js");

// With its default settings, the SDK computes a checksum of the body when it signs, and a presigned
// request has none yet.
const signer = new S3Client({
  forcePathStyle: true,
  requestChecksumCalculation: "WHEN_REQUIRED",
});

const code = async (response) => (await response.text()).match(/<Code>(\w+)<\/Code>/)?.[1];

suite("presigned URLs", () => {
  test("object is uploaded, downloaded and deleted", async () => {
    const where = { Bucket: await bucket(), Key: "a b/ñ+.txt" };
    const type = { ContentType: "text/plain" };
    const signed = { expiresIn: 60, signableHeaders: new Set(["content-type"]) };
    const put = await getSignedUrl(signer, new PutObjectCommand({ ...where, ...type }), signed);
    const headers = { "Content-Type": "text/plain" };
    const uploaded = await fetch(put, { method: "PUT", headers, body: "hello" });
    assert.equal(uploaded.status, 200, await uploaded.text());
    const get = await getSignedUrl(signer, new GetObjectCommand(where), { expiresIn: 60 });
    const downloaded = await fetch(get);
    assert.equal(downloaded.status, 200);
    assert.equal(downloaded.headers.get("etag"), uploaded.headers.get("etag"));
    assert.equal(downloaded.headers.get("content-type"), "text/plain");
    assert.equal(await downloaded.text(), "hello");
    const remove = await getSignedUrl(signer, new DeleteObjectCommand(where), { expiresIn: 60 });
    assert.equal((await fetch(remove, { method: "DELETE" })).status, 204);
    const missing = await fetch(get);
    assert.deepEqual([missing.status, await code(missing)], [404, "NoSuchKey"]);
  });

  test("upload with another type, length or method is refused and writes nothing", async () => {
    const where = { Bucket: await bucket(), Key: "a" };
    const command = new PutObjectCommand({ ...where, ContentType: "image/png", ContentLength: 5 });
    const signableHeaders = new Set(["content-type", "content-length"]);
    const url = await getSignedUrl(signer, command, { expiresIn: 60, signableHeaders });
    assert.match(url, /content-length%3Bcontent-type%3Bhost/);
    const send = (body, type, method = "PUT") =>
      fetch(url, { method, body, headers: { "Content-Type": type } });
    for (const response of [
      await send("hello", "image/jpeg"),
      await send("hell", "image/png"),
      await send("hello!", "image/png"),
      await send("hello", "image/png", "POST"),
      await fetch(url),
    ]) {
      const answer = [response.status, await code(response)];
      assert.deepEqual(answer, [403, "SignatureDoesNotMatch"]);
    }
    assert.deepEqual(await keys(where.Bucket), []);
    assert.equal((await send("hello", "image/png")).status, 200);
    assert.deepEqual(await keys(where.Bucket), ["a"]);
  });

  // A known defect: S3 ignores a checksum in the query. Expect status 200 when it is fixed.
  test("upload that is signed with the default settings of the SDK is refused", async () => {
    const where = { Bucket: await bucket(), Key: "a" };
    const url = await getSignedUrl(client, new PutObjectCommand(where), { expiresIn: 60 });
    // CRC-32 of no bytes.
    assert.match(url, /x-amz-checksum-crc32=AAAAAA%3D%3D/);
    const response = await fetch(url, { method: "PUT", body: "hello" });
    assert.deepEqual([response.status, await code(response)], [400, "BadDigest"]);
  });

  test("range and response headers of a download are chosen", async () => {
    const where = { Bucket: await bucket(), Key: "a" };
    await client.send(new PutObjectCommand({ ...where, Body: "hello" }));
    const command = new GetObjectCommand({
      ...where,
      ResponseContentType: "application/pdf",
      ResponseContentDisposition: 'attachment; filename="a b.pdf"',
    });
    const url = await getSignedUrl(signer, command, { expiresIn: 60 });
    const response = await fetch(url, { headers: { Range: "bytes=1-2" } });
    assert.equal(response.status, 206);
    assert.equal(response.headers.get("content-type"), "application/pdf");
    assert.equal(response.headers.get("content-disposition"), 'attachment; filename="a b.pdf"');
    assert.equal(await response.text(), "el");
  });
});
