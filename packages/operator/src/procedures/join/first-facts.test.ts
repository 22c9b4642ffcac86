import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import {
  configured,
  controlPlane,
  facts,
  founded,
  inMaintenance,
  member,
  observed,
  preparing,
  running,
  silent,
  worker,
} from "../../testing/builders.ts";
import type { World } from "../../testing/builders.ts";
import { decide } from "../../decide.ts";
import { planConfigs } from "../configure/plan.ts";
import type { Look } from "../../model/look.ts";
import type { Observed } from "../../model/observation.ts";
import type { ClusterFacts } from "../../model/record.ts";

const bundle: Observed["bundle"] = {
  kind: "present",
  value: { fingerprint: "fingerprint", clusterId: "cluster-id", isOurs: true, isDeleting: false },
};

/** What the first record of a cluster holds whose keys were there before. */
function madeAnew(world: World): ClusterFacts {
  const [action] = decide(assess(observed({ controlPlane: controlPlane(2), bundle, ...world }))).actions;
  assert.equal(action?.kind, "WriteRecord");
  assert.ok(action?.kind === "WriteRecord" && action.ifResourceVersion === undefined);
  return action.facts;
}

test("a record that is made anew knows the machines that are said to be configured", () => {
  const known = madeAnew({ toldConfigured: ["10.0.0.1"], looks: { "10.0.0.1": silent, "10.0.0.2": inMaintenance("10.0.0.2") } });
  const machine = known.machines.find(({ name }) => name === "demo-10.0.0.1");
  assert.notEqual(machine?.configuredAt, undefined);
  assert.equal(machine?.spki, undefined);
  // Etcd may be bootstrapped there: nobody joins, and nobody founds it, before that is seen.
  assert.deepEqual(
    known.machines.map(({ name }) => name),
    ["demo-10.0.0.1"],
  );
});

test("a machine that is said to be configured and waits with the key that was named is configured again", () => {
  const known = madeAnew({ toldConfigured: ["10.0.0.1"], looks: { "10.0.0.1": inMaintenance("10.0.0.1") } });
  assert.equal(known.machines[0]?.spki, "spki-10.0.0.1");
  const next = decide(assess(observed({ controlPlane: controlPlane(1), facts: known, looks: { "10.0.0.1": inMaintenance("10.0.0.1") } })));
  assert.ok(next.actions.some(({ kind }) => kind === "ConfigureMachine"));
});

test("a machine that is said to be configured and waits with another key gets nothing without a person's word", () => {
  const looks = { "10.0.0.1": inMaintenance("10.0.0.1", { spki: "of another boot" }) };
  const known = madeAnew({ controlPlane: controlPlane(1), toldConfigured: ["10.0.0.1"], looks });
  const next = decide(assess(observed({ controlPlane: controlPlane(1), facts: known, looks })));
  assert.deepEqual(
    next.actions.filter(({ kind }) => kind === "ConfigureMachine" || kind === "BootstrapEtcd"),
    [],
  );
  assert.equal(next.conditions.find(({ type }) => type === "Ready")?.reason, "MaintenanceUnexpected");
});

test("a record that is made anew says that etcd was bootstrapped where a member shows it, and holds up who would join beside another", () => {
  const looks = { "10.0.0.1": running(member(0, 1)), "10.0.0.2": inMaintenance("10.0.0.2"), "10.0.0.3": inMaintenance("10.0.0.3") };
  const known = madeAnew({ controlPlane: controlPlane(3), looks });
  assert.equal(known.bootstrapDone?.machine, "demo-10.0.0.1");
  assert.deepEqual(
    known.machines.map(({ name }) => name),
    ["demo-10.0.0.1", "demo-10.0.0.2"],
  );
});

test("a machine that is no longer listed proves the keys of a cluster whose record was lost", () => {
  const status = { state: "Ready" as const };
  const declared = {
    name: "demo-10.0.0.9",
    role: "controlplane" as const,
    address: "10.0.0.9",
    owner: { kind: "TalosControlPlane" as const, name: "demo" },
    field: "x",
    version: "",
    machineSpec: {},
  };
  const looks = { "10.0.0.1": inMaintenance("10.0.0.1"), "10.0.0.2": inMaintenance("10.0.0.2") };
  const unproven = decide(assess(observed({ controlPlane: { ...controlPlane(2), status }, bundle, looks })));
  assert.equal(unproven.conditions.find(({ type }) => type === "SecretsLost")?.reason, "BundleUnproven");
  const known = madeAnew({
    controlPlane: { ...controlPlane(2), status },
    looks,
    former: [{ declared, look: running(member(0, 1), { hardware: { uuid: "uuid-9", macs: [] } }) }],
  });
  assert.equal(known.machines.find(({ name }) => name === "demo-10.0.0.9")?.uuid, "uuid-9");
});

test("a worker with the keys does not prove them where etcd was bootstrapped: whoever is new would found it again", () => {
  const pool = controlPlane(2);
  const looks = { "10.0.0.1": inMaintenance("10.0.0.1"), "10.0.0.2": inMaintenance("10.0.0.2"), "10.0.1.1": running() };
  const seen = observed({ controlPlane: { ...pool, status: { state: "Ready" } }, workers: [worker(1)], bundle, looks });
  const { actions, conditions } = decide(assess(seen));
  assert.deepEqual(actions, []);
  assert.equal(conditions.find(({ type }) => type === "SecretsLost")?.reason, "BundleUnproven");
});

test("settings that changed while the record was away are sent: what runs does not count as wanted", () => {
  const unread = { ...configured("10.0.0.1"), spki: undefined };
  const anew = facts({
    machines: [unread],
    bootstrapDone: founded,
    bundle: { secretName: "demo-bundle-1", fingerprint: "fingerprint", wasFound: true },
  });
  const before = observed({ controlPlane: controlPlane(1), facts: anew, looks: { "10.0.0.1": running(member(0, 1)) } });
  const settings = planConfigs(before, anew)[0]?.settings ?? "";
  const read = {
    kind: "known",
    at: before.now,
    settings,
    activeHash: "active",
    onDisk: "other",
    bootId: "boot",
    changes: [{ path: ["machine", "sysctls", "a"], kind: "added" }],
  };
  const stateWith = (known: ClusterFacts): string | undefined => {
    const machines = known.machines.map((machine) => ({ ...machine, configHash: settings }));
    const seen = { ...before, configs: new Map([["demo-10.0.0.1", read as never]]) };
    return planConfigs(seen, { ...known, machines })[0]?.state.kind;
  };
  assert.notEqual(stateWith(anew), "learn");
  assert.equal(stateWith({ ...anew, importedAt: before.now }), "learn");
});

for (const [what, over, wasFound] of [
  ["that were made for this object, of which nothing else is there, are those of a new cluster", {}, false],
  ["that nobody says of what they were made for were found", { madeFor: undefined }, true],
  ["that were made for an object of before were found", { madeFor: "another" }, true],
  ["were found where a TalosMachine tells of a record", { isComposed: true }, true],
  ["were found where the status tells of a record", { contract: "1.13" }, true],
  ["were found where a machine runs with them", { look: running(preparing) }, true],
] as const satisfies readonly (readonly [
  string,
  { readonly madeFor?: string | undefined; readonly isComposed?: true; readonly contract?: string; readonly look?: Look },
  boolean,
])[])
  test(`keys without a record ${what}`, () => {
    const object = controlPlane(1);
    const made = { madeFor: object.metadata.uid, isComposed: false, contract: undefined, look: silent, ...over };
    const pool = made.contract === undefined ? object : { ...object, status: { configContract: made.contract } };
    const value = { fingerprint: "fingerprint", clusterId: "cluster-id", isOurs: true, isDeleting: false };
    const given = made.madeFor === undefined ? value : { ...value, madeFor: made.madeFor };
    const seen = observed({ controlPlane: pool, bundle: { kind: "present", value: given }, looks: { "10.0.0.1": made.look } });
    const [action] = decide(assess(made.isComposed ? seen : { ...seen, machineObjects: [] })).actions;
    assert.ok(action?.kind === "WriteRecord");
    assert.equal(action.facts.bundle.wasFound, wasFound);
  });
