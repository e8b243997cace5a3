// Tests of dynamodb-admin in a headless browser, on the server that AWS_ENDPOINT_URL names.
//
// TABLA_CHROMIUM is the path of the browser. Screenshots are saved in the folder TABLA_SCREENSHOTS.
// Each test continues where the previous one stopped.

"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const { after, before, suite, test } = require("node:test");
const { DynamoDB } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocument } = require("@aws-sdk/lib-dynamodb");
const { createServer } = require("dynamodb-admin");
const { chromium } = require("playwright-core");

// Every step takes less than a second; this time-out means that the step will not succeed.
const PATIENCE = 15_000;

suite("dynamodb-admin", { timeout: 120_000 }, () => {
  const dynamodb = new DynamoDB();
  const documents = DynamoDBDocument.from(dynamodb);
  let admin;
  let address;
  let browser;
  let page;
  const problems = [];
  let pictures = 0;

  before(async () => {
    const app = createServer({ dynamoEndpoint: process.env.AWS_ENDPOINT_URL });
    await new Promise((listening) => {
      admin = app.listen(0, "127.0.0.1", listening);
    });
    address = `http://127.0.0.1:${admin.address().port}`;
    browser = await chromium.launch({
      executablePath: process.env.TABLA_CHROMIUM,
      // The sandbox does not support root. The browser opens only pages of this machine.
      chromiumSandbox: false,
      args: ["--disable-gpu", "--disable-quic", "--disable-sync"],
    });
    page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    page.setDefaultTimeout(PATIENCE);
    page.on("pageerror", (error) => problems.push(`error on ${page.url()}: ${error}`));
    page.on("response", (response) => {
      if (response.status() >= 500) problems.push(`${response.status()} of ${response.url()}`);
    });
  });

  after(async () => {
    await browser?.close();
    admin?.close();
    admin?.closeAllConnections();
  });

  /** Takes a screenshot. */
  async function picture(name) {
    pictures += 1;
    const file = `${String(pictures).padStart(2, "0")}-${name}.png`;
    await page.screenshot({ path: path.join(process.env.TABLA_SCREENSHOTS, file) });
  }

  /** Returns the tables that the first page lists. */
  async function listed() {
    await page.goto(address);
    return page.locator("#table-list li > a:first-child").allInnerTexts();
  }

  /** Returns the cells of the shown items, without the link in the first column. */
  async function rows() {
    await page.locator("#table-placeholder.d-none").waitFor({ state: "attached" });
    const texts = await page.locator("#items-container tr").allInnerTexts();
    return texts.map((text) => text.split("\t").slice(1).map((cell) => cell.trim()));
  }

  /** Replaces the text of the editor, and saves it. */
  async function save(item) {
    await page.locator("#documentTextarea.ace_editor").waitFor();
    await page.evaluate((text) => window.ace.edit("documentTextarea").setValue(text), item);
    await page.locator("#saveButton").click();
  }

  const get = async (TableName, Key) =>
    (await documents.get({ TableName, Key, ConsistentRead: true })).Item;

  /** Expects the page to show this error, and the browser to have received no other. */
  async function refused(message) {
    const shown = page.locator("#error-wrapper .alert-danger");
    await shown.waitFor();
    assert.equal(await shown.innerText(), message);
    // dynamodb-admin returns status 500 to the browser for every error of the server.
    assert.deepEqual(problems.splice(0).map((problem) => problem.slice(0, 3)), ["500"]);
  }

  test("new table is listed", async () => {
    assert.deepEqual(await listed(), []);
    await dynamodb.createTable({
      TableName: "Orders",
      AttributeDefinitions: [
        { AttributeName: "customer", AttributeType: "S" },
        { AttributeName: "number", AttributeType: "N" },
        { AttributeName: "status", AttributeType: "S" },
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
            { AttributeName: "number", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
      ],
      BillingMode: "PAY_PER_REQUEST",
    });
    assert.deepEqual(await listed(), ["Orders"]);
  });

  // The form sends numbers as strings. DynamoDB Local accepts them; DynamoDB does not.
  test("table with capacity as strings is refused", async () => {
    await page.getByRole("link", { name: "Create table" }).click();
    await page.locator("#TableName").fill("Drafts");
    await page.locator("#HashAttributeName").fill("id");
    await page.locator("#saveButton").click();
    await refused("STRING_VALUE cannot be converted to Long");
    await picture("create-table");
    assert.deepEqual(await listed(), ["Orders"]);
  });

  test("items are shown in pages", async () => {
    for (let number = 1; number <= 30; number += 1) {
      const status = number % 10 ? "open" : "sent";
      const more = number === 30 ? { parts: ["tea", { cups: 2 }], paid: true, note: null } : {};
      const Item = { customer: "ana", number, status, ...more };
      await documents.put({ TableName: "Orders", Item });
    }
    await listed();
    await picture("tables");
    await page.getByRole("link", { name: "Orders" }).click();
    const first = await rows();
    assert.deepEqual(first.map((row) => row[1]), numbers(1, 25));
    await picture("items");
    await page.getByRole("link", { name: "Next Page" }).click();
    await page.waitForURL(/pageNum=2/);
    const second = await rows();
    assert.deepEqual(second.map((row) => row[1]), numbers(26, 30));
    // The order of columns after the key is not defined.
    const last = second.at(-1).map((cell) => cell.split("\n")[0]);
    assert.deepEqual(last.sort(), ['"ana"', '"sent"', "30", "Array[2]", "null", "true"]);
    await picture("next-page");
  });

  test("index can be queried", async () => {
    await page.goto(`${address}/tables/Orders`);
    await rows();
    await page.locator("select[name=operationType]").selectOption("query");
    await page.locator("select[name=queryableSelection]").selectOption("by-status");
    // The form requires the partition key of the index.
    const required = page.locator("#filters-table tr", { has: page.locator("[readonly]") });
    await required.locator(".filter-row-value").fill("sent");
    await page.getByRole("button", { name: "Search" }).click();
    await page.waitForURL(/operationType=query/);
    assert.deepEqual((await rows()).map((row) => row[1]), ["10", "20", "30"]);
    await picture("query");
  });

  test("description and expiry of a table are shown", async () => {
    await page.goto(`${address}/tables/Orders/meta`);
    const text = await page.evaluate(() => window.ace.edit("documentArea").getValue());
    assert.equal(JSON.parse(text).TableStatus, "ACTIVE");
    await picture("meta");
    await page.getByRole("link", { name: "TTL" }).click();
    await page.getByText("DISABLED").waitFor();
    await picture("expiry");
  });

  test("item can be created", async () => {
    await page.goto(`${address}/tables/Orders`);
    await page.getByRole("link", { name: "Create item" }).click();
    await page.waitForURL(/\/add-item$/);
    await save('{ "customer": "eva", "number": 1, "status": "open", "parts": [{ "tea": 0.5 }] }');
    await page.waitForURL(/\/items\/eva/);
    await picture("created");
    const stored = { customer: "eva", number: 1, status: "open", parts: [{ tea: 0.5 }] };
    assert.deepEqual(await get("Orders", { customer: "eva", number: 1 }), stored);
  });

  test("item can be edited", async () => {
    await page.goto(`${address}/tables/Orders/items/eva,1`);
    await save('{ "customer": "eva", "number": 1, "status": "sent" }');
    await page.locator("#saveButton.btn-success").waitFor();
    await picture("edited");
    const stored = { customer: "eva", number: 1, status: "sent" };
    assert.deepEqual(await get("Orders", { customer: "eva", number: 1 }), stored);
  });

  test("error of the server is shown", async () => {
    await save('{ "customer": "", "number": 1 }');
    await refused(
      "One or more parameter values are not valid. The AttributeValue for a key attribute " +
        "cannot contain an empty string value. Key: customer",
    );
    await picture("refused");
  });

  test("item can be deleted", async () => {
    await page.goto(`${address}/tables/Orders/items/eva,1`);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(`${address}/tables/Orders`);
    await rows();
    assert.equal(await get("Orders", { customer: "eva", number: 1 }), undefined);
    await picture("item-deleted");
  });

  test("table can be deleted", async () => {
    await listed();
    page.once("dialog", (dialog) => dialog.accept());
    await page.locator("li[data-table-name=Orders]").getByText("Delete").click();
    await page.locator("li[data-table-name=Orders]").waitFor({ state: "detached" });
    assert.deepEqual(await listed(), []);
    assert.deepEqual((await dynamodb.listTables()).TableNames, []);
    await picture("table-deleted");
    assert.deepEqual(problems, []);
  });
});

/** Returns the numbers of a range as strings, as a page shows them. */
function numbers(from, to) {
  return Array.from({ length: to - from + 1 }, (_, place) => String(from + place));
}
