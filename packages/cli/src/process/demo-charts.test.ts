import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { request } from "node:https";
import { after, before, test } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import { openDemoCharts } from "./demo-charts.ts";
import type { DemoCharts } from "./demo-charts.ts";
import { notServed } from "./not-served.ts";

let charts: DemoCharts;

before(async () => {
  const opened = await openDemoCharts({ port: 0, keys: createX509Keys(), onMissing: (why) => assert.fail(why) });
  assert.ok(opened !== undefined);
  charts = opened;
});
after(() => charts.close());

interface Part {
  readonly digest: string;
  readonly size: number;
}

interface Got {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** What the handler answers is asked here; the certificate is Helm's to check. */
async function ask(path: string, method = "GET"): Promise<Got> {
  return new Promise((resolve, reject) => {
    const call = request(`${charts.url}${path}`, { method, rejectUnauthorized: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
    });
    call.on("error", reject);
    call.end();
  });
}

const digestOf = (body: Buffer): string => `sha256:${createHash("sha256").update(body).digest("hex")}`;

test("the registry lists the tags of a chart, whatever page is asked for", async () => {
  assert.equal((await ask("/v2/")).status, 200);
  const { body } = await ask("/v2/charts/page/tags/list?n=100");
  assert.deepEqual(JSON.parse(body.toString()), { name: "charts/page", tags: ["1.0.0"] });
});

test("the manifest is the same by tag and by digest, and every blob it names has its digest and size", async () => {
  const byTag = await ask("/v2/charts/page/manifests/1.0.0");
  const digest = digestOf(byTag.body);
  assert.equal(byTag.headers["docker-content-digest"], digest);
  assert.equal(byTag.headers["content-type"], "application/vnd.oci.image.manifest.v1+json");
  assert.deepEqual((await ask(`/v2/charts/page/manifests/${digest}`)).body, byTag.body);
  const { config, layers } = JSON.parse(byTag.body.toString()) as { readonly config: Part; readonly layers: readonly Part[] };
  assert.equal(layers.length, 1);
  for (const part of [config, ...layers]) {
    const { body } = await ask(`/v2/charts/page/blobs/${part.digest}`);
    assert.equal(digestOf(body), part.digest);
    assert.equal(body.length, part.size);
  }
});

test("the archive is the same by OCI and by the index", async () => {
  const { body } = await ask("/page-1.0.0.tgz");
  assert.deepEqual((await ask(`/v2/charts/page/blobs/${digestOf(body)}`)).body, body);
  assert.match((await ask("/index.yaml")).body.toString(), new RegExp(digestOf(body).slice("sha256:".length)));
});

test("HEAD tells the length and sends nothing", async () => {
  const { body } = await ask("/v2/charts/page/manifests/1.0.0");
  const head = await ask("/v2/charts/page/manifests/1.0.0", "HEAD");
  assert.equal(head.status, 200);
  assert.equal(head.headers["content-length"], String(body.length));
  assert.equal(head.body.length, 0);
});

test("what is not there is 404, and nothing can be written", async () => {
  assert.equal((await ask("/v2/charts/other/tags/list")).status, 404);
  assert.equal((await ask("/v2/charts/page/manifests/9.9.9")).status, 404);
  assert.equal((await ask("/v2/charts/page/blobs/uploads/", "POST")).status, 405);
});

test("a second one on the same port is not served, and what is said names the port and the flag that takes another", async () => {
  const port = Number(new URL(charts.url).port);
  const said: string[] = [];
  const onMissing = (why: string): void => void said.push(notServed("no charts are served", { port, why, flag: "chart-repository-port" }));
  assert.equal(await openDemoCharts({ port, keys: createX509Keys(), onMissing }), undefined);
  assert.deepEqual(said, [
    `warning: 127.0.0.1:${port} is in use, so no charts are served: choose another port with --chart-repository-port.\n`,
  ]);
  assert.match(notServed("x", { port: 80, why: "EACCES", flag: "y" }), /^warning: 127\.0\.0\.1:80 cannot be used \(EACCES\), so x/);
});
