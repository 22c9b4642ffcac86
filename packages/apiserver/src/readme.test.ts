import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { createApiServer, createMemoryStore } from "./index.ts";

it("does what the README's example promises", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? "";
  const body = example.replaceAll(/^import .*$/gm, "");
  const printed: unknown[] = [];
  const names = ["systemClock", "systemRandom", "systemTimers", "createApiServer", "createMemoryStore", "console"];
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the text under test is our own README
  const run = new Function(...names, `return (async () => {${body}})()`) as (...values: unknown[]) => Promise<void>;
  await run(systemClock, systemRandom, systemTimers, createApiServer, createMemoryStore, {
    log: (...values: unknown[]) => printed.push(values),
  });
  assert.deepEqual(printed, [["ADDED", "hello"]]);
});
