import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterRecord } from "@talos-operator/api";
import * as fc from "fast-check";
import { facts as someFacts } from "../testing/builders.ts";
import { newerWord, printRecord, readRecord } from "./facts-codec.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../model/record.ts";

const key = { namespace: "default", name: "demo" };
const writer = { identity: "one", fencingToken: "1/7" };

// What is stored has whole seconds.
const time = fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => seconds * 1000);
const word = fc.string({ minLength: 1, maxLength: 20 });
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

const known = {
  address: word,
  uuid: fc.string({ maxLength: 20 }),
  macs: fc.array(word, { maxLength: 3 }),
  spki: maybe(word),
  platform: maybe(word),
  installDisk: maybe(word),
  configHash: maybe(word),
  pinnedAt: time,
  vouchedAt: maybe(time),
  configuredAt: maybe(time),
  releasedAt: maybe(time),
};

const ofConfig = {
  contract: word,
  appliedHash: word,
  staged: fc.record({ configHash: word, bootId: word }),
  failed: fc.record(
    { configHash: word, kind: fc.constantFrom("refused" as const, "reverted" as const, "unknown" as const), why: word },
    { requiredKeys: ["configHash", "why"] },
  ),
};

const machine = (role: MachineFact["role"]): fc.Arbitrary<MachineFact> =>
  fc.record(
    { name: word, role: fc.constant(role), pool: word, ...known, ...ofConfig },
    { requiredKeys: ["name", "role", ...(Object.keys(known) as (keyof typeof known)[])] },
  );

const place = { machine: word, address: word, uuid: fc.string({ maxLength: 20 }) };
const intent = (role: IntentFact["role"]): fc.Arbitrary<IntentFact> =>
  fc.record(
    {
      what: fc.constantFrom("Reset", "RemoveMember", "ApplyConfig", "Reboot"),
      ...place,
      role: fc.constant(role),
      at: time,
      deadline: time,
      why: word,
      bootIdBefore: word,
      memberId: word,
      configHash: word,
      applyMode: fc.constantFrom("try", "no-reboot", "staged"),
    },
    { requiredKeys: ["what", "machine", "address", "uuid", "role", "at", "deadline", "why"] },
  );

const facts: fc.Arbitrary<ClusterFacts> = fc
  .record({
    controlPlaneUid: word,
    clusterId: word,
    bundle: fc.oneof(
      fc.record({ secretName: word, fingerprint: word, wasFound: fc.constant(false) }),
      fc.record({ secretName: word, fingerprint: word, wasFound: fc.constant(true), foundAt: time }),
    ),
    endpoint: word,
    podCIDR: fc.constant(["10.244.0.0/16"]),
    serviceCIDR: fc.constant(["10.96.0.0/12"]),
    cni: maybe(fc.constantFrom({}, { name: "none" as const })),
    talosVersion: word,
    kubernetesVersion: word,
    controlPlanes: fc.array(machine("controlplane"), { maxLength: 4 }),
    workers: fc.array(machine("worker"), { maxLength: 4 }),
    bootstrapIntent: maybe(fc.record({ ...place, at: time, deadline: time })),
    bootstrapDone: maybe(fc.record({ ...place, at: time, evidence: word })),
    controlPlaneIntents: fc.array(intent("controlplane"), { maxLength: 1 }),
    workerIntents: fc.array(intent("worker"), { maxLength: 3 }),
    decisions: fc.array(fc.record({ at: time, action: word, reason: word, message: word }), { maxLength: 5 }),
    accepted: fc.array(fc.record({ code: word, configHash: word, at: time }), { maxLength: 3 }),
  })
  // The clone has plain objects, as parsed JSON has.
  .map(({ controlPlanes, workers, controlPlaneIntents, workerIntents, accepted, ...rest }) =>
    structuredClone({
      ...rest,
      machines: [...controlPlanes, ...workers],
      intents: [...controlPlaneIntents, ...workerIntents],
      ...(accepted.length === 0 ? {} : { acceptedHazards: accepted }),
    }),
  );

test("record: what is written down is read back word for word", () => {
  fc.assert(
    fc.property(facts, (given) => {
      assert.deepEqual(readRecord(printRecord(key, given, undefined, writer))?.facts, given);
    }),
  );
});

test("record: who wrote a standing intent first stays part of it", () => {
  fc.assert(
    fc.property(
      facts.filter((given) => given.bootstrapIntent !== undefined),
      (given) => {
        const first = printRecord(key, given, undefined, writer);
        const second = printRecord(key, given, first, { identity: "two", fencingToken: "2/9" });
        assert.deepEqual(second.spec.bootstrap?.intent, first.spec.bootstrap?.intent);
        assert.equal(second.spec.bootstrap?.intent?.by, "one");
      },
    ),
  );
});

test("record: what the facts do not cover is kept", () => {
  const [given] = fc.sample(facts, { numRuns: 1, seed: 1 });
  assert.ok(given !== undefined);
  const stored = printRecord(key, given, undefined, writer);
  const templates = [{ secretName: "a", pool: "b", role: "worker", hash: "c", at: "2026-01-01T00:00:00Z" }];
  const before: ClusterRecord = {
    ...stored,
    metadata: { ...stored.metadata, resourceVersion: "9", labels: { own: "label" } },
    spec: { ...stored.spec, appliedTemplates: templates },
  };
  const after = printRecord(key, { ...given, endpoint: "https://other:6443" }, before, writer);
  assert.deepEqual(after.spec.appliedTemplates, templates);
  assert.deepEqual(after.metadata, before.metadata);
});

test("record: one without bundle or cluster id is no record of ours", () => {
  const [given] = fc.sample(facts, { numRuns: 1, seed: 1 });
  assert.ok(given !== undefined);
  const { bundle: _bundle, ...spec } = printRecord(key, given, undefined, writer).spec;
  assert.equal(readRecord({ ...printRecord(key, given, undefined, writer), spec }), undefined);
});

test("record: who wrote a standing intent on a machine first stays part of it", () => {
  const [given] = fc.sample(
    facts.filter((one) => one.intents.length > 0),
    { numRuns: 1, seed: 1 },
  );
  assert.ok(given !== undefined);
  const first = printRecord(key, given, undefined, writer);
  const second = printRecord(key, given, first, { identity: "two", fencingToken: "2/9" });
  assert.deepEqual(second.spec.openControlPlaneIntent, first.spec.openControlPlaneIntent);
  assert.deepEqual(second.spec.openWorkerIntents, first.spec.openWorkerIntents);
});

test("record: an intent that only a newer release knows makes the record unreadable, and two on control planes unwritable", () => {
  const [given] = fc.sample(
    facts.filter((one) => one.intents.some((intent) => intent.role === "controlplane")),
    { numRuns: 1, seed: 1 },
  );
  const intent = given?.intents.find((one) => one.role === "controlplane");
  assert.ok(given !== undefined && intent !== undefined);
  const stored = printRecord(key, given, undefined, writer);
  const open = stored.spec.openControlPlaneIntent;
  assert.ok(open !== undefined);
  assert.equal(readRecord({ ...stored, spec: { ...stored.spec, openControlPlaneIntent: { ...open, what: "Upgrade" } } }), undefined);
  assert.throws(() => printRecord(key, { ...given, intents: [intent, { ...intent, machine: "other" }] }, undefined, writer), /two intents/);
});

/** Every object inside a value, itself included. */
function objectsIn(value: unknown): readonly Record<string, unknown>[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner];
}

test("record: a field that only a newer release knows makes the record unreadable, wherever it stands", () => {
  fc.assert(
    fc.property(facts, fc.nat(), word, (given, at, name) => {
      const stored = structuredClone(printRecord(key, given, undefined, writer));
      assert.equal(newerWord(stored), undefined);
      const objects = objectsIn(stored.spec);
      const place = objects[at % objects.length];
      assert.ok(place !== undefined);
      place[`later-${name}`] = 1;
      const changed = structuredClone(stored);
      assert.match(newerWord(changed) ?? "", /^spec\..*later-/s);
      assert.equal(readRecord(changed), undefined);
    }),
  );
});

test("record: a word or an API version that only a newer release knows makes the record unreadable", () => {
  const [given] = fc.sample(
    facts.filter((one) => one.intents.some((intent) => intent.role === "worker")),
    { numRuns: 1, seed: 1 },
  );
  assert.ok(given !== undefined);
  const stored = printRecord(key, given, undefined, writer);
  const openWorkerIntents = (stored.spec.openWorkerIntents ?? []).map((intent) => ({ ...intent, applyMode: "by-night" as "try" }));
  const later = { ...stored, apiVersion: "talos-operator.dev/v1beta1" as "talos-operator.dev/v1alpha1" };
  assert.equal(newerWord({ ...stored, spec: { ...stored.spec, openWorkerIntents } }), "spec.openWorkerIntents[].applyMode: by-night");
  assert.equal(newerWord(later), "apiVersion: talos-operator.dev/v1beta1");
  assert.equal(readRecord(later), undefined);
});

test("an intent whose times were taken by another clock is kept word for word", () => {
  const open: IntentFact = {
    what: "ApplyConfig",
    machine: "demo-1",
    address: "10.0.0.1",
    uuid: "",
    role: "worker",
    at: 20_000_000,
    deadline: 20_240_000,
    why: "because",
  };
  const plain = someFacts({ intents: [open] });
  const stored = printRecord(key, plain, undefined, writer);
  const moved = { ...plain, intents: [{ ...open, at: 1_000, deadline: 241_000, recorded: { at: open.at, deadline: open.deadline } }] };
  const again = printRecord(key, moved, stored, { identity: "two", fencingToken: "2/9" });
  assert.deepEqual(again.spec.openWorkerIntents, stored.spec.openWorkerIntents);
});

test("record: sentences about changes with long names are cut to what a record takes", () => {
  const long = "machine.nodeLabels.".padEnd(5_000, "x");
  const place = { machine: "demo-10.0.0.1", address: "10.0.0.1", uuid: "", role: "worker" } as const;
  const open: IntentFact = { ...place, what: "ApplyConfig", at: 0, deadline: 0, why: long };
  const decision = { at: 0, action: "ApplyConfig", reason: "SettingsChanged", message: long };
  const { spec } = printRecord(key, someFacts({ intents: [open], decisions: [decision] }), undefined, writer);
  assert.deepEqual([spec.openWorkerIntents?.[0]?.why.length, spec.decisions?.[0]?.message?.length], [1024, 1024]);
});

test("a procedure of several steps is a newer release's: the cluster is left alone until it is over", () => {
  const stored = printRecord(key, someFacts(), undefined, writer);
  const at = "2026-01-01T00:00:00Z";
  const upgrade = { id: "1", kind: "restore", phase: "draining", startedAt: at, since: at, inputs: { version: "v1.14.0" } };
  const begun = { ...stored, spec: { ...stored.spec, operations: [upgrade] } };
  assert.equal(newerWord(begun), "the operation restore");
  assert.equal(readRecord(begun), undefined);
  assert.equal(newerWord({ ...stored, spec: { ...stored.spec, operations: [] } }), undefined);
});
