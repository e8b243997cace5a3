// Conditional writes.

"use strict";

const assert = require("node:assert/strict");
const { suite, test } = require("node:test");
const { ConditionalCheckFailedException } = require("@aws-sdk/client-dynamodb");
const { DeleteCommand, PutCommand, UpdateCommand } = require("@aws-sdk/lib-dynamodb");
const { unmarshall } = require("@aws-sdk/util-dynamodb");
const { documents, get, invalid, refused, table } = require("./support.js");

const failed = (promise) =>
  refused(promise, ConditionalCheckFailedException, /^The conditional request failed$/);

suite("writes", () => {
  test("conditional put succeeds once", async () => {
    const TableName = await table();
    const put = (status) =>
      documents.send(
        new PutCommand({
          TableName,
          Item: { customer: "ana", number: 1, status },
          ConditionExpression: "attribute_not_exists(customer)",
        }),
      );
    await put("open");
    const error = await failed(put("paid"));
    assert.equal(error.Item, undefined);
    const stored = { customer: "ana", number: 1, status: "open" };
    assert.deepEqual(await get(TableName, "ana", 1), stored);
  });

  test("failed condition returns the stored item", async () => {
    const TableName = await table();
    const stored = { customer: "ana", number: 1, status: "open", amount: 12.5 };
    await documents.send(new PutCommand({ TableName, Item: stored }));
    const key = { TableName, Key: { customer: "ana", number: 1 } };
    const update = new UpdateCommand({
      ...key,
      UpdateExpression: "SET #s = :paid",
      ConditionExpression: "amount < :limit",
      ExpressionAttributeNames: { "#s": "status" },
      ExpressionAttributeValues: { ":paid": "paid", ":limit": 10 },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
    // The document client converts responses, but not errors.
    assert.deepEqual(unmarshall((await failed(documents.send(update))).Item), stored);
    const remove = new DeleteCommand({
      ...key,
      ConditionExpression: "attribute_not_exists(amount)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
    assert.deepEqual(unmarshall((await failed(documents.send(remove))).Item), stored);
    assert.deepEqual(await get(TableName, "ana", 1), stored);
  });

  test("write returns old and new values", async () => {
    const TableName = await table();
    const key = { customer: "ana", number: 1 };
    const put = new PutCommand({
      TableName,
      Item: { ...key, status: "open", pieces: 1 },
      ReturnValues: "ALL_OLD",
    });
    assert.equal((await documents.send(put)).Attributes, undefined);
    const paid = { status: "paid", pieces: 3, parts: ["tea"] };
    const updated = await documents.send(
      new UpdateCommand({
        TableName,
        Key: key,
        UpdateExpression: "SET #s = :paid, parts = list_append(:none, :tea) ADD pieces :two",
        ExpressionAttributeNames: { "#s": "status" },
        ExpressionAttributeValues: { ":paid": "paid", ":none": [], ":tea": ["tea"], ":two": 2 },
        ReturnValues: "UPDATED_NEW",
        ReturnConsumedCapacity: "TOTAL",
      }),
    );
    assert.deepEqual(updated.Attributes, paid);
    assert.deepEqual(updated.ConsumedCapacity, { TableName, CapacityUnits: 1 });
    const deleted = await documents.send(
      new DeleteCommand({ TableName, Key: key, ReturnValues: "ALL_OLD" }),
    );
    assert.deepEqual(deleted.Attributes, { ...key, ...paid });
    assert.equal(await get(TableName, "ana", 1), undefined);
  });

  test("one of many concurrent conditional writes succeeds", async () => {
    const TableName = await table();
    const Key = { customer: "shop", number: 7 };
    await documents.send(new PutCommand({ TableName, Item: { ...Key, left: 3 } }));
    const take = () =>
      documents.send(
        new UpdateCommand({
          TableName,
          Key,
          UpdateExpression: "SET #l = #l - :one",
          ConditionExpression: "#l >= :one",
          ExpressionAttributeNames: { "#l": "left" },
          ExpressionAttributeValues: { ":one": 1 },
        }),
      );
    const results = await Promise.allSettled(Array.from({ length: 20 }, take));
    const refusals = results.filter((result) => result.status === "rejected");
    assert.equal(refusals.length, 17);
    for (const { reason } of refusals) {
      assert.ok(reason instanceof ConditionalCheckFailedException, reason);
    }
    assert.deepEqual(await get(TableName, "shop", 7), { ...Key, left: 0 });
  });

  test("validation error has DynamoDB's message", async () => {
    const TableName = await table();
    await invalid(
      documents.send(new PutCommand({ TableName, Item: { customer: "", number: 1 } })),
      "One or more parameter values are not valid. The AttributeValue for a key attribute " +
        "cannot contain an empty string value. Key: customer",
    );
  });
});
