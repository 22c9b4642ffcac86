import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { ClusterRecord } from "@talos-operator/api";
import type { JsonPatchOperation } from "@talos-operator/kube-runtime";
import { configured, facts, intent, NOW } from "../testing/builders.ts";
import type { IntentFact } from "../model/record.ts";
import { printRecord, readRecord } from "./facts-codec.ts";
import { withDecisions, withIntent, withMachine } from "./facts.ts";
import { recordPatch } from "./record-patch.ts";

const key = { namespace: "default", name: "demo" };
const writer = { identity: "one", fencingToken: "1" };

const recordOf = (spec: object): ClusterRecord =>
  ({ apiVersion: "talos-operator.dev/v1alpha1", kind: "ClusterRecord", metadata: { ...key, resourceVersion: "7" }, spec }) as ClusterRecord;

/** RFC 6902 as far as these patches use it, written apart from what makes them. */
function patched(record: ClusterRecord, operations: readonly JsonPatchOperation[]): ClusterRecord {
  const copy = structuredClone(record) as unknown as Record<string, unknown>;
  for (const { op, path, value } of operations) {
    const steps = path
      .split("/")
      .slice(1)
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = steps.pop()!;
    const parent = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], copy);
    const there = (parent as Record<string, unknown>)[last];
    if (op === "test") assert.deepEqual(there, value);
    else if (Array.isArray(parent)) {
      assert.ok(Number(last) <= parent.length - (op === "add" ? 0 : 1), `${op} ${path}: there are ${parent.length}`);
      parent.splice(Number(last), op === "add" ? 0 : 1, ...(op === "remove" ? [] : [structuredClone(value)]));
    } else if (op === "remove") {
      assert.ok(there !== undefined, `nothing to remove at ${path}`);
      delete (parent as Record<string, unknown>)[last];
    } else {
      if (op === "replace") assert.ok(there !== undefined, `nothing to replace at ${path}`);
      (parent as Record<string, unknown>)[last] = structuredClone(value);
    }
  }
  return copy as unknown as ClusterRecord;
}

/** Operations without the two that ask for the version, as `op path`. */
const words = (before: ClusterRecord, after: ClusterRecord): readonly string[] =>
  recordPatch(before, after)
    .slice(2)
    .map(({ op, path }) => `${op} ${path}`);

describe("what is sent of a record", () => {
  const before = { clusterId: "c", decisions: [{ at: 1 }, { at: 2 }], knownWorkers: [{ name: "a" }, { name: "b", uuid: "1" }] };
  for (const [what, change, want] of [
    ["nothing that stays", {}, []],
    ["a field that is there for the first time", { endpoint: "e" }, ["add /spec/endpoint"]],
    ["a field that goes", { clusterId: undefined }, ["remove /spec/clusterId"]],
    ["a machine that changed", { knownWorkers: [{ name: "a" }, { name: "b", uuid: "2" }] }, ["replace /spec/knownWorkers/1"]],
    ["a machine that came", { knownWorkers: [...before.knownWorkers, { name: "c" }] }, ["add /spec/knownWorkers/2"]],
    ["a machine that went", { knownWorkers: [{ name: "b", uuid: "1" }] }, ["remove /spec/knownWorkers/0"]],
    [
      "the newest decision, and that the oldest goes",
      { decisions: [{ at: 2 }, { at: 3 }] },
      ["remove /spec/decisions/0", "add /spec/decisions/1"],
    ],
    ["the list, where its order is another", { knownWorkers: [{ name: "b", uuid: "1" }, { name: "a" }] }, ["replace /spec/knownWorkers"]],
    ["the list, where it names one twice", { knownWorkers: [{ name: "a" }, { name: "a" }] }, ["replace /spec/knownWorkers"]],
  ] as const)
    test(what, () => assert.deepEqual(words(recordOf(before), recordOf({ ...before, ...change })), want));

  test("always asks first for the version that it changes", () => {
    const [asked, held] = recordPatch(recordOf({}), recordOf({ a: 1 }));
    assert.deepEqual(asked, { op: "test", path: "/metadata/resourceVersion", value: "7" });
    assert.deepEqual(held, { op: "replace", path: "/metadata/resourceVersion", value: "7" });
  });
});

test("a patch makes of any record any other", () => {
  const named = fc.record(
    { name: fc.constantFrom("a", "b", "c", "d"), uuid: fc.constantFrom("1", "2") },
    { requiredKeys: ["name"], noNullPrototype: true },
  );
  const spec = fc.record(
    {
      endpoint: fc.constantFrom("x", "y"),
      "a/b~c": fc.constantFrom(1, 2),
      knownWorkers: fc.array(named, { maxLength: 5 }),
      openWorkerIntents: fc.array(
        fc.record({ id: fc.constantFrom("i", "j", "k"), why: fc.constantFrom("", "w") }, { noNullPrototype: true }),
        { maxLength: 4 },
      ),
      decisions: fc.array(fc.record({ at: fc.nat(5) }, { noNullPrototype: true }), { maxLength: 5 }),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  fc.assert(
    fc.property(spec, spec, (before, after) => {
      assert.deepEqual(patched(recordOf(before), recordPatch(recordOf(before), recordOf(after))), recordOf(after));
    }),
    { numRuns: 2_000 },
  );
});

test("an intent costs the same in a cluster of three machines and of two thousand", () => {
  const bytes = (machines: number): number => {
    const workers = Array.from({ length: machines }, (_, index) =>
      configured(`10.1.${index >> 8}.${index & 255}`, "worker", "demo-workers"),
    );
    const stored = { ...printRecord(key, facts({ machines: workers }), undefined, writer) };
    const before = { ...stored, metadata: { ...stored.metadata, resourceVersion: "7" } };
    const known = readRecord(before)!.facts;
    const [worker] = known.machines;
    const reboot: IntentFact = { ...intent, what: "Reboot", machine: worker!.name, role: "worker", at: NOW, deadline: NOW + 1, why: "w" };
    const next = withDecisions(withIntent(withMachine(known, { ...worker!, configHash: "next" }), reboot), {
      at: NOW,
      action: "Reboot",
      reason: "StagedConfig",
      message: "m",
    });
    return Buffer.byteLength(JSON.stringify(recordPatch(before, printRecord(key, next, before, writer))));
  };
  assert.ok(bytes(2_000) <= bytes(3) + 8, `${bytes(2_000)} bytes and ${bytes(3)}`);
});
