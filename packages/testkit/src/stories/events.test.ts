// What people hear of a cluster in events: each fact once, a step on its machine, start, end and failure on what a person wrote.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventCatalogue } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { KubeTransport } from "@talos-operator/ports";
import { demoTimings, genuineTimings, realisticTimings } from "@talos-operator/simulator";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { ask, failed, settled, versions } from "./upgrades.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const demo = { namespace: "default", name: "demo" };

interface Told extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
  readonly eventTime: string;
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

const toldOn = (events: readonly Told[], object: string): readonly string[] =>
  events
    .filter(({ regarding }) => `${regarding.kind}/${regarding.name}` === object)
    .toSorted((a, b) => Date.parse(a.eventTime) - Date.parse(b.eventTime))
    .map(({ reason, note }) => `${reason}: ${note}`);

/** What is told twice: the same words on two objects. */
function twice(events: readonly Told[]): readonly string[] {
  const objects = Map.groupBy(events, ({ note }) => note);
  return [...objects].flatMap(([note, all]) =>
    new Set(all.map(({ regarding }) => `${regarding.kind}/${regarding.name}`)).size > 1 ? [note] : [],
  );
}

const warnings = (events: readonly Told[]): readonly string[] =>
  events.filter(({ type }) => type === "Warning").map(({ reason, note }) => `${reason}: ${note}`);

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
      assert.deepEqual(await saying(world, "EtcdBootstrapped", "MachineConfigured", "MachineJoined"), [
        "TalosCluster/demo EtcdBootstrapped: etcd bootstrapped on demo-10.5.0.1.",
      ]);
      const ready = (await told(world)).filter(({ reason }) => reason === "Ready").map(({ regarding }) => regarding.kind);
      assert.deepEqual(ready, ["TalosCluster"]);
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
    tell({ timings: realisticTimings }, async (world) => {
      await made(world);
      await list(world, cps, [...workers, "10.5.0.6"]);
      await world.until("it joined", () => machineReady(world, "demo-10.5.0.6"));
      await world.time.advance(60_000);
      const machine = "TalosMachine/demo-10.5.0.6";
      assert.deepEqual(toldOn(await told(world), machine), [
        "MachineConfigured: Configured demo-10.5.0.6.",
        "MachineJoined: demo-10.5.0.6 joined the cluster.",
      ]);

      const joining = warnings(await told(world));
      await list(world, cps, workers);
      await world.until("it is gone", async () => (await world.get(kinds.machine, "demo-10.5.0.6")) === undefined, 600);
      await world.time.advance(60_000);
      const events = await told(world);
      assert.deepEqual(toldOn(events, machine).slice(2).toSorted(), [
        "MachineDrained: Drained demo-10.5.0.6.",
        "MachineReset: Reset demo-10.5.0.6.",
        "ResetStarted: Resetting demo-10.5.0.6.",
      ]);
      assert.deepEqual(await saying(world, "MachineRemoved"), [
        "TalosCluster/demo MachineRemoved: Removed demo-10.5.0.6 from the cluster.",
      ]);
      assert.deepEqual([warnings(events), twice(events)], [joining, []], "what the operator wipes itself is no bad news");
    }));

  test("of settings that change with and without a reboot, and of some that a machine refuses", () =>
    tell({}, async (world) => {
      await made(world);
      const settle = async (pool: "worker" | "controlPlane", ...configPatches: readonly object[]): Promise<void> => {
        const value = { spec: { [pool]: { metalSpec: { machineSpec: { configPatches } } } } };
        await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value });
        await world.time.advance(1_200_000);
      };
      const assertTold = async (addresses: readonly string[], reason: string, say: (machine: string) => string): Promise<void> =>
        assert.deepEqual(
          await saying(world, reason),
          addresses.map((address) => `TalosMachine/demo-${address} ${reason}: ${say(`demo-${address}`)}`),
        );
      await settle("worker", { machine: { nodeLabels: { told: "once" } } });
      await assertTold(workers, "SettingsChanged", (machine) => `Applied new settings to ${machine} without a reboot.`);
      assert.deepEqual(await saying(world, "MachineRebooted", "ConfigApplyFailed"), []);

      await settle("controlPlane", { cluster: { etcd: { extraArgs: { "quota-backend-bytes": "4294967296" } } } });
      await assertTold(cps, "MachineRebooted", (machine) => `Rebooted ${machine}.`);
      assert.deepEqual(warnings(await told(world)), []);

      world.datacenter.inject({
        method: "ApplyConfiguration",
        effect: { kind: "error", code: 3, message: "1 error occurred: no such key" },
      });
      await settle("worker", { machine: { sysctls: { "net.core.nonsense": "1" } } });
      const refused = await saying(world, "ConfigApplyFailed");
      assert.ok(
        refused.length > 0 && refused.every((line) => /^TalosCluster\/demo .*demo-10\.5\.0\.[45].*no such key/.test(line)),
        refused.join("\n"),
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
      await world.until("it is told", async () => (await saying(world, "NotReady")).length >= 2, 60);
      await world.time.advance(60_000);
      const lost = (await told(world)).filter(({ reason }) => reason === "NotReady");
      assert.deepEqual(lost.map(({ regarding }) => `${regarding.kind}/${regarding.name}`).toSorted(), [
        "TalosCluster/demo",
        "TalosMachine/demo-10.5.0.2",
      ]);
      assert.ok(lost.every(({ type }) => type === "Warning"));
      world.datacenter.machine("10.5.0.2").powerOn();
      await world.untilReady();
      await world.time.advance(60_000);
      const back = (await told(world)).filter(({ reason }) => reason === "Ready");
      const times = (kind: string): number =>
        back.filter(({ regarding }) => regarding.kind === kind).reduce((sum, { series }) => sum + (series?.count ?? 1), 0);
      assert.deepEqual(["TalosMachine", "TalosWorker", "TalosControlPlane", "TalosCluster"].map(times), [1, 0, 0, 2]);
    }));

  for (const [pace, timings] of Object.entries({ demo: demoTimings, realistic: realisticTimings }))
    test(`of six machines that are made and upgraded at ${pace} pace tell one story, of at most 60 events and without a warning`, () =>
      tell({ timings }, async (world) => {
        const six = [...cps, "10.5.0.4", "10.5.0.5", "10.5.0.6"];
        await world.start();
        await apply(world, kinds.cluster, demoCluster(cps, six.slice(3)));
        await world.untilReady();
        await world.time.advance(30_000);
        await ask(world, "v1.13.10");
        await world.until("all run it", async () => versions(world, six).join() === "v1.13.10", 3_600);
        await settled(world);
        await world.time.advance(60_000);
        const events = await told(world);
        assert.ok(events.length <= 60, `${events.length} events`);
        assert.deepEqual([warnings(events), twice(events)], [[], []]);
        const image = "ghcr.io/siderolabs/installer:v1.13.10";
        for (const address of six) {
          const name = `demo-${address}`;
          const story = toldOn(events, `TalosMachine/${name}`).filter((line) => !line.startsWith("LeadershipHandedOver"));
          assert.match(story.pop() ?? "", new RegExp(`^MachineUpgraded: Upgraded ${name} to Talos v1\\.13\\.10 \\([1-6]/6\\)\\.$`));
          assert.deepEqual(story.toSorted(), [
            `InstallerPulled: Pulled ${image} to ${name}.`,
            `MachineDrained: Drained ${name}.`,
            `TalosBooting: Booting ${name} into Talos v1.13.10.`,
            `TalosInstalled: Installed Talos v1.13.10 on ${name} (boots next).`,
          ]);
        }
        const turns = events.flatMap(({ note }) => /\((\d)\/6\)/.exec(note)?.[1] ?? []);
        assert.deepEqual(turns.toSorted(), ["1", "2", "3", "4", "5", "6"]);
        assert.match(
          toldOn(events, "TalosCluster/demo").join("\n"),
          /EtcdBootstrapped: .*\nUpgradeStarted: Upgrade to Talos v1\.13\.10 started: 6 of 6 machines\.\nUpgradeEnded: Upgrade to Talos v1\.13\.10 completed: 6 of 6 machines in \d+ (s|min)\.$/s,
        );
        assert.deepEqual([toldOn(events, "TalosControlPlane/demo"), toldOn(events, "TalosWorker/demo")], [[], []]);
      }));

  test("of an upgrade that fails: the cluster tells that it stopped, the machine that it was rolled back", () =>
    tell({ timings: demoTimings }, async (world) => {
      await made(world);
      world.datacenter.setReleaseFault("v1.13.10", { boot: "never-healthy" });
      await ask(world, "v1.13.10");
      await failed(world);
      await world.until("rolled back", async () => (await saying(world, "MachineRolledBack")).length > 0, 3_600);
      const events = await told(world);
      assert.deepEqual(twice(events), []);
      assert.match(
        (await saying(world, "TalosVersionFailed", "MachineRolledBack")).join("\n"),
        /^TalosCluster\/demo TalosVersionFailed: Upgrade to Talos v1\.13\.10 stopped: demo-10\.5\.0\.2 was not healthy within 15 min \([^)]+\)\. It is rolled back to Talos v1\.13\.9\. No other machine gets it\.\nTalosMachine\/demo-10\.5\.0\.2 MachineRolledBack: demo-10\.5\.0\.2 was not healthy within 15 min \([^)]+\) and was rolled back to v1\.13\.9\.$/,
      );
      assert.deepEqual(await saying(world, "UpgradeEnded"), []);
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
