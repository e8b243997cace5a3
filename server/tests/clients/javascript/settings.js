// Settings of a table: expiry and tags.

"use strict";

const assert = require("node:assert/strict");
const { suite, test } = require("node:test");
const {
  DescribeTimeToLiveCommand,
  ListTagsOfResourceCommand,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateTimeToLiveCommand,
} = require("@aws-sdk/client-dynamodb");
const { client, describe, onLocal, table } = require("./support.js");

suite("settings", () => {
  test("expiry can be enabled", async () => {
    const TableName = await table();
    const described = async () =>
      (await client.send(new DescribeTimeToLiveCommand({ TableName }))).TimeToLiveDescription;
    assert.deepEqual(await described(), { TimeToLiveStatus: "DISABLED" });
    const TimeToLiveSpecification = { Enabled: true, AttributeName: "expires" };
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    const after = await described();
    assert.match(after.TimeToLiveStatus, /^(ENABLING|ENABLED)$/);
    assert.equal(after.AttributeName, "expires");
  });

  test("tags can be added, listed and removed", async () => {
    const ResourceArn = (await describe(await table())).TableArn;
    const tags = async () => {
      const { Tags } = await client.send(new ListTagsOfResourceCommand({ ResourceArn }));
      return Object.fromEntries(Tags.map((tag) => [tag.Key, tag.Value]));
    };
    const Tags = [
      { Key: "stage", Value: "test" },
      { Key: "team", Value: "shop" },
    ];
    const tagged = client.send(new TagResourceCommand({ ResourceArn, Tags }));
    if (onLocal) {
      await assert.rejects(tagged, /Tagging is not currently supported in DynamoDB Local/);
      return;
    }
    await tagged;
    assert.deepEqual(await tags(), { stage: "test", team: "shop" });
    await client.send(new UntagResourceCommand({ ResourceArn, TagKeys: ["team"] }));
    assert.deepEqual(await tags(), { stage: "test" });
  });
});
