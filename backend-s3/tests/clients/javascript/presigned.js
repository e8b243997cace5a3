// Presigned URLs of @aws-sdk/s3-request-presigner, used with fetch.

"use strict";

const assert = require("node:assert/strict");
const { createHash } = require("node:crypto");
const { suite, test } = require("node:test");
const {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} = require("@aws-sdk/client-s3");
const { getSignedUrl } = require("@aws-sdk/s3-request-presigner");
const { bucket, client, keys } = require("./support.js");

// With its default settings, the SDK signs the checksum of the body, and a presigned request has none
// yet. One test below uses them.
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

  test("object is uploaded with the default settings of the SDK", async () => {
    const where = { Bucket: await bucket(), Key: "a" };
    const url = await getSignedUrl(client, new PutObjectCommand(where), { expiresIn: 60 });
    // CRC-32 of no bytes.
    assert.match(url, /x-amz-checksum-crc32=AAAAAA%3D%3D/);
    const response = await fetch(url, { method: "PUT", body: "hello" });
    assert.equal(response.status, 200, await response.text());
    const read = await client.send(new GetObjectCommand({ ...where, ChecksumMode: "ENABLED" }));
    assert.equal(await read.Body.transformToString(), "hello");
    assert.equal(read.ChecksumType, "FULL_OBJECT");
    assert.ok(read.ChecksumCRC64NVME);
    assert.equal(read.ChecksumCRC32, undefined);
  });

  test("part is uploaded with the default settings of the SDK", async () => {
    const where = { Bucket: await bucket(), Key: "a" };
    // The SDK asks for CRC-32 of the parts.
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(where));
    const command = new UploadPartCommand({ ...where, UploadId, PartNumber: 1 });
    const url = await getSignedUrl(client, command, { expiresIn: 60 });
    assert.match(url, /x-amz-checksum-crc32=AAAAAA%3D%3D/);
    const response = await fetch(url, { method: "PUT", body: "hello" });
    assert.equal(response.status, 200, await response.text());
    const Parts = [{ PartNumber: 1, ETag: response.headers.get("etag") }];
    const complete = { ...where, UploadId, MultipartUpload: { Parts } };
    await client.send(new CompleteMultipartUploadCommand(complete));
    const read = await client.send(new GetObjectCommand(where));
    assert.equal(await read.Body.transformToString(), "hello");
  });

  test("checksum that the command names is verified, in the query and as a header", async () => {
    const where = { Bucket: await bucket(), Key: "a" };
    const ChecksumSHA256 = createHash("sha256").update("hello").digest("base64");
    const header = "x-amz-checksum-sha256";
    const command = () => new PutObjectCommand({ ...where, ChecksumSHA256 });
    const inQuery = await getSignedUrl(client, command(), { expiresIn: 60 });
    assert.ok(new URL(inQuery).searchParams.has(header), inQuery);
    const asHeader = await getSignedUrl(client, command(), {
      expiresIn: 60,
      unhoistableHeaders: new Set([header]),
    });
    assert.match(asHeader, /SignedHeaders=host%3Bx-amz-checksum-sha256/);
    for (const [url, headers] of [
      [inQuery, {}],
      [asHeader, { [header]: ChecksumSHA256 }],
    ]) {
      const refused = await fetch(url, { method: "PUT", body: "hellO", headers });
      assert.deepEqual([refused.status, await code(refused)], [400, "BadDigest"]);
      assert.deepEqual(await keys(where.Bucket), []);
      const response = await fetch(url, { method: "PUT", body: "hello", headers });
      assert.equal(response.status, 200, await response.text());
      await client.send(new DeleteObjectCommand(where));
    }
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
