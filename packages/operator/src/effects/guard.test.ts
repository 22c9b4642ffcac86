import assert from "node:assert/strict";
import { test } from "node:test";
import { rfc3339 } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { FakeApi } from "@talos-operator/kube-runtime/testing";
import type { Leading } from "../leading.ts";
import { NOW, facts, intent } from "../testing/builders.ts";
import { EffectError, isEffectError } from "../errors.ts";
import { printRecord } from "../record/facts-codec.ts";
import { createGuard } from "./guard.ts";
import type { ClusterFacts } from "../model/record.ts";

const time = createVirtualTime();
const alone = (): Promise<void> => Promise.resolve();

const key = { namespace: "default", name: "demo" };

function leading(over: Partial<Leading> = {}): Leading {
  return { identity: "one", fencingToken: "1", mayDisturb: true, remainingMs: () => 10_000, confirm: () => Promise.resolve(true), ...over };
}

function apiWith(given: ClusterFacts | undefined): FakeApi {
  const api = createFakeApi();
  if (given !== undefined)
    api.put("/apis/talos-operator.dev/v1alpha1/clusterrecords", printRecord(key, given, undefined, { identity: "one", fencingToken: "1" }));
  return api;
}

const holdsIntent = (given: ClusterFacts): boolean => given.bootstrapIntent?.machine === intent.machine;
const withIntent = facts({ bootstrapIntent: intent });

test("guard: an effect under a standing intent gets a deadline below what is left of the lease", async () => {
  const guard = createGuard(key, createKubeClient(apiWith(withIntent).transport()), leading(), alone, alone, time.timers, time.clock);
  assert.equal(await guard.check(holdsIntent), 9_500);
});

const refused: readonly {
  readonly name: string;
  readonly stored: ClusterFacts | undefined;
  readonly leading?: Partial<Leading>;
  readonly code: "NOT_LEADING" | "RECORD_CHANGED";
}[] = [
  {
    name: "holds an effect back when another process leads",
    stored: withIntent,
    leading: { confirm: () => Promise.resolve(false) },
    code: "NOT_LEADING",
  },
  {
    name: "holds an effect back when the lease is about to end",
    stored: withIntent,
    leading: { remainingMs: () => 1_400 },
    code: "NOT_LEADING",
  },
  { name: "holds an effect back when the intent is gone", stored: facts(), code: "RECORD_CHANGED" },
  { name: "holds an effect back when the record is gone", stored: undefined, code: "RECORD_CHANGED" },
];

for (const { name, stored, leading: over, code } of refused) {
  test(`guard: ${name}`, async () => {
    const guard = createGuard(key, createKubeClient(apiWith(stored).transport()), leading(over), alone, alone, time.timers, time.clock);
    await assert.rejects(guard.check(holdsIntent), (thrown) => isEffectError(thrown, code));
  });
}

test("guard: holds an effect back when the cluster is paused by now", async () => {
  const paused = (): Promise<void> => Promise.reject(new EffectError("MODE_CHANGED", "TalosCluster demo says disable"));
  const guard = createGuard(key, createKubeClient(apiWith(withIntent).transport()), leading(), paused, alone, time.timers, time.clock);
  await assert.rejects(guard.check(holdsIntent), (thrown) => isEffectError(thrown, "MODE_CHANGED"));
});

test("guard: effects that ask together share one reading, later ones read again", async () => {
  const api = apiWith(withIntent);
  const guard = createGuard(key, createKubeClient(api.transport()), leading(), alone, alone, time.timers, time.clock);
  await Promise.all([guard.check(holdsIntent), guard.check(holdsIntent), guard.check(holdsIntent)]);
  assert.equal(api.requests.length, 1);
  await guard.check(holdsIntent);
  assert.equal(api.requests.length, 2);
});

test("guard: effects that run together are read for when the last of them asks, and not before", async () => {
  const api = apiWith(withIntent);
  const guard = createGuard(key, createKubeClient(api.transport()), leading(), alone, alone, time.timers, time.clock);
  const ended = guard.gather(3);
  const asked = [guard.check(holdsIntent)];
  await time.advance(10);
  asked.push(guard.check(holdsIntent));
  await time.advance(10);
  assert.equal(api.requests.length, 0, "the third may still be asking its machine");
  ended();
  await Promise.all(asked);
  assert.equal(api.requests.length, 1);
  await guard.check(holdsIntent);
  assert.equal(api.requests.length, 2, "what asks again is read for anew");
});

test("guard: an effect waits 50 ms for the others of its pass, and one that comes later is read for anew", async () => {
  const api = apiWith(withIntent);
  const guard = createGuard(key, createKubeClient(api.transport()), leading(), alone, alone, time.timers, time.clock);
  guard.gather(2);
  const first = guard.check(holdsIntent);
  await time.advance(49);
  assert.equal(api.requests.length, 0);
  await time.advance(1);
  await first;
  assert.equal(api.requests.length, 1);
  await guard.check(holdsIntent);
  assert.equal(api.requests.length, 2);
});

test("guard: an effect that is alone waits for nobody", async () => {
  const api = apiWith(withIntent);
  const guard = createGuard(key, createKubeClient(api.transport()), leading(), alone, alone, time.timers, time.clock);
  guard.gather(1);
  await guard.check(holdsIntent);
  assert.equal(api.requests.length, 1);
});

const open = {
  what: "Reset",
  machine: "demo-10.0.0.1",
  address: "10.0.0.1",
  uuid: "",
  role: "worker",
  at: 1,
  deadline: 2,
  why: "",
} as const;

for (const [what, stored, isAdopted] of [
  ["what disturbs a machine", facts({ intents: [open] }), false],
  ["everything on a cluster that others made", facts({ importedAt: 1 }), true],
] as const)
  test(`guard: ${what} waits while another operator is at work`, async () => {
    const asked: boolean[] = [];
    const demandAlone = async (isTaken: boolean): Promise<void> => {
      asked.push(isTaken);
      throw new EffectError("ANOTHER_OPERATOR", "it writes the status");
    };
    const guard = createGuard(key, createKubeClient(apiWith(stored).transport()), leading(), alone, demandAlone, time.timers, time.clock);
    await assert.rejects(
      guard.check(() => true),
      (thrown) => isEffectError(thrown, "ANOTHER_OPERATOR"),
    );
    assert.deepEqual(asked, [isAdopted]);
  });

test("guard: a control plane is not disturbed beside a snapshot that stands, and is after its deadline", async () => {
  const reset = { what: "Reset", machine: "m1", address: "", uuid: "u", role: "controlplane", at: NOW, deadline: NOW, why: "" } as const;
  const check = (deadline: number): Promise<number> => {
    const api = createFakeApi();
    const record = printRecord(key, facts({ intents: [reset] }), undefined, { identity: "one", fencingToken: "1" });
    const backup = { namespace: "default", name: "nightly" };
    const snapshot = { machine: "m2", run: "backup-1", backup, at: rfc3339(NOW), by: "one", deadline: rfc3339(deadline) };
    api.put("/apis/talos-operator.dev/v1alpha1/clusterrecords", { ...record, spec: { ...record.spec, snapshot } } as ClusterRecord);
    return createGuard(key, createKubeClient(api.transport()), leading(), alone, alone, time.timers, time.clock).check(() => true);
  };
  await assert.rejects(check(time.clock.now() + 60_000), (thrown) => isEffectError(thrown, "RECORD_CHANGED"));
  assert.equal(await check(time.clock.now() - 60_000), 9_500);
});
