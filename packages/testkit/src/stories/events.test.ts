// What people hear of a cluster in events: each fact once, on the object that it is about and on what that belongs to.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventCatalogue } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { KubeTransport } from "@talos-operator/ports";
import { genuineTimings } from "@talos-operator/simulator";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const demo = { namespace: "default", name: "demo" };

interface Told extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
  readonly series?: { readonly count: number };
}

async function told(world: Story): Promise<readonly Told[]> {
  const { items } = await world.client.resource<Told>(kinds.event).list({ namespace: "default" });
  return items;
}

/** `TalosMachine/demo-10.5.0.4 MachineJoined: …`, sorted, of some reasons. */
async function saying(world: Story, ...reasons: readonly string[]): Promise<readonly string[]> {
  const events = await told(world);
  return events
    .filter(({ reason }) => reasons.includes(reason))
    .map(({ regarding, reason, note }) => `${regarding.kind}/${regarding.name} ${reason}: ${note}`)
    .toSorted();
}

/** All of the kinds that a machine's news is told on. */
function everywhere(machine: string, pool: string, reason: string, did: string): readonly string[] {
  return [`TalosMachine/${machine}`, pool, "TalosCluster/demo"].map((object) => `${object} ${reason}: ${machine} ${did}.`).toSorted();
}

async function made(world: Story): Promise<void> {
  await world.start();
  await apply(world, kinds.cluster, demoCluster(cps, workers));
  await world.untilReady();
  await world.time.advance(60_000);
}

async function list(world: Story, controlPlanes: readonly string[], workerList: readonly string[]): Promise<void> {
  const { spec } = demoCluster(controlPlanes, workerList);
  await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
}

const machineReady = async (world: Story, name: string): Promise<boolean> =>
  (await world.condition(kinds.machine, "Ready", name))?.status === "True";

describe("events", () => {
  test("of a cluster that is made", () =>
    tell({ timings: genuineTimings }, async (world) => {
      await made(world);
      assert.deepEqual(await saying(world, "EtcdBootstrapped", "MachineConfigured"), [
        "TalosCluster/demo EtcdBootstrapped: etcd bootstrapped on demo-10.5.0.1.",
        "TalosControlPlane/demo MachineConfigured: demo-10.5.0.1, demo-10.5.0.2, demo-10.5.0.3 took the configuration.",
        "TalosWorker/demo MachineConfigured: demo-10.5.0.4, demo-10.5.0.5 took the configuration.",
      ]);
      assert.deepEqual(await saying(world, "MachineJoined"), [], "Ready says it");
      const ready = (await told(world)).filter(({ reason }) => reason === "Ready").map(({ regarding }) => regarding.kind);
      assert.deepEqual(ready.toSorted(), ["TalosCluster", "TalosControlPlane", "TalosWorker"]);
      assert.deepEqual(await saying(world, "NotReady", "EtcdUnhealthy", "EtcdHealthy"), []);
    }));

  test("are counted when the same happens again, up to the end of the process", () =>
    tell({}, async (world) => {
      await made(world);
      const secrets = world.client.resource(kinds.secret);
      const kubeconfig = { namespace: "default", name: "demo-kubeconfig" };
      const { metadata } = await secrets.get(kubeconfig);
      await secrets.delete(kubeconfig);
      await world.until("there is another kubeconfig", async () => {
        const uid = (await secrets.tryGet(kubeconfig))?.metadata?.uid;
        return uid !== undefined && uid !== metadata?.uid;
      });
      await world.stop();
      const written = (await told(world)).filter(({ note }) => note.startsWith("Wrote the kubeconfig"));
      assert.deepEqual(
        written.map(({ series }) => series?.count),
        [2],
      );
    }));

  test("are not told again by another process, nor because something is read again", () =>
    tell({}, async (world) => {
      await made(world);
      const before = await told(world);
      for (const end of ["stop", "kill", "stop"] as const) {
        await world[end]();
        await world.start();
        await world.time.advance(400_000);
      }
      assert.deepEqual(
        (await told(world)).map(({ metadata, series }) => [metadata?.name, series]),
        before.map(({ metadata, series }) => [metadata?.name, series]),
      );
    }));

  test("of a worker that joins and leaves", () =>
    tell({}, async (world) => {
      await made(world);
      await list(world, cps, [...workers, "10.5.0.6"]);
      await world.until("it joined", () => machineReady(world, "demo-10.5.0.6"));
      await world.time.advance(60_000);
      const joined = await saying(world, "MachineJoined", "MachineConfigured");
      const wanted = [
        ...everywhere("demo-10.5.0.6", "TalosWorker/demo", "MachineConfigured", "took the configuration").filter(
          (line) => !line.startsWith("TalosMachine"),
        ),
        ...everywhere("demo-10.5.0.6", "TalosWorker/demo", "MachineJoined", "joined the cluster"),
      ];
      for (const line of wanted) assert.ok(joined.includes(line), `${line}\n${joined.join("\n")}`);

      await list(world, cps, workers);
      await world.until("it is gone", async () => (await world.get(kinds.machine, "demo-10.5.0.6")) === undefined, 600);
      await world.time.advance(60_000);
      for (const [reason, did] of [
        ["MachineDrained", "was drained"],
        ["MachineReset", "was reset"],
        ["MachineRemoved", "left the cluster"],
      ] as const)
        assert.deepEqual(await saying(world, reason), everywhere("demo-10.5.0.6", "TalosWorker/demo", reason, did));
    }));

  test("of settings that change with and without a reboot, and of some that a machine refuses", () =>
    tell({}, async (world) => {
      await made(world);
      const settle = async (pool: "worker" | "controlPlane", ...configPatches: readonly object[]): Promise<void> => {
        const value = { spec: { [pool]: { metalSpec: { machineSpec: { configPatches } } } } };
        await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value });
        await world.time.advance(1_200_000);
      };
      /** On each machine, and on pool and cluster in as many events as it took. */
      const assertTold = async (addresses: readonly string[], pool: string, reason: string, did: string): Promise<void> => {
        const lines = await saying(world, reason);
        for (const address of addresses) {
          const line = `TalosMachine/demo-${address} ${reason}: demo-${address} ${did}.`;
          assert.equal(lines.filter((one) => one === line).length, 1, lines.join("\n"));
          for (const object of [pool, "TalosCluster/demo"]) {
            const naming = lines.filter((one) => one.startsWith(`${object} `) && new RegExp(`demo-${address}[, ]`).test(one));
            assert.equal(naming.length, 1, lines.join("\n"));
          }
        }
      };
      await settle("worker", { machine: { nodeLabels: { told: "once" } } });
      await assertTold(workers, "TalosWorker/demo", "SettingsChanged", "runs with the new settings");
      assert.deepEqual(await saying(world, "MachineRebooted", "ConfigApplyFailed"), []);

      await settle("controlPlane", { cluster: { etcd: { extraArgs: { "quota-backend-bytes": "4294967296" } } } });
      await assertTold(cps, "TalosControlPlane/demo", "MachineRebooted", "rebooted");
      assert.deepEqual(await saying(world, "ConfigApplyFailed"), []);

      world.datacenter.inject({
        method: "ApplyConfiguration",
        effect: { kind: "error", code: 3, message: "1 error occurred: no such key" },
      });
      await settle("worker", { machine: { sysctls: { "net.core.nonsense": "1" } } });
      const failed = await saying(world, "ConfigApplyFailed");
      assert.ok(
        failed.some((line) => /^TalosMachine\/demo-10\.5\.0\.4 .*no such key/.test(line)),
        failed.join("\n"),
      );
      assert.ok(
        failed.some((line) => /^TalosCluster\/demo .*no such key/.test(line)),
        failed.join("\n"),
      );
    }));

  for (const { what, spec } of [
    {
      what: "settings of workers",
      spec: { worker: { metalSpec: { machineSpec: { configPatches: [{ machine: { nodeLabels: { a: "b" } } }] } } } },
    },
    {
      what: "settings of control planes",
      spec: { controlPlane: { metalSpec: { machineSpec: { configPatches: [{ machine: { nodeLabels: { a: "b" } } }] } } } },
    },
    { what: "a version that nobody acts on", spec: { controlPlane: { version: "v1.13.8" } } },
    {
      what: "a field that changes nothing",
      spec: { controlPlane: { deletionPolicy: "preserve" }, worker: { deletionPolicy: "preserve" } },
    },
  ])
    test(`of an edit of ${what} never say that something is not ready any more, and what is Ready stays so`, () => {
      let isSlow = false;
      /** Pools answer late: their statuses are not taken. */
      const slow = (real: KubeTransport): KubeTransport => ({
        ...real,
        send: (request, options) =>
          isSlow && /\/talos(controlplanes|workers)\/[^/]+\/status$/.test(request.path)
            ? Promise.resolve({ status: 503, headers: {}, body: { kind: "Status", apiVersion: "v1", status: "Failure", code: 503 } })
            : real.send(request, options),
      });
      return tell({ kube: slow }, async (world) => {
        await made(world);
        isSlow = true;
        const before = await world.get(kinds.cluster, "demo");
        await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
        const all = [kinds.cluster, kinds.controlPlane, kinds.worker];
        for (let ms = 0; ms < 20_000; ms += 50) {
          if (ms >= 6_000) isSlow = false;
          await world.time.advance(50);
          for (const kind of all) {
            const ready = await world.condition(kind, "Ready");
            assert.equal(ready?.status, "True", `${kind.kind} ${ms} ms after the edit: ${ready?.message}`);
          }
        }
        await world.time.advance(600_000);
        const after = await world.get(kinds.cluster, "demo");
        assert.notEqual(after?.metadata?.generation, before?.metadata?.generation);
        assert.equal((await world.condition(kinds.cluster, "Ready"))?.observedGeneration, after?.metadata?.generation);
        assert.deepEqual(await saying(world, "NotReady"), []);
      });
    });

  test("of a machine that is lost and comes back, and of its cluster", () =>
    tell({}, async (world) => {
      await made(world);
      world.datacenter.machine("10.5.0.2").powerOff();
      await world.until("it is told", async () => (await saying(world, "NotReady")).length >= 3, 60);
      await world.time.advance(60_000);
      const lost = (await told(world)).filter(({ reason }) => reason === "NotReady");
      assert.deepEqual(lost.map(({ regarding }) => `${regarding.kind}/${regarding.name}`).toSorted(), [
        "TalosCluster/demo",
        "TalosControlPlane/demo",
        "TalosMachine/demo-10.5.0.2",
      ]);
      assert.ok(lost.every(({ type }) => type === "Warning"));
      world.datacenter.machine("10.5.0.2").powerOn();
      await world.untilReady();
      await world.time.advance(60_000);
      const back = (await told(world)).filter(({ reason }) => reason === "Ready");
      const times = (kind: string): number =>
        back.filter(({ regarding }) => regarding.kind === kind).reduce((sum, { series }) => sum + (series?.count ?? 1), 0);
      assert.deepEqual(["TalosMachine", "TalosWorker", "TalosControlPlane", "TalosCluster"].map(times), [1, 1, 2, 2]);
    }));

  test("of an upgrade that is asked for", () =>
    tell({}, async (world) => {
      await made(world);
      await world.client
        .resource(kinds.cluster)
        .patch(demo, { type: "merge", value: { spec: { controlPlane: { kubeVersion: "v1.36.4" } } } });
      await world.until("it is told", async () => (await saying(world, "UpgradePending")).length > 0, 60);
      await world.time.advance(60_000);
      const asked = await saying(world, "UpgradePending");
      assert.ok(
        asked.some((line) => /^TalosControlPlane\/demo .*v1\.36\.3.*v1\.36\.4/.test(line)),
        asked.join("\n"),
      );
      assert.equal(new Set(asked).size, asked.length);
    }));

  test("have reasons of the catalogue alone, of their type, on their kinds", () =>
    tell({}, async (world) => {
      await made(world);
      await list(world, cps, ["10.5.0.4", "10.5.0.6"]);
      await world.time.advance(600_000);
      for (const { reason, type, regarding } of await told(world)) {
        const entry = Object.entries(eventCatalogue).find(([name]) => name === reason)?.[1];
        assert.equal(entry?.type, type, reason);
        assert.ok(
          entry?.on.some((kind) => kind === regarding.kind),
          `${reason} on ${regarding.kind}`,
        );
      }
    }));
});
