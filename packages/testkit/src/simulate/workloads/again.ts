import { annotations, clusterRecordResource, talosControlPlaneResource, type ClusterRecord } from "@talos-operator/api";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { secretType, type Secret } from "../../world/kinds.ts";
import { GIVEN_KEYS } from "../person.ts";
import { chooseScenario, CLUSTER_NAME, NAMESPACE } from "../scenario.ts";
import { bundleKey, ofCluster } from "../troubles/input.ts";
import type { EditableWorld, Workload } from "../workload.ts";
import { isDeleted, isPreserved } from "./deletion.ts";
import { createPeriod, effectsOnMachines, isSettled } from "./machines.ts";

/** Deleted with a wipe, and made again of the same machines under the same name. */
export const recreate: Workload = {
  name: "recreate",
  about: "a cluster is deleted with policy reset and made again under its name: new keys, new cluster, nothing of the old one",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3], workers: [0, 1] }),
  steps: () => [
    { what: "delete", make: (world) => world.remove(), isReached: isDeleted },
    { what: "create again", make: (world) => world.applyAgain({}, true), isReached: isSettled },
  ],
  mayInterrupt: true,
};

/** Deleted with policy preserve; whoever takes the name is asked first. */
export const readopt: Workload = {
  name: "recreate-preserved",
  about:
    "a cluster is deleted with policy preserve and its objects are applied again: nothing happens before a person says that it is the same",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3], workers: [0, 1], deletionPolicy: "preserve" }),
  steps: () => {
    let before = 0;
    const asks = ({ objects }: EditableWorld): boolean =>
      objects
        .get("taloscontrolplanes", CLUSTER_NAME)
        ?.status?.conditions?.some(({ type, status }) => type === "AdoptionRequired" && status === "True") === true;
    return [
      { what: "delete, policy preserve", make: (world) => world.remove(), isReached: isPreserved },
      {
        what: "apply again",
        async make(world) {
          before = effectsOnMachines(world);
          await world.applyAgain({}, false);
        },
        isReached: (world) => asks(world) && effectsOnMachines(world) === before,
      },
      {
        what: "adopt",
        async make(world) {
          const record = (await world.client.resource(clusterRecordResource).get(ofCluster)) as ClusterRecord;
          const value = { metadata: { annotations: { [annotations.adopt]: record.spec.clusterId } } };
          await world.client.resource(talosControlPlaneResource).patch(ofCluster, { type: "merge", value });
        },
        isReached: (world) => isSettled(world) && !asks(world) && effectsOnMachines(world) === before,
      },
    ];
  },
};

/** Kinds that somebody who loses a management cluster loses. */
const LOST = ["talosclusters", "taloscontrolplanes", "talosworkers", "talosmachines"].map((plural): ResourceType => ({
  ...talosControlPlaneResource,
  plural,
}));

/** The management cluster is lost but for the keys: all objects go, nobody wipes anything. */
async function loseManagement({ client, stage }: EditableWorld): Promise<string> {
  stage.isManagementLost = true;
  const bundle = await client.resource<Secret>(secretType).get(bundleKey);
  for (const type of [...LOST, clusterRecordResource, secretType]) {
    const resource = client.resource(type);
    for (const { metadata } of (await resource.list({ namespace: NAMESPACE })).items) {
      const one = { namespace: NAMESPACE, name: metadata?.name ?? "" };
      if ((metadata?.finalizers ?? []).length > 0) await resource.patch(one, { type: "merge", value: { metadata: { finalizers: [] } } });
      if ((await resource.tryGet(one)) !== undefined) await resource.delete(one);
    }
  }
  return bundle.data?.["bundle"] ?? "";
}

const MINUTE = 60_000;

/** A cluster that runs is taken over by somebody who has its keys and nothing else. */
export const takeOver: Workload = {
  name: "import",
  about:
    "every object of a running cluster is lost but its keys; it is imported: nothing on the machines changes, and etcd is not bootstrapped again",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3], workers: [0, 1, 2] }),
  steps: () => {
    let before = 0;
    const going = createPeriod();
    let startOperator = (): void => undefined;
    let bundle = "";
    return [
      {
        // Whoever loses everything but the keys has them: a trouble gives them back first.
        what: "keep the keys",
        make: async () => undefined,
        isReached: ({ stage }) => stage.bundleGoneSince === undefined,
      },
      {
        what: "lose the management cluster",
        async make(world) {
          startOperator = world.endOperators();
          bundle = await loseManagement(world);
          // What is deleted with its owner goes in its own time.
          going.begin(world, MINUTE);
          // What was sent before comes, or not.
          before = effectsOnMachines(world);
        },
        isReached: going.isOver,
      },
      {
        what: "import",
        async make(world) {
          before = effectsOnMachines(world);
          world.stage.mayMakeKeys += 1;
          const data = { bundle };
          await world.client.resource(secretType).create({
            apiVersion: "v1",
            kind: "Secret",
            metadata: { namespace: NAMESPACE, name: GIVEN_KEYS },
            data,
          } as KubeObject);
          await world.applyAgain({ mode: "import" }, false);
          startOperator();
        },
        isReached: ({ objects }) =>
          objects
            .get("taloscontrolplanes", CLUSTER_NAME)
            ?.status?.conditions?.some(({ type, reason }) => type === "Imported" && reason === "BundleNotFound") === true,
      },
      {
        what: "say where the keys are",
        async make(world) {
          const value = { metadata: { annotations: { [annotations.importBundle]: GIVEN_KEYS } } };
          await world.client.resource(talosControlPlaneResource).patch(ofCluster, { type: "merge", value });
        },
        isReached: (world) => isSettled(world) && effectsOnMachines(world) === before,
      },
      {
        what: "take the word import away",
        make: (world) => world.edit({ mode: undefined }),
        isReached: (world) => isSettled(world) && effectsOnMachines(world) === before,
      },
    ];
  },
};
