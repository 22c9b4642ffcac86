// What people see while the machines of a cluster get another Talos.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { demoTimings, instantTimings, realisticTimings } from "@talos-operator/simulator";
import type { MachineUpgradeStatus, UpgradeStatus } from "@talos-operator/api";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { demoCluster, kinds, tell } from "./story.ts";
import { ask, cps, ready as readyOf, versions } from "./upgrades.ts";
import type { Story } from "./story.ts";

const workers = ["10.5.0.4", "10.5.0.5"];
const all = [...cps, ...workers];

/** Statuses follow: what is seen from here on is the upgrade's. */
async function ready(world: Story): Promise<void> {
  await readyOf(world, demoCluster(cps, workers));
  await world.time.advance(30_000);
}

const isOver = async (world: Story, version: string): Promise<boolean> =>
  versions(world, all).join() === version &&
  (await world.condition(kinds.cluster, "Progressing"))?.reason === "Settled" &&
  (await world.condition(kinds.worker, "Progressing"))?.reason === "Settled";

/** What somebody sees who looks five times a second until everything is over: each thing as often as it became another. */
async function watched(
  world: Story,
  looks: readonly (() => Promise<string>)[],
  over: () => Promise<boolean>,
): Promise<readonly (readonly string[])[]> {
  const told = looks.map((): string[] => []);
  await world.until(
    "over",
    async () => {
      for (const [index, look] of looks.entries()) {
        const seen = await look();
        if (told[index]?.at(-1) !== seen) told[index]?.push(seen);
      }
      return over();
    },
    3_600,
  );
  return told;
}

const reasonOf = (world: Story, type: ResourceType, condition: string) => async (): Promise<string> =>
  (await world.condition(type, condition))?.reason ?? "";

async function upgradeOf<T>(world: Story, type: ResourceType, name = "demo"): Promise<T | undefined> {
  return ((await world.get(type, name))?.status as { readonly upgrade?: T } | undefined)?.upgrade;
}

const stageOf = (world: Story, address: string) => async (): Promise<string> =>
  (await upgradeOf<MachineUpgradeStatus>(world, kinds.machine, `demo-${address}`))?.stage ?? "";

type Told = KubeObject & { readonly regarding?: { readonly kind?: string; readonly name?: string }; readonly reason?: string };

/** Everything that was told: `TalosMachine/demo-10.5.0.1 Ready`. */
async function events(world: Story): Promise<readonly string[]> {
  const { items } = await world.client.resource<Told>(kinds.event).list({ namespace: "default" });
  return items
    .toSorted((a, b) => ((a.metadata?.creationTimestamp ?? "") < (b.metadata?.creationTimestamp ?? "") ? -1 : 1))
    .map(({ regarding, reason = "" }) => `${regarding?.kind ?? ""}/${regarding?.name ?? ""} ${reason}`);
}

describe("what is seen of an upgrade of Talos", () => {
  test("each machine tells where it stands, its pool and the cluster how many are done, and Progressing says UpgradingTalos all the while", () =>
    tell({ timings: realisticTimings }, async (world) => {
      await ready(world);
      await ask(world, "v1.13.10");
      const before = (await events(world)).length;
      const states = async (): Promise<string> => (await world.get(kinds.machine, "demo-10.5.0.4"))?.status?.state ?? "";
      const pools = [kinds.cluster, kinds.controlPlane, kinds.worker];
      const counts = pools.map((type) => async () => (await upgradeOf<UpgradeStatus>(world, type))?.progress ?? "");
      const progressing = pools.map((type) => reasonOf(world, type, "Progressing"));
      const looks = [
        ...all.map((address) => stageOf(world, address)),
        ...counts,
        states,
        ...progressing,
        reasonOf(world, kinds.cluster, "Ready"),
      ];
      const told = await watched(world, looks, () => isOver(world, "v1.13.10"));
      const stages = ["", "Pulling", "Installing", "Booting", "BakeTime", ""];
      // The edit may be answered before the first look.
      const last = all.length + counts.length;
      const counted = told.slice(0, last).map((one) => (one[0] === "" ? one : ["", ...one]));
      const reasons = told.slice(last + 1, -1).map((one) => one.filter((reason) => reason !== "Starting"));
      assert.deepEqual(
        [...counted, told[last], ...reasons.map((one) => (one[0] === "Settled" ? one : ["Settled", ...one]))],
        [
          ...all.map(() => stages),
          ["", "0/5", "1/5", "2/5", "3/5", "4/5", ""],
          ["", "0/3", "1/3", "2/3", ""],
          ["", "0/2", "1/2", ""],
          ["Available", "Upgrading", "Available"],
          ...pools.map(() => ["Settled", "UpgradingTalos", "Settled"]),
        ],
      );
      await world.time.advance(10_000);
      const news = (await events(world)).slice(before);
      for (const address of all)
        assert.deepEqual(
          news
            .flatMap((line) => (line.startsWith(`TalosMachine/demo-${address} `) ? [line.split(" ")[1] ?? ""] : []))
            .filter((reason) => reason !== "LeadershipHandedOver")
            .toSorted(),
          ["InstallerPulled", "MachineDrained", "MachineUpgraded", "TalosBooting", "TalosInstalled"],
        );
      // What the operator restarts is no bad news, and the cluster stays ready all the while.
      assert.deepEqual(
        news.filter((line) => / (NotReady|EtcdUnhealthy|Ready|EtcdHealthy)$/.test(line)),
        [],
      );
      assert.deepEqual(told.at(-1), ["AllReady"]);
      assert.equal(news.filter((line) => line.endsWith(" LeadershipHandedOver")).length, 1, "who leads goes last");
      const ofCluster = news.filter((line) => line.startsWith("TalosCluster/"));
      const count = (reason: string): number => ofCluster.filter((line) => line === `TalosCluster/demo ${reason}`).length;
      assert.deepEqual([["UpgradeStarted", "UpgradeEnded"].map(count), ofCluster.length], [[1, 1], 2], ofCluster.join(", "));
    }));

  test("machines that boot in 5 s are through within 1.15 times their boots and bake times (B9)", () =>
    tell({ timings: { ...instantTimings, bootMs: 5_000 } }, async (world) => {
      await ready(world);
      const begunAt = world.time.now();
      await ask(world, "v1.13.10");
      const boots = (): number => world.sent.filter((call) => call.startsWith("Reboot ")).length;
      await world.until(
        "over",
        async () => boots() === all.length && (await reasonOf(world, kinds.controlPlane, "Progressing")()) === "Settled",
        600,
      );
      const took = (world.time.now() - begunAt) / 1000;
      const ideal = all.length * (5 + 10);
      assert.ok(took >= ideal && took <= 1.15 * ideal, `${took} s, ideal ${ideal} s`);
    }));

  test("what failed is told until another version is asked for, by whatever process", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      world.datacenter.setReleaseFault("v1.13.10", { boot: "fails" });
      await ask(world, "v1.13.10");
      const failed = async (): Promise<boolean> => (await stageOf(world, "10.5.0.2")()) === "Failed";
      await world.until("failed", failed, 3_600);
      const rows = { done: 0, machines: 5, progress: "0/5" };
      const underWay = [{ machine: "demo-10.5.0.2", from: "v1.13.9", to: "v1.13.10", stage: "Failed" }];
      await world.until("told", async () => (await upgradeOf<UpgradeStatus>(world, kinds.cluster))?.underWay?.[0]?.stage === "Failed");
      assert.deepEqual(await upgradeOf(world, kinds.cluster), { ...rows, underWay });
      await world.kill();
      await ask(world, "v1.13.9");
      await world.start();
      const upgrades = (): Promise<readonly unknown[]> =>
        Promise.all([upgradeOf(world, kinds.machine, "demo-10.5.0.2"), upgradeOf(world, kinds.worker), upgradeOf(world, kinds.cluster)]);
      await world.until("gone", async () => (await upgrades()).every((one) => one === undefined));
    }));
});
