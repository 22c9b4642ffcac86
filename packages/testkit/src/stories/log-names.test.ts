import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "@talos-operator/adapters";
import { demoCluster, kinds, tell } from "./story.ts";

test("the log of a creation names Secrets and objects, and nothing in it had to be hidden", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "debug", destination: { write: (line) => void lines.push(line) } });
  await tell({ log }, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"], ["10.5.0.2"]));
    await world.start();
    await world.untilReady();
  });
  const made = lines.map((line) => JSON.parse(line) as Record<string, unknown>).find(({ action }) => action === "CreateBundle");
  assert.equal(made?.["secretName"], "demo-bundle-1");
  assert.deepEqual(
    lines.filter((line) => line.includes("[redacted]")),
    [],
  );
});
