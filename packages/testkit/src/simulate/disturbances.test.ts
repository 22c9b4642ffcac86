import assert from "node:assert/strict";
import { test } from "node:test";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { createDatacenter, instantTimings } from "@talos-operator/simulator";
import { createValueKeys } from "../world/value-keys.ts";
import { createDisturbances } from "./disturbances.ts";
import type { EffectId } from "./effects.ts";
import { createStage } from "./stage.ts";

const [first, second] = ["10.5.0.1", "10.5.0.2"];

/** What is reported when effects go to two control planes, one after the other. */
async function reported(before: EffectId, tookEffect: boolean, after: EffectId): Promise<readonly string[]> {
  const time = createVirtualTime();
  const datacenter = createDatacenter({
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
    keys: createValueKeys(createSeededRandom(2)),
    machines: [{ address: first }, { address: second }],
    timings: instantTimings,
  });
  const stage = createStage(
    { controlPlanes: [first, second], workers: [], machineSpec: {}, mode: undefined, hasWrittenConfigs: false },
    "reset",
    false,
  );
  const found: string[] = [];
  const disturbances = createDisturbances(
    datacenter,
    stage,
    () => time.now(),
    (invariant) => void found.push(invariant),
  );
  disturbances.beforeSend(before, first, {}, undefined);
  if (tookEffect) disturbances.tookEffect(before, first, {});
  disturbances.beforeSend(after, second, {}, undefined);
  await datacenter.close();
  return found;
}

test("S18 is broken by two control planes that boot or are defragmented at once, and by nothing less", async () => {
  assert.ok((await reported("T11", true, "T11")).includes("S18"));
  assert.ok((await reported("T13", false, "T13")).includes("S18"));
  assert.ok((await reported("T11", true, "T13")).includes("S18"));
  assert.ok(!(await reported("T13", true, "T13")).includes("S18"));
  assert.ok(!(await reported("T9", true, "T11")).includes("S18"));
});
