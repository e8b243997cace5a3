// What the tests share: clients, and a table of orders.
//
// The clients get no argument about the server: AWS_ENDPOINT_URL, AWS_REGION and the credentials
// are in the environment, as they would be for a program that knows nothing of this server.

"use strict";

const assert = require("node:assert/strict");
const { setTimeout: pause } = require("node:timers/promises");
const {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
} = require("@aws-sdk/client-dynamodb");
const { DynamoDBStreamsClient } = require("@aws-sdk/client-dynamodb-streams");
const { DynamoDBDocumentClient, GetCommand } = require("@aws-sdk/lib-dynamodb");

const client = new DynamoDBClient();
const streams = new DynamoDBStreamsClient();
const documents = DynamoDBDocumentClient.from(client);

// Whether these tests are being tested, on DynamoDB Local.
const onLocal = process.env.TABLA_CLIENTS_ON === "dynamodb-local";

let tables = 0;

/** A name that no other table has. */
const name = () => `Orders-${++tables}`;

/** The request for a table of orders: by customer and number, and by status and day. */
const orders = (TableName, more = {}) => ({
  TableName,
  AttributeDefinitions: [
    { AttributeName: "customer", AttributeType: "S" },
    { AttributeName: "number", AttributeType: "N" },
    { AttributeName: "status", AttributeType: "S" },
    { AttributeName: "day", AttributeType: "S" },
  ],
  KeySchema: [
    { AttributeName: "customer", KeyType: "HASH" },
    { AttributeName: "number", KeyType: "RANGE" },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: "by-status",
      KeySchema: [
        { AttributeName: "status", KeyType: "HASH" },
        { AttributeName: "day", KeyType: "RANGE" },
      ],
      Projection: { ProjectionType: "ALL" },
    },
  ],
  BillingMode: "PAY_PER_REQUEST",
  ...more,
});

/** Looks soon and gives up soon. */
const waiter = { client, minDelay: 1, maxDelay: 1, maxWaitTime: 30 };

/** A new table of orders that takes requests; gives its name. */
async function table(more) {
  const TableName = name();
  await client.send(new CreateTableCommand(orders(TableName, more)));
  await waitUntilTableExists(waiter, { TableName });
  return TableName;
}

async function describe(TableName) {
  return (await client.send(new DescribeTableCommand({ TableName }))).Table;
}

/** What is stored under a key, or undefined. */
async function get(TableName, customer, number) {
  const Key = { customer, number };
  return (await documents.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item;
}

/** Waits until a reading is there, and gives it. */
async function eventually(read) {
  for (let tries = 0; tries < 300; tries += 1) {
    const found = await read();
    if (found) return found;
    await pause(100);
  }
  return assert.fail("it did not come within 30 seconds");
}

/** Expects a command to be refused with an exception of this class, and gives the exception. */
async function refused(promise, exception, message = /./) {
  const error = await promise.then(
    () => assert.fail(`it was not refused with ${exception.name}`),
    (error) => error,
  );
  assert.ok(error instanceof exception, `${error.name} is no ${exception.name}: ${error.message}`);
  assert.equal(error.name, exception.name);
  assert.match(error.message, message);
  assert.equal(error.$metadata.httpStatusCode, 400);
  assert.ok(error.$metadata.requestId);
  return error;
}

/** Expects a command to be refused as invalid: no shape of the API's model, so without a class. */
async function invalid(promise, message) {
  await assert.rejects(promise, { name: "ValidationException", message });
}

module.exports = {
  client,
  describe,
  documents,
  eventually,
  get,
  invalid,
  name,
  onLocal,
  orders,
  refused,
  streams,
  table,
  waiter,
};
