import { notObservedYet, observedGenerationField } from "./observed-generation.ts";
import { conditionsField } from "../meta/condition.ts";
import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, TALOS_GROUP } from "../groups.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { boolean, integer, object, oneOf, required, string, textLike } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { cniField } from "./cni.ts";
import { cidrList, configMapKeyField, deletionPolicyField, modeField, modeStays, noContainers, storageClassField } from "./fields.ts";
import { metalSpecField } from "./metal-spec.ts";
import { kubeVersionField, talosVersionField } from "./pool-fields.ts";
import { removalsField } from "./removals.ts";
import { upgradeColumn, upgradeField } from "./upgrade-progress.ts";
import {
  configContractField,
  machinesColumn,
  observedKubeVersionField,
  readyColumn,
  runningFields,
  statusColumn,
} from "./running-fields.ts";
import { rolloutStrategyField } from "./rollout-strategy.ts";

/** A URL with a name, an IPv4 address or an IPv6 address in brackets, as published. */
const ENDPOINT_PATTERN =
  "^https?://(([a-zA-Z0-9.-]+)|(\\[(((([0-9A-Fa-f]{1,4}:){1,7}):([0-9A-Fa-f]{1,4}:){0,6}([0-9A-Fa-f]{1,4}){0,1})|((([0-9A-Fa-f]{1,4}):){7}([0-9A-Fa-f]{1,4})))\\]))(:\\d+)?$";

const spec = object(
  {
    version: talosVersionField,
    mode: required(modeField),
    replicas: integer({ description: "Number of machines, for mode container only.", format: "int32" }),
    metalSpec: metalSpecField,
    endpoint: textLike(ENDPOINT_PATTERN, "must be a URL, for example https://10.0.0.10:6443", {
      description:
        "URL of the Kubernetes API for clients and nodes, for example https://10.0.0.10:6443. Default: the address of the first machine. It may change: once the new one leads to this cluster, machines and kubeconfig follow.",
      maxLength: 512,
    }),
    kubeVersion: kubeVersionField(
      "Kubernetes version of the cluster. A later change is reported as UpgradePending and does not touch running nodes. Default: v1.35.0.",
    ),
    clusterDomain: textLike(
      "^([a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?\\.)+[a-z]{2,}$",
      "must be a DNS domain of two labels or more, for example cluster.local",
      {
        description: "DNS domain of the cluster. May not change later. Default: cluster.local.",
        default: "cluster.local",
        maxLength: 253,
      },
    ),
    storageClassName: storageClassField("Storage class of the volumes, for mode container only."),
    podCIDR: cidrList(
      "Networks of pods. No machine may have its address inside. Cannot change once the cluster exists. Default: 10.244.0.0/16.",
    ),
    serviceCIDR: cidrList(
      "Networks of services. No machine may have its address inside. Cannot change once the cluster exists. Default: 10.96.0.0/12.",
    ),
    configRef: configMapKeyField,
    cni: cniField,
    deletionPolicy: deletionPolicyField,
    rolloutStrategy: rolloutStrategyField,
    driftPolicy: oneOf(["Report", "Revert"], {
      description:
        "What happens to changes that somebody else makes in the configuration of machines, workers included: they are reported in the condition ConfigDrift, or brought back. May change at any time. Default: Report.",
    }),
  },
  {
    description: "The control plane as it should be.",
    rules: [
      {
        rule: "!has(oldSelf.clusterDomain) || self.clusterDomain == oldSelf.clusterDomain",
        message: "clusterDomain cannot change: set it back, or make another cluster",
      },
      modeStays,
      {
        rule: "self.mode != 'metal' || has(self.metalSpec) && has(self.metalSpec.machines) && size(self.metalSpec.machines) > 0",
        message: "list the control planes in metalSpec.machines: mode metal needs at least one",
      },
      noContainers,
    ],
  },
);

/** The control plane of one cluster, as it should be. */
export interface TalosControlPlaneSpec extends Infer<typeof spec> {}
export const controlPlaneSpecField: Field<TalosControlPlaneSpec, false> = spec;

const status = object(
  {
    state: string({
      description:
        "One word for people: Pending, Available, Bootstrapped or Ready. UpgradingKubernetes and KubernetesUpgradeFailed are not written by this release.",
    }),
    conditions: conditionsField,
    observedGeneration: observedGenerationField,
    ...runningFields,
    observedKubeVersion: observedKubeVersionField,
    removals: removalsField,
    upgrade: upgradeField,
    configContract: configContractField,
    etcdLeader: string({
      description: "Name of the TalosMachine whose member led etcd when that was last seen. Of the control planes it is upgraded last.",
      maxLength: 253,
    }),
    imported: boolean({ description: "True once an existing cluster was taken over." }),
    config: string({ description: "Written by other operators only; never read as truth, never written here." }),
    secretBundle: string({ description: "Written by other operators only; read once when a cluster is taken over, never written here." }),
    bundleConfig: string({ description: "Written by other operators only; never written here." }),
  },
  { description: "The control plane as it was last seen.", default: notObservedYet },
);

/** The control plane as it was last seen. */
export interface TalosControlPlaneStatus extends Infer<typeof status> {}

/** The published words of `status.state`, in the order a cluster passes them. */
export const controlPlaneStates = [
  "Pending",
  "Available",
  "Bootstrapped",
  "Ready",
  "UpgradingKubernetes",
  "KubernetesUpgradeFailed",
] as const;

/**
 * `Pending`: not all machines answer. `Available`: they are configured, etcd is not bootstrapped. `Bootstrapped`: etcd is bootstrapped,
 * nodes are not all ready. `Ready`: the condition Ready is true. The last two belong to a Kubernetes upgrade.
 */
export type ControlPlaneState = (typeof controlPlaneStates)[number];

/** The control plane of one cluster, and what is known of it. */
export interface TalosControlPlane {
  readonly apiVersion: "talos.alperen.cloud/v1alpha1";
  readonly kind: "TalosControlPlane";
  readonly metadata: ObjectMeta;
  /** The published schema does not demand it. */
  readonly spec?: TalosControlPlaneSpec;
  readonly status?: TalosControlPlaneStatus;
}

export const talosControlPlaneResource = {
  group: TALOS_GROUP,
  version: API_VERSION,
  kind: "TalosControlPlane",
  plural: "taloscontrolplanes",
  singular: "taloscontrolplane",
  listKind: "TalosControlPlaneList",
  namespaced: true,
  shortNames: ["tcp"],
} as const satisfies Resource;

export const talosControlPlaneKind: KindDefinition = {
  resource: talosControlPlaneResource,
  categories: ["talos"],
  description: "TalosControlPlane is the control plane of one Talos Linux cluster: its machines, versions and endpoint.",
  spec: controlPlaneSpecField,
  status,
  printerColumns: [
    { name: "State", type: "string", jsonPath: ".status.state" },
    { name: "Version", type: "string", jsonPath: ".status.observedVersion" },
    { name: "KubeVersion", type: "string", jsonPath: ".status.observedKubeVersion" },
    { name: "Mode", type: "string", jsonPath: ".spec.mode" },
    ageColumn,
    readyColumn,
    statusColumn,
    machinesColumn,
    upgradeColumn,
    { name: "Endpoint", type: "string", jsonPath: ".spec.endpoint", priority: 1 },
  ],
};
