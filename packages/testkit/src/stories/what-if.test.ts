import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { printPlan, whatIf } from "@talos-operator/operator";
import type { WhatIf } from "@talos-operator/operator";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];

async function plan(world: Story, edited: TalosCluster): Promise<WhatIf> {
  const before = world.writes.length;
  const [found] = await whatIf([edited], { client: world.client, now: world.time.now(), hosts: { allowLoopback: false } });
  assert.ok(found !== undefined);
  assert.equal(world.writes.length, before);
  return found;
}

const ready = async (world: Story): Promise<void> => {
  await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(cps, workers));
  await world.start();
  await world.untilReady();
};

const effects = ({ plan: { steps } }: WhatIf): readonly string[] =>
  steps.filter(({ effect }) => effect !== "stored").map(({ effect, machines }) => `${effect} ${machines.join(" ")}`);

test("the plan of a cluster that does not exist yet founds it, and says that nothing is known of its machines", () =>
  tell({}, async (world) => {
    const found = await plan(world, demoCluster(cps, workers));
    assert.equal(found.isNew, true);
    assert.deepEqual(found.unknown.length, 5);
    assert.deepEqual(effects(found), [
      `waits ${[...cps, ...workers].map((address) => `demo-${address}`).join(" ")}`,
      `installs ${[...cps, ...workers].map((address) => `demo-${address}`).join(" ")}`,
      "bootstraps etcd demo-10.5.0.1",
    ]);
  }));

test("the plan names the field of the object that was edited", () =>
  tell({}, async (world) => {
    await ready(world);
    const edited = demoCluster(cps, workers);
    Object.assign(edited.spec?.worker ?? {}, { version: "v1.13" });
    const found = await plan(world, edited);
    assert.match(printPlan(found.plan), /Now it waits \(VersionUnsupported\): spec\.worker\.version: "v1\.13" is no version/);
  }));

test("the plan names the Kubernetes that a pool asks for and does not get", () =>
  tell({}, async (world) => {
    await ready(world);
    const edited = demoCluster(cps, workers);
    Object.assign(edited.spec?.worker ?? {}, { kubeVersion: "v1.35.4" });
    const text = printPlan((await plan(world, edited)).plan);
    assert.match(text, /Not in this plan: TalosWorker demo: Kubernetes runs v1\.36\.3, and this pool asks for v1\.35\.4/);
    assert.doesNotMatch(printPlan((await plan(world, demoCluster(cps, workers))).plan), /asks for/);
  }));

test("the plan of a pool above its control plane installs what the cluster runs, and says that no way leads there", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.time.advance(60_000);
    const edited = demoCluster(cps, [...workers, "10.5.0.6"]);
    Object.assign(edited.spec?.worker ?? {}, { version: "v1.14.0" });
    const text = printPlan((await plan(world, edited)).plan);
    assert.match(text, /\[installs\] .*demo-10\.5\.0\.6 \(10\.5\.0\.6, \/dev\/sda, Talos v1\.13\.9\)/);
    assert.match(text, /Not in this plan: .*Workers .*cannot run a newer Talos \(v1\.14\.0\) than the control plane \(v1\.13\.9\)/);
  }));

test("the plan of machines on loopback is that of a demo where such machines are in use, and refused elsewhere", async () => {
  const local = ["127.1.0.1", "127.1.0.2"];
  const edited = (names: readonly string[]): TalosCluster => demoCluster(names.slice(0, 1), names.slice(1));
  await tell({}, async (world) => {
    assert.match(printPlan((await plan(world, edited(local))).plan), /Then it waits \(InvalidAddress\)/);
  });
  await tell({ machines: local.map((address) => ({ address })), operator: { allowLoopbackMachines: true } }, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(edited(local.slice(0, 1)));
    await world.start();
    await world.untilReady();
    assert.deepEqual(effects(await plan(world, edited(local))), ["waits demo-127.1.0.2", "installs demo-127.1.0.2"]);
  });
});

test("the plan of what stands is empty, also with access Secrets, members and configs in it", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.time.advance(60_000);
    const found = await plan(world, demoCluster(cps, workers));
    assert.deepEqual(found.unknown, []);
    assert.deepEqual(
      found.plan.steps.map(({ says }) => says),
      [],
    );
    assert.equal(found.plan.waiting, undefined, printPlan(found.plan));
  }));

test("an object without the fields that have a default is planned as it would be stored", () =>
  tell({}, async (world) => {
    const { kubeVersion: _kubeVersion, version: _version, ...controlPlane } = demoCluster(cps).spec?.controlPlane ?? {};
    const found = await plan(world, { ...demoCluster(cps), spec: { controlPlane } } as TalosCluster);
    assert.equal(effects(found).at(-1), "bootstraps etcd demo-10.5.0.1", printPlan(found.plan));
  }));

test("edits are told with order, effect class and what etcd keeps", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.time.advance(60_000);
    const { spec } = demoCluster(cps, workers);
    const machineSpec = { installDisk: "/dev/sda", configPatches: [{ machine: { sysctls: { "net.core.somaxconn": "4096" } } }] };
    const cluster = demoCluster(cps, workers);
    const patched = {
      ...cluster,
      spec: { ...spec, worker: { ...spec?.worker, metalSpec: { ...spec?.worker?.metalSpec, machineSpec } } },
    } as TalosCluster;
    assert.deepEqual(
      effects(await plan(world, patched)).filter((step) => step.startsWith("live")),
      ["live demo-10.5.0.4", "live demo-10.5.0.5"],
    );

    const replaced = await plan(world, demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.6"], workers));
    assert.deepEqual(replaced.unknown, ["demo-10.5.0.6"]);
    const steps = effects(replaced).filter((step) => !step.startsWith("drains"));
    assert.deepEqual(
      steps.filter((step) => !step.startsWith("membership")),
      ["waits demo-10.5.0.6", "installs demo-10.5.0.6", "destroys data demo-10.5.0.3"],
    );
    assert.match(replaced.plan.steps.find(({ effect }) => effect === "destroys data")?.quorum ?? "", /3 healthy of 4 voters/);

    const even = await plan(world, demoCluster(["10.5.0.1", "10.5.0.2"], workers));
    assert.deepEqual(effects(even), []);
    assert.equal(even.plan.waiting?.reason, "UnsupportedReplicas");
    const emptied = { ...cluster, spec: { ...spec, worker: { ...spec?.worker, metalSpec: { machines: [] } } } } as TalosCluster;
    assert.match(
      printPlan((await plan(world, emptied)).plan),
      /^Nothing would be done\.\nNow it waits \(Removing\): .*demo-10\.5\.0\.4, demo-10\.5\.0\.5\..*annotate the TalosWorker with talos-operator\.dev\/confirm-reset: demo\.$/,
    );
  }));

test("a change that shuts everybody out of running machines is in no plan, which names the hazard", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.time.advance(60_000);
    const patched = (...configPatches: object[]): TalosCluster => {
      const cluster = demoCluster(cps, workers);
      Object.assign(cluster.spec?.worker?.metalSpec?.machineSpec ?? {}, { configPatches });
      return cluster;
    };
    const closed = { apiVersion: "v1alpha1", kind: "NetworkDefaultActionConfig", ingress: "block" };
    const needsBoot = { machine: { env: { NO_PROXY: "example.org" } } };
    const held = await plan(world, patched(closed, needsBoot));
    assert.deepEqual(effects(held), []);
    assert.match(
      printPlan(held.plan),
      /^Nothing would be done yet\.\nNot in this plan: TALOS_API_BLOCKED holds back the settings of demo-10\.5\.0\.4, demo-10\.5\.0\.5\. .*accept-hazard: TALOS_API_BLOCKED\./,
    );
    const label = { machine: { nodeLabels: { "example.org/rack": "r1" } } };
    const tried = effects(await plan(world, patched(label, needsBoot))).filter((step) => step.endsWith("10.5.0.4"));
    assert.deepEqual(
      tried.filter((step) => !step.startsWith("drains")),
      ["live demo-10.5.0.4", "reboot demo-10.5.0.4"],
    );
  }));

test("a machine that does not answer is unknown to the plan, and it says so", () =>
  tell({}, async (world) => {
    await ready(world);
    world.datacenter.machine("10.5.0.5").powerOff();
    await world.until("missed", async () => (await world.condition(kinds.machine, "Reachable", "demo-10.5.0.5"))?.status === "False", 300);
    const found = await plan(world, demoCluster(cps, workers));
    assert.deepEqual(found.unknown, ["demo-10.5.0.5"]);
  }));

test("the plan for a control plane that is dead removes its member before another one joins", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.time.advance(60_000);
    world.datacenter.machine("10.5.0.3").powerOff();
    await world.until("missed", async () => (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status === "False", 300);
    await world.until("told", async () => (await world.condition(kinds.machine, "Reachable", "demo-10.5.0.3"))?.status === "False", 30);
    const replaced = await plan(world, demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.6"], workers));
    assert.deepEqual(replaced.unknown, ["demo-10.5.0.6", "demo-10.5.0.3"]);
    const steps = effects(replaced);
    const text = printPlan(replaced.plan);
    assert.deepEqual(
      steps.filter((step) => !step.startsWith("drains")),
      ["membership demo-10.5.0.3", "waits demo-10.5.0.6", "installs demo-10.5.0.6"],
      text,
    );
    assert.equal(replaced.plan.waiting?.reason, undefined, text);
  }));

test("the plan for a pool that is taken away with a dead machine in it says how to give that one up", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.time.advance(60_000);
    world.datacenter.machine("10.5.0.5").powerOff();
    await world.until("missed", async () => (await world.condition(kinds.machine, "Reachable", "demo-10.5.0.5"))?.status === "False", 300);
    const { worker: _, ...spec } = demoCluster(cps, workers).spec ?? {};
    const found = await plan(world, { ...demoCluster(cps, workers), spec });
    const text = printPlan(found.plan);
    assert.deepEqual(
      effects(found).filter((step) => step.startsWith("destroys")),
      ["destroys data demo-10.5.0.4"],
      text,
    );
    assert.doesNotMatch(text, /Bring the pool back/);
    assert.match(text, /abandon-machine/);
  }));

test("the plan of another endpoint asks it first, and brings it to control planes, then to workers and into the kubeconfig", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.time.advance(60_000);
    const found = await plan(world, demoCluster(cps, workers, { endpoint: "https://api.example:6443" }));
    assert.deepEqual(
      found.plan.steps.map(({ action, machines }) => `${action} ${machines.join(" ")}`.trim()),
      [
        "WriteRecord",
        ...cps.map((address) => `ApplyConfig demo-${address}`),
        "WriteRecord",
        ...workers.map((address) => `ApplyConfig demo-${address}`),
        "WriteKubeconfig",
      ],
    );
    const said = found.plan.steps.map(({ says }) => says).join("\n");
    assert.match(said, /^Ask the new endpoint https:\/\/api\.example:6443\. Nothing is sent before/);
    assert.match(said, /demo-10\.5\.0\.1: .*cluster\.controlPlane\.endpoint \(restarts-service\)/);
    assert.equal(found.plan.waiting, undefined, printPlan(found.plan));
  }));
