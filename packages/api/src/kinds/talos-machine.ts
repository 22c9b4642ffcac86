import { notObservedYet, observedGenerationField } from "./observed-generation.ts";
import { conditionsField } from "../meta/condition.ts";
import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, TALOS_GROUP } from "../groups.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { boolean, described, list, object, oneOf, required, string, textLike } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { failureDescription } from "./failure-kinds.ts";
import { configMapKeyField, deletionPolicyField, objectReferenceField } from "./fields.ts";
import { readyColumn, reasonColumn } from "./running-fields.ts";
import { machineUpgradeColumn, machineUpgradeField, machineUpgradeToColumn } from "./upgrade-progress.ts";
import { installDiskField, machineSpecField, pxeClientSpecField } from "./machine-spec.ts";

const spec = object(
  {
    endpoint: required(string({ description: "Address the machine answers on: an IP address or a DNS name." })),
    version: required(string({ description: "Talos version the machine is installed with." })),
    machineSpec: machineSpecField,
    controlPlaneRef: described(
      objectReferenceField,
      "The TalosControlPlane this machine is a control plane of. Exactly one of controlPlaneRef and workerRef makes sense.",
    ),
    workerRef: described(
      objectReferenceField,
      "The TalosWorker this machine is a worker of. Exactly one of controlPlaneRef and workerRef makes sense.",
    ),
    type: oneOf(["controlplane", "worker"], {
      description: "What the machine is. Must agree with the reference. Default: controlplane with controlPlaneRef, else worker.",
    }),
    hostname: textLike(
      "^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$",
      "must be a host name, for example node-1 or node-1.example.com",
      { description: "Host name of the node. Default: what patches say, else the one that Talos makes.", maxLength: 253 },
    ),
    ips: list(string({ description: "An IP address." }), {
      description:
        "IP addresses of the machine, for the names in its certificate; endpoint stays the one that is dialled and must be among them when it is an IP address.",
      maxItems: 16,
    }),
    installDisk: installDiskField("Disk Talos is installed on, as machineSpec.installDisk; equal where both are set."),
    configRef: configMapKeyField,
    deletionPolicy: described(
      deletionPolicyField,
      "As copied from the pool that made it. Whether the machine is wiped says the object that it belongs to; once that is gone, preserve lets this object go. Default: reset.",
    ),
    pxeClientSpec: pxeClientSpecField,
  },
  { description: "The machine as it should be." },
);

/** One machine, as it should be. */
export interface TalosMachineSpec extends Infer<typeof spec> {}
const specField: Field<TalosMachineSpec, false> = spec;

const identity = object(
  {
    uuid: string({ description: "SMBIOS UUID that was written down for it; absent where it has none.", maxLength: 64 }),
    kind: string({
      description:
        "How far the UUID distinguishes it from others: own, shared with other machines, or vendor for one that is shipped by the thousand.",
    }),
    hardwareAddresses: list(string({ description: "A MAC address.", maxLength: 32 }), {
      description: "Hardware addresses that tell it apart; absent where the UUID is its own, or where it reports none.",
      listType: "atomic",
      maxItems: 64,
    }),
    maintenanceKey: string({
      description: "SHA-256 of the public key that it showed in maintenance mode, base64; absent where it was met configured.",
      maxLength: 64,
    }),
  },
  {
    description:
      "Who the machine is, as the ClusterRecord has it. A copy: it is read only where the record is lost, and a machine has to show it all the same.",
  },
);

/** Who a machine is, as its object tells it. */
export interface MachineIdentityStatus extends Infer<typeof identity> {}
const identityField: Field<MachineIdentityStatus, false> = identity;

const failedConfig = object(
  { kind: required(string({ description: failureDescription })) },
  { description: "Settings that the machine was sent and does not run. The condition ConfigUpToDate of its pool says more." },
);

const status = object(
  {
    state: string({
      description:
        "One word for people: Pending, Installing, Upgrading, Available, Rebooting, Resetting, Unreachable, IdentityMismatch or Orphaned. Booting is not written by this release.",
    }),
    conditions: conditionsField,
    observedGeneration: observedGenerationField,
    observedVersion: string({ description: "Talos version the machine said it runs." }),
    observedSchematic: string({
      description: "Id of the schematic that the Talos that runs is built from, as the machine said it; none = of no schematic.",
      maxLength: 64,
    }),
    observedExtensions: list(string({ description: "Name of a system extension.", maxLength: 64 }), {
      description: "System extensions that run, as the machine said it.",
      listType: "atomic",
      maxItems: 64,
    }),
    role: string({ description: "What the machine is: controlplane or worker." }),
    cluster: string({ description: "Name of its TalosControlPlane." }),
    pool: string({ description: "Name of the TalosWorker that lists it; absent for control planes." }),
    nodeName: string({ description: "Name of its Kubernetes Node, as the machine said it." }),
    stage: string({ description: "Where the machine is in its boot, as it said: maintenance, installing, booting, running and so on." }),
    upgrade: machineUpgradeField,
    identity: identityField,
    failedConfig,
    imported: boolean({ description: "Written by other operators only; the TalosControlPlane says what was taken over." }),
    config: string({ description: "Written by other operators only; never read as truth, never written here." }),
  },
  { description: "The machine as it was last seen.", default: notObservedYet },
);

/** The machine as it was last seen. */
export interface TalosMachineStatus extends Infer<typeof status> {}

/** The published words of `status.state`, and `Rebooting`, `Resetting`, `Unreachable` and `IdentityMismatch`. */
export const machineStates = [
  "Booting",
  "Pending",
  "Installing",
  "Upgrading",
  "Available",
  "Rebooting",
  "Resetting",
  "Unreachable",
  "IdentityMismatch",
  "Orphaned",
] as const;

/**
 * `Booting`: a network boot is awaited. `Pending`: no configuration was sent. `Installing`: configured, not yet back as a
 * running node. `Upgrading`: an upgrade runs. `Available`: runs with its configuration. `Rebooting`: boots anew, with the configuration that it has. `Resetting`:
 * its disk is wiped, and it is released after that. `Unreachable`: ran with its configuration, and does not answer
 * now. `IdentityMismatch`: another machine answers, or one that cannot prove to be this one. `Orphaned`: the object it refers to is gone.
 */
export type MachineState = (typeof machineStates)[number];

/** One machine, and what is known of it. */
export interface TalosMachine {
  readonly apiVersion: "talos.alperen.cloud/v1alpha1";
  readonly kind: "TalosMachine";
  readonly metadata: ObjectMeta;
  /** The published schema does not demand it. */
  readonly spec?: TalosMachineSpec;
  readonly status?: TalosMachineStatus;
}

export const talosMachineResource = {
  group: TALOS_GROUP,
  version: API_VERSION,
  kind: "TalosMachine",
  plural: "talosmachines",
  singular: "talosmachine",
  listKind: "TalosMachineList",
  namespaced: true,
  shortNames: ["tm"],
} as const satisfies Resource;

export const talosMachineKind: KindDefinition = {
  resource: talosMachineResource,
  categories: ["talos"],
  description: "TalosMachine is one machine of a cluster. Usually made from the machines of a TalosControlPlane or TalosWorker.",
  spec: specField,
  status,
  printerColumns: [
    { name: "State", type: "string", jsonPath: ".status.state" },
    { name: "Version", type: "string", jsonPath: ".status.observedVersion" },
    { name: "Endpoint", type: "string", jsonPath: ".spec.endpoint" },
    ageColumn,
    { name: "Role", type: "string", jsonPath: ".status.role" },
    readyColumn,
    reasonColumn,
    machineUpgradeColumn,
    { name: "Cluster", type: "string", jsonPath: ".status.cluster", priority: 1 },
    { name: "Pool", type: "string", jsonPath: ".status.pool", priority: 1 },
    { name: "Node", type: "string", jsonPath: ".status.nodeName", priority: 1 },
    { name: "Stage", type: "string", jsonPath: ".status.stage", priority: 1 },
    machineUpgradeToColumn,
  ],
};
