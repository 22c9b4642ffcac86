// A removal and a rollout in one pool share what maxUnavailable allows.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { demoTimings, realisticTimings } from "@talos-operator/simulator";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const apiVersion = "talos.alperen.cloud/v1alpha1";
const at = (...numbers: readonly number[]): readonly string[] => numbers.map((n) => `10.5.0.${n}`);
const machines = at(1, 2, 3, 4, 5, 6).map((address) => ({ address }));
const pool = at(2, 3, 4, 5);
/** The machine says that it takes effect at the next boot. */
const needsBoot = { machine: { env: { PROOF_OF_BOOT: "1" } } };

async function ready(world: Story): Promise<void> {
  await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(at(1), pool));
  await world.start();
  await world.untilReady(1_200);
}

function edit(world: Story, worker: object): Promise<unknown> {
  return world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: { worker } } });
}

const listed = (addresses: readonly string[]): object => ({ machines: addresses.map((address) => ({ address })) });

/** Workers that cannot run a pod, and are no machines that wait in maintenance mode. */
function down(world: Story): readonly string[] {
  return pool.filter((address) => !["running", "maintenance"].includes(world.datacenter.machine(address).state.stage));
}

/** Looks twice a second. @returns the most that were down at once */
function watch(world: Story): () => readonly string[] {
  let most: readonly string[] = [];
  const look = (): void => {
    const now = down(world);
    if (now.length > most.length) most = now;
    world.time.timers.schedule(500, look);
  };
  look();
  return () => most;
}

const isRolledOut = (world: Story, addresses: readonly string[]): boolean =>
  addresses.every((address) => /PROOF_OF_BOOT/.test(world.datacenter.machine(address).state.config.active ?? ""));

const left = async (world: Story): Promise<number> => (await world.client.resource(kinds.machine).list()).items.length;

for (const [pace, timings] of [
  ["demo", demoTimings],
  ["genuine machines", realisticTimings],
] as const)
  for (const limit of [1, 2])
    for (const order of ["leave and change", "change, then leave", "leave, then change"] as const)
      test(`no more than ${limit} of a pool down while workers ${order} at the pace of ${pace}`, () =>
        tell({ machines, timings }, async (world) => {
          await ready(world);
          const most = watch(world);
          const rolloutStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: limit } };
          const change = { machineSpec: { configPatches: [needsBoot] } };
          const leave = listed(at(4, 5));
          if (order === "leave and change") await edit(world, { rolloutStrategy, metalSpec: { ...leave, ...change } });
          else {
            await edit(world, { rolloutStrategy, metalSpec: order === "change, then leave" ? change : leave });
            const isOn =
              order === "change, then leave" ? () => world.sent.some((call) => call.startsWith("Reboot ")) : () => down(world).length > 0;
            await world.until("the first is disturbed", async () => isOn(), 600);
            await edit(world, { metalSpec: order === "change, then leave" ? leave : change });
          }
          await world.until("left and changed", async () => (await left(world)) === 3 && isRolledOut(world, at(4, 5)), 3_600);
          assert.ok(most().length <= limit, `down at once: ${most().join(", ")}`);
          await world.untilReady(1_200);
        }));

for (const [given, limit] of [
  ["50%", 1],
  ["100%", 2],
  ["1%", 1],
  ["2", 2],
  ["2.5", 1],
  ["07", 1],
  ["0%", 1],
  [0, 1],
  [-1, 1],
  ["nonsense", 1],
] as const)
  test(`maxUnavailable ${JSON.stringify(given)} of two that stay is ${limit} while two others leave`, () =>
    tell({ machines, timings: demoTimings }, async (world) => {
      await ready(world);
      const most = watch(world);
      const rolloutStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: given } };
      await edit(world, { rolloutStrategy, metalSpec: { ...listed(at(4, 5)), machineSpec: { configPatches: [needsBoot] } } });
      await world.until("left and changed", async () => (await left(world)) === 3 && isRolledOut(world, at(4, 5)), 3_600);
      assert.ok(most().length <= limit, `down at once: ${most().join(", ")}`);
    }));

/** One control plane and a pool that has its name: machines of both are named alike, and the budget counts those of the pool. */
async function namesakes(world: Story): Promise<void> {
  const { controlPlane, worker } = demoCluster(at(1), pool).spec ?? {};
  const metadata = { namespace: "default", name: "demo" };
  await world.client
    .resource<TalosControlPlane>(kinds.controlPlane)
    .create({ apiVersion, kind: "TalosControlPlane", metadata, spec: { ...controlPlane } } as TalosControlPlane);
  await world.client
    .resource<TalosWorker>(kinds.worker)
    .create({ apiVersion, kind: "TalosWorker", metadata, spec: { ...worker, controlPlaneRef: { name: "demo" } } } as TalosWorker);
  await world.start();
  const areReady = async (): Promise<boolean> =>
    (await Promise.all([kinds.controlPlane, kinds.worker].map((kind) => world.condition(kind, "Ready")))).every(
      (one) => one?.status === "True",
    );
  await world.until("both are Ready", areReady, 1_200);
}

for (const [given, limit] of [
  [1, 1],
  [2, 2],
  ["50%", 1],
  ["100%", 2],
] as const)
  test(`maxUnavailable ${JSON.stringify(given)} of a pool with its control plane's name is ${limit} while two leave and two change`, () =>
    tell({ machines, timings: demoTimings }, async (world) => {
      await namesakes(world);
      const most = watch(world);
      const rolloutStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: given } };
      const metalSpec = { ...listed(at(4, 5)), machineSpec: { configPatches: [needsBoot] } };
      await world.client
        .resource(kinds.worker)
        .patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: { rolloutStrategy, metalSpec } } });
      await world.until("left and changed", async () => (await left(world)) === 3 && isRolledOut(world, at(4, 5)), 3_600);
      assert.equal(most().length, limit, `down at once: ${most().join(", ")}`);
      assert.ok(!world.sent.some((call) => /^(Reboot|Reset) .*10\.5\.0\.1\b/.test(call)), "the control plane is left alone");
    }));
