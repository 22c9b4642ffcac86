import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeTransport } from "@talos-operator/ports";
import { realisticTimings } from "@talos-operator/simulator";
import { apply, assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";

const AHEAD_MS = 6 * 3_600_000;
/** As long as a machine keeps what it tries. */
const TRIAL_MS = 180_000;

/** As long as it is looked at before it is told to keep it. */
const SOAK_MS = 15_000;

const worker = "10.5.0.4";
const label = { machine: { nodeLabels: { "example.org/rack": "r1" } } };
const value = { spec: { worker: { metalSpec: { machineSpec: { configPatches: [label] } } } } };

/** A cluster of an operator whose clock is six hours ahead, which is set while settings are rolled out to the worker: by default right. */
function tellSetBack(
  options: StoryOptions,
  story: (world: Story, set: (skewMs?: number) => void) => Promise<void>,
  aheadMs = AHEAD_MS,
): Promise<void> {
  let skewMs = aheadMs;
  return tell({ ...options, operatorClock: (real) => ({ now: () => real.now() + skewMs }) }, async (world) => {
    await apply(world, kinds.cluster, demoCluster(["10.5.0.1"], [worker]));
    await world.start();
    await world.untilReady(1_200);
    await world.until("read", async () => (await upToDate(world))?.reason === "UpToDate");
    await story(world, (aheadMs = 0) => void (skewMs = aheadMs));
  });
}

const upToDate = (world: Story): ReturnType<Story["condition"]> => world.condition(kinds.controlPlane, "ConfigUpToDate");
const edit = async (world: Story): Promise<void> =>
  void (await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value }));
const configOf = (world: Story) => world.datacenter.machine(worker).state.config;
const isTried = async (world: Story): Promise<boolean> => configOf(world).active?.includes("rack: r1") === true;
const isKept = async (world: Story): Promise<boolean> => configOf(world).persisted?.includes("rack: r1") === true;

describe("a clock that is set back by hours while a machine tries its settings", () => {
  test("changes nothing for the operator that began it: they are looked at and kept", () =>
    tellSetBack({}, async (world, setBack) => {
      const sent = world.sent.length;
      await edit(world);
      await world.until("tried", () => isTried(world));
      setBack();
      await world.until("kept", () => isKept(world), TRIAL_MS / 1_000);
      await world.until("up to date", async () => (await upToDate(world))?.reason === "UpToDate", 120);
      assert.deepEqual(world.sent.slice(sent), [`ApplyConfiguration ${worker}`, `ApplyConfiguration ${worker}`]);
      await world.time.advance(60_000);
      await assertQuiet(world);
    }));

  test("is waited for by another operator no longer than the trial takes, and nothing is sent before it is over", () =>
    tellSetBack({}, async (world, setBack) => {
      await edit(world);
      await world.until("tried", () => isTried(world));
      const triedAt = world.time.now();
      await world.kill();
      setBack();
      const sent = world.sent.length;
      await world.start();
      await world.until("sent again", async () => world.sent.length > sent, 1_200);
      assert.ok(world.time.now() - triedAt > TRIAL_MS, `sent again after ${world.time.now() - triedAt} ms`);
      await world.until("kept", () => isKept(world), 300);
    }));

  test("between the writing of the intent and the call is not taken for a call that was not made", () => {
    let isArmed = false;
    let setBack = (): void => {};
    const kube = (real: KubeTransport): KubeTransport => ({
      ...real,
      async send(request, options) {
        const answer = await real.send(request, options);
        if (isArmed && request.method === "PATCH" && request.path.includes("/clusterrecords/")) setBack();
        return answer;
      },
    });
    return tellSetBack({ kube }, async (world, set) => {
      setBack = set;
      isArmed = true;
      const sent = world.sent.length;
      await edit(world);
      await world.until("tried", () => isTried(world));
      const triedAt = world.time.now();
      await world.until("kept", () => isKept(world), 1_200);
      assert.ok(world.time.now() - triedAt > SOAK_MS, `kept after ${world.time.now() - triedAt} ms`);
      assert.deepEqual(world.sent.slice(sent), [`ApplyConfiguration ${worker}`, `ApplyConfiguration ${worker}`]);
    });
  });
});

describe("a clock that is set forward while a machine tries its settings", () => {
  for (const [what, forwardMs] of [
    ["half a minute", 30_000],
    ["an hour", 3_600_000],
  ] as const)
    test(`by ${what}: they are looked at for as long as ever before they are kept`, () =>
      tellSetBack(
        {},
        async (world, set) => {
          const sent = world.sent.length;
          await edit(world);
          await world.until("tried", () => isTried(world));
          const triedAt = world.time.now();
          await world.time.advance(2_000);
          set(forwardMs);
          await world.until("kept", () => isKept(world), TRIAL_MS / 1_000);
          const lookedAtMs = world.time.now() - triedAt;
          assert.ok(lookedAtMs >= SOAK_MS, `kept after ${lookedAtMs} ms`);
          await world.until("up to date", async () => (await upToDate(world))?.reason === "UpToDate", 120);
          assert.deepEqual(world.sent.slice(sent), [`ApplyConfiguration ${worker}`, `ApplyConfiguration ${worker}`]);
        },
        0,
      ));
});

describe("a clock that is set while a machine boots for its settings", () => {
  const needsBoot = { cluster: { etcd: { extraArgs: { "quota-backend-bytes": "4294967296" } } } };
  const controlPlane = "10.5.0.1";
  for (const [what, aheadMs, toMs, isTakenOver] of [
    ["forward by six hours", 0, AHEAD_MS, false],
    ["back by six hours", AHEAD_MS, 0, false],
    ["back by six hours", AHEAD_MS, 0, true],
  ] as const)
    test(`${what} makes nobody give the settings up${isTakenOver ? ", nor another operator" : ""}`, () =>
      tellSetBack(
        { timings: realisticTimings },
        async (world, set) => {
          const patches = { spec: { controlPlane: { metalSpec: { machineSpec: { configPatches: [needsBoot] } } } } };
          await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: patches });
          await world.until("ordered", async () => world.sent.includes(`Reboot ${controlPlane}`), 300);
          await world.until("booted", async () => world.datacenter.machine(controlPlane).state.services["etcd"]?.state !== "Running", 120);
          if (isTakenOver) await world.kill();
          set(toMs);
          if (isTakenOver) await world.start();
          const isDone = async (): Promise<boolean> => {
            const told = await upToDate(world);
            assert.notEqual(told?.reason, "RolloutStopped", told?.message);
            return told?.reason === "UpToDate";
          };
          await world.until("up to date", isDone, 900);
          assert.deepEqual(
            world.sent.filter((call) => call === `Reboot ${controlPlane}`),
            [`Reboot ${controlPlane}`],
          );
        },
        aheadMs,
      ));
});
