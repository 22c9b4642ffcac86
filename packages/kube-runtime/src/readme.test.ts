import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { createFakeApi, createMemoryLog, createSeededRandom, createVirtualTime } from "./testing/index.ts";
import * as runtime from "./index.ts";

it("does what the README's example promises", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const code = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? "";
  const body = code.replace(/^import \{([^}]*)\} from .*;$/m, "const {$1} = runtime;");
  assert.ok(!body.includes("import "), "the example imports something that this test does not provide");

  const api = createFakeApi();
  const configMaps = "/api/v1/configmaps";
  api.put(configMaps, { metadata: { namespace: "ns", name: "a" } });
  const time = createVirtualTime();
  const abort = new AbortController();
  const given = {
    runtime,
    transport: api.transport(),
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
    log: createMemoryLog(),
    signal: abort.signal,
  };
  // eslint-disable-next-line no-new-func -- the text under test is our own README
  const AsyncFunction = (async () => undefined).constructor as new (...parameters: string[]) => (...values: unknown[]) => Promise<void>;
  const running = new AsyncFunction(...Object.keys(given), body)(...Object.values(given));
  await time.advance(1_000);
  api.put(configMaps, { metadata: { namespace: "ns", name: "b" } });
  await time.advance(1_000);
  assert.deepEqual(
    api.objects(configMaps).map((object) => object.metadata?.labels),
    [{ seen: "yes" }, { seen: "yes" }],
  );
  abort.abort();
  await time.settle();
  await running;
});
