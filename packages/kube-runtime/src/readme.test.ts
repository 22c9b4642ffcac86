import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { createFakeApi, createMemoryLog, createSeededRandom, createVirtualTime } from "./testing/index.ts";
import * as runtime from "./index.ts";
import type { KubeObject } from "./index.ts";

/** Runs the README's code block with this number against a fake API, in virtual time. */
async function runExample(index: number) {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const code = [...readme.matchAll(/```ts\n(.*?)```/gs)][index]?.[1] ?? "";
  const body = code
    .replace(/^import \{([^}]*)\} from .*;$/m, "const {$1} = runtime;")
    .replace(/^import \* as kube from .*;$/m, "const kube = runtime;");
  assert.ok(body !== "" && !body.includes("import "), "the example imports something that this test does not provide");
  const api = createFakeApi();
  const time = createVirtualTime();
  const log = createMemoryLog();
  const abort = new AbortController();
  const given = {
    runtime,
    transport: api.transport(),
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
    log,
    signal: abort.signal,
  };
  // eslint-disable-next-line no-new-func -- the text under test is our own README
  const AsyncFunction = (async () => undefined).constructor as new (...parameters: string[]) => (...values: unknown[]) => Promise<void>;
  const lines = code.trimEnd().split("\n").length;
  return {
    api,
    time,
    log,
    lines,
    start: () => {
      const running = new AsyncFunction(...Object.keys(given), body)(...Object.values(given));
      return async (): Promise<void> => {
        abort.abort();
        await time.advance(1_000);
        await running;
        assert.equal(time.pending(), 0);
      };
    },
  };
}

it("does what the README's example promises", async () => {
  const { api, time, start } = await runExample(0);
  const configMaps = "/api/v1/configmaps";
  api.put(configMaps, { metadata: { namespace: "ns", name: "a" } });
  const stop = start();
  await time.advance(1_000);
  api.put(configMaps, { metadata: { namespace: "ns", name: "b" } });
  await time.advance(1_000);
  assert.deepEqual(
    api.objects(configMaps).map((object) => object.metadata?.labels),
    [{ seen: "yes" }, { seen: "yes" }],
  );
  await stop();
});

it("does what the README's controller promises, in 40 lines", async () => {
  const { api, time, log, lines, start } = await runExample(1);
  const greetings = "/apis/example.dev/v1/greetings";
  const texts = () => api.objects("/api/v1/configmaps").map((map) => (map as { data?: { text?: string } }).data?.text);
  const put = (who: string) => api.put(greetings, { metadata: { namespace: "ns", name: "a" }, spec: { who } } as KubeObject);
  put("Ada");
  const stop = start();
  await time.advance(1_000);
  assert.deepEqual(texts(), ["Hello, Ada!"]);
  const [greeting] = api.objects(greetings) as readonly {
    readonly status?: { readonly conditions?: readonly { readonly status: string }[] };
  }[];
  assert.equal(greeting?.status?.conditions?.[0]?.status, "True");
  put("Grace");
  await time.advance(1_000);
  assert.deepEqual(texts(), ["Hello, Grace!"]);
  api.remove("/api/v1/configmaps", "ns", "a");
  await time.advance(1_000);
  assert.deepEqual(texts(), ["Hello, Grace!"], "it is made again");
  const writes = () => api.requests.filter((request) => request.method !== "GET" && !request.path.includes("/leases")).length;
  const before = writes();
  await time.advance(60_000);
  assert.equal(writes(), before, "at rest nothing is written but the lease");
  assert.deepEqual(
    log.lines.filter((line) => line.level === "error" || line.level === "warn"),
    [],
  );
  assert.ok(lines <= 40, `${lines} lines`);
  await stop();
});
