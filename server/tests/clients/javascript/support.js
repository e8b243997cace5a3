// Shared parts of the tests: clients, and a table of orders.
//
// The clients have no arguments about the server: AWS_ENDPOINT_URL, AWS_REGION and the credentials
// are in the environment, as for a program that is not written for this server.

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

// Whether the tests run against DynamoDB Local, to prove that they expect DynamoDB's behavior.
const onLocal = process.env.TABLA_CLIENTS_ON === "dynamodb-local";

let tables = 0;

/** Returns a unique table name. */
const name = () => `Orders-${++tables}`;

/** Returns the request for a table of orders: by customer and number, and by status and day. */
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

/** Polls every second, for 30 seconds. */
const waiter = { client, minDelay: 1, maxDelay: 1, maxWaitTime: 30 };

/** Creates a table of orders, waits until it is active, and returns its name. */
async function table(more) {
  const TableName = name();
  await client.send(new CreateTableCommand(orders(TableName, more)));
  await waitUntilTableExists(waiter, { TableName });
  return TableName;
}

async function describe(TableName) {
  return (await client.send(new DescribeTableCommand({ TableName }))).Table;
}

/** Returns the item with a key, or undefined. */
async function get(TableName, customer, number) {
  const Key = { customer, number };
  return (await documents.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item;
}

/** Repeats `read` for 30 seconds until it returns a value, and returns that. */
async function eventually(read) {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const found = await read();
    if (found) return found;
    await pause(100);
  }
  return assert.fail("no result within 30 seconds");
}

/** Expects a command to fail with an exception of this class, and returns the exception. */
async function refused(promise, exception, message = /./) {
  const error = await promise.then(
    () => assert.fail(`the command did not fail with ${exception.name}`),
    (error) => error,
  );
  assert.ok(error instanceof exception, `${error.name} is not ${exception.name}: ${error.message}`);
  assert.equal(error.name, exception.name);
  assert.match(error.message, message);
  assert.equal(error.$metadata.httpStatusCode, 400);
  assert.ok(error.$metadata.requestId);
  return error;
}

/** Expects a ValidationException, for which the API model, and so the SDK, has no class. */
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
