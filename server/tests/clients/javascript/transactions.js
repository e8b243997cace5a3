// Transactions: atomic, canceled with reasons, and executed once per request token.

"use strict";

const assert = require("node:assert/strict");
const { suite, test } = require("node:test");
const {
  IdempotentParameterMismatchException,
  TransactionCanceledException,
} = require("@aws-sdk/client-dynamodb");
const {
  PutCommand,
  TransactGetCommand,
  TransactWriteCommand,
} = require("@aws-sdk/lib-dynamodb");
const { unmarshall } = require("@aws-sdk/util-dynamodb");
const { documents, get, refused, table } = require("./support.js");

const put = (TableName, Item) => documents.send(new PutCommand({ TableName, Item }));

suite("transactions", () => {
  test("transaction applies all operations", async () => {
    const TableName = await table();
    for (const number of [1, 2, 3]) await put(TableName, { customer: "ana", number, amount: 5 });
    await documents.send(
      new TransactWriteCommand({
        TransactItems: [
          { Put: { TableName, Item: { customer: "eva", number: 1 } } },
          {
            Update: {
              TableName,
              Key: { customer: "ana", number: 1 },
              UpdateExpression: "SET amount = amount + :n",
              ExpressionAttributeValues: { ":n": 0.5 },
            },
          },
          { Delete: { TableName, Key: { customer: "ana", number: 2 } } },
          {
            ConditionCheck: {
              TableName,
              Key: { customer: "ana", number: 3 },
              ConditionExpression: "attribute_exists(customer)",
            },
          },
        ],
      }),
    );
    const keys = [
      { customer: "eva", number: 1 },
      { customer: "ana", number: 1 },
      { customer: "ana", number: 2 },
    ];
    const { Responses } = await documents.send(
      new TransactGetCommand({
        TransactItems: keys.map((Key) => ({ Get: { TableName, Key } })),
      }),
    );
    assert.deepEqual(
      Responses.map((response) => response.Item),
      [keys[0], { ...keys[1], amount: 5.5 }, undefined],
    );
  });

  test("canceled transaction returns reasons and changes nothing", async () => {
    const TableName = await table();
    const stored = { customer: "ana", number: 1, status: "sent" };
    await put(TableName, stored);
    const error = await refused(
      documents.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { TableName, Item: { customer: "eva", number: 1 } } },
            {
              Delete: {
                TableName,
                Key: { customer: "ana", number: 1 },
                ConditionExpression: "#s = :open",
                ExpressionAttributeNames: { "#s": "status" },
                ExpressionAttributeValues: { ":open": "open" },
                ReturnValuesOnConditionCheckFailure: "ALL_OLD",
              },
            },
          ],
        }),
      ),
      TransactionCanceledException,
      /please refer cancellation reasons for specific reasons \[None, ConditionalCheckFailed\]$/,
    );
    const [none, reason, ...others] = error.CancellationReasons;
    assert.deepEqual(none, { Code: "None" });
    assert.equal(reason.Code, "ConditionalCheckFailed");
    assert.equal(reason.Message, "The conditional request failed");
    assert.deepEqual(unmarshall(reason.Item), stored);
    assert.deepEqual(others, []);
    assert.equal(await get(TableName, "eva", 1), undefined);
    assert.deepEqual(await get(TableName, "ana", 1), stored);
  });

  test("transaction with a token is executed once", async () => {
    const TableName = await table();
    const add = (amount) =>
      documents.send(
        new TransactWriteCommand({
          ClientRequestToken: `${TableName}-token`,
          TransactItems: [
            {
              Update: {
                TableName,
                Key: { customer: "ana", number: 1 },
                UpdateExpression: "ADD amount :n",
                ExpressionAttributeValues: { ":n": amount },
              },
            },
          ],
        }),
      );
    for (let times = 0; times < 3; times += 1) await add(1);
    await refused(add(5), IdempotentParameterMismatchException);
    assert.deepEqual(await get(TableName, "ana", 1), { customer: "ana", number: 1, amount: 1 });
  });
});
