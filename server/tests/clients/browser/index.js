// Tests of web pages in a browser, on the server that AWS_ENDPOINT_URL names, without credentials.
//
// TABLA_CHROMIUM is the path of the browser. It resolves evil.example to this machine, so that a
// page of that name can connect to the server like one of localhost: only the server distinguishes
// them.

"use strict";

const assert = require("node:assert/strict");
const http = require("node:http");
const path = require("node:path");
const { after, before, suite, test } = require("node:test");
const { DynamoDB } = require("@aws-sdk/client-dynamodb");
const esbuild = require("esbuild");
const { chromium } = require("playwright-core");

// Every step takes less than a second; this time-out means that the step will not succeed.
const PATIENCE = 15_000;

const FOREIGN = "evil.example";
const TABLE = {
  TableName: "things",
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
  KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
};
const ITEM = { pk: { S: "a" }, text: { S: "kept" } };
const JSON_10 = "application/x-amz-json-1.0";

suite("pages in a browser", { timeout: 120_000 }, () => {
  const endpoint = process.env.AWS_ENDPOINT_URL;
  const { port } = new URL(endpoint);
  const dynamodb = new DynamoDB();
  let site;
  let browser;

  before(async () => {
    const built = await esbuild.build({
      entryPoints: [path.join(__dirname, "page.js")],
      nodePaths: [process.env.NODE_PATH],
      bundle: true,
      platform: "browser",
      write: false,
      logLevel: "error",
    });
    const script = built.outputFiles[0].contents;
    site = http.createServer((request, response) => {
      const isScript = request.url === "/sdk.js";
      if (request.url === "/sandboxed") {
        response.setHeader("Content-Security-Policy", "sandbox allow-scripts");
      }
      response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
      response.end(isScript ? script : '<!doctype html><script src="/sdk.js"></script>');
    });
    await new Promise((listening) => site.listen(0, "127.0.0.1", listening));
    browser = await chromium.launch({
      executablePath: process.env.TABLA_CHROMIUM,
      // The sandbox does not support root. The browser opens only pages of this machine.
      chromiumSandbox: false,
      args: [
        "--disable-gpu",
        "--disable-quic",
        "--disable-sync",
        `--host-resolver-rules=MAP ${FOREIGN} 127.0.0.1`,
      ],
    });
    await dynamodb.createTable(TABLE);
    await dynamodb.putItem({ TableName: TABLE.TableName, Item: ITEM });
  });

  after(async () => {
    await browser?.close();
    site?.close();
    site?.closeAllConnections();
  });

  /** Opens a page of this host. It contains the SDK unless the port is that of the server. */
  async function open(t, host, at = site.address().port, path = "/") {
    const page = await browser.newPage();
    t.after(() => page.close());
    page.setDefaultTimeout(PATIENCE);
    await page.goto(`http://${host}:${at}${path}`);
    return page;
  }

  /** Runs a function in a page, with a client of the SDK for the server and these values. */
  function inPage(page, work, values) {
    const source = `async ({ endpoint, values }) => {
      const client = new DynamoDB({
        endpoint, region: "local", maxAttempts: 1,
        credentials: { accessKeyId: "any", secretAccessKey: "any" },
      });
      return (${work})(client, values);
    }`;
    return page.evaluate(`(${source})(${JSON.stringify({ endpoint, values })})`);
  }

  /** Sends a request from a page, and returns the response or the error that the page receives. */
  function ask(page, url, options) {
    return page.evaluate(
      async ([url, options]) => {
        try {
          const response = await fetch(url, options);
          return { type: response.type, status: response.status, text: await response.text() };
        } catch (error) {
          return { error: error.name };
        }
      },
      [url, options],
    );
  }

  const put = (content) => ({
    method: "POST",
    headers: { "Content-Type": content, "X-Amz-Target": "DynamoDB_20120810.PutItem" },
    body: JSON.stringify({ TableName: TABLE.TableName, Item: { pk: { S: "a" } } }),
  });

  /** Expects that the tables and items of the server are unchanged. */
  async function unchanged() {
    assert.deepEqual((await dynamodb.listTables()).TableNames, [TABLE.TableName]);
    const { Items } = await dynamodb.scan({ TableName: TABLE.TableName, ConsistentRead: true });
    assert.deepEqual(Items, [ITEM]);
  }

  test("page of another origin reads nothing and changes nothing with the SDK", async (t) => {
    const page = await open(t, FOREIGN);
    const seen = await inPage(
      page,
      `async (client, { TABLE, ITEM }) => {
        const { TableName } = TABLE;
        const calls = {
          list: () => client.listTables(),
          scan: () => client.scan({ TableName }),
          put: () => client.putItem({ TableName, Item: { pk: { S: "b" } } }),
          remove: () => client.deleteItem({ TableName, Key: { pk: ITEM.pk } }),
          drop: () => client.deleteTable({ TableName }),
          create: () => client.createTable({ ...TABLE, TableName: "others" }),
        };
        const seen = {};
        for (const [name, call] of Object.entries(calls)) {
          seen[name] = await call().then(() => "answered", () => "nothing");
        }
        return seen;
      }`,
      { TABLE, ITEM },
    );
    const nothing = "nothing";
    assert.deepEqual(seen, {
      list: nothing, scan: nothing, put: nothing, remove: nothing, drop: nothing, create: nothing,
    });
    await unchanged();
  });

  test("page of another origin reads nothing and changes nothing with fetch", async (t) => {
    const page = await open(t, FOREIGN);
    const failed = { error: "TypeError" };
    for (const path of ["/", "/metrics"]) {
      assert.deepEqual(await ask(page, endpoint + path, {}), failed, path);
    }
    assert.deepEqual(await ask(page, endpoint, put(JSON_10)), failed);
    for (const content of ["text/plain", "application/x-www-form-urlencoded"]) {
      assert.deepEqual(await ask(page, endpoint, put(content)), failed);
      // Without the header that needs a preflight, a browser sends the request at once.
      const simple = { ...put(content), headers: { "Content-Type": content } };
      assert.deepEqual(await ask(page, endpoint, simple), failed);
      const blind = await ask(page, endpoint, { ...simple, mode: "no-cors" });
      assert.deepEqual(blind, { type: "opaque", status: 0, text: "" });
    }
    await unchanged();
  });

  test("forms and beacons of another origin change nothing", async (t) => {
    const page = await open(t, FOREIGN);
    const statuses = [];
    page.on("response", (response) => {
      if (response.url().startsWith(endpoint)) statuses.push(response.status());
    });
    await page.evaluate(
      async ([url, body]) => {
        const frame = document.createElement("iframe");
        frame.name = "target";
        const form = document.createElement("form");
        Object.assign(form, { action: url, method: "post", enctype: "text/plain", target: "target" });
        const input = document.createElement("input");
        input.name = body;
        form.append(input);
        document.body.append(frame, form);
        const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
        form.submit();
        await loaded;
        navigator.sendBeacon(url, new Blob([body], { type: "text/plain" }));
        navigator.sendBeacon(url, new Blob([body], { type: "application/x-amz-json-1.0" }));
      },
      [endpoint, put(JSON_10).body],
    );
    assert.deepEqual([...new Set(statuses)], [403]);
    await unchanged();
  });

  test("sandboxed page with the origin null reads nothing and changes nothing", async (t) => {
    const page = await open(t, "localhost", site.address().port, "/sandboxed");
    assert.equal(await page.evaluate(() => self.origin), "null");
    const failed = { error: "TypeError" };
    assert.deepEqual(await ask(page, `${endpoint}/metrics`, {}), failed);
    assert.deepEqual(await ask(page, endpoint, put(JSON_10)), failed);
    await unchanged();
  });

  test("page after DNS rebinding is refused and changes nothing", async (t) => {
    const page = await open(t, FOREIGN, port);
    assert.equal(await page.evaluate(() => self.origin), `http://${FOREIGN}:${port}`);
    for (const [path, options] of [
      ["/", {}],
      ["/metrics", {}],
      ["/", put(JSON_10)],
    ]) {
      const answer = await ask(page, path, options);
      assert.equal(answer.status, 403, `${path}: ${JSON.stringify(answer)}`);
      assert.ok(!answer.text.includes("tabla_requests"), answer.text);
    }
    await unchanged();
  });

  test("page of localhost works with the SDK", async (t) => {
    for (const host of ["localhost", "127.0.0.1"]) {
      const page = await open(t, host);
      const seen = await inPage(
        page,
        `async (client, { TABLE }) => {
          const TableName = "of-a-page";
          await client.createTable({ ...TABLE, TableName });
          const Item = { pk: { S: "a" }, n: { N: "1" } };
          await client.putItem({ TableName, Item });
          const twice = await client
            .putItem({ TableName, Item, ConditionExpression: "attribute_not_exists(pk)" })
            .catch((error) => error);
          await client.updateItem({
            TableName, Key: { pk: { S: "a" } }, UpdateExpression: "ADD n :one",
            ExpressionAttributeValues: { ":one": { N: "1" } },
          });
          const got = await client.getItem({ TableName, Key: { pk: { S: "a" } } });
          const queried = await client.query({
            TableName, KeyConditionExpression: "pk = :pk",
            ExpressionAttributeValues: { ":pk": { S: "a" } },
          });
          await client.deleteItem({ TableName, Key: { pk: { S: "a" } } });
          const scanned = await client.scan({ TableName });
          await client.deleteTable({ TableName });
          return {
            refusal: twice.name,
            item: got.Item,
            hasId: Boolean(got.$metadata.requestId),
            queried: queried.Count,
            scanned: scanned.Count,
          };
        }`,
        { TABLE },
      );
      assert.deepEqual(seen, {
        refusal: "ConditionalCheckFailedException",
        item: { pk: { S: "a" }, n: { N: "2" } },
        hasId: true,
        queried: 1,
        scanned: 0,
      });
    }
    await unchanged();
  });
});
