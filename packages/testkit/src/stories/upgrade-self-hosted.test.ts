// INC32: the operator runs in the cluster that it upgrades. Its own node comes last, it leaves that node under an intent, and another process goes on.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { demoTimings } from "@talos-operator/simulator";
import { inside, podNames, runPod } from "./cluster-pods.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];

/** The options of an operator whose pod is found out when it runs. */
function inPod(): {
  readonly options: { pod: { namespace: string; name: string; uid: string } };
  readonly place: (world: Story, address: string) => Promise<void>;
} {
  const pod = { namespace: "default", name: "operator", uid: "none" };
  return {
    options: { pod },
    place: async (world, address) => {
      await runPod(world, address, "operator");
      const made = await world.workload().resource(inside.pod).get({ namespace: "default", name: "operator" });
      pod.uid = made.metadata?.uid ?? "";
      await world.kill();
      await world.start();
      await world.time.advance(90_000);
    },
  };
}

async function ready(world: Story, controlPlanes: readonly string[], pool: readonly string[]): Promise<void> {
  await apply(world, kinds.cluster, demoCluster(controlPlanes, pool));
  await world.start();
  await world.untilReady();
}

const ask = (world: Story, version: string, pools: readonly string[] = ["controlPlane", "worker"]): Promise<unknown> =>
  world.client
    .resource(kinds.cluster)
    .patch(demo, { type: "merge", value: { spec: Object.fromEntries(pools.map((pool) => [pool, { version }])) } });
const pending = (world: Story) => world.condition(kinds.controlPlane, "UpgradePending");
const reboots = (world: Story, sent: number): readonly string[] =>
  world.sent.slice(sent).flatMap((call) => /^Reboot (.*)$/.exec(call)?.[1] ?? []);

async function upgraded(world: Story, version: string, addresses: readonly string[]): Promise<void> {
  const all = async (): Promise<boolean> =>
    addresses.every((address) => world.datacenter.machine(address).state.hardware.talosVersion === version);
  await world.until(`all run ${version}`, all, 3_600);
  await world.until("nothing is pending", async () => (await pending(world)) === undefined, 1_800);
}

/** What the record holds open when the pod of the operator goes. */
async function evicted(world: Story): Promise<unknown> {
  await world.until("its pod is evicted", async () => !(await podNames(world)).includes("operator"), 1_800);
  const record = await world.get(kinds.record);
  return record?.spec?.["openControlPlaneIntent"] ?? record?.spec?.["openWorkerIntents"];
}

describe("the cluster that the operator runs in", () => {
  for (const [where, group] of [
    ["10.5.0.2", cps],
    ["10.5.0.4", workers],
  ] as const)
    test(`its own node ${where} comes last of its group, and is left under an intent that the next process ends`, () => {
      const { options, place } = inPod();
      return tell({ timings: demoTimings, operator: options }, async (world) => {
        await ready(world, cps, workers);
        await place(world, where);
        const sent = world.sent.length;
        await ask(world, "v1.13.10");
        const open = JSON.stringify(await evicted(world));
        assert.match(open, new RegExp(`"what":"Reboot"`));
        assert.match(open, new RegExp(where.replaceAll(".", "\\.")));
        assert.equal(reboots(world, sent).includes(where), false, "nothing boots before it is away");
        await world.kill();
        await place(world, group.find((one) => one !== where) ?? "");
        await upgraded(world, "v1.13.10", [...cps, ...workers]);
        const booted = reboots(world, sent);
        assert.equal(booted.filter((one) => group.includes(one)).at(-1), where);
        assert.deepEqual(booted.toSorted(), [...cps, ...workers], "each boots once");
      });
    });

  test("a pod of the same name in another cluster is not its own", () => {
    const { options } = inPod();
    return tell({ timings: demoTimings, operator: options }, async (world) => {
      await ready(world, ["10.5.0.1"], []);
      await runPod(world, "10.5.0.1", "operator");
      await world.kill();
      await world.start();
      await world.time.advance(60_000);
      await ask(world, "v1.13.10", ["controlPlane"]);
      await upgraded(world, "v1.13.10", ["10.5.0.1"]);
    });
  });

  test("a cluster of one node is upgraded with a person's word alone, and the operator stays on it", () => {
    const { options, place } = inPod();
    return tell({ timings: demoTimings, operator: options }, async (world) => {
      await ready(world, ["10.5.0.1"], []);
      await place(world, "10.5.0.1");
      const sent = world.sent.length;
      await ask(world, "v1.13.10", ["controlPlane"]);
      await world.until("told", async () => (await pending(world))?.reason === "ApprovalRequired", 120);
      assert.match(
        (await pending(world))?.message ?? "",
        /demo-10\.5\.0\.1 is the only node of the cluster that this operator runs in: .*approve-outage: v1\.13\.10/,
      );
      await world.time.advance(300_000);
      assert.equal(world.sent.length, sent);
      await world.annotate(kinds.controlPlane, annotations.approveOutage, "v1.13.10");
      await world.until("booted", async () => reboots(world, sent).length === 1, 900);
      assert.deepEqual(await podNames(world), ["operator"], "there is no other node for it");
      await upgraded(world, "v1.13.10", ["10.5.0.1"]);
    });
  });

  test("a budget over its pod holds up no boot that is written down", () => {
    const { options, place } = inPod();
    return tell({ timings: demoTimings, operator: options }, async (world) => {
      await ready(world, cps, workers);
      await place(world, "10.5.0.4");
      await world
        .workload()
        .resource(inside.budget)
        .create({
          apiVersion: "policy/v1",
          kind: "PodDisruptionBudget",
          metadata: { namespace: "default", name: "operator" },
          spec: { minAvailable: 1, selector: { matchLabels: { app: "operator" } } },
        } as KubeObject);
      await ask(world, "v1.13.10");
      await upgraded(world, "v1.13.10", [...cps, ...workers]);
      assert.ok(world.workloadWrites.some((write) => write.endsWith("/pods/operator/eviction")));
      assert.deepEqual(await podNames(world), ["operator"]);
    });
  });
});
