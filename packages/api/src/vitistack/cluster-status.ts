import { upgradeField } from "../kinds/upgrade-progress.ts";
import { boolean, integer, list, object, quantity, required, string } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";

const text = (description: string) => string({ description });
const whole = (description: string) => integer({ description });
const time = (description: string) => string({ description, format: "date-time" });
const texts = (description: string, item: string) => list(text(item), { description });

/** As published: plain texts, so that what others wrote stays valid. What this operator writes follows metav1.Condition. */
const condition = object(
  {
    lastTransitionTime: required(text("When the status last changed.")),
    message: required(text("Why, as a sentence.")),
    observedGeneration: integer({ description: "The metadata.generation that was current when the condition was set." }),
    reason: required(text("Why, as one word.")),
    status: required(text("True, False or Unknown.")),
    type: required(text("What the condition is about.")),
  },
  { description: "One aspect of the cluster's state." },
);

const resource = (description: string) =>
  required(
    object(
      {
        capacity: required(quantity({ description: "How much there is." })),
        percentage: required(whole("Share in use, in percent.")),
        used: required(quantity({ description: "How much is in use." })),
      },
      { description },
    ),
  );

const resources = required(
  object(
    { cpu: resource("Processors."), disk: resource("Disks."), gpu: resource("Graphics processors."), memory: resource("Memory.") },
    { description: "What the machines have." },
  ),
);

const groupState = {
  machineClass: required(text("MachineClass of the machines.")),
  message: required(text("What goes on, as a sentence.")),
  nodes: required(texts("Names of the machines.", "A name.")),
  resources,
  scale: required(whole("Number of machines.")),
  status: required(text("Running, Partial or Pending.")),
};

const nodepool = object(
  {
    ...groupState,
    autoscaling: required(
      object(
        {
          enabled: required(boolean({ description: "As in the spec." })),
          maxReplicas: required(whole("As in the spec.")),
          minReplicas: required(whole("As in the spec.")),
        },
        { description: "Automatic scaling as the spec has it; not done." },
      ),
    ),
    name: required(text("Name of the group.")),
  },
  { description: "One group of workers." },
);

const state = object(
  {
    cluster: required(
      object(
        {
          controlplane: required(object(groupState, { description: "The control planes." })),
          externalId: required(text("Identity outside; data.clusterUid.")),
          nodepools: required(list(nodepool, { description: "The groups of workers." })),
          price: required(
            object(
              {
                monthly: required(whole("Always 0: nothing is known of prices.")),
                yearly: required(whole("Always 0: nothing is known of prices.")),
              },
              { description: "What the cluster costs; not known." },
            ),
          ),
          resources,
        },
        { description: "The machines." },
      ),
    ),
    created: required(time("When the cluster was bootstrapped; the creation of the object before that.")),
    egressIP: required(text("Address that traffic leaves from; empty where it is not known.")),
    endpoints: required(
      list(object({ address: required(text("Address.")), name: required(text("What it is.")) }, { description: "One endpoint." }), {
        description: "Where the cluster is reached.",
      }),
    ),
    lastUpdated: required(time("When the state last changed.")),
    lastUpdatedBy: required(text("Who wrote it.")),
    versions: required(
      list(
        object(
          {
            branch: required(text("Line of versions.")),
            name: required(text("What has the version.")),
            version: required(text("The version.")),
          },
          { description: "One version." },
        ),
        { description: "Versions, as resolved from the spec." },
      ),
    ),
  },
  { description: "The cluster in the words of inventories." },
);

/** `status.state` of a KubernetesCluster. */
export interface ClusterState extends Infer<typeof state> {}

/** `status` of a KubernetesCluster. */
export const clusterStatusField = object(
  {
    conditions: required(
      list(condition, { description: "What was observed, one entry for each aspect.", listType: "map", listMapKeys: ["type"] }),
    ),
    controlPlaneReady: boolean({ description: "True when all control planes are ready and etcd is healthy." }),
    lastUpdated: time("When the status last changed."),
    machineCount: whole("Number of Machines made."),
    message: text("What goes on, as a sentence."),
    observedGeneration: whole("The metadata.generation that the status speaks of."),
    phase: required(text("One word for people: Pending, Provisioning, Running or Failed; with topology the published words.")),
    state: required(state),
    upgrade: upgradeField,
    workers: whole("Number of workers that exist."),
    workersReady: whole("Number of workers that are ready nodes."),
  },
  { description: "The cluster as it was last seen." },
);

/** A KubernetesCluster as it was last seen. */
export interface KubernetesClusterStatus extends Infer<typeof clusterStatusField> {}
