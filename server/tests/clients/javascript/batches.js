// Batches of writes and gets.

"use strict";

const assert = require("node:assert/strict");
const { suite, test } = require("node:test");
const { BatchGetCommand, BatchWriteCommand, PutCommand } = require("@aws-sdk/lib-dynamodb");
const { documents, get, invalid, table } = require("./support.js");

suite("batches", () => {
  test("batch puts and deletes in several tables", async () => {
    const one = await table();
    const other = await table();
    const order = (customer, number) => ({ customer, number });
    await documents.send(new PutCommand({ TableName: one, Item: order("ana", 0) }));
    const some = Array.from({ length: 20 }, (_, place) => order("ana", place + 1));
    const written = await documents.send(
      new BatchWriteCommand({
        RequestItems: {
          [one]: [
            ...some.map((Item) => ({ PutRequest: { Item } })),
            { DeleteRequest: { Key: order("ana", 0) } },
          ],
          [other]: [{ PutRequest: { Item: order("eva", 1) } }],
        },
      }),
    );
    assert.deepEqual(written.UnprocessedItems, {});
    const read = await documents.send(
      new BatchGetCommand({
        RequestItems: {
          [one]: { Keys: [order("ana", 0), ...some], ConsistentRead: true },
          [other]: { Keys: [order("eva", 1), order("eva", 2)] },
        },
      }),
    );
    assert.deepEqual(read.UnprocessedKeys, {});
    const found = read.Responses[one].sort((a, b) => a.number - b.number);
    assert.deepEqual(found, some);
    assert.deepEqual(read.Responses[other], [order("eva", 1)]);
  });

  test("batch with duplicate keys writes nothing", async () => {
    const TableName = await table();
    const put = { PutRequest: { Item: { customer: "ana", number: 1 } } };
    await invalid(
      documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: [put, put] } })),
      "Provided list of item keys contains duplicates",
    );
    assert.equal(await get(TableName, "ana", 1), undefined);
  });
});
