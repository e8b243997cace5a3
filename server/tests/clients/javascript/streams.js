// Streams: described, read from the start, and read on from a record.

"use strict";

const assert = require("node:assert/strict");
const { suite, test } = require("node:test");
const {
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
  ResourceNotFoundException,
} = require("@aws-sdk/client-dynamodb-streams");
const { UpdateTableCommand, waitUntilTableExists } = require("@aws-sdk/client-dynamodb");
const { DeleteCommand, PutCommand } = require("@aws-sdk/lib-dynamodb");
const { unmarshall } = require("@aws-sdk/util-dynamodb");
const support = require("./support.js");
const { client, describe, documents, eventually, refused, streams, waiter } = support;

const enabled = { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" };

const key = { customer: "ana", number: 1 };
const open = { ...key, status: "open" };
const sent = { ...key, status: "sent" };

/** Puts an order, changes it, overwrites it unchanged, and deletes it. */
async function change(TableName) {
  for (const Item of [open, sent, sent]) await documents.send(new PutCommand({ TableName, Item }));
  await documents.send(new DeleteCommand({ TableName, Key: key }));
}

/** Returns the records of each shard, read in pages until one is empty. */
async function byShard(StreamArn) {
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
  const found = new Map();
  for (const { ShardId } of StreamDescription.Shards) {
    const from = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" };
    let { ShardIterator } = await streams.send(new GetShardIteratorCommand(from));
    const records = [];
    while (ShardIterator) {
      const page = await streams.send(new GetRecordsCommand({ ShardIterator, Limit: 2 }));
      records.push(...page.Records);
      ShardIterator = page.Records.length ? page.NextShardIterator : undefined;
    }
    found.set(ShardId, records);
  }
  return found;
}

/** Waits for this number of records, and returns them with their shard. */
const arrived = (stream, count) =>
  eventually(async () =>
    [...(await byShard(stream))].find(([, records]) => records.length >= count),
  );

suite("streams", () => {
  test("records are in the order of changes", async () => {
    const TableName = await support.table({ StreamSpecification: enabled });
    const stream = (await describe(TableName)).LatestStreamArn;
    const { Streams } = await streams.send(new ListStreamsCommand({ TableName }));
    assert.deepEqual(Streams.map((one) => one.StreamArn), [stream]);
    await change(TableName);
    const described = await streams.send(new DescribeStreamCommand({ StreamArn: stream }));
    assert.equal(described.StreamDescription.StreamStatus, "ENABLED");
    assert.equal(described.StreamDescription.StreamViewType, "NEW_AND_OLD_IMAGES");

    const [, records] = await arrived(stream, 3);
    const plain = (image) => image && unmarshall(image);
    assert.deepEqual(
      records.map(({ eventName, dynamodb }) => [
        eventName,
        plain(dynamodb.Keys),
        plain(dynamodb.OldImage),
        plain(dynamodb.NewImage),
      ]),
      [
        ["INSERT", key, undefined, open],
        ["MODIFY", key, open, sent],
        ["REMOVE", key, sent, undefined],
      ],
    );
    assert.equal(new Set(records.map((record) => record.eventID)).size, 3);
    for (const { dynamodb, eventSource } of records) {
      assert.equal(eventSource, "aws:dynamodb");
      assert.ok(dynamodb.ApproximateCreationDateTime instanceof Date);
      assert.ok(dynamodb.SizeBytes > 0);
    }
  });

  test("iterator after a sequence number returns later records", async () => {
    const TableName = await support.table({ StreamSpecification: enabled });
    const StreamArn = (await describe(TableName)).LatestStreamArn;
    await change(TableName);
    const [ShardId, [first]] = await arrived(StreamArn, 3);
    const { ShardIterator } = await streams.send(
      new GetShardIteratorCommand({
        StreamArn,
        ShardId,
        ShardIteratorType: "AFTER_SEQUENCE_NUMBER",
        SequenceNumber: first.dynamodb.SequenceNumber,
      }),
    );
    let page = await streams.send(new GetRecordsCommand({ ShardIterator, Limit: 1 }));
    assert.deepEqual(page.Records.map((record) => record.eventName), ["MODIFY"]);
    page = await streams.send(new GetRecordsCommand({ ShardIterator: page.NextShardIterator }));
    assert.deepEqual(page.Records.map((record) => record.eventName), ["REMOVE"]);
  });

  test("stream can be enabled", async () => {
    const TableName = await support.table();
    assert.equal((await describe(TableName)).LatestStreamArn, undefined);
    const StreamSpecification = { StreamEnabled: true, StreamViewType: "NEW_IMAGE" };
    await client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
    await waitUntilTableExists(waiter, { TableName });
    const table = await describe(TableName);
    assert.deepEqual(table.StreamSpecification, StreamSpecification);
    await documents.send(new PutCommand({ TableName, Item: open }));
    const [, [record]] = await arrived(table.LatestStreamArn, 1);
    assert.equal(record.eventName, "INSERT");
    assert.deepEqual(unmarshall(record.dynamodb.NewImage), open);
  });

  test("missing stream is not found", async () => {
    const TableName = await support.table({ StreamSpecification: enabled });
    const stream = (await describe(TableName)).LatestStreamArn;
    const StreamArn = stream.replace(/[^/]*$/, "2020-01-01T00:00:00.000");
    await refused(
      streams.send(new DescribeStreamCommand({ StreamArn })),
      ResourceNotFoundException,
    );
  });
});
