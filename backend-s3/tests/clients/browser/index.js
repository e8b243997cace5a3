// Tests of a web page that uploads and downloads a picture with presigned URLs.
//
// TABLA_PAGE is the page at the origin that the gateway is configured with, TABLA_OTHER_PAGE the
// same page at another origin. TABLA_CHROMIUM is the path of the browser. Screenshots are saved in
// the folder TABLA_SCREENSHOTS. The second test continues where the first one stopped.

"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const { after, before, suite, test } = require("node:test");
const { chromium } = require("playwright-core");

// Every step takes less than a second; this time-out means that the step will not succeed.
const PATIENCE = 15_000;

suite("page with presigned URLs", { timeout: 120_000 }, () => {
  const gateway = process.env.AWS_ENDPOINT_URL;
  let browser;

  before(async () => {
    browser = await chromium.launch({
      executablePath: process.env.TABLA_CHROMIUM,
      // The sandbox does not support root. The browser opens only pages of this machine.
      chromiumSandbox: false,
      args: ["--disable-gpu", "--disable-quic", "--disable-sync"],
    });
  });

  after(() => browser?.close());

  /** Opens the page, clicks its button, takes a screenshot, and returns what it shows. */
  async function use(t, origin, picture) {
    const page = await browser.newPage({ viewport: { width: 940, height: 800 } });
    t.after(() => page.close());
    page.setDefaultTimeout(PATIENCE);
    const errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    const answers = [];
    page.on("response", (response) => {
      if (response.url().startsWith(gateway)) {
        answers.push(`${response.request().method()} ${response.status()}`);
      }
    });
    await page.goto(origin);
    await page.locator("#start").click();
    await page.locator("#result:not(:empty)").waitFor();
    await page.screenshot({ path: path.join(process.env.TABLA_SCREENSHOTS, picture) });
    const rows = await page.locator("#requests tr").all();
    const requests = await Promise.all(rows.map((row) => row.locator("td").allInnerTexts()));
    assert.deepEqual(errors, []);
    return {
      page,
      answers,
      result: await page.locator("#result").innerText(),
      requests: requests.map(([request, , result]) => `${request}: ${result}`),
    };
  }

  test("page of the configured origin uploads and downloads a picture", async (t) => {
    const seen = await use(t, process.env.TABLA_PAGE, "1-configured-origin.png");
    assert.equal(seen.result, "The same bytes came back.");
    assert.equal(seen.requests.length, 4);
    assert.match(seen.requests[1], /^PUT upload: 200 ETag ".+"$/);
    assert.match(seen.requests[3], /^GET download: 200 image\/png, [\d,]+ bytes$/);
    assert.deepEqual(seen.answers.slice(-2), ["PUT 200", "GET 200"]);
    const shown = await seen.page.evaluate(() => {
      const read = (source) => {
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width: 480, height: 360 });
        const pen = canvas.getContext("2d");
        pen.drawImage(source, 0, 0);
        return pen.getImageData(0, 0, 480, 360).data;
      };
      const image = document.querySelector("#received img");
      const [drawn, received] = [document.querySelector("#drawing"), image].map(read);
      return {
        width: image.naturalWidth,
        height: image.naturalHeight,
        same: drawn.every((value, at) => value === received[at]),
        colors: new Set(drawn).size,
      };
    });
    assert.deepEqual([shown.width, shown.height, shown.same], [480, 360, true]);
    assert.ok(shown.colors > 100, "the picture is not blank");
  });

  test("page of the configured origin reads why an upload was refused", async (t) => {
    const { page } = await use(t, process.env.TABLA_PAGE, "2-refused-upload.png");
    const answer = await page.evaluate(async () => {
      const wanted = { key: "localhost/other.png", type: "image/png", length: 3, sha256: btoa("x".repeat(32)) };
      const { url, headers } = await sign("/uploads", wanted);
      const response = await fetch(url, { method: "PUT", headers, body: "four" });
      return [response.status, await response.text()];
    });
    assert.equal(answer[0], 403);
    assert.match(answer[1], /<Code>SignatureDoesNotMatch<\/Code>/);
  });

  test("page of another origin reads nothing and writes nothing", async (t) => {
    const seen = await use(t, process.env.TABLA_OTHER_PAGE, "3-other-origin.png");
    assert.equal(seen.result, "Failed: Failed to fetch");
    assert.deepEqual(seen.requests, [
      "POST presigned URL: 200 signed for 60 s",
      "PUT upload: Failed to fetch",
    ]);
    // The preflight was refused, and the browser sent no upload.
    assert.ok(!seen.answers.includes("PUT 200"), String(seen.answers));
    const answers = await seen.page.evaluate(async () => {
      const { url } = await sign("/downloads", { key: "localhost/hills.png" });
      const ask = async (options) => {
        try {
          const response = await fetch(url, options);
          return [response.type, response.status, (await response.text()).length];
        } catch (error) {
          return error.name;
        }
      };
      return [await ask({}), await ask({ mode: "no-cors" })];
    });
    assert.deepEqual(answers, ["TypeError", ["opaque", 0, 0]]);
    assert.equal(await seen.page.locator("#received img").count(), 0);
  });
});
