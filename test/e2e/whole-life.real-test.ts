import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import {
  talosClusterResource,
  talosControlPlaneResource,
  talosMachineResource,
  talosWorkerResource,
  clusterRecordResource,
} from "@talos-operator/api";
import type { ClusterRecord, Condition } from "@talos-operator/api";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { startFleet, until, watchQuorum, type Fleet } from "./fleet.ts";
import { must, run, tool } from "./processes.ts";

/**
 * The middle years on a genuine kube-apiserver with two replicas of the operator: a cluster that grows, one that shrinks, one whose settings change, one
 * that is deleted and one that is taken over, all at once. The leader is killed while an effect of every one of them is open in its ClusterRecord;
 * the other replica finishes all five.
 *
 * What a crash inside a single call does, and one during a trial of a configuration, which runs out for four minutes, is played in virtual time.
 */
const grow = { name: "grow", controlPlanes: addresses(1, 3), workers: addresses(4, 5), endpoint: "127.1.0.101" };
const shrink = { name: "shrink", controlPlanes: addresses(6, 8), workers: addresses(9, 10), endpoint: "127.1.0.102" };
const patch = { name: "patch", controlPlanes: addresses(11, 13), workers: addresses(14, 14), endpoint: "127.1.0.103" };
const gone = { name: "gone", controlPlanes: addresses(15, 17), workers: addresses(18, 18), endpoint: "127.1.0.104" };
const taken = { name: "taken", controlPlanes: addresses(19, 19), workers: addresses(20, 20), endpoint: "127.1.0.105" };
const made = [{ ...grow, controlPlanes: grow.controlPlanes.slice(0, 1), workers: grow.workers.slice(0, 1) }, shrink, patch, gone];
const everything = [grow, shrink, patch, gone, taken];

/** In force after a boot only. */
const needsBoot = { cluster: { etcd: { extraArgs: { "quota-backend-bytes": "4294967296" } } } };
/** In force at once. */
const isLive = { machine: { nodeLabels: { "example.org/rack": "r1" } } };

describe("five clusters in the middle of their lives, and a leader that is killed", { concurrency: true }, () => {
  let fleet: Fleet;
  let quorum: { end(): void };
  const accepted = new Map<string, number>();
  /** Effects on a cluster's machines since the edits began. */
  const effectsSince = (cluster: Shape): readonly string[] => fleet.effects(...machinesOf(cluster)).slice(accepted.get(cluster.name));
  const condition = async (type: ResourceType, name: string, wanted: string): Promise<Condition | undefined> => {
    const object = await fleet.client.resource<Conditioned>(type).tryGet({ namespace: "default", name });
    return object?.status?.conditions?.find((one) => one.type === wanted && one.observedGeneration === object.metadata?.generation);
  };
  const isReady = async ({ name }: Shape): Promise<boolean> => (await condition(talosClusterResource, name, "Ready"))?.status === "True";
  const openIntents = async ({ name }: Shape): Promise<readonly string[]> => {
    const record = await fleet.record(name);
    return [record?.openControlPlaneIntent, ...(record?.openWorkerIntents ?? [])].flatMap((intent) =>
      intent === undefined ? [] : [intent.what],
    );
  };

  before(async () => {
    // Boots are long enough that an effect of each cluster is open at one moment, however busy the machine is.
    fleet = await startFleet(20, 6);
    try {
      await Promise.all([createClusters(), createElsewhere(fleet)]);
      await until("the differences of the found cluster are told", async () => (await imported())?.reason === "ApprovalRequired");
      for (const cluster of everything) accepted.set(cluster.name, fleet.effects(...machinesOf(cluster)).length);
      quorum = watchQuorum(
        fleet,
        [grow, shrink, patch, taken].flatMap(({ controlPlanes }) => controlPlanes),
      );
      await edit();
      await fleet.killLeader();
    } catch (error) {
      process.stderr.write(`${fleet.logs()}\n`);
      throw error;
    }
  });

  after(async () => fleet?.[Symbol.asyncDispose]());

  /** What the replicas said, where a story did not end. */
  afterEach((context) => {
    if ("error" in context && context.error !== null) process.stderr.write(`${fleet.logs()}\n`);
  });

  it("one grows: machines join one etcd, which was bootstrapped once", async () => {
    await until("three voters", () => votersOf(fleet, grow) === 3);
    await until("Ready", () => isReady(grow));
    for (const address of machinesOf(grow)) assert.ok(fleet.machine(address).kubernetes.isNodeReady, address);
    assert.deepEqual(
      effectsSince(grow).toSorted(),
      [...grow.controlPlanes.slice(1), ...grow.workers.slice(1)].map((address) => `ApplyConfiguration ${address}`).toSorted(),
    );
  });

  it("one shrinks: two members leave etcd in order, and their machines are blank", async () => {
    const leaving = [...shrink.controlPlanes.slice(1), ...shrink.workers.slice(1)];
    await until("one voter", () => votersOf(fleet, shrink) === 1);
    await until("nothing open", async () => (await openIntents(shrink)).length === 0);
    await until("Ready", () => isReady(shrink));
    for (const address of leaving) assertBlank(fleet, address);
    assert.deepEqual(resetsOf(effectsSince(shrink)), resetsOf(leaving.map((address) => `Reset ${address}`)));
    assert.ok(
      effectsSince(shrink).every((effect) => /^(Reset|EtcdForfeitLeadership) /.test(effect)),
      effectsSince(shrink).join(),
    );
  });

  it("one gets new settings: control planes boot one by one, the worker takes its own at once", async () => {
    const reason = async (): Promise<string | undefined> => (await condition(talosControlPlaneResource, "patch", "ConfigUpToDate"))?.reason;
    await until("rolled out", async () => (await reason()) === "UpToDate" && (await openIntents(patch)).length === 0);
    for (const address of patch.controlPlanes) assert.match(fleet.machine(address).config.active ?? "", /quota-backend-bytes/);
    const { config } = fleet.machine(patch.workers[0] ?? "");
    assert.match(config.active ?? "", /example\.org\/rack: r1/);
    assert.equal(config.persisted, config.active);
    const effects = effectsSince(patch).filter((effect) => !effect.startsWith("EtcdForfeitLeadership"));
    assert.deepEqual(
      effects.toSorted(),
      [
        ...patch.controlPlanes.flatMap((address) => [`ApplyConfiguration ${address}`, `Reboot ${address}`]),
        // Tried, then kept.
        ...patch.workers.flatMap((address) => [`ApplyConfiguration ${address}`, `ApplyConfiguration ${address}`]),
      ].toSorted(),
    );
  });

  it("one is deleted: machines are blank, and nothing of it is left", async () => {
    const types = [talosClusterResource, talosControlPlaneResource, talosWorkerResource, talosMachineResource, clusterRecordResource];
    const left = async (): Promise<number> => {
      const lists = await Promise.all(types.map(async (type) => (await fleet.client.resource(type).list()).items));
      return lists.flat().filter(({ metadata }) => /^gone(-|$)/.test(metadata?.name ?? "")).length;
    };
    await until("nothing is left", async () => (await left()) === 0);
    assert.equal((await fleet.kubectl("get", "secrets", "-o", "name")).match(/secret\/gone-/), null);
    for (const address of machinesOf(gone)) assertBlank(fleet, address);
    assert.deepEqual(resetsOf(effectsSince(gone)), resetsOf(machinesOf(gone).map((address) => `Reset ${address}`)));
    // Genuine talosctl meets it as it would a machine that was never used.
    const talosctl = await run(tool("talosctl"), ["get", "disks", "--insecure", "-n", gone.controlPlanes[0] ?? ""]);
    assert.equal(talosctl.code, 0, talosctl.stderr);
  });

  it("one is taken over as it is, and then obeys: a setting reaches its worker", async () => {
    await until("taken over", async () => (await imported())?.status === "True");
    await until("Ready", async () => (await condition(talosControlPlaneResource, "taken", "Ready"))?.status === "True");
    assert.deepEqual(effectsSince(taken), []);
    const value = JSON.stringify({ spec: { metalSpec: { machineSpec: { configPatches: [isLive] } } } });
    await fleet.kubectl("patch", "talosworker", "taken-pool", "--type=merge", "-p", value);
    const [worker = ""] = taken.workers;
    await until("the setting is kept", () => /example\.org\/rack: r1/.test(fleet.machine(worker).config.persisted ?? ""));
    // A call is logged once it is answered, which is after the machine keeps what it brought.
    await until("the calls are logged", () => effectsSince(taken).length >= 2);
    assert.deepEqual(effectsSince(taken), [`ApplyConfiguration ${worker}`, `ApplyConfiguration ${worker}`]);
  });

  it("no etcd lost its quorum at any moment, and each was bootstrapped once", async () => {
    await until("all stories are told", async () => {
      const open = await Promise.all(everything.map(openIntents));
      return open.flat().length === 0 && votersOf(fleet, grow) === 3 && votersOf(fleet, shrink) === 1;
    });
    quorum.end();
    assert.equal(fleet.etcds().length, everything.length);
    const foundings = fleet.effects(...everything.flatMap(machinesOf)).filter((effect) => effect.startsWith("Bootstrap "));
    assert.deepEqual(foundings.toSorted(), everything.map(({ controlPlanes }) => `Bootstrap ${controlPlanes[0]}`).toSorted());
  });

  async function createClusters(): Promise<void> {
    await fleet.apply(...made.map((cluster) => clusterObject(cluster)));
    for (const cluster of made) await until(`${cluster.name} is Ready`, () => isReady(cluster));
  }

  /** All edits, so that an effect of each cluster is open at one moment. */
  async function edit(): Promise<void> {
    const smaller = { ...shrink, controlPlanes: shrink.controlPlanes.slice(0, 1), workers: shrink.workers.slice(0, 1) };
    await fleet.apply(clusterObject(smaller), clusterObject(patch, needsBoot, isLive));
    await fleet.kubectl("delete", "taloscluster", "gone", "--wait=false");
    const areDisturbing = async (): Promise<boolean> => {
      const [leaving, rebooting, wiping] = await Promise.all([shrink, patch, gone].map(openIntents));
      return leaving?.includes("Reset") === true && rebooting?.includes("Reboot") === true && wiping?.includes("Reset") === true;
    };
    await until("two clusters wipe and one boots", areDisturbing);
    const message = (await imported())?.message ?? "";
    const [, hash = ""] = /import-approve: ([0-9a-f]{10})/.exec(message) ?? [];
    await Promise.all([
      fleet.apply(clusterObject(grow)),
      fleet.kubectl("annotate", "taloscontrolplane", "taken", `talos-operator.dev/import-approve=${hash}`),
    ]);
    const isJoining = (record: ClusterRecord["spec"] | undefined): boolean =>
      [...(record?.knownControlPlanes ?? []).slice(1), ...(record?.knownWorkers ?? []).slice(1)].some(
        ({ configuredAt }) => configuredAt !== undefined,
      );
    await until("all five are in the middle", async () => {
      const [growing, adopted] = await Promise.all([fleet.record("grow"), fleet.record("taken")]);
      return adopted?.importedAt !== undefined && isJoining(growing) && votersOf(fleet, grow) < 3 && (await areDisturbing());
    });
  }

  function imported(): Promise<Condition | undefined> {
    return condition(talosControlPlaneResource, "taken", "Imported");
  }
});

interface Shape {
  readonly name: string;
  readonly controlPlanes: readonly string[];
  readonly workers: readonly string[];
  readonly endpoint: string;
}

interface Conditioned extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

function addresses(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `127.1.0.${from + index}`);
}

function machinesOf({ controlPlanes, workers }: Shape): readonly string[] {
  return [...controlPlanes, ...workers];
}

function pool(machines: readonly string[], configPatch: object | undefined): object {
  return {
    machines: machines.map((address) => ({ address })),
    machineSpec: { installDisk: "/dev/sda", ...(configPatch === undefined ? {} : { configPatches: [configPatch] }) },
  };
}

function clusterObject(cluster: Shape, controlPlanePatch?: object, workerPatch?: object): object {
  const common = { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal", deletionPolicy: "reset" };
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosCluster",
    metadata: { name: cluster.name, namespace: "default" },
    spec: {
      controlPlane: { ...common, endpoint: `https://${cluster.endpoint}:6443`, metalSpec: pool(cluster.controlPlanes, controlPlanePatch) },
      worker: { ...common, metalSpec: pool(cluster.workers, workerPatch) },
    },
  };
}

function votersOf(fleet: Fleet, { controlPlanes }: Shape): number {
  const isOne = (peerUrl: string): boolean => controlPlanes.some((address) => peerUrl.includes(`//${address}:`));
  const members = fleet.etcds().flatMap((etcd) => etcd.members);
  return members.filter(({ peerUrl, isLearner }) => isOne(peerUrl) && !isLearner).length;
}

function resetsOf(effects: readonly string[]): readonly string[] {
  return effects.filter((effect) => effect.startsWith("Reset ")).toSorted();
}

function assertBlank(fleet: Fleet, address: string): void {
  const { stage, isInstalled, config, etcd } = fleet.machine(address);
  assert.deepEqual(
    { stage, isInstalled, active: config.active, persisted: config.persisted, etcd: etcd.data },
    { stage: "maintenance", isInstalled: false, active: undefined, persisted: undefined, etcd: undefined },
    address,
  );
}

/** A cluster that genuine talosctl made, then the objects and the Secret as the published operator of its kinds leaves them. */
async function createElsewhere(fleet: Fleet): Promise<void> {
  const file = (name: string): string => join(fleet.folder, name);
  const talosctl = (...args: string[]): Promise<string> => must(tool("talosctl"), args);
  const [first = "", worker = ""] = machinesOf(taken);
  await talosctl("gen", "secrets", "-o", file("secrets.yaml"), "--talos-version", "v1.13.9");
  const versions = ["--kubernetes-version", "1.36.3", "--talos-version", "v1.13.9"];
  const where = ["--with-secrets", file("secrets.yaml"), "--output-dir", fleet.folder, "--install-disk", "/dev/sda"];
  await talosctl("gen", "config", "taken", `https://${taken.endpoint}:6443`, ...where, ...versions);
  const apply = async (address: string, name: string): Promise<void> =>
    until(`${address} takes its configuration`, async () => {
      const { code } = await run(tool("talosctl"), ["apply-config", "--insecure", "-n", address, "-f", file(name)]);
      return code === 0;
    });
  await Promise.all([apply(first, "controlplane.yaml"), apply(worker, "worker.yaml")]);
  const admin = ["--talosconfig", file("talosconfig"), "-e", first, "-n", first];
  await until("etcd is bootstrapped", async () => (await run(tool("talosctl"), [...admin, "bootstrap"])).code === 0);
  await until("it runs", () => machinesOf(taken).every((address) => fleet.machine(address).kubernetes.isNodeReady));
  writeFileSync(file("left.yaml"), leftObjects(readFileSync(file("secrets.yaml")).toString("base64")));
  await fleet.kubectl("create", "-f", file("left.yaml"));
}

/** Written by the other operator long ago: its name and the time stand in `managedFields`, which the API keeps. */
function leftObjects(bundle: string): string {
  const object = (kind: string, name: string, spec: object): object => ({
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind,
    metadata: {
      namespace: "default",
      name,
      annotations: { "talos.alperen.cloud/reconcile-mode": "import" },
      finalizers: [`${kind.toLowerCase()}.talos.alperen.cloud/finalizer`],
      managedFields: [
        {
          manager: "manager",
          operation: "Update",
          apiVersion: "talos.alperen.cloud/v1alpha1",
          time: new Date(Date.now() - 11 * 60_000).toISOString().replace(/\.\d+/, ""),
          fieldsType: "FieldsV1",
          fieldsV1: { "f:metadata": { "f:finalizers": { ".": {}, [`v:"${kind.toLowerCase()}.talos.alperen.cloud/finalizer"`]: {} } } },
        },
      ],
    },
    spec: { version: "v1.13.9", mode: "metal", deletionPolicy: "reset", ...spec },
  });
  const machines = (all: readonly string[]): object => ({
    machines: all.map((address) => ({ address })),
    machineSpec: { installDisk: "/dev/sda" },
  });
  const items = [
    // The spec asks for another version than runs: a difference that a person has to approve.
    object("TalosControlPlane", "taken", {
      kubeVersion: "v1.36.2",
      endpoint: `https://${taken.endpoint}:6443`,
      metalSpec: machines(taken.controlPlanes),
    }),
    object("TalosWorker", "taken-pool", { kubeVersion: "v1.36.2", controlPlaneRef: { name: "taken" }, metalSpec: machines(taken.workers) }),
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name: "taken-state", labels: { "talos.alperen.cloud/type": "state" } },
      data: { secretBundle: bundle, state: "UmVhZHk=", observedKubeVersion: "djEuMzYuMw==" },
    },
  ];
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}
