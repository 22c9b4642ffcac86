import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, VITISTACK_GROUP } from "../groups.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { integer, list, object, oneOf, required, string } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { clusterStatusField } from "./cluster-status.ts";
import type { KubernetesClusterStatus } from "./cluster-status.ts";
import { machineTemplateSpecField } from "./machine-spec.ts";
import { talosConfigField } from "./talos-options.ts";
import { WRITTEN_OUT_OR_LIST, topologyField } from "./topology.ts";

const text = (description: string) => string({ description });

const data = object(
  {
    clusterId: required(
      string({
        description: "Identity of the cluster: its Talos cluster name, and the label vitistack.io/clusterid. Cannot change.",
        rules: [{ rule: "self == oldSelf", message: "clusterId is immutable: machines and keys are bound to it" }],
      }),
    ),
    clusterUid: required(text("Identity in an inventory; kept, and shown as status.state.cluster.externalId.")),
    datacenter: required(text("Data centre, for example test-south-az1. Shown on nodes.")),
    environment: required(text("Environment, for example dev. Shown on nodes.")),
    networkNamespaceName: string({
      description: "NetworkNamespace in the same namespace that addresses come from. Default: the only one of the namespace.",
      minLength: 1,
    }),
    project: required(text("Project. Shown on nodes.")),
    provider: required(text("Who makes clusters of it: talos. Objects with another value are left to others entirely.")),
    region: required(text("Region. Shown on nodes.")),
    workorder: required(text("Order it belongs to. Shown on nodes.")),
    workspace: required(text("Workspace. Shown on nodes.")),
    zone: required(text("Zone, free text. Shown on nodes.")),
  },
  { description: "The cluster in an inventory. With topology." },
);

/** `spec.data` of a KubernetesCluster. */
export interface ClusterData extends Infer<typeof data> {}

const machineTemplate = object({ spec: machineTemplateSpecField }, { description: "What each machine of the group is made from." });

const controlPlane = object(
  {
    replicas: required(
      integer({
        description: "Number of control planes. Odd; above 7 is answered by a condition.",
        minimum: 1,
        rules: [
          { rule: "self % 2 == 1", message: "replicas must be odd (1, 3, 5): an even number survives no more losses and stalls sooner" },
        ],
      }),
    ),
    machineTemplate,
  },
  { description: "The control planes. With clusterName; not together with topology." },
);

const workerGroup = object(
  {
    name: required(
      string({
        description: "Name of the group, unique in the cluster: a DNS label. Part of the names of its machines.",
        minLength: 1,
        maxLength: 63,
      }),
    ),
    replicas: required(integer({ description: "Number of machines.", minimum: 0 })),
    machineTemplate,
  },
  { description: "One group of workers." },
);

/** One group of workers of the flat shape. */
export interface WorkerGroup extends Infer<typeof workerGroup> {}

const networks = (what: string, fallback: string) =>
  list(text("A network, for example 10.244.0.0/16."), {
    description: `Networks of ${what}. Cannot change once the cluster exists. Default: ${fallback}.`,
  });

/** CEL: a secret is given in `talosConfig.machine`. */
function given(root: "self" | "oldSelf", field: "token" | "secretRef"): string {
  return `(has(${root}.talosConfig) && has(${root}.talosConfig.machine) && has(${root}.talosConfig.machine.${field}))`;
}

const spec = object(
  {
    clusterEndpoint: text("URL of the Kubernetes API, for example https://192.168.1.100:6443. Default: as endpointMode says."),
    clusterName: string({
      description: "Name of the cluster: a DNS label, first part of the names of its machines. With controlPlane. Cannot change.",
    }),
    controlPlane,
    data,
    endpointMode: oneOf(["networkconfiguration", "none", "talosvip", "custom"], {
      description:
        "Where the endpoint comes from when clusterEndpoint is not given: a shared address that the network is asked for (networkconfiguration), the first control plane's address (none, and where there is no NetworkNamespace), or the operator's setting (custom). talosvip goes with clusterEndpoint: the control planes hold its address themselves. Default: the operator's.",
    }),
    kubernetesVersion: text("Kubernetes version, for example v1.28.3; without a patch it is the newest known one. With controlPlane."),
    podSubnets: networks("pods", "10.244.0.0/16"),
    serviceSubnets: networks("services", "10.96.0.0/12"),
    talosConfig: talosConfigField,
    talosVersion: text("Talos version, for example v1.5.5. Default: the operator's."),
    topology: topologyField,
    workers: list<WorkerGroup>(workerGroup, {
      description: "Groups of workers. With controlPlane.",
      listType: "map",
      listMapKeys: ["name"],
    }),
  },
  {
    description: "The cluster as it should be, in one of two shapes: clusterName with controlPlane and workers, or data with topology.",
    anyOf: WRITTEN_OUT_OR_LIST,
    rules: [
      {
        rule: "has(self.topology) != has(self.controlPlane)",
        message: "give either controlPlane (with clusterName) or topology (with data), and not both: they are two shapes of one thing",
      },
      { rule: "has(self.data) == has(self.topology)", message: "data and topology belong together" },
      { rule: "!has(self.controlPlane) || has(self.clusterName)", message: "controlPlane needs clusterName" },
      {
        rule: "!has(self.topology) || !(has(self.clusterName) || has(self.kubernetesVersion) || has(self.workers))",
        message:
          "clusterName, kubernetesVersion and workers go with controlPlane; topology has them as data.clusterId, version and workers",
      },
      {
        rule: "has(self.topology) == has(oldSelf.topology)",
        message: "the shape cannot change: write the cluster in the shape it was made in",
      },
      {
        rule: `!(${given("self", "token")} || ${given("self", "secretRef")}) || ${given("oldSelf", "token")} || ${given("oldSelf", "secretRef")}`,
        message: "token, ca and secretRef of talosConfig.machine cannot be added later: the cluster has its keys",
      },
      {
        rule: "!has(oldSelf.clusterName) || (has(self.clusterName) && self.clusterName == oldSelf.clusterName)",
        message: "clusterName is immutable: machines are named after it",
      },
    ],
  },
);

/** A cluster as it should be, in one of two shapes. `normaliseCluster` reads both. */
export interface KubernetesClusterSpec extends Infer<typeof spec> {}
const specField: Field<KubernetesClusterSpec, false> = spec;

/** One cluster of machines that a machine provider makes, and what is known of it. */
export interface KubernetesCluster {
  readonly apiVersion: "vitistack.io/v1alpha1";
  readonly kind: "KubernetesCluster";
  readonly metadata: ObjectMeta;
  /** The published schema does not demand it. */
  readonly spec?: KubernetesClusterSpec;
  readonly status?: KubernetesClusterStatus;
}

export const kubernetesClusterResource = {
  group: VITISTACK_GROUP,
  version: API_VERSION,
  kind: "KubernetesCluster",
  plural: "kubernetesclusters",
  singular: "kubernetescluster",
  listKind: "KubernetesClusterList",
  namespaced: true,
  shortNames: ["kc"],
} as const satisfies Resource;

export const kubernetesClusterKind: KindDefinition = {
  resource: kubernetesClusterResource,
  categories: ["talos"],
  description: "KubernetesCluster is a Talos Linux cluster described by groups of machines that a machine provider makes.",
  spec: specField,
  status: clusterStatusField,
  printerColumns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Provider", type: "string", jsonPath: ".spec.data.provider" },
    { name: "Region", type: "string", jsonPath: ".spec.data.region" },
    { name: "CPs", type: "integer", jsonPath: ".spec.topology.controlplane.replicas" },
    { name: "Workers", type: "integer", jsonPath: ".status.workers" },
    { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 },
    ageColumn,
  ],
};
