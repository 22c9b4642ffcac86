import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosDialer } from "@talos-operator/ports";
import { withUnary } from "../world/with-calls.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const healthy = { controlPlanes: ["10.5.0.1", "10.5.0.2", "10.5.0.3"], workers: ["10.5.0.4", "10.5.0.5"] };

/** Racks without power: forty clusters, whose 320 machines take connections and never answer. */
const DARK_CLUSTERS = 40;
const DARK_MACHINES = 8;
const isDark = (address: string): boolean => address.startsWith("10.9.");

/** Clusters that nobody can make: patches that break the configuration, endpoints that lead nowhere. */
const POISONED = 20;

/** How long from an edit until the last machine of the cluster has it, in virtual milliseconds. */
async function rolloutMs(world: Story, label: string): Promise<number> {
  const begunAt = world.time.now();
  const machineSpec = { installDisk: "/dev/sda", configPatches: [{ machine: { nodeLabels: { "example.com/wave": label } } }] };
  const machines = healthy.workers.map((address) => ({ address }));
  const value = { spec: { worker: { metalSpec: { machines, machineSpec } } } };
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
  const hasIt = (address: string): boolean => world.datacenter.machine(address).state.config.persisted?.includes(`wave: ${label}`) === true;
  for (let steps = 0; steps < 6_000 && !healthy.workers.every(hasIt); steps += 1) await world.time.advance(50);
  return world.time.now() - begunAt;
}

test("Li4: a cluster is changed as quickly beside machines that never answer, and beside clusters that nobody can make", async () => {
  let world: Story | undefined;
  const dialer = (real: TalosDialer): TalosDialer =>
    withUnary(
      real,
      ({ address, channel }) =>
        (method, request, options) =>
          isDark(address) && world !== undefined
            ? new Promise((_resolve, reject) => {
                const late = (): void => reject(Object.assign(new Error("no answer"), { name: "TalosCallFailure" as const, code: 4 }));
                const timer = world?.time.timers.schedule(options.timeoutMs, late);
                options.signal?.addEventListener("abort", () => {
                  timer?.cancel();
                  late();
                });
              })
            : channel.unary(method, request, options),
    );
  await tell({ dialer }, async (story) => {
    world = story;
    await apply(story, kinds.cluster, demoCluster(healthy.controlPlanes, healthy.workers));
    await story.start();
    await story.untilReady();
    await story.time.advance(180_000);
    const alone = await rolloutMs(story, "alone");

    for (let n = 0; n < DARK_CLUSTERS; n += 1) {
      const all = Array.from({ length: DARK_MACHINES }, (_, machine) => `10.9.${n}.${machine + 1}`);
      const dark = demoCluster(all.slice(0, 3), all.slice(3), { endpoint: `https://10.9.${n}.100:6443` });
      await apply(story, kinds.cluster, { ...dark, metadata: { namespace: "default", name: `dark-${n}` } });
    }
    for (let n = 0; n < POISONED; n += 1) {
      const poisoned = demoCluster([`10.8.0.${n + 1}`], [], {
        endpoint: `https://10.8.1.${n}:6443`,
        metalSpec: { machines: [{ address: `10.8.0.${n + 1}` }], machineSpec: { configPatches: [{ op: "remove", path: "/machine" }] } },
      });
      await apply(story, kinds.cluster, { ...poisoned, metadata: { namespace: "default", name: `poisoned-${n}` } });
    }
    await story.time.advance(120_000);
    await story.untilReady();
    const beside = await rolloutMs(story, "beside");
    assert.ok(beside <= alone + 1_000, `${beside} ms beside them, ${alone} ms alone`);
  });
});
