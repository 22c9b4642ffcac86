import assert from "node:assert/strict";
import { test } from "node:test";
import { sumOfUpgrades } from "./sum-of-upgrades.ts";
import type { PoolUpgrade } from "./sum-of-upgrades.ts";

const row = { machine: "a", from: "v1.13.9", to: "v1.13.10", stage: "Booting" };
const pool = (observedVersion: string, upgrade?: NonNullable<PoolUpgrade["status"]>["upgrade"]): PoolUpgrade => ({
  spec: { version: "v1.13.10" },
  status: { wantedMachines: 3, observedVersion, ...(upgrade === undefined ? {} : { upgrade }) },
});

const cases: readonly { readonly name: string; readonly pools: readonly (PoolUpgrade | undefined)[]; readonly says: unknown }[] = [
  { name: "nothing while no pool tells anything", pools: [pool("v1.13.9"), undefined], says: undefined },
  {
    name: "a pool that has not read the edit yet has nothing done",
    pools: [pool("v1.13.9", { done: 1, machines: 3, underWay: [row] }), pool("v1.13.9")],
    says: { done: 1, machines: 6, progress: "1/6", underWay: [row] },
  },
  {
    name: "a pool that is through has everything done",
    pools: [pool("v1.13.10"), pool("v1.13.10, v1.13.9", { done: 2, machines: 3 })],
    says: { done: 5, machines: 6, progress: "5/6" },
  },
];

for (const { name, pools, says } of cases) test(`upgrade of a cluster: ${name}`, () => assert.deepEqual(sumOfUpgrades(pools), says));
