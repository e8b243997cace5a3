// Queries and scans, in pages.

"use strict";

const assert = require("node:assert/strict");
const { before, suite, test } = require("node:test");
const {
  BatchWriteCommand,
  paginateQuery,
  paginateScan,
  QueryCommand,
} = require("@aws-sdk/lib-dynamodb");
const { documents, table } = require("./support.js");

const range = (from, to) => Array.from({ length: to - from + 1 }, (_, place) => from + place);
const numbers = (page) => page.Items.map((item) => item.number);

suite("queries", () => {
  let TableName;

  before(async () => {
    TableName = await table();
    const items = range(1, 25).map((number) => ({
      customer: "ana",
      number,
      status: number % 5 ? "open" : "sent",
      day: `2026-03-${String(number).padStart(2, "0")}`,
    }));
    const puts = items.map((Item) => ({ PutRequest: { Item } }));
    await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }));
  });

  test("query returns pages", async () => {
    const request = {
      TableName,
      KeyConditionExpression: "customer = :c AND #n > :n",
      ExpressionAttributeNames: { "#n": "number" },
      ExpressionAttributeValues: { ":c": "ana", ":n": 5 },
      ConsistentRead: true,
      Limit: 8,
    };
    const pages = [await documents.send(new QueryCommand(request))];
    while (pages.at(-1).LastEvaluatedKey) {
      const ExclusiveStartKey = pages.at(-1).LastEvaluatedKey;
      const number = numbers(pages.at(-1)).at(-1);
      assert.deepEqual(ExclusiveStartKey, { customer: "ana", number });
      pages.push(await documents.send(new QueryCommand({ ...request, ExclusiveStartKey })));
    }
    assert.deepEqual(pages.map(numbers), [range(6, 13), range(14, 21), range(22, 25)]);
  });

  test("paginator reads index in descending order", async () => {
    const pages = [];
    const request = {
      TableName,
      IndexName: "by-status",
      KeyConditionExpression: "#s = :sent",
      ExpressionAttributeNames: { "#s": "status" },
      ExpressionAttributeValues: { ":sent": "sent" },
      ScanIndexForward: false,
    };
    for await (const page of paginateQuery({ client: documents, pageSize: 2 }, request)) {
      pages.push(page);
    }
    assert.deepEqual(pages.map(numbers), [[25, 20], [15, 10], [5]]);
    const last = Object.keys(pages[0].LastEvaluatedKey).sort();
    assert.deepEqual(last, ["customer", "day", "number", "status"]);
  });

  test("filter applies to items that were read", async () => {
    const found = await documents.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: "customer = :c AND #n BETWEEN :from AND :to",
        FilterExpression: "#s IN (:sent) OR begins_with(#d, :first)",
        ProjectionExpression: "#n",
        ExpressionAttributeNames: { "#n": "number", "#s": "status", "#d": "day" },
        ExpressionAttributeValues: {
          ":c": "ana",
          ":from": 1,
          ":to": 10,
          ":sent": "sent",
          ":first": "2026-03-01",
        },
      }),
    );
    assert.deepEqual(found.Items, [{ number: 1 }, { number: 5 }, { number: 10 }]);
    assert.deepEqual([found.Count, found.ScannedCount], [3, 10]);
  });

  test("scan returns every item once, also in segments", async () => {
    const read = async (more) => {
      const found = [];
      const request = { TableName, ConsistentRead: true, ...more };
      for await (const page of paginateScan({ client: documents, pageSize: 4 }, request)) {
        found.push(...numbers(page));
      }
      return found;
    };
    const ascending = (a, b) => a - b;
    assert.deepEqual((await read({})).sort(ascending), range(1, 25));
    const parts = await Promise.all(
      range(0, 2).map((Segment) => read({ Segment, TotalSegments: 3 })),
    );
    assert.deepEqual(parts.flat().sort(ascending), range(1, 25));
  });
});
