import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReadyReason } from "@talos-operator/api";
import type { DeclaredMachine } from "../taloscontrolplane/model.ts";
import { addressConditions, addressProblemOf } from "./address-conditions.ts";

const machine = (reason: ReadyReason | undefined, more: Partial<DeclaredMachine> = {}): DeclaredMachine =>
  ({
    name: "demo-a",
    address: "10.0.0.1",
    ...(reason === undefined ? {} : { problem: { reason, message: "wrong." } }),
    ...more,
  }) as DeclaredMachine;

for (const [reason, wants] of [
  ["AddressMissing", "AddressMissing"],
  ["ReferenceNotFound", "ReferenceNotFound"],
  ["DuplicateAddress", "AddressRefused"],
  ["AddressInClusterRange", "AddressRefused"],
  ["InvalidConfig", undefined],
  ["NameConflict", undefined],
  ["ClusterMismatch", undefined],
] as const)
  test(`of a machine with ${reason} AddressResolved says ${wants ?? "nothing wrong"}`, () => {
    assert.equal(addressProblemOf(machine(reason, { reference: "Machine/a" }))?.reason, wants);
    const [condition] = addressConditions([machine(reason, { reference: "Machine/a" })], 1);
    assert.equal(condition?.reason, wants ?? "Resolved");
  });

test("a ConfigMap that is not there is not taken for an address that is not there", () => {
  assert.equal(addressProblemOf(machine("ReferenceNotFound", { isConfigUnknown: true })), undefined);
});
