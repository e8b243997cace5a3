// Values are returned as they were written: numbers, bytes, sets, and nested values.

"use strict";

const assert = require("node:assert/strict");
const { suite, test } = require("node:test");
const { DynamoDBClient } = require("@aws-sdk/client-dynamodb");
const {
  DynamoDBDocumentClient,
  GetCommand,
  NumberValue,
  PutCommand,
  UpdateCommand,
} = require("@aws-sdk/lib-dynamodb");
const { documents, get, invalid, table } = require("./support.js");

// Numbers as text: JavaScript numbers have 16 digits. The options apply to the underlying client,
// so this document client has its own.
const exact = DynamoDBDocumentClient.from(new DynamoDBClient(), {
  unmarshallOptions: { wrapNumbers: true },
});

suite("values", () => {
  test("every type is returned unchanged", async () => {
    const TableName = await table();
    const Item = {
      customer: "ana",
      number: 1,
      text: "añejo ☕ \u0000 😀",
      empty: "",
      binary: Uint8Array.from({ length: 256 }, (_, byte) => byte),
      noBytes: new Uint8Array(),
      yes: true,
      nothing: null,
      texts: new Set(["á", "b"]),
      numbers: new Set([-1, 0, 2.5]),
      list: [1, [], { x: null }],
      map: { "a.b": { "ñ[0]": "any name" } },
      large: 12345678901234567890n,
    };
    await documents.send(new PutCommand({ TableName, Item }));
    assert.deepEqual(await get(TableName, "ana", 1), Item);
  });

  test("binary sets are returned unchanged", async () => {
    const TableName = await table();
    const binaries = new Set([Uint8Array.of(0), Uint8Array.of(255, 254)]);
    const Item = { customer: "ana", number: 1, binaries };
    await documents.send(new PutCommand({ TableName, Item }));
    const found = await get(TableName, "ana", 1);
    const sorted = (set) => [...set].map((bytes) => Buffer.from(bytes).toString("hex")).sort();
    assert.deepEqual(sorted(found.binaries), sorted(binaries));
  });

  test("numbers keep 38 digits", async () => {
    const TableName = await table();
    const Key = { customer: "ana", number: 1 };
    const values = [
      "12345678901234567890123456789012345678",
      "-0.12345678901234567890123456789012345678",
      "0.1",
    ];
    for (const text of values) {
      const Item = { ...Key, value: NumberValue.from(text) };
      await exact.send(new PutCommand({ TableName, Item }));
      const found = await exact.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
      assert.equal(found.Item.value.toString(), text);
    }
    const added = await exact.send(
      new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: "SET #v = #v + :more",
        ExpressionAttributeNames: { "#v": "value" },
        ExpressionAttributeValues: {
          ":more": NumberValue.from("0.0000000000000000000000000000000000001"),
        },
        ReturnValues: "UPDATED_NEW",
      }),
    );
    assert.equal(
      added.Attributes.value.toString(),
      "0.1000000000000000000000000000000000001",
    );
  });

  test("number with 39 digits is refused", async () => {
    const TableName = await table();
    const Item = { customer: "ana", number: 1, value: NumberValue.from("1".repeat(39)) };
    await invalid(exact.send(new PutCommand({ TableName, Item })), /./);
    assert.equal(await get(TableName, "ana", 1), undefined);
  });

  test("elements are added to and removed from sets", async () => {
    const TableName = await table();
    const Key = { customer: "ana", number: 1 };
    const Item = { ...Key, texts: new Set(["a", "b"]), numbers: new Set([1]) };
    await documents.send(new PutCommand({ TableName, Item }));
    const updated = await documents.send(
      new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: "DELETE texts :a ADD numbers :more",
        ExpressionAttributeValues: { ":a": new Set(["a", "z"]), ":more": new Set([2, 3]) },
        ReturnValues: "ALL_NEW",
      }),
    );
    assert.deepEqual(updated.Attributes, {
      ...Key,
      texts: new Set(["b"]),
      numbers: new Set([1, 2, 3]),
    });
  });
});
