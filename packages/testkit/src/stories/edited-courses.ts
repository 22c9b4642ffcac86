import assert from "node:assert/strict";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import type { SecretsBundle } from "@talos-operator/talos";
import { nestedCluster, tellComposition } from "./composition.ts";
import { Interruption } from "./interruption.ts";
import type { Moment } from "./interruption.ts";
import { leaveBehind, leaveObjects } from "./left-behind.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { bundleOf, putConfigs, reference, writtenCluster, writtenConfig } from "./written-configs.ts";

/** What an operator works on while a person edits once more. */
export interface Course {
  readonly what: string;
  /** Up to where calls begin to be counted. */
  before(world: Story): Promise<void>;
  begin(world: Story): Promise<void>;
  /** Makes the settings of all machines these. */
  edit(world: Story, settings: string): Promise<void>;
  /** The settings of every machine that there should be, in force and on its disk, whatever the operator says. */
  found(world: Story): readonly (string | undefined)[];
  readonly tell: (interruption: Interruption, story: (world: Story) => Promise<void>) => Promise<void>;
}

const demo = { namespace: "default", name: "demo" };
const addresses = ["10.5.0.1", "10.5.0.4"];

const patch = async (world: Story, type: ResourceType, name: string, spec: object): Promise<void> =>
  void (await world.client.resource(type).patch({ ...demo, name }, { type: "merge", value: { spec } }));

const label = (value: string): object => ({ machine: { nodeLabels: { "example.org/rack": value } } });
const settings = (configPatch: object): object => ({ metalSpec: { machineSpec: { configPatches: [configPatch] } } });
const editAll =
  (configPatch: (value: string) => object): Course["edit"] =>
  (world, value) =>
    patch(world, kinds.cluster, "demo", { controlPlane: settings(configPatch(value)), worker: settings(configPatch(value)) });
const editLabels = editAll(label);
/** In force after a boot only. */
const editEnvironment = editAll((value) => ({ machine: { env: { NO_PROXY: value } } }));

/** What the configurations of machines say, in force and on disk. */
const inConfigs =
  (pattern: RegExp, machines: readonly string[] = addresses): Course["found"] =>
  ({ datacenter }) =>
    machines.flatMap((address) => {
      const { active, persisted } = datacenter.machine(address).state.config;
      return [active, persisted].map((text) => pattern.exec(text ?? "")?.[1]);
    });
const RACK = /example\.org\/rack: "?(\w+)/;

/** One control plane and one worker with a label on their nodes, or none. */
function made(rack?: string): KubeObject {
  const cluster = demoCluster(["10.5.0.1"], ["10.5.0.4"]);
  const labelled = <T extends { readonly metalSpec?: object }>(pool: T | undefined): object => ({
    ...pool,
    metalSpec: {
      ...pool?.metalSpec,
      machineSpec: { installDisk: "/dev/sda", ...(rack === undefined ? {} : { configPatches: [label(rack)] }) },
    },
  });
  return { ...cluster, spec: { controlPlane: labelled(cluster.spec?.controlPlane), worker: labelled(cluster.spec?.worker) } } as KubeObject;
}

async function settled(world: Story, cluster: unknown): Promise<void> {
  await apply(world, kinds.cluster, cluster);
  await world.start();
  await world.untilReady();
  await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True");
  await world.time.advance(5_000);
}

const nothing = (): Promise<void> => Promise.resolve();
const usual = { tell, edit: editLabels, found: inConfigs(RACK) } as const;

export const creation: Course = {
  ...usual,
  what: "a cluster is made",
  before: nothing,
  async begin(world) {
    await apply(world, kinds.cluster, made("r1"));
    await world.start();
  },
};

/** @param objects as the published operator leaves them, YAML */
const takeover = (objects: string): Course => ({
  ...usual,
  what: "a cluster is taken over",
  async before(world) {
    const bundle = await leaveBehind(world);
    await leaveObjects(world, objects, bundle);
    await world.time.advance(11 * 60_000);
  },
  begin: (world) => world.start(),
  async edit(world, value) {
    await patch(world, kinds.controlPlane, "demo", settings(label(value)));
    await patch(world, kinds.worker, "pool", settings(label(value)));
  },
  found: inConfigs(RACK, ["10.5.0.1", "10.5.0.2", "10.5.0.3", "10.5.0.4"]),
});

const growth: Course = {
  ...usual,
  what: "a worker joins",
  before: (world) => settled(world, made("r1")),
  begin: (world) =>
    patch(world, kinds.cluster, "demo", { worker: { metalSpec: { machines: [{ address: "10.5.0.4" }, { address: "10.5.0.5" }] } } }),
  found: inConfigs(RACK, [...addresses, "10.5.0.5"]),
};

export const rollout: Course = {
  ...usual,
  what: "settings are rolled out",
  before: (world) => settled(world, made("r0")),
  begin: (world) => editLabels(world, "r1"),
};

const staging: Course = {
  ...usual,
  what: "settings are staged and booted into",
  before: (world) => settled(world, made()),
  begin: (world) => editEnvironment(world, "r1"),
};

export const stagingTwice: Course = {
  ...staging,
  what: "settings are staged, and others come that need a boot too",
  edit: editEnvironment,
  found: inConfigs(/NO_PROXY: "?(\w+)/),
};

const cutOff: Course = {
  ...usual,
  what: "a trial cuts machines off",
  before: (world) => settled(world, made()),
  begin: (world) =>
    patch(world, kinds.cluster, "demo", {
      worker: settings({ apiVersion: "v1alpha1", kind: "NetworkDefaultActionConfig", ingress: "block" }),
    }),
};

export const network: Course = {
  ...usual,
  what: "static network settings are written",
  before: (world) => settled(world, made()),
  begin: (world) => network.edit(world, "r1"),
  edit(world, hostname) {
    const meta = { interface: "eth0", subnet: 24, gateway: "10.5.0.254", hostname };
    return patch(world, kinds.cluster, "demo", { controlPlane: { metalSpec: { machineSpec: { meta } } } });
  },
  found: ({ datacenter }) => [/hostname: "(\w+)"/.exec(datacenter.machine("10.5.0.1").state.meta["10"] ?? "")?.[1]],
};

export const lostRecord: Course = {
  ...usual,
  what: "the record is lost and made anew",
  async before(world) {
    await settled(world, made("r1"));
    await world.kill();
    const records = world.client.resource(kinds.record);
    await records.patch(demo, { type: "merge", value: { metadata: { finalizers: null } } });
    await records.delete(demo);
  },
  begin: (world) => world.start(),
};

const written: Course = {
  ...usual,
  what: "configs that a person wrote are changed",
  async before(world) {
    bundles.set(world, await bundleOf(world));
    await written.edit(world, "r0");
    await settled(world, writtenCluster(reference("controlplane.yaml"), reference("worker.yaml")));
  },
  begin: (world) => written.edit(world, "r1"),
  async edit(world, value) {
    const secrets = bundles.get(world);
    assert.ok(secrets !== undefined);
    await putConfigs(world, {
      "controlplane.yaml": writtenConfig("controlplane", secrets, label(value)),
      "worker.yaml": writtenConfig("worker", secrets, label(value)),
    });
  },
};
const bundles = new WeakMap<Story, SecretsBundle>();

export const composition: Course = {
  ...usual,
  what: "a KubernetesCluster is composed",
  before: nothing,
  async begin(world) {
    await world.client.resource(kinds.kubernetesCluster).create(nestedCluster());
    await world.start();
  },
  edit(world, value) {
    const group = { replicas: 1, version: "1.33", metadata: { labels: { "example.org/rack": value }, annotations: {} } };
    return patch(world, kinds.kubernetesCluster, "demo", { topology: { controlplane: group, workers: [{ ...group, name: "workers" }] } });
  },
  found(world) {
    const configured = world.datacenter.machines().filter(({ state }) => state.config.active !== undefined);
    const labels = inConfigs(
      RACK,
      configured.map(({ address }) => address),
    )(world);
    // Until both are there nothing is said of all of them.
    return configured.length === 2 ? labels : [undefined];
  },
  tell: tellComposition,
};

export const courses = (objects: string): readonly Course[] => [
  creation,
  takeover(objects),
  growth,
  rollout,
  staging,
  stagingTwice,
  cutOff,
  network,
  lostRecord,
  written,
  composition,
];

/** The calls of a course that nobody edits into. */
export async function callsOf(course: Course): Promise<readonly string[]> {
  const interruption = new Interruption();
  await course.tell(interruption, async (world) => {
    await course.before(world);
    interruption.begin(undefined, nothing);
    await course.begin(world);
    await world.time.advance(900_000);
  });
  return interruption.calls;
}

/**
 * Plays a course with an edit at a moment, and another one some calls later where two words are given. In the end every machine has the last word, or a
 * condition names what it has otherwise.
 */
export async function playEdit(course: Course, at: Moment, word: string, later?: string): Promise<void> {
  const interruption = new Interruption();
  await course.tell(interruption, async (world) => {
    await course.before(world);
    interruption.begin(at, () => course.edit(world, word));
    await course.begin(world);
    await world.until("the moment comes", async () => interruption.metAt !== undefined, 900);
    if (later !== undefined) {
      const { metAt = 0 } = interruption;
      for (let step = 0; step < 300 && interruption.calls.length <= metAt + 2; step += 1) {
        await interruption.tend(world);
        await world.time.advance(200);
      }
      await course.edit(world, later);
    }
    const wanted = later ?? word;
    let quietMs = 0;
    for (let step = 0; step < 3_000 && quietMs < 30_000; step += 1) {
      await interruption.tend(world);
      const isThere = course.found(world).every((value) => value === wanted);
      quietMs = isThere || (await isTold(world)) ? quietMs + 500 : 0;
      await world.time.advance(500);
    }
    if (quietMs > 0 && (await isTold(world))) return;
    const { message = "" } = (await world.condition(kinds.controlPlane, "ConfigUpToDate")) ?? {};
    assert.deepEqual(
      course.found(world),
      course.found(world).map(() => wanted),
      `${wanted} is not in force everywhere, and ConfigUpToDate says: ${message}`,
    );
  });
}

/** Edits from before there is a record to compare with are told as differences, with their paths and what brings them in. */
async function isTold(world: Story): Promise<boolean> {
  const imported = await world.condition(kinds.controlPlane, "Imported");
  const upToDate = await world.condition(kinds.controlPlane, "ConfigUpToDate");
  return [imported, upToDate].some(
    (condition) =>
      (condition?.reason === "ApprovalRequired" || condition?.reason === "RenderedOtherwise") &&
      condition.message.includes("example.org/rack"),
  );
}
