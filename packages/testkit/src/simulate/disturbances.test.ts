import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterRecord } from "@talos-operator/api";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { createDatacenter, instantTimings, type Datacenter } from "@talos-operator/simulator";
import { createValueKeys } from "../world/value-keys.ts";
import { createDisturbances } from "./disturbances.ts";
import type { EffectId } from "./effects.ts";
import { createStage } from "./stage.ts";

const [first, second, third, worker] = ["10.5.0.1", "10.5.0.2", "10.5.0.3", "10.5.0.4"];

const paths: Readonly<Record<string, string>> = { T13: "/machine.MachineService/EtcdDefragment" };
const DISARM = "/machine.MachineService/EtcdAlarmDisarm";

/** A record with this intent open, on the second control plane. */
function opened(what: string): ClusterRecord {
  return { spec: { openControlPlaneIntent: { what, machine: { address: second } } } } as unknown as ClusterRecord;
}

/** What is reported when effects go to two control planes, one after the other. */
async function reported(
  before: EffectId,
  tookEffect: boolean,
  after: EffectId,
  { path = paths[after] ?? "", record }: { readonly path?: string; readonly record?: ClusterRecord } = {},
): Promise<readonly string[]> {
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
  const detail = `${paths[before] ?? ""} ${first}`;
  disturbances.beforeSend(before, first, {}, undefined, detail);
  if (tookEffect) disturbances.tookEffect(before, first, {}, detail);
  found.length = 0;
  disturbances.beforeSend(after, second, {}, record, `${path} ${second}`);
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

test("S18 is broken by a defragmentation beside another one under whatever intent, and not by an alarm that is taken back", async () => {
  assert.ok((await reported("T13", false, "T13", { record: opened("DisarmAlarms") })).includes("S18"));
  assert.deepEqual(await reported("T13", false, "T13", { path: DISARM, record: opened("DisarmAlarms") }), []);
});

test("S11 is broken by care of etcd under the intent for something else", async () => {
  assert.deepEqual(await reported("T13", true, "T13", { record: opened("DisarmAlarms") }), ["S11"]);
  assert.deepEqual(await reported("T13", true, "T13", { path: DISARM, record: opened("Defragment") }), ["S11"]);
  assert.deepEqual(await reported("T13", true, "T13"), ["S11"]);
  assert.deepEqual(await reported("T13", true, "T13", { record: opened("Defragment") }), []);
});

interface Stands {
  readonly address: string;
  readonly isConfigured: boolean;
  readonly memberId?: string;
}

/** What is reported when a configuration goes to an address of a cluster that was Ready: its first control plane is a member, the third one waits. */
function reportedJoin(machines: readonly Stands[], routes: Readonly<Record<string, string>>, unfinished?: string): readonly string[] {
  const all = machines.map(({ address, isConfigured, memberId }) => ({
    address,
    state: {
      config: { persisted: isConfigured ? "a configuration" : undefined },
      etcd: { data: memberId === undefined ? undefined : { memberId } },
      hardware: { platform: "metal", uuid: address },
      kubernetes: { isNodeReady: true },
      power: "on",
      isConnected: true,
    },
  }));
  const members = machines.flatMap(({ memberId: id }) =>
    id === undefined ? [] : [{ id, name: id, isLearner: id === unfinished, isStarted: true }],
  );
  const datacenter = {
    machines: () => all,
    machine: (wanted: string) => all.find(({ address }) => address === wanted),
    etcdClusters: () => [{ clusterId: "one", members }],
    etcdDatabase: () => undefined,
  } as unknown as Datacenter;
  const stage = createStage(
    { controlPlanes: [first, second, third], workers: [worker], machineSpec: {}, mode: undefined, hasWrittenConfigs: false },
    "reset",
    false,
  );
  for (const [address, now] of Object.entries(routes)) stage.routes.set(address, now);
  const told: string[] = [];
  const disturbances = createDisturbances(
    datacenter,
    stage,
    () => 0,
    (invariant) => void told.push(invariant),
  );
  disturbances.beforeSend("T2", third, {}, undefined, "");
  return told;
}

test("S17 judges machines: a worker that stands at the address of a control plane is not on its way into etcd, and a control plane that is, is so at any address", () => {
  const waits = { address: third, isConfigured: false };
  const works = { address: worker, isConfigured: true };
  const member = { address: first, isConfigured: true, memberId: "a1" };
  const swapped = { [second]: worker, [worker]: second };
  assert.deepEqual(reportedJoin([member, { address: second, isConfigured: true, memberId: "a2" }, waits, works], swapped), []);
  const joining = { address: second, isConfigured: true };
  assert.deepEqual(reportedJoin([member, joining, waits, works], {}), ["S17"]);
  assert.deepEqual(reportedJoin([member, joining, waits, works], swapped), ["S17"]);
  // A call that is repeated: the one that is configured already is the one that stands there.
  assert.deepEqual(reportedJoin([member, joining, waits, works], { [third]: second, [second]: third }), []);
  const learner = { address: second, isConfigured: true, memberId: "a2" };
  assert.deepEqual(reportedJoin([member, learner, waits, works], {}, "a2"), ["S17"]);
  assert.deepEqual(reportedJoin([member, learner, waits, works], { [third]: second, [second]: third }, "a2"), []);
});
