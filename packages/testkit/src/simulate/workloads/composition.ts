import { ours } from "../../world/kinds.ts";
import { chooseComposed } from "../composed-scenario.ts";
import { composedManifest } from "../manifest.ts";
import type { Composed } from "../composed.ts";
import { CLUSTER_NAME, NAMESPACE, type Replicas } from "../scenario.ts";
import type { EditableWorld, Step, Workload } from "../workload.ts";
import { comparing, createPeriod, effectsOnMachines, formerMachines, hasWantedMembers, isNode, wantedMachines } from "./machines.ts";

const MINUTE = 60_000;

const machineType = ours("machines");
const clusterType = ours("kubernetesclusters");

function composedOf({ composed }: EditableWorld): Composed {
  if (composed === undefined) throw new Error("there is no KubernetesCluster in this world");
  return composed;
}

/** Every Machine that is asked for is a node, nothing else is there, and the files are those of the Machines. */
function isComposedAsAsked(world: EditableWorld): boolean {
  const { provider, files, wantedNames } = composedOf(world);
  const { controlPlanes = 0, groups = {} } = world.stage.desired?.replicas ?? {};
  const count = Object.values(groups).reduce((sum, one) => sum + one, controlPlanes);
  const names = wantedNames();
  return (
    world.isReady() &&
    names.length === count &&
    wantedMachines(world).length === count &&
    wantedMachines(world).every(isNode) &&
    formerMachines(world).every(({ address, state }) => state.config.persisted === undefined || world.stage.abandoned.has(address)) &&
    hasWantedMembers(world) &&
    ["machines", "talosmachines"].every((plural) => world.objects.all(plural).length === count) &&
    provider.given.size === count &&
    files.texts.size === count + 1 &&
    names.every((name) => files.texts.has(`${CLUSTER_NAME}/${name}.yaml`))
  );
}

/** A KubernetesCluster becomes machines. */
export const compose: Workload = {
  name: "compose",
  about: "a KubernetesCluster of either shape becomes files, Machines and nodes; its provider is slow, or gives one address twice",
  choose: (random) => chooseComposed(random, { controlPlanes: [1, 1, 3], moods: ["prompt", "slow", "confused"], spares: 1 }),
  steps: () => [],
};

function scale(what: string, change: (now: Replicas) => Partial<Replicas>): Step {
  return {
    what,
    async make(world) {
      const now = world.stage.desired?.replicas ?? { controlPlanes: 1, groups: {} };
      await world.edit({ replicas: { ...now, ...change(now) } });
    },
    isReached: isComposedAsAsked,
  };
}

/** A KubernetesCluster grows and shrinks. */
export const composeScale: Workload = {
  name: "compose-scale",
  about: "groups of a KubernetesCluster grow, shrink, come and go, its control plane becomes 3 and 1 again",
  choose: (random) => chooseComposed(random, { controlPlanes: [1], workers: [1, 2], spares: 6 }),
  steps: (_scenario, random) =>
    random.fraction() < 0.5
      ? [
          scale("another group, and one more worker", ({ groups }) => ({ groups: { ...groups, a: (groups["a"] ?? 0) + 1, b: 1 } })),
          scale("the first group goes", () => ({ groups: { b: 1 } })),
        ]
      : [
          scale("1 to 3 control planes", () => ({ controlPlanes: 3 })),
          scale("3 to 1 control planes, and no workers", () => ({ controlPlanes: 1, groups: {} })),
        ],
  mayInterrupt: true,
};

/** One of the wanted Machines and where it is; of several control planes not always the same one. */
function pickMachine(world: EditableWorld): { readonly name: string; readonly address: string } {
  const { provider, wantedNames } = composedOf(world);
  const single = world.stage.desired?.replicas?.controlPlanes === 1;
  const names = wantedNames().filter((name) => !single || !name.startsWith(`${CLUSTER_NAME}-cp-`));
  const name = names[Math.floor(world.random.fraction() * names.length)] ?? "";
  return { name, address: provider.given.get(`${NAMESPACE}/${name}`) ?? "" };
}

/** Somebody takes a machine away. */
function takeAway(): readonly Step[] {
  return [
    {
      what: "a Machine is deleted by somebody",
      make: async (world) =>
        void (await world.client.resource(machineType).delete({ namespace: NAMESPACE, name: pickMachine(world).name })),
      isReached: (world) =>
        world.objects.all("machines").every(({ metadata }) => metadata?.deletionTimestamp === undefined) && isComposedAsAsked(world),
    },
  ];
}

/** A machine dies, its Machine is deleted, and its provider says later that nothing is left of it. */
function loseForGood(): readonly Step[] {
  let name = "";
  const gone = createPeriod();
  return [
    {
      what: "a machine loses its power for good, and its Machine is deleted",
      async make(world) {
        const lost = pickMachine(world);
        name = lost.name;
        world.datacenter.machine(lost.address).powerOff();
        world.stage.abandoned.add(lost.address);
        await world.client.resource(machineType).delete({ namespace: NAMESPACE, name });
        gone.begin(world, 2 * MINUTE);
      },
      isReached: gone.isOver,
    },
    {
      what: "its provider says that it is no more",
      async make(world) {
        const machines = world.client.resource(machineType);
        // A machine that was released already is asked for no more.
        if ((await machines.tryGet({ namespace: NAMESPACE, name })) === undefined) return;
        await machines.patchStatus({ namespace: NAMESPACE, name }, { type: "merge", value: { status: { phase: "Terminated" } } });
      },
      isReached: isComposedAsAsked,
    },
  ];
}

/** A provider names more addresses than before, and a new one first, as one that finds out about them one by one. */
function nameOthersFirst(): readonly Step[] {
  const period = createPeriod();
  return [
    comparing(effectsOnMachines, {
      what: "a provider names another address first",
      async make(world) {
        period.begin(world, MINUTE);
        const { provider, wantedNames } = composedOf(world);
        provider.nameFirst("198.51.100.7");
        for (const name of wantedNames()) {
          const status = { publicIPAddresses: ["198.51.100.7", provider.given.get(`${NAMESPACE}/${name}`) ?? ""] };
          await world.client.resource(machineType).patchStatus({ namespace: NAMESPACE, name }, { type: "merge", value: { status } });
        }
      },
      isReached: (world, before) => period.isOver(world) && isComposedAsAsked(world) && effectsOnMachines(world) === before,
    }),
  ];
}

/** Somebody applies another KubernetesCluster with the same id, and deletes it again. */
function twin(): readonly Step[] {
  const key = { namespace: NAMESPACE, name: "twin" };
  let before = 0;
  return [
    {
      what: "another KubernetesCluster with the same id",
      async make(world) {
        before = effectsOnMachines(world);
        await world.client
          .resource(clusterType)
          .create(composedManifest(world.scenario, { controlPlanes: 1, groups: { z: 1 } }, "twin").body);
      },
      isReached: (world) =>
        world.objects.get("kubernetesclusters", "twin")?.status?.conditions?.some(({ reason }) => reason === "DuplicateCluster") === true,
    },
    {
      what: "delete it",
      make: async (world) => void (await world.client.resource(clusterType).delete(key)),
      isReached: (world) =>
        world.objects.get("kubernetesclusters", "twin") === undefined && isComposedAsAsked(world) && effectsOnMachines(world) === before,
    },
  ];
}

/** What others do to a KubernetesCluster that is Ready. */
export const composeDisturbed: Workload = {
  name: "compose-disturbed",
  about:
    "a Machine is deleted behind our back, or its machine is lost for good, or its provider names other addresses, or another cluster has the same id",
  choose: (random) => chooseComposed(random, { controlPlanes: [1, 3], workers: [1, 2], spares: 2 }),
  steps: (_scenario, random) => {
    const deeds = [takeAway, loseForGood, nameOthersFirst, twin];
    const first = Math.floor(random.fraction() * deeds.length);
    return deeds[first]?.() ?? [];
  },
};

/** Nothing is left of it. */
function isGone(world: EditableWorld): boolean {
  const { provider, files } = composedOf(world);
  const plurals = [
    "kubernetesclusters",
    "machines",
    "talosclusters",
    "taloscontrolplanes",
    "talosworkers",
    "talosmachines",
    "clusterrecords",
  ];
  return (
    plurals.every((plural) => world.objects.all(plural).length === 0) &&
    provider.given.size === 0 &&
    files.texts.size === 0 &&
    formerMachines(world).every(({ state }) => state.config.persisted === undefined && state.etcd.data === undefined)
  );
}

/** A KubernetesCluster goes that was never made. */
export const composeAbort: Workload = {
  name: "compose-abort",
  about:
    "a KubernetesCluster with or without an endpoint is deleted while its provider fulfils its Machines at once, late or never: nothing is configured any more, and all goes",
  choose: (random) =>
    chooseComposed(random, { controlPlanes: [1, 3], workers: [0, 1, 2], moods: ["moody"], endpoints: ["given", "none", "none"] }),
  steps: () => [{ what: "delete", make: (world) => world.remove(), isReached: isGone }],
  mayInterrupt: true,
  isEarly: true,
  endsDeleted: true,
};

/** A KubernetesCluster goes, and all that was made for it. */
export const composeDelete: Workload = {
  name: "compose-delete",
  about: "a KubernetesCluster is deleted, also while it is made: its machines are wiped, and pools, Machines and files go",
  choose: (random) => chooseComposed(random, { controlPlanes: [1, 3] }),
  steps: () => [{ what: "delete", make: (world) => world.remove(), isReached: isGone }],
  mayInterrupt: true,
  endsDeleted: true,
};
