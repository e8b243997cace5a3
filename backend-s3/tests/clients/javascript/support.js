// Shared parts of the tests: the client, buckets, expected errors.
//
// AWS_ENDPOINT_URL, AWS_REGION and the credentials are in the environment. The bucket is in the
// path, as for every endpoint that is a plain host.

"use strict";

const assert = require("node:assert/strict");
const { randomUUID } = require("node:crypto");
const { CreateBucketCommand, ListObjectsV2Command, S3Client } = require("@aws-sdk/client-s3");

const client = new S3Client({ forcePathStyle: true, maxAttempts: 1 });

/** Returns a unique bucket name. */
const name = () => `js-${randomUUID()}`;

/** Creates a bucket, and returns its name. */
async function bucket() {
  const Bucket = name();
  await client.send(new CreateBucketCommand({ Bucket }));
  return Bucket;
}

/** Returns the keys of a bucket. */
async function keys(Bucket) {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  return Contents.map(({ Key }) => Key);
}

/** Returns the text of a response's body. */
const text = ({ Body }) => Body.transformToString();

/** Expects a command to fail with this code and status, and returns the exception. */
async function refused(promise, code, status) {
  const error = await promise.then(
    () => assert.fail(`the command did not fail with ${code}`),
    (error) => error,
  );
  assert.equal(error.name, code, String(error));
  assert.equal(error.$metadata?.httpStatusCode, status);
  return error;
}

module.exports = { bucket, client, keys, name, refused, text };
