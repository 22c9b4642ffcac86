import { boolean, integer, list, listOrObject, object, oneOf, required, string, stringMap } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";

const text = (description: string) => string({ description });

const storage = object(
  {
    class: required(text("Kind of storage, in the provider's words.")),
    path: required(text("Where the storage is to be mounted. Answered by the condition FieldNotSupported.")),
    size: required(text("Size as a quantity, for example 20Gi.")),
  },
  { description: "One disk; the machine boots from the first." },
);

const storageList = list(storage, { description: "Disks of each machine, in order." });

const metadata = object(
  {
    annotations: required(stringMap({ description: "Annotations of the Machines and of their nodes." })),
    labels: required(stringMap({ description: "Labels of the Machines and of their nodes." })),
  },
  { description: "Labels and annotations of the group." },
);

const taint = object(
  {
    effect: required(text("NoSchedule, PreferNoSchedule or NoExecute.")),
    key: required(text("Key of the taint.")),
    value: required(text("Value of the taint.")),
  },
  { description: "One taint." },
);

const autoscaling = object(
  {
    enabled: required(boolean({ description: "True is answered by the condition FieldNotSupported: replicas is what counts." })),
    maxReplicas: required(integer({ description: "Upper limit of a scaling that is not done." })),
    minReplicas: required(integer({ description: "Lower limit of a scaling that is not done." })),
    scalingRules: required(list(text("A rule."), { description: "Rules of a scaling that is not done." })),
  },
  { description: "Automatic scaling; not done." },
);

const ARCHITECTURES = ["amd64", "arm64", "x86_64"] as const;

const architecture = oneOf(ARCHITECTURES, { description: "Processor architecture of the machines.", default: "amd64" });

const machineClass = text("MachineClass of each machine. Empty: large for control planes, medium for workers.");
const provider = text("Machine provider that makes the machines. Default: the operator's.");
const version = text("Kubernetes version of the group, for example 1.33 or v1.33.6. Default: topology.version.");

const controlplane = object(
  {
    architecture,
    machineClass,
    metadata,
    provider,
    replicas: required(
      integer({
        description: "Number of control planes. Odd; above 7 is answered by a condition.",
        minimum: 1,
        rules: [{ rule: "self % 2 == 1", message: "controlplane replicas must be an odd number (1, 3, 5, etc.) to maintain etcd quorum" }],
      }),
    ),
    storage: storageList,
    version: required(version),
  },
  { description: "The control planes." },
);

const poolFields = {
  architecture,
  autoscaling,
  machineClass,
  metadata,
  name: required(text("Name of the group, unique in the cluster: a DNS label.")),
  provider,
  replicas: required(integer({ description: "Number of machines." })),
  storage: storageList,
  taint: list(taint, { description: "Taints of the nodes." }),
  version,
};

/** Without a default in the schema: a list is one piece to whoever applies it, and a default in it would make a second apply of the same manifest a change. */
const group = object(
  { ...poolFields, architecture: oneOf(ARCHITECTURES, { description: "Processor architecture of the machines. Default: amd64." }) },
  { description: "One group of workers." },
);

/** Names of the fields of a group, for what a list may hold beside them: nothing types `workers`. */
export const groupFieldNames: ReadonlySet<string> = new Set(Object.keys(poolFields));

/** One group of workers of a topology, whichever way `workers` is written. */
export interface TopologyGroup extends Infer<typeof group> {}

const nodePool = object(
  {
    ...poolFields,
    autoscaling: required(poolFields.autoscaling),
    machineClass: required(poolFields.machineClass),
    metadata: required(poolFields.metadata),
    provider: required(poolFields.provider),
    storage: required(poolFields.storage),
    taint: required(poolFields.taint),
    version: required(poolFields.version),
  },
  { description: "One group of workers." },
);

const workers: Field<readonly TopologyGroup[] | { readonly nodePools: readonly TopologyGroup[] }, false> = listOrObject<
  TopologyGroup,
  { readonly nodePools: readonly TopologyGroup[] }
>(
  group,
  object(
    { nodePools: required(list<TopologyGroup>(nodePool, { description: "Groups of workers, each written out." })) },
    { description: "Groups of workers." },
  ),
  {
    description:
      "Groups of workers: a list of groups, or an object with the list nodePools. With nodePools each group, the control planes and data are written out in full.",
  },
);

/** `spec.topology`: how many machines of which kind. */
export const topologyField = object(
  {
    controlplane: required(controlplane),
    version: required(text("Kubernetes version, for example 1.33 or v1.33.6; without a patch it is the newest known one.")),
    workers: required(workers),
  },
  { description: "The machines of the cluster, by group. With data; not together with controlPlane." },
);

/** `spec.topology` of a KubernetesCluster. */
export interface Topology extends Infer<typeof topologyField> {}

/** What the form with `nodePools` demands beside what both forms do: an object node without properties counts as a list. */
export const WRITTEN_OUT_OR_LIST = [
  { properties: { topology: { properties: { workers: { maxProperties: 0 } } } } },
  {
    properties: {
      data: { required: ["networkNamespaceName"] },
      topology: { properties: { controlplane: { required: ["machineClass", "metadata", "provider", "storage"] } } },
    },
  },
] as const;
