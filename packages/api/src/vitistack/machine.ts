import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, VITISTACK_GROUP } from "../groups.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { integer, list, object, string } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";
import { vitistackMachineSpecField } from "./machine-spec.ts";
import type { VitistackMachineSpec } from "./machine-spec.ts";

const text = (description: string) => string({ description });
const whole = (description: string) => integer({ description });
const time = (description: string) => string({ description, format: "date-time" });
const texts = (description: string, item: string) => list(text(item), { description });

const disk = object(
  {
    accessModes: texts("Access modes of its volume.", "An access mode."),
    availableBytes: whole("Free bytes."),
    device: text("Device name in the machine, for example /dev/vda. The disk counts as ready once it is set."),
    filesystemType: text("File system."),
    label: text("Label."),
    mountPoint: text("Where it is mounted."),
    name: text("Name of the disk."),
    pvcName: text("PersistentVolumeClaim behind the disk, for providers that have one."),
    serialNumber: text("Serial number."),
    size: whole("Size in bytes."),
    type: text("Kind of storage."),
    usagePercent: text("Share in use."),
    usedBytes: whole("Bytes in use."),
    uuid: text("UUID."),
    volumeMode: text("Volume mode."),
  },
  { description: "One disk." },
);

const networkInterface = object(
  {
    ipAddresses: texts("IPv4 addresses.", "An address."),
    ipv6Addresses: texts("IPv6 addresses.", "An address."),
    macAddress: text("Hardware address."),
    mtu: whole("Largest packet in bytes."),
    name: text("Name of the interface."),
    state: text("State of the link."),
    type: text("Kind of interface."),
  },
  { description: "One interface." },
);

const condition = object(
  {
    lastTransitionTime: time("When the status last changed."),
    message: text("Why, as a sentence."),
    reason: text("Why, as one word."),
    status: text("True, False or Unknown."),
    type: text("What the condition is about."),
  },
  { description: "One aspect of the machine's state." },
);

const status = object(
  {
    architecture: text("Processor architecture."),
    bootTime: time("When it last booted."),
    conditions: list(condition, { description: "What the provider observed." }),
    cpus: whole("Processors."),
    creationTime: time("When the provider made it."),
    disks: list(disk, { description: "Disks the machine has." }),
    failureMessage: text("Why the provider failed, as a sentence."),
    failureReason: text("Why the provider failed, as one word."),
    hostname: text("Host name."),
    ipAddresses: texts("IPv4 addresses.", "An address."),
    ipv6Addresses: texts("IPv6 addresses.", "An address."),
    kernelVersion: text("Kernel version."),
    lastUpdated: time("When the status last changed."),
    machineID: text("Identity at the provider."),
    memory: whole("Memory in bytes."),
    message: text("What goes on, as a sentence."),
    networkInterfaces: list(networkInterface, { description: "Interfaces the machine has." }),
    operatingSystem: text("Operating system."),
    operatingSystemVersion: text("Version of the operating system."),
    phase: text("Pending, Creating, Running, Stopping, Stopped, Terminating, Terminated or Failed."),
    privateIPAddresses: texts("Addresses reachable from inside only.", "An address."),
    provider: text("Provider that fulfils the Machine."),
    providerID: text("Name of the machine in the provider's words."),
    publicIPAddresses: texts("Addresses the machine is reached at.", "An address."),
    region: text("Region."),
    state: text("State in the provider's words."),
    zone: text("Zone."),
  },
  { description: "The machine as its provider sees it. Written by machine providers, never by this operator." },
);

/** A machine as its provider sees it. */
export interface VitistackMachineStatus extends Infer<typeof status> {}

/** One machine that is asked of a machine provider, and what came of it. */
export interface VitistackMachine {
  readonly apiVersion: "vitistack.io/v1alpha1";
  readonly kind: "Machine";
  readonly metadata: ObjectMeta;
  /** The published schema does not demand it. */
  readonly spec?: VitistackMachineSpec;
  readonly status?: VitistackMachineStatus;
}

export const vitistackMachineResource = {
  group: VITISTACK_GROUP,
  version: API_VERSION,
  kind: "Machine",
  plural: "machines",
  singular: "machine",
  listKind: "MachineList",
  namespaced: true,
  shortNames: ["m"],
} as const satisfies Resource;

export const vitistackMachineKind: KindDefinition = {
  resource: vitistackMachineResource,
  description: "Machine is one machine that is asked of a machine provider. The operator writes its spec, the provider its status.",
  spec: vitistackMachineSpecField,
  status,
  printerColumns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "State", type: "string", jsonPath: ".status.state" },
    { name: "Public IPs", type: "string", jsonPath: ".status.publicIPAddresses" },
    { name: "Provider", type: "string", jsonPath: ".spec.provider" },
    { name: "Machine Class", type: "string", jsonPath: ".spec.machineClass" },
    ageColumn,
  ],
};
