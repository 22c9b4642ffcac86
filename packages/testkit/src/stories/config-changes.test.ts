import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Condition } from "@talos-operator/api";
import type { TalosDialer, Timers } from "@talos-operator/ports";
import { demoTimings, realisticTimings } from "@talos-operator/simulator";
import { withCalls } from "../world/with-calls.ts";
import { apply, assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const demo = { namespace: "default", name: "demo" };

async function settled(world: Story, cluster: unknown = demoCluster(cps, workers), seconds = 300): Promise<void> {
  await apply(world, kinds.cluster, cluster);
  await world.start();
  await world.untilReady(seconds);
  await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True");
  await world.time.advance(5_000);
}

async function edit(world: Story, spec: unknown): Promise<void> {
  await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
  await world.time.advance(1_000);
}

const label = (value: string): object => ({ machine: { nodeLabels: { "example.org/rack": value } } });
/** Talos 1.14 refuses labels in its main document: a document of its own has them. */
const labelSince114 = (value: string): object => ({
  apiVersion: "v1alpha1",
  kind: "KubeNodeConfig",
  labels: { "example.org/rack": value },
});
const patched = (pool: "worker" | "controlPlane", ...configPatches: object[]): object => ({
  [pool]: { metalSpec: { machineSpec: { configPatches } } },
});
const activeOf = (world: Story, address: string): string => world.datacenter.machine(address).state.config.active ?? "";
const onDisk = (world: Story, address: string): string => world.datacenter.machine(address).state.config.persisted ?? "";

const applies = (world: Story, from: number): readonly string[] => world.sent.slice(from);
const upToDate = (world: Story): Promise<Condition | undefined> => world.condition(kinds.controlPlane, "ConfigUpToDate");
const untilUpToDate = (world: Story, seconds = 900): Promise<void> =>
  world.until("up to date", async () => (await upToDate(world))?.reason === "UpToDate", seconds);
const twice = (address: string): readonly string[] => [`ApplyConfiguration ${address}`, `ApplyConfiguration ${address}`];
/** Talos blocks its own API when the firewall says so. */
const closed = { apiVersion: "v1alpha1", kind: "NetworkDefaultActionConfig", ingress: "block" };
/** Asks for the firewall and, as it is held back, accepts its hazard. */
async function accepted(world: Story, pool: "worker" | "controlPlane"): Promise<void> {
  await edit(world, patched(pool, closed));
  await world.until("held back", async () => (await upToDate(world))?.reason === "HazardFound");
  await world.annotate(kinds[pool], "talos-operator.dev/accept-hazard", "TALOS_API_BLOCKED");
}
/** In force after a boot only. */
const needsBoot = { cluster: { etcd: { extraArgs: { "quota-backend-bytes": "4294967296" } } } };

/** How many control planes are out at this moment, whatever the operator says. */
function outNow(world: Story): number {
  return cps.filter((address) => {
    const { state } = world.datacenter.machine(address);
    return state.power !== "on" || state.stage !== "running" || state.services["etcd"]?.state !== "Running";
  }).length;
}

describe("a change of settings that is in force at once", () => {
  test("reaches every worker: tried, looked at, kept", () =>
    tell({}, async (world) => {
      await settled(world);
      const sent = world.sent.length;
      await edit(world, patched("worker", label("r1")));
      await world.until("rolled out", async () => workers.every((address) => onDisk(world, address).includes("example.org/rack: r1")));
      await untilUpToDate(world);
      assert.deepEqual(applies(world, sent), [...twice("10.5.0.4"), ...twice("10.5.0.5")]);
      for (const address of workers) assert.equal(activeOf(world, address), onDisk(world, address));
      await world.time.advance(60_000);
      await assertQuiet(world);
    }));

  test("says of settings that are changed back while a machine tries them until when it tries them", () =>
    tell({}, async (world) => {
      await settled(world);
      await edit(world, patched("worker", label("r1")));
      await world.until("tried", async () => /applying in try mode/.test((await upToDate(world))?.message ?? ""));
      await edit(world, patched("worker"));
      await world.until("told", async () => /replaced since/.test((await upToDate(world))?.message ?? ""), 20);
      const { message } = (await upToDate(world)) ?? { message: "" };
      const until = /follow after (\S+Z)\)/.exec(message)?.[1] ?? "";
      assert.ok(Date.parse(until) > world.time.now(), message);
      const untilTold = (reason: string): Promise<void> =>
        world.until(reason, async () => (await world.condition(kinds.cluster, "Progressing"))?.reason === reason, 30);
      await untilTold("ChangingConfiguration");
      await untilUpToDate(world);
      assert.ok(world.time.now() >= Date.parse(until), `${message}, and it is ${new Date(world.time.now()).toISOString()}`);
      await untilTold("Settled");
    }));

  test("that nobody keeps, for the cluster is paused meanwhile, is tried again by itself", () =>
    tell({}, async (world) => {
      await settled(world);
      await edit(world, patched("worker", label("r1")));
      await world.until("tried", async () => /applying in try mode/.test((await upToDate(world))?.message ?? ""));
      const pause = (word: string | null): Promise<unknown> =>
        world.client
          .resource(kinds.cluster)
          .patch(demo, { type: "merge", value: { metadata: { annotations: { "talos.alperen.cloud/reconcile-mode": word } } } });
      await pause("disable");
      await world.time.advance(400_000);
      assert.ok(workers.every((address) => !activeOf(world, address).includes("example.org/rack")));
      await pause(null);
      await world.until("rolled out", async () => workers.every((address) => onDisk(world, address).includes("example.org/rack: r1")), 300);
      await untilUpToDate(world);
    }));

  test("reaches control planes one by one, before the workers", () =>
    tell({}, async (world) => {
      await settled(world);
      const sent = world.sent.length;
      await edit(world, { ...patched("worker", label("r1")), ...patched("controlPlane", label("r1")) });
      await untilUpToDate(world);
      assert.deepEqual(applies(world, sent), [...cps, ...workers].flatMap(twice));
      await world.time.advance(60_000);
      await assertQuiet(world);
    }));

  test("reaches as many workers of a pool at once as rolloutStrategy allows", () =>
    tell({}, async (world) => {
      await settled(world, demoCluster(["10.5.0.1"], ["10.5.0.2", "10.5.0.3", "10.5.0.4", "10.5.0.5", "10.5.0.6"]));
      const sent = world.sent.length;
      await edit(world, {
        worker: {
          rolloutStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "40%" } },
          metalSpec: { machineSpec: { configPatches: [label("r1")] } },
        },
      });
      const open = async (): Promise<number> =>
        ((await world.get(kinds.record))?.spec?.["openWorkerIntents"] as readonly unknown[] | undefined)?.length ?? 0;
      let most = 0;
      await world.until("rolled out", async () => {
        most = Math.max(most, await open());
        return (await upToDate(world))?.reason === "UpToDate" && applies(world, sent).length >= 10;
      });
      assert.equal(most, 2);
      assert.equal(applies(world, sent).length, 10);
    }));

  test("reaches them together, however long each of them takes to answer", () => {
    const slow: { timers?: Timers } = {};
    const dialer = (real: TalosDialer): TalosDialer =>
      withCalls(real, ({ channel }) => ({
        unary: async (method, request, options) => {
          if (method.path.endsWith("/ApplyConfiguration")) await slow.timers?.sleep(15_000);
          return channel.unary(method, request, options);
        },
      }));
    return tell({ dialer }, async (world) => {
      const many = [2, 3, 4, 5, 6].map((index) => `10.5.0.${index}`);
      await settled(world, demoCluster(["10.5.0.1"], many));
      slow.timers = world.time.timers;
      const begunAt = world.time.now();
      await edit(world, {
        worker: {
          rolloutStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "100%" } },
          metalSpec: { machineSpec: { configPatches: [label("r1")] } },
        },
      });
      await world.until("kept", async () => many.every((address) => onDisk(world, address).includes("example.org/rack: r1")));
      assert.ok(world.time.now() - begunAt < 90_000, `took ${world.time.now() - begunAt} ms`);
      await untilUpToDate(world);
    });
  });

  test("that is taken back before it was rolled out sends nothing more than it must", () =>
    tell({}, async (world) => {
      await settled(world);
      await edit(world, patched("worker", label("r1")));
      await world.until("tried", async () => activeOf(world, "10.5.0.4").includes("rack: r1"));
      await edit(world, patched("worker"));
      await untilUpToDate(world);
      await world.time.advance(60_000);
      for (const address of workers) {
        assert.ok(!activeOf(world, address).includes("rack"), address);
        assert.ok(!onDisk(world, address).includes("rack"), address);
      }
      await assertQuiet(world);
    }));
});

describe("a change that restarts a service", () => {
  test("is kept only when the node is ready again", () =>
    tell({ timings: realisticTimings }, async (world) => {
      await settled(world, demoCluster(["10.5.0.1"], ["10.5.0.2", "10.5.0.3"]), 900);
      const sent = world.sent.length;
      await edit(world, patched("worker", { machine: { kubelet: { extraArgs: { v: "4" } } } }));
      let unready = false;
      await world.until("kept", async () => {
        const { services, config } = world.datacenter.machine("10.5.0.2").state;
        unready ||= services["kubelet"]?.state !== "Running";
        if (config.persisted?.includes("extraArgs") !== true) return false;
        assert.equal(services["kubelet"]?.state, "Running");
        return true;
      });
      assert.ok(unready, "the kubelet was never restarted");
      await untilUpToDate(world);
      assert.deepEqual(applies(world, sent), [...twice("10.5.0.2"), ...twice("10.5.0.3")]);
    }));
});

describe("a change that cuts a machine off", () => {
  test("is taken back by the machine itself, the rollout stops with the reason, and goes on when the settings are corrected", () =>
    tell({}, async (world) => {
      await settled(world);
      const sent = world.sent.length;
      await accepted(world, "worker");
      await world.until("stopped", async () => (await upToDate(world))?.reason === "RolloutStopped", 600);
      assert.match((await upToDate(world))?.message ?? "", /demo-.*10\.5\.0\.4: while it tried them, its Talos API does not answer/);
      assert.deepEqual(applies(world, sent), ["ApplyConfiguration 10.5.0.4"]);
      assert.ok(!activeOf(world, "10.5.0.4").includes("NetworkDefaultAction"));
      assert.ok(!activeOf(world, "10.5.0.5").includes("NetworkDefaultAction"));
      assert.ok(!onDisk(world, "10.5.0.4").includes("NetworkDefaultAction"));
      await world.time.advance(120_000);
      await assertQuiet(world, 30);
      // A new operator does not try it again either.
      await world.start();
      await world.time.advance(300_000);
      assert.deepEqual(applies(world, sent), ["ApplyConfiguration 10.5.0.4"]);
      await edit(world, patched("worker", label("r1")));
      await untilUpToDate(world);
      assert.deepEqual(applies(world, sent).slice(1), workers.flatMap(twice));
    }));

  test("on a control plane costs no other one", () =>
    tell({}, async (world) => {
      await settled(world);
      const sent = world.sent.length;
      await accepted(world, "controlPlane");
      await world.until("stopped", async () => (await upToDate(world))?.reason === "RolloutStopped", 600);
      assert.deepEqual(applies(world, sent), ["ApplyConfiguration 10.5.0.1"]);
      await world.untilReady();
      await world.time.advance(60_000);
      await assertQuiet(world);
    }));
});

describe("a rollout that stopped for another reason", () => {
  test("is begun anew on a person's word, which acts once", () =>
    tell({}, async (world) => {
      await settled(world);
      await edit(world, patched("worker", label("r1")));
      await world.until("tried", async () => activeOf(world, "10.5.0.4").includes("rack: r1"));
      world.datacenter.machine("10.5.0.4").setConnected(false);
      await world.until("stopped", async () => (await upToDate(world))?.reason === "RolloutStopped", 600);
      world.datacenter.machine("10.5.0.4").setConnected(true);
      await world.untilReady();
      const name = /retry-config: (\S+) to send/.exec((await upToDate(world))?.message ?? "")?.[1] ?? "";
      assert.match(name, /10\.5\.0\.4$/);
      await world.annotate(kinds.controlPlane, "talos-operator.dev/retry-config", name);
      await untilUpToDate(world);
      assert.equal((await world.get(kinds.controlPlane))?.metadata?.annotations?.["talos-operator.dev/retry-config"], undefined);
      assert.ok(onDisk(world, "10.5.0.4").includes("rack: r1"));
    }));
});

describe("a machine that loses its power during a trial", () => {
  test("is tried again when it is back, without anybody's word", () =>
    tell({}, async (world) => {
      await settled(world);
      await edit(world, patched("worker", label("r1")));
      await world.until("tried", async () => activeOf(world, "10.5.0.4").includes("rack: r1"));
      world.datacenter.machine("10.5.0.4").powerCycle();
      await untilUpToDate(world, 1_800);
      assert.ok(onDisk(world, "10.5.0.4").includes("rack: r1"));
    }));
});

describe("a deletion", () => {
  test("does not wait for the end of a trial", () =>
    tell({}, async (world) => {
      await settled(world);
      await edit(world, patched("controlPlane", label("r1")));
      await world.until("tried", async () => activeOf(world, "10.5.0.1").includes("rack: r1"));
      const from = world.time.clock.now();
      await world.client.resource(kinds.cluster).delete(demo);
      await world.until("gone", async () => (await world.get(kinds.cluster)) === undefined);
      assert.ok(world.time.clock.now() - from < 60_000, "it waited");
    }));
});

describe("a change that the machine refuses", () => {
  test("stops the rollout and shows the machine's words", () =>
    tell({}, async (world) => {
      await settled(world);
      const sent = world.sent.length;
      const fault = world.datacenter.inject({
        method: "ApplyConfiguration",
        effect: { kind: "error", code: 3, message: "1 error occurred: machine.sysctls: no such key" },
      });
      await edit(world, patched("worker", { machine: { sysctls: { "net.core.nonsense": "1" } } }));
      await world.until("rejected", async () => (await upToDate(world))?.reason === "ConfigRejected");
      assert.match((await upToDate(world))?.message ?? "", /10\.5\.0\.4: it refused them/);
      fault.remove();
      await world.time.advance(600_000);
      assert.equal(applies(world, sent).length, 1);
      await assertQuiet(world);
    }));
});

describe("a change that needs a boot", () => {
  test("is staged, and control planes are booted one by one; etcd has its quorum at every moment", () =>
    tell({ timings: demoTimings }, async (world) => {
      await settled(world);
      const sent = world.sent.length;
      const boots = cps.map((address) => world.datacenter.machine(address).state.bootCount);
      await edit(world, patched("controlPlane", needsBoot));
      let most = 0;
      const stop = world.datacenter.onMachine(() => void (most = Math.max(most, outNow(world))));
      await untilUpToDate(world, 1_800);
      stop();
      assert.equal(most, 1);
      assert.deepEqual(
        applies(world, sent),
        cps.flatMap((address) => [`ApplyConfiguration ${address}`, `Reboot ${address}`]),
      );
      assert.deepEqual(
        cps.map((address) => world.datacenter.machine(address).state.bootCount),
        boots.map((count) => count + 1),
      );
      for (const address of cps) assert.ok(activeOf(world, address).includes("quota-backend-bytes"), address);
      await world.time.advance(60_000);
      await assertQuiet(world);
    }));

  for (const { talos, kubernetes } of [
    { talos: "v1.12.11", kubernetes: "v1.35.4" },
    { talos: "v1.14.0", kubernetes: "v1.36.3" },
  ])
    test(`goes the same way on Talos ${talos}, and so does one that needs none`, () =>
      tell({ machines: ["10.5.0.1", "10.5.0.2"].map((address) => ({ address, talosVersion: talos })) }, async (world) => {
        const cluster = demoCluster(["10.5.0.1"], ["10.5.0.2"], { version: talos, kubeVersion: kubernetes });
        const worker = { ...cluster.spec?.worker, version: talos, kubeVersion: kubernetes };
        await settled(world, { ...cluster, spec: { ...cluster.spec, worker } });
        const sent = world.sent.length;
        await edit(world, patched("worker", { machine: { env: { NO_PROXY: "example.org" } } }));
        await untilUpToDate(world, 1_800);
        assert.deepEqual(applies(world, sent), ["ApplyConfiguration 10.5.0.2", "Reboot 10.5.0.2"]);
        await edit(
          world,
          patched("worker", { machine: { env: { NO_PROXY: "example.org" } } }, talos === "v1.14.0" ? labelSince114("r1") : label("r1")),
        );
        await untilUpToDate(world, 1_800);
        assert.deepEqual(applies(world, sent).slice(2), twice("10.5.0.2"));
        assert.equal(activeOf(world, "10.5.0.2"), onDisk(world, "10.5.0.2"));
        await assertQuiet(world);
      }));

  test("waits for its boot while etcd could not bear it, and counts the boot that somebody else makes", () =>
    tell({}, async (world) => {
      await settled(world);
      world.datacenter.machine("10.5.0.2").setConnected(false);
      await world.time.advance(120_000);
      const sent = world.sent.length;
      await edit(world, patched("controlPlane", needsBoot));
      await world.until("waits", async () => (await upToDate(world))?.reason === "Waiting");
      assert.match((await upToDate(world))?.message ?? "", /quorum/);
      await world.time.advance(300_000);
      assert.deepEqual(applies(world, sent), []);
      world.datacenter.machine("10.5.0.2").setConnected(true);
      await untilUpToDate(world, 1_800);
    }));
});

test("a rollout that waits for what an earlier leader may still have under way begins in the moment that is over, not at the next look", () =>
  tell({ operator: { leaderElection: { leaseDurationMs: 5_000, renewDeadlineMs: 3_500, retryPeriodMs: 1_000 } } }, async (world) => {
    await settled(world);
    await world.kill();
    await world.start();
    const sent = world.sent.length;
    await world.until("a new leader looks", async () => (await upToDate(world))?.reason === "UpToDate", 30);
    await edit(world, patched("worker", label("r1")));
    // A lease of five seconds, and the longest effect, twenty; then no more than the turns of the passes.
    await world.time.advance(31_000);
    assert.deepEqual(applies(world, sent), ["ApplyConfiguration 10.5.0.4"]);
  }));
