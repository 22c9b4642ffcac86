import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, facts, NOW } from "../testing/builders.ts";
import { formerNodeOwner } from "./node-owners.ts";
import type { MachineFact } from "../model/record.ts";

const uuid = "5f1c7a3e-9d20-4c44-8a51-3b7f0e6d2c19";
const clone = (address: string, over: Partial<MachineFact> = {}): MachineFact =>
  configured(address, "worker", "demo-workers", { uuid, macs: [`02:${address}`], ...over });
const gone = clone("10.0.1.9", { releasedAt: NOW });
const node = { name: "node-9", uuid, addresses: ["10.0.1.9"], isReady: false, isCordonedByUs: true };

const ownerOf = (...machines: readonly MachineFact[]): string | undefined => formerNodeOwner(facts({ machines }), node)?.name;

test("the Node of a clone that was released is told by its address from those of the clones that stay", () => {
  assert.equal(ownerOf(gone, clone("10.0.1.1")), gone.name);
  assert.equal(ownerOf(gone, clone("10.0.1.1"), clone("10.0.1.8", { releasedAt: NOW })), gone.name);
});

test("the Node of a machine that stays is nobody's, whatever was released", () => {
  assert.equal(ownerOf(gone, clone("10.0.1.9")), undefined);
  // The same machine under another address.
  assert.equal(ownerOf(gone, clone("10.0.1.1", { macs: gone.macs })), undefined);
  assert.equal(ownerOf(gone, clone("10.0.1.1", { macs: [] })), undefined);
  assert.equal(ownerOf(clone("10.0.1.1"), clone("10.0.1.8", { releasedAt: NOW })), undefined);
});
