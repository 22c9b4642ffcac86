import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { configured, facts, NOW } from "../testing/builders.ts";
import { firstContract, poolContract } from "./pool-contract.ts";
import type { MachineFact } from "../model/record.ts";

const ofControlPlane = { kind: "TalosControlPlane", name: "demo" } as const;
const ofWorkers = { kind: "TalosWorker", name: "demo" } as const;
const worker = (address: string, over: Partial<MachineFact>): MachineFact =>
  configured(address, "worker", "demo", { pool: "demo", ...over });

const known = facts({
  machines: [
    configured("10.0.0.1", "controlplane", "demo", { contract: "1.14" }),
    configured("10.0.0.2", "controlplane", "demo", { contract: "1.9" }),
    configured("10.0.0.3", "controlplane", "demo", { contract: "1.8", releasedAt: NOW }),
    worker("10.0.1.1", { contract: "1.13" }),
    worker("10.0.1.2", { contract: "1.7", pool: "other" }),
    worker("10.0.1.3", {}),
  ],
});

describe("the contract of a pool", () => {
  test("is the oldest of its machines, and of no other pool's", () => {
    assert.deepEqual([poolContract(known, ofControlPlane), poolContract(known, ofWorkers)], ["1.9", "1.13"]);
  });

  test("is unknown where none of its machines tells one", () => {
    assert.equal(poolContract(known, { kind: "TalosWorker", name: "third" }), undefined);
    assert.equal(poolContract(undefined, ofControlPlane), undefined);
  });
});

describe("the contract of a first configuration", () => {
  for (const { what, owner, version, readBy, want } of [
    { what: "is that of the pool where Talos was upgraded since", owner: ofWorkers, version: "v1.14.0", readBy: "v1.14.0", want: "1.13" },
    { what: "is what the machine reads that booted an older image", owner: ofWorkers, version: "v1.14.0", readBy: "v1.12.4", want: "1.12" },
    {
      what: "is by the version in a pool of its own",
      owner: { ...ofWorkers, name: "third" },
      version: "v1.14.0",
      readBy: "v1.14.0",
      want: "1.14",
    },
  ])
    test(what, () => assert.equal(firstContract(known, { owner }, version, readBy), want));
});
