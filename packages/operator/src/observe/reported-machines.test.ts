import assert from "node:assert/strict";
import { test } from "node:test";
import { rfc3339 } from "@talos-operator/api";
import type { TalosMachine } from "@talos-operator/api";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, founded, inMaintenance, NOW, observed, running, silent } from "../testing/builders.ts";
import { decide } from "../decide.ts";
import { planMachines, withUnknownRunning } from "../procedures/join/plan.ts";
import { identityStatus } from "./reported-identity.ts";
import { isOnlyReported, reportedLook, reportedMachines } from "./reported-machines.ts";
import type { MachinePlace } from "../model/record.ts";
import type { IdentityKind } from "../model/assessment.ts";

/** A TalosMachine whose machine was configured, and that says who it is. */
function telling(address: string, kind: IdentityKind = "own", uuid = `uuid-${address}`, spki?: string): TalosMachine {
  const identity = identityStatus(kind, { ...configured(address), uuid, macs: [`mac-${address}`], spki });
  const conditions = [{ type: "ConfigApplied", reason: "Applied", message: "", status: "True", lastTransitionTime: rfc3339(NOW) }] as const;
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosMachine",
    metadata: { namespace: "default", name: `demo-${address}` },
    spec: { endpoint: address, version: "v1.13.9" },
    status: { conditions, ...(identity === undefined ? {} : { identity }) },
  };
}

const both = (address: string) => ({ uuid: `uuid-${address}`, macs: [`mac-${address}`] });
const [one, two] = ["10.0.0.1", "10.0.0.2"] as const;
const seen = observed({ controlPlane: controlPlane(2) });
const declared = seen.machines.map((machine) => machine.declared);
const believed = (objects: readonly TalosMachine[], hardware: ReturnType<typeof both>) => {
  const [first] = declared;
  assert.ok(first !== undefined);
  return reportedLook(objects, first, running(undefined, { hardware }), NOW);
};

for (const [what, spki, want] of [
  ["the key that its TalosMachine names", "key-1", ["key-1"]],
  ["a longer key that begins alike", "key-10", [undefined]],
  ["a shorter key that begins alike", "key-", [undefined]],
  ["another key", "other", [undefined]],
] as const)
  test(`a machine that waits with ${what} is ${want[0] === undefined ? "not " : ""}the one that was configured`, () => {
    const waits = observed({ controlPlane: controlPlane(1), looks: { [one]: inMaintenance(one, { spki }) } });
    for (const object of [telling(one, "own", undefined, "key-1"), telling(one, "none", undefined, "key-1")])
      assert.deepEqual(
        reportedMachines({ ...waits, machineObjects: [object] }).map((fact) => fact.spki),
        want,
      );
  });

test("a machine without a key waits for nobody: a TalosMachine that names none is no word for it", () => {
  const waits = observed({ controlPlane: controlPlane(1), looks: { [one]: inMaintenance(one) } });
  const [fact] = reportedMachines({ ...waits, machineObjects: [telling(one)] });
  assert.equal(fact?.spki, undefined);
});

test("while the record is lost another machine at an address is not taken for the one that its TalosMachine names", () => {
  const objects = [telling(one), telling(two)];
  const swapped = believed(objects, both(two));
  assert.equal(swapped.kind === "silent" && swapped.stopped?.reason, "IdentityMismatch");
  assert.match(
    swapped.kind === "silent" ? (swapped.stopped?.message ?? "") : "",
    /it is demo-10\.0\.0\.2, and uuid-10\.0\.0\.1 was written down/,
  );
  assert.equal(believed(objects, both(one)).kind, "running");
});

test("cloned machines are told apart by their hardware addresses while the record is lost", () => {
  const objects = [telling(one, "shared", "clone"), telling(two, "shared", "clone")];
  assert.equal(believed(objects, { uuid: "clone", macs: [`mac-${two}`] }).kind, "silent");
  assert.equal(believed(objects, { uuid: "clone", macs: [`mac-${one}`] }).kind, "running");
});

test("a TalosMachine that names no hardware is no witness against a machine", () => {
  assert.equal(believed([telling(one, "none")], both(two)).kind, "running");
  assert.equal(believed([], both(two)).kind, "running");
});

test("a record that is made anew knows the hardware that a TalosMachine named, and learns the rest once the machine runs", () => {
  const told = reportedMachines({ ...seen, machineObjects: [telling(one)] });
  assert.deepEqual(
    told.map(({ name, uuid }) => ({ name, uuid })),
    [{ name: "demo-10.0.0.1", uuid: "uuid-10.0.0.1" }],
  );
  assert.ok(told.every(isOnlyReported));
  const bundle = { secretName: "demo-bundle-1", fingerprint: "fingerprint", wasFound: true };
  const anew = facts({ machines: told, bundle });
  const looks = { [one]: running(undefined, { hardware: both(one) }) };
  const [learned] = withUnknownRunning(observed({ controlPlane: controlPlane(1), facts: anew, looks }), anew).machines;
  assert.deepEqual(learned?.macs, ["mac-10.0.0.1"]);
  assert.equal(learned !== undefined && isOnlyReported(learned), false);
});

test("a TalosMachine that turns up after the record was made anew is no rest of a machine that was released: its machine is written down", () => {
  const bundle = { secretName: "demo-bundle-1", fingerprint: "fingerprint", wasFound: true };
  const anew = facts({ machines: [configured(one)], bundle });
  const late = observed({ controlPlane: controlPlane(1), facts: anew, looks: { [one]: running(undefined, { hardware: both(one) }) } });
  const withLate = { ...late, machineObjects: [...late.machineObjects, telling(two)] };
  const [write, ...others] = decide(assess(withLate)).actions;
  assert.deepEqual(others, []);
  assert.deepEqual(write?.kind === "WriteRecord" && write.facts.machines.map(({ name }) => name), ["demo-10.0.0.1", "demo-10.0.0.2"]);
  const kept = facts({ machines: [configured(one)] });
  assert.equal(withUnknownRunning({ ...withLate, machines: [] }, kept), kept, "one that was there all the time knows better");
});

test("a machine that answers at the address of another entry is not written down for it, though only its UUID was told", () => {
  const bundle = { secretName: "demo-bundle-1", fingerprint: "fingerprint", wasFound: true };
  const anew = facts({ machines: reportedMachines({ ...seen, machineObjects: [telling(one)] }), bundle, bootstrapDone: founded });
  const other = { uuid: `uuid-${two}`, macs: [`mac-${two}`] };
  const swapped = observed({
    controlPlane: controlPlane(2),
    facts: anew,
    looks: { [one]: silent, [two]: running(undefined, { hardware: both(one) }) },
  });
  const plan = planMachines(assess(swapped), anew);
  assert.deepEqual(
    plan.stopped.map(({ name, reason }) => `${name} ${reason}`),
    ["demo-10.0.0.2 MachineInUse"],
  );
  assert.equal(plan.facts, anew);
  const back = { ...swapped, machines: swapped.machines.map((machine) => ({ ...machine, look: running(undefined, { hardware: other }) })) };
  const [, second] = back.machines;
  assert.ok(second !== undefined);
  assert.deepEqual(
    planMachines(assess({ ...back, machines: [second] }), anew).facts.machines.map(({ uuid }) => uuid),
    ["uuid-10.0.0.1", "uuid-10.0.0.2"],
  );
});

test("clones of which only the UUID was told are not taken for each other", () => {
  const bundle = { secretName: "demo-bundle-1", fingerprint: "fingerprint", wasFound: true };
  const clones = reportedMachines({ ...seen, machineObjects: [telling(one, "own", "clone"), telling(two, "own", "clone")] });
  const anew = facts({ machines: clones, bundle, bootstrapDone: founded });
  const looks = {
    [one]: running(undefined, { hardware: { uuid: "clone", macs: [`mac-${one}`] } }),
    [two]: running(undefined, { hardware: { uuid: "clone", macs: [`mac-${two}`] } }),
  };
  assert.deepEqual(planMachines(assess(observed({ controlPlane: controlPlane(2), facts: anew, looks })), anew).stopped, []);
});

test("a Machine that was installed, and that nothing else tells of, is written down in a record that was made anew", () => {
  const blue = { name: "demo-workers-blue", role: "worker" as const, pool: "demo-workers", address: "10.0.1.1" } satisfies MachinePlace;
  const bundle = { secretName: "demo-bundle-1", fingerprint: "fingerprint", wasFound: true };
  const anew = facts({ machines: [configured(one)], bundle });
  const world = (known: typeof anew, installed: readonly MachinePlace[] = [blue]) => ({
    ...observed({ controlPlane: controlPlane(1), facts: known }),
    installed,
  });
  const [, told] = withUnknownRunning(world(anew), anew).machines;
  assert.deepEqual([told?.name, told?.pool, told !== undefined && isOnlyReported(told)], ["demo-workers-blue", "demo-workers", true]);
  const [write] = decide(assess(world(anew))).actions;
  assert.deepEqual(write?.kind === "WriteRecord" && write.facts.machines.map(({ name }) => name), ["demo-10.0.0.1", "demo-workers-blue"]);
  const twin = [{ ...blue, address: one }];
  assert.equal(withUnknownRunning(world(anew, twin), anew), anew, "a second Machine for a machine that is known tells of that one");
  const kept = facts({ machines: [configured(one)] });
  assert.equal(withUnknownRunning(world(kept), kept), kept, "a record that was there all the time knows better");
});

test("a machine that was met running or configured here is not from hearsay", () => {
  assert.equal(isOnlyReported(configured(one)), false);
});
