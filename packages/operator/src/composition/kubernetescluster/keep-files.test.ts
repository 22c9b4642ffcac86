import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileKeeper } from "./keep-files.ts";
import type { Decision, Seen } from "./model.ts";

const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };

test("an operator whose RESULTS_PATH is empty says so of each cluster that would have files", async () => {
  const keeper = createFileKeeper(undefined, { log });
  const seen = { cluster: { metadata: { namespace: "default", name: "demo", generation: 2 } }, model: { name: "demo" } } as unknown as Seen;
  const [said, ...more] = await keeper.keep({ files: [] } as unknown as Decision, seen);
  assert.deepEqual(
    [said?.type, said?.status, said?.reason, said?.message, more],
    ["FilesGenerated", "Unknown", "NotConfigured", "RESULTS_PATH is empty: no files are written.", []],
  );
  await keeper.remove(seen);
});
