// dynamodb-admin in a browser without a screen, on the server that AWS_ENDPOINT_URL names.
//
// TABLA_CHROMIUM is the browser, and pictures of what it shows go to the folder TABLA_SCREENSHOTS.
// Each test goes on where the one before it has stopped, as a person would.

"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const { after, before, suite, test } = require("node:test");
const { DynamoDB } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocument } = require("@aws-sdk/lib-dynamodb");
const { createServer } = require("dynamodb-admin");
const { chromium } = require("playwright-core");

// Nothing here takes a second; a page that waits for more than this waits in vain.
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
      // A browser does not run as root in its sandbox; this one sees only pages of this machine.
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

  /** Takes a picture of the page as it is. */
  async function picture(name) {
    pictures += 1;
    const file = `${String(pictures).padStart(2, "0")}-${name}.png`;
    await page.screenshot({ path: path.join(process.env.TABLA_SCREENSHOTS, file) });
  }

  /** The tables that the first page lists. */
  async function listed() {
    await page.goto(address);
    return page.locator("#table-list li > a:first-child").allInnerTexts();
  }

  /** The cells of the items that the page shows, without the link in front of them. */
  async function rows() {
    await page.locator("#table-placeholder.d-none").waitFor({ state: "attached" });
    const texts = await page.locator("#items-container tr").allInnerTexts();
    return texts.map((text) => text.split("\t").slice(1).map((cell) => cell.trim()));
  }

  /** Writes into the editor, and saves. */
  async function save(item) {
    await page.locator("#documentTextarea.ace_editor").waitFor();
    await page.evaluate((text) => window.ace.edit("documentTextarea").setValue(text), item);
    await page.locator("#saveButton").click();
  }

  const get = async (TableName, Key) =>
    (await documents.get({ TableName, Key, ConsistentRead: true })).Item;

  /** Expects a refusal to be shown, and the browser to have been told of nothing else. */
  async function refused(message) {
    const shown = page.locator("#error-wrapper .alert-danger");
    await shown.waitFor();
    assert.equal(await shown.innerText(), message);
    // dynamodb-admin answers the browser with 500 whatever the server has said.
    assert.deepEqual(problems.splice(0).map((problem) => problem.slice(0, 3)), ["500"]);
  }

  test("no table is listed, and then one is", async () => {
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

  // The form sends numbers as text. DynamoDB Local takes them; DynamoDB does not.
  test("a table is asked for with text where there should be numbers", async () => {
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
    // The columns after the key come in any order.
    const last = second.at(-1).map((cell) => cell.split("\n")[0]);
    assert.deepEqual(last.sort(), ['"ana"', '"sent"', "30", "Array[2]", "null", "true"]);
    await picture("next-page");
  });

  test("an index is queried", async () => {
    await page.goto(`${address}/tables/Orders`);
    await rows();
    await page.locator("select[name=operationType]").selectOption("query");
    await page.locator("select[name=queryableSelection]").selectOption("by-status");
    // The form has asked for the index's partition key by itself.
    const required = page.locator("#filters-table tr", { has: page.locator("[readonly]") });
    await required.locator(".filter-row-value").fill("sent");
    await page.getByRole("button", { name: "Search" }).click();
    await page.waitForURL(/operationType=query/);
    assert.deepEqual((await rows()).map((row) => row[1]), ["10", "20", "30"]);
    await picture("query");
  });

  test("a table's description and its expiry are shown", async () => {
    await page.goto(`${address}/tables/Orders/meta`);
    const text = await page.evaluate(() => window.ace.edit("documentArea").getValue());
    assert.equal(JSON.parse(text).TableStatus, "ACTIVE");
    await picture("meta");
    await page.getByRole("link", { name: "TTL" }).click();
    await page.getByText("DISABLED").waitFor();
    await picture("expiry");
  });

  test("an item is created", async () => {
    await page.goto(`${address}/tables/Orders`);
    await page.getByRole("link", { name: "Create item" }).click();
    await page.waitForURL(/\/add-item$/);
    await save('{ "customer": "eva", "number": 1, "status": "open", "parts": [{ "tea": 0.5 }] }');
    await page.waitForURL(/\/items\/eva/);
    await picture("created");
    const stored = { customer: "eva", number: 1, status: "open", parts: [{ tea: 0.5 }] };
    assert.deepEqual(await get("Orders", { customer: "eva", number: 1 }), stored);
  });

  test("an item is edited", async () => {
    await page.goto(`${address}/tables/Orders/items/eva,1`);
    await save('{ "customer": "eva", "number": 1, "status": "sent" }');
    await page.locator("#saveButton.btn-success").waitFor();
    await picture("edited");
    const stored = { customer: "eva", number: 1, status: "sent" };
    assert.deepEqual(await get("Orders", { customer: "eva", number: 1 }), stored);
  });

  test("what the server refuses is shown", async () => {
    await save('{ "customer": "", "number": 1 }');
    await refused(
      "One or more parameter values are not valid. The AttributeValue for a key attribute " +
        "cannot contain an empty string value. Key: customer",
    );
    await picture("refused");
  });

  test("an item is deleted", async () => {
    await page.goto(`${address}/tables/Orders/items/eva,1`);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(`${address}/tables/Orders`);
    await rows();
    assert.equal(await get("Orders", { customer: "eva", number: 1 }), undefined);
    await picture("item-deleted");
  });

  test("a table is deleted", async () => {
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

/** Numbers from one to another, as a page shows them. */
function numbers(from, to) {
  return Array.from({ length: to - from + 1 }, (_, place) => String(from + place));
}
