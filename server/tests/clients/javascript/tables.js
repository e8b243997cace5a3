// Tables: created, described, listed, changed and deleted.

"use strict";

const assert = require("node:assert/strict");
const { suite, test } = require("node:test");
const {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  paginateListTables,
  ResourceInUseException,
  ResourceNotFoundException,
  UpdateTableCommand,
  waitUntilTableExists,
  waitUntilTableNotExists,
} = require("@aws-sdk/client-dynamodb");
const { PutCommand, QueryCommand, ScanCommand } = require("@aws-sdk/lib-dynamodb");
const support = require("./support.js");
const { client, describe, documents, invalid, orders, refused, waiter } = support;

suite("tables", () => {
  test("description matches the created table", async () => {
    const TableName = support.name();
    const made = await client.send(new CreateTableCommand(orders(TableName)));
    assert.match(made.TableDescription.TableStatus, /^(CREATING|ACTIVE)$/);
    await waitUntilTableExists(waiter, { TableName });
    const table = await describe(TableName);
    assert.equal(table.TableName, TableName);
    assert.equal(table.TableStatus, "ACTIVE");
    assert.deepEqual(table.KeySchema, orders(TableName).KeySchema);
    const types = (list) =>
      Object.fromEntries(list.map((one) => [one.AttributeName, one.AttributeType]));
    assert.deepEqual(
      types(table.AttributeDefinitions),
      types(orders(TableName).AttributeDefinitions),
    );
    assert.equal(table.BillingModeSummary.BillingMode, "PAY_PER_REQUEST");
    assert.equal(table.ItemCount, 0);
    assert.ok(table.CreationDateTime instanceof Date);
    const [index, ...others] = table.GlobalSecondaryIndexes;
    assert.deepEqual(others, []);
    assert.equal(index.IndexName, "by-status");
    assert.equal(index.IndexStatus, "ACTIVE");
    assert.equal(index.IndexArn, `${table.TableArn}/index/by-status`);
    assert.deepEqual(index.KeySchema, orders(TableName).GlobalSecondaryIndexes[0].KeySchema);
  });

  test("table name is unique", async () => {
    const name = await support.table();
    await refused(client.send(new CreateTableCommand(orders(name))), ResourceInUseException);
  });

  test("tables are listed in pages", async () => {
    const names = [];
    for (let count = 0; count < 5; count += 1) names.push(await support.table());
    const listed = [];
    for await (const page of paginateListTables({ client, pageSize: 2 }, {})) {
      assert.ok(page.TableNames.length <= 2);
      listed.push(...page.TableNames);
    }
    assert.deepEqual(listed, [...listed].sort());
    assert.deepEqual(listed.filter((name) => names.includes(name)), names.sort());
  });

  test("index can be added, back-filled and deleted", async () => {
    const TableName = await support.table();
    for (let number = 0; number < 10; number += 1) {
      const town = number % 2 ? "Quito" : "Cuenca";
      await documents.send(new PutCommand({ TableName, Item: { customer: "ana", number, town } }));
    }
    const status = async () => {
      const indexes = (await describe(TableName)).GlobalSecondaryIndexes;
      return indexes.find((index) => index.IndexName === "by-town")?.IndexStatus;
    };
    const Create = {
      IndexName: "by-town",
      KeySchema: [{ AttributeName: "town", KeyType: "HASH" }],
      Projection: { ProjectionType: "KEYS_ONLY" },
    };
    await client.send(
      new UpdateTableCommand({
        TableName,
        AttributeDefinitions: [{ AttributeName: "town", AttributeType: "S" }],
        GlobalSecondaryIndexUpdates: [{ Create }],
      }),
    );
    await support.eventually(async () => (await status()) === "ACTIVE");
    const found = await documents.send(
      new QueryCommand({
        TableName,
        IndexName: "by-town",
        KeyConditionExpression: "town = :town",
        ExpressionAttributeValues: { ":town": "Quito" },
      }),
    );
    assert.deepEqual(found.Items.map((item) => item.number).sort(), [1, 3, 5, 7, 9]);

    const Delete = { IndexName: "by-town" };
    await client.send(
      new UpdateTableCommand({ TableName, GlobalSecondaryIndexUpdates: [{ Delete }] }),
    );
    await support.eventually(async () => (await status()) === undefined);
    await invalid(
      documents.send(new ScanCommand({ TableName, IndexName: "by-town" })),
      "The table does not have the specified index: by-town",
    );
  });

  test("protected table cannot be deleted", async () => {
    const TableName = await support.table({ DeletionProtectionEnabled: true });
    await invalid(
      client.send(new DeleteTableCommand({ TableName })),
      "Resource cannot be deleted as it is currently protected against deletion. " +
        "Disable deletion protection first.",
    );
    await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
    await waitUntilTableExists(waiter, { TableName });
    await client.send(new DeleteTableCommand({ TableName }));
    await waitUntilTableNotExists(waiter, { TableName });
  });

  test("deleted table is not found", async () => {
    const TableName = await support.table();
    await client.send(new DeleteTableCommand({ TableName }));
    await waitUntilTableNotExists(waiter, { TableName });
    await refused(
      client.send(new DescribeTableCommand({ TableName })),
      ResourceNotFoundException,
    );
    await refused(support.get(TableName, "ana", 1), ResourceNotFoundException);
  });
});
