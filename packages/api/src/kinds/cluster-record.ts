import { conditionsField } from "../meta/condition.ts";
import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, OPERATOR_GROUP } from "../groups.ts";
import { beyondSchema } from "../schema/beyond.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { integer, list, object, oneOf, required, string, stringMap } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { recordedCniField } from "./cni.ts";
import { failureDescription, failureKinds } from "./failure-kinds.ts";

const time = (description: string) => string({ description, format: "date-time" });

/** What tells one machine from all others, whatever address it has today. */
const identityFields = {
  name: required(string({ description: "Name of the TalosMachine.", maxLength: 253 })),
  uuid: required(
    string({ description: "SMBIOS UUID the machine reported. Not unique by itself: some vendors ship one for all.", maxLength: 64 }),
  ),
  address: required(string({ description: "Address the machine answered on.", maxLength: 253 })),
  spki: string({ description: "SHA-256 of the public key the machine showed in maintenance mode, base64.", maxLength: 64 }),
  macs: list(string({ description: "A MAC address.", maxLength: 32 }), {
    description: "Hardware addresses of its physical links, sorted.",
    listType: "atomic",
    maxItems: 64,
  }),
};

const machineIdentity = object(identityFields, { description: "One machine." });

/** What tells one machine from all others: UUID, key and hardware addresses together; the address says only where it was. */
export interface MachineIdentity extends Infer<typeof machineIdentity> {}
const machineIdentityField: Field<MachineIdentity, false> = machineIdentity;

/** What another boot slot of a machine holds. */
const installedTalosFields = {
  version: required(string({ description: "Talos that its next boot starts.", maxLength: 64 })),
  schematic: string({
    description: "Schematic that it was built from; none = from none; absent where the name of its image shows none.",
    maxLength: 64,
  }),
  image: string({ description: "Installer that it came from, where the name of that shows no schematic.", maxLength: 512 }),
  before: required(string({ description: "Talos that it ran when that was installed, which the other boot slot keeps.", maxLength: 64 })),
  bootId: required(
    string({ description: "Boot id of the machine when it was installed: another one shows that it has booted.", maxLength: 64 }),
  ),
};

const knownMachine = object(
  {
    ...identityFields,
    serial: string({ description: "Serial number the machine reported.", maxLength: 128 }),
    platform: string({ description: "Platform the machine reported, for example metal or container.", maxLength: 64 }),
    installDisk: string({
      description: "Disk chosen for the installation; kept, so that a disk added later changes nothing.",
      maxLength: 256,
    }),
    pinnedAt: required(time("When the identity was first written down, before anything was sent.")),
    vouchedAt: time("When a person's approval of its key was taken, before it was configured. Absent: it was trusted on first use."),
    configuredAt: time("When a configuration was first sent, or may have been: from then on the machine may hold etcd data."),
    configHash: string({ description: "Hash of the configuration last known to be on the machine.", maxLength: 128 }),
    configContract: string({
      description: "Talos version contract that its configuration is written for, for example 1.13; kept until it is upgraded.",
      maxLength: 16,
    }),
    appliedHash: string({
      description: "SHA-256 of the configuration text that was last applied, or first read: another one on the machine is drift.",
      maxLength: 128,
    }),
    stagedConfig: object(
      {
        configHash: required(string({ description: "Hash of the settings that were sent.", maxLength: 128 })),
        bootId: required(string({ description: "Boot id of the machine when they were sent.", maxLength: 64 })),
        textHash: string({
          description:
            "SHA-256 of the configuration text on its disk, by which a release that renders the settings otherwise knows them again.",
          maxLength: 128,
        }),
      },
      { description: "A configuration that is on the machine and in force only after its next boot." },
    ),
    failedConfig: object(
      {
        configHash: required(string({ description: "Hash of the settings that failed.", maxLength: 128 })),
        why: required(string({ description: "What the machine said or showed, for people.", maxLength: 512 })),
        kind: oneOf(failureKinds, {
          description: `${failureDescription} Absent in records of before this field.`,
        }),
        tries: integer({
          description: "How often they were sent without coming into force and without a sign why. Absent: once, and that is final.",
          minimum: 1,
        }),
      },
      { description: "Settings that this machine refused or took back: they are not sent again until they change." },
    ),
    releasedAt: time("When the machine was proved wiped, or given up by a person. It no longer counts as configured."),
    pool: string({ description: "Name of the TalosWorker that a worker belongs to, or belonged to.", maxLength: 253 }),
    memberId: string({ description: "The etcd member that the machine last showed as its own, 16 hex digits.", maxLength: 32 }),
    metaHash: string({
      description: "Hash of the static network settings that were last written to its META partition; none = none were.",
      maxLength: 128,
    }),
    defragmentedAt: time("When its member of etcd was last asked to defragment."),
    talosImage: string({
      description:
        "Installer that the last upgrade took, where its name shows no schematic: what the machine runs does not show it either.",
      maxLength: 512,
    }),
    installedTalos: object(installedTalosFields, {
      description: "A Talos that is installed on the machine and not booted yet: nothing is installed over it.",
    }),
    installingTalos: object(installedTalosFields, {
      description:
        "A Talos that was to be installed in this boot of the machine, whose outcome was not seen: where one is on it later, it is this one.",
    }),
  },
  { description: "A machine that belongs, or ever belonged, to the cluster." },
);

/** A machine that belongs, or ever belonged, to the cluster. */
export interface KnownMachine extends Infer<typeof knownMachine> {}

const intentFields = {
  machine: required(machineIdentityField),
  bootIdBefore: string({
    description: "Boot id of the machine when the intent was written; another one later shows that it rebooted.",
    maxLength: 64,
  }),
  at: required(time("When the intent was written.")),
  by: required(string({ description: "Identity of the operator process that wrote it.", maxLength: 253 })),
  deadline: required(time("Until when the effect may still take place; before that it may not be repeated.")),
  fencingToken: required(
    string({ description: "Which turn of leadership wrote it: UID of the lease and number of its transitions.", maxLength: 128 }),
  ),
};

const bootstrapIntent = object(intentFields, { description: "Which machine is to bootstrap etcd, written before the call is sent." });

/** Which machine is to bootstrap etcd. Written before the call, kept until {@link BootstrapFact} replaces it. */
export interface BootstrapIntent extends Infer<typeof bootstrapIntent> {}

const bootstrapFact = object(
  {
    at: required(time("When the evidence was seen.")),
    machine: required(machineIdentityField),
    evidence: required(string({ description: "What showed it, for example the etcd member list of which machine.", maxLength: 1024 })),
  },
  { description: "Etcd was bootstrapped. Never removed or changed: a second bootstrap would be a second cluster." },
);

/** Proof that etcd was bootstrapped. Never removed. */
export interface BootstrapFact extends Infer<typeof bootstrapFact> {}

const openIntent = object(
  {
    id: required(string({ description: "Unique within the record.", maxLength: 64 })),
    what: required(string({ description: "The effect, for example Configure, Reset or RemoveEtcdMember.", maxLength: 64 })),
    why: required(string({ description: "The rule or wish behind it, as a sentence.", maxLength: 1024 })),
    ...intentFields,
    memberId: string({ description: "The etcd member concerned, 16 hex digits.", maxLength: 32 }),
    dbSizeBytes: integer({
      description: "Size of the member's file before it was to be defragmented; a smaller one shows that it was.",
      minimum: 0,
    }),
    stoppedAt: time("Since when a container that was asked to stop did not answer. One that answers again was started by somebody."),
    configHash: string({ description: "Hash of the configuration that is sent.", maxLength: 128 }),
    applyMode: oneOf(["try", "no-reboot", "staged"], {
      description: "How a configuration is sent; one that is tried reverts by itself at the deadline.",
    }),
    talosVersion: string({ description: "Talos that the machine is to run after it.", maxLength: 64 }),
    talosBefore: string({ description: "Talos that it ran when the intent was written.", maxLength: 64 }),
    talosSchematic: string({
      description: "Schematic that the machine is to run after it; none = built from none; absent where the name of the image shows none.",
      maxLength: 64,
    }),
    talosImage: string({ description: "Installer that it comes from, where the name of that shows no schematic.", maxLength: 512 }),
    talosExtensions: list(string({ description: "Name of an extension.", maxLength: 64 }), {
      description: "System extensions that the machine ran when the intent was written, and is to run after it.",
      listType: "atomic",
      maxItems: 32,
    }),
    talosArguments: list(string({ description: "Name of a kernel argument.", maxLength: 64 }), {
      description: "Kernel arguments that the machine is to run after it.",
      listType: "atomic",
      maxItems: 32,
    }),
    provenAt: time("Since when the machine shows everything that an upgrade is to bring; its bake time runs since then."),
    rollsBackFrom: string({
      description: "Boot id under which the new Talos was given up: only this boot is rolled back, and once.",
      maxLength: 64,
    }),
  },
  { description: "An effect that cannot be repeated blindly, from before it is sent until a machine shows that it took place." },
);

/** An effect that cannot be repeated blindly, from before it is sent until a machine shows that it took place. */
export interface OpenIntent extends Infer<typeof openIntent> {}
const openIntentField: Field<OpenIntent, false> = openIntent;

const snapshot = object(
  {
    machine: required(string({ description: "Name of the TalosMachine that the snapshot is taken from.", maxLength: 253 })),
    run: required(string({ description: "The run that takes it.", maxLength: 253 })),
    backup: required(
      object(
        {
          namespace: required(string({ description: "Its namespace.", maxLength: 253 })),
          name: required(string({ description: "Its name.", maxLength: 253 })),
        },
        { description: "The TalosEtcdBackup that it is taken for." },
      ),
    ),
    at: required(time("When this was written, before the run was begun.")),
    by: required(string({ description: "Identity of the operator process that wrote it.", maxLength: 253 })),
    deadline: required(time("Until when the run may read from the machine. After that this stands for nothing.")),
  },
  {
    description:
      "A snapshot that is being taken: no control plane of the cluster is disturbed until it is gone or its deadline has passed.",
  },
);

/** A snapshot that is being taken. Written by the controller of backups, only while no control-plane intent is open. */
export interface OpenSnapshot extends Infer<typeof snapshot> {}
const snapshotField: Field<OpenSnapshot, false> = snapshot;

const operation = object(
  {
    id: required(string({ description: "Unique within the record.", maxLength: 64 })),
    kind: required(
      string({ description: "Which procedure it is. A release that does not know it leaves the cluster alone.", maxLength: 64 }),
    ),
    phase: required(string({ description: "The step of the procedure that it is in.", maxLength: 64 })),
    startedAt: required(time("When it was begun.")),
    since: required(time("Since when it is in its phase.")),
    inputs: required(stringMap({ description: "What it was begun with: it goes on with that, whatever the spec says by then." })),
    releasedBy: string({ description: "What ends the wait that it is in; absent while it waits for nothing.", maxLength: 512 }),
  },
  { description: "A procedure of several steps, from before its first effect until its end was seen." },
);

/** A procedure of several steps, from before its first effect until its end was seen. What touches one machine for it is an intent of that machine. */
export interface OpenOperation extends Infer<typeof operation> {}
const operationField: Field<OpenOperation, false> = operation;

/** How many procedures may be open at once. */
const MAX_OPERATIONS = 16;

const quarantinedVersion = object(
  {
    version: required(string({ description: "Talos version, with v.", maxLength: 64 })),
    schematic: string({
      description: "Where the machine ran the version before, and only its image was another: schematic of that. Absent = every image.",
      maxLength: 64,
    }),
    machine: required(string({ description: "Name of the TalosMachine on which it failed.", maxLength: 253 })),
    manufacturer: string({ description: "Manufacturer that the machine reports; absent where it reports none.", maxLength: 128 }),
    product: string({ description: "Product name that the machine reports; absent where it reports none.", maxLength: 128 }),
    at: required(time("When it failed.")),
    why: required(string({ description: "What was seen, as a sentence.", maxLength: 512 })),
  },
  {
    description:
      "A Talos version, or an image of one, that failed on a machine: it goes to no machine of the cluster before a person says so.",
  },
);

/** A Talos version that failed on a machine of the cluster. */
export interface QuarantinedVersion extends Infer<typeof quarantinedVersion> {}
const quarantineField: Field<QuarantinedVersion, false> = quarantinedVersion;

/** How many versions may be in quarantine; the oldest goes. */
export const MAX_QUARANTINED = 16;

const acceptedHazard = object(
  {
    code: required(string({ description: "Code of the hazard.", maxLength: 64 })),
    configHash: required(string({ description: "Hash of the settings that have it: others are asked for anew.", maxLength: 128 })),
    at: required(time("When a person accepted it.")),
  },
  { description: "A hazard of a machine configuration that a person accepted." },
);

/** A hazard of a machine configuration that a person accepted. */
export interface AcceptedHazard extends Infer<typeof acceptedHazard> {}
const acceptedHazardField: Field<AcceptedHazard, false> = acceptedHazard;

/** How many accepted hazards are kept, of all settings together; the oldest goes, and is asked for anew. */
export const MAX_ACCEPTED_HAZARDS = 500;

/** Endpoints that a cluster had before. */
export const MAX_FORMER_ENDPOINTS = 16;

const appliedTemplate = object(
  {
    secretName: required(string({ description: "Secret that holds the template, without any value of the bundle.", maxLength: 253 })),
    pool: required(string({ description: "Name of the TalosControlPlane or TalosWorker.", maxLength: 253 })),
    role: required(string({ description: "controlplane or worker.", maxLength: 32 })),
    hash: required(string({ description: "Hash of the template.", maxLength: 128 })),
    at: required(time("When it was first applied.")),
  },
  { description: "A template of machine configs that was applied." },
);

/** A template of machine configs that was applied; the newest three of a pool are kept. */
export interface AppliedTemplate extends Infer<typeof appliedTemplate> {}

const recordedDecision = object(
  {
    at: required(time("When it was taken.")),
    action: required(string({ description: "What was done.", maxLength: 64 })),
    reason: required(string({ description: "Why, as one word.", maxLength: 128 })),
    machine: string({ description: "Name of the TalosMachine concerned.", maxLength: 253 }),
    message: string({ description: "Why, as a sentence with the facts.", maxLength: 1024 }),
    rule: string({ description: "The rule of the operator that took it.", maxLength: 64 }),
    releasedBy: string({ description: "What ends the state that it led to.", maxLength: 512 }),
  },
  { description: "A decision that changed something." },
);

/** A decision that changed something, for people who ask later. */
export interface RecordedDecision extends Infer<typeof recordedDecision> {}

/** How many decisions a record keeps; older ones go. */
export const MAX_DECISIONS = 50;

/** How many machines of one role a record can hold. */
export const MAX_KNOWN_MACHINES = 2000;

const spec = object(
  {
    controlPlaneUid: required(
      string({ description: "UID of the TalosControlPlane served. Evidence, not identity: another UID asks for adoption.", maxLength: 64 }),
    ),
    clusterId: string({ description: "The Talos cluster.id, which is the identity of the cluster. Set once.", maxLength: 128 }),
    bundle: object(
      {
        secretName: required(string({ description: "Name of the immutable Secret with the secrets bundle in force.", maxLength: 253 })),
        fingerprint: required(string({ description: "Fingerprint of its content; another content stops everything.", maxLength: 128 })),
        foundAt: time("Set when the Secret was there before this record: machines may have been configured that the record does not know."),
      },
      { description: "The secrets bundle in force. Absent only before the first one was made." },
    ),
    endpoint: string({ description: "URL of the Kubernetes API that clients and workers use.", maxLength: 512 }),
    nextEndpoint: string({
      description: "URL that control planes are being given; it becomes endpoint when all of them have it.",
      maxLength: 512,
    }),
    formerEndpoints: list(string({ description: "A URL.", maxLength: 512 }), {
      description:
        "Earlier values of endpoint, the one that the cluster was made with first. Certificates of API servers keep their hosts.",
      listType: "atomic",
      maxItems: MAX_FORMER_ENDPOINTS,
    }),
    podCIDR: list(string({ description: "A network.", maxLength: 64 }), {
      description: "Networks of pods in every machine config; chosen once.",
      listType: "atomic",
      maxItems: 16,
    }),
    serviceCIDR: list(string({ description: "A network.", maxLength: 64 }), {
      description: "Networks of services in every machine config; chosen once.",
      listType: "atomic",
      maxItems: 16,
    }),
    cni: recordedCniField,
    talosVersion: string({
      description:
        "Talos version that all control planes were last seen to run, at first the one they are made with; control planes that join get it.",
      maxLength: 64,
    }),
    kubernetesVersion: string({
      description:
        "Kubernetes version that all control planes were last seen to run, at first the one they are made with; what joins gets it.",
      maxLength: 64,
    }),
    bootstrap: object(
      { intent: bootstrapIntent, done: bootstrapFact },
      { description: "The founding of etcd, which takes place once in the life of a cluster." },
    ),
    knownControlPlanes: list<KnownMachine>(knownMachine, {
      description: "Every control-plane machine ever pinned. A machine leaves the list never; it is marked released.",
      listType: "atomic",
      maxItems: MAX_KNOWN_MACHINES,
    }),
    knownWorkers: list<KnownMachine>(knownMachine, {
      description: "Every worker machine pinned. Of those that were released the last ones stay for as long as there is room.",
      listType: "atomic",
      maxItems: MAX_KNOWN_MACHINES,
    }),
    openControlPlaneIntent: openIntentField,
    openWorkerIntents: list<OpenIntent>(openIntentField, {
      description: "Open effects on workers, at most one for each machine.",
      listType: "atomic",
      maxItems: MAX_KNOWN_MACHINES,
    }),
    snapshot: snapshotField,
    operations: list<OpenOperation>(operationField, {
      description: "Procedures of several steps that are open, oldest first.",
      listType: "atomic",
      maxItems: MAX_OPERATIONS,
    }),
    quarantine: list<QuarantinedVersion>(quarantineField, {
      description: "Talos versions that failed on a machine, oldest first.",
      listType: "atomic",
      maxItems: MAX_QUARANTINED,
    }),
    acceptedHazards: list<AcceptedHazard>(acceptedHazardField, {
      description: "Hazards of machine configurations that a person accepted, oldest first.",
      listType: "atomic",
      maxItems: MAX_ACCEPTED_HAZARDS,
    }),
    appliedTemplates: list<AppliedTemplate>(appliedTemplate, {
      description: "Templates of machine configs that were applied, oldest first.",
      listType: "atomic",
      maxItems: 1000,
    }),
    importedAt: time("When the running cluster was taken over from others. Absent: this operator made it."),
    decisions: list<RecordedDecision>(recordedDecision, {
      description: "The last decisions that changed something, oldest first.",
      listType: "atomic",
      maxItems: MAX_DECISIONS,
    }),
  },
  {
    description: "Facts that must outlive a crash. No secrets.",
    rules: [
      {
        rule: "!has(oldSelf.clusterId) || (has(self.clusterId) && self.clusterId == oldSelf.clusterId)",
        message: "clusterId is set once: it is the identity of the cluster",
      },
      {
        rule: "!has(oldSelf.bundle) || has(self.bundle)",
        message: "bundle cannot be removed: without it the cluster could not be distinguished from a new one",
      },
      {
        rule: "!has(oldSelf.bootstrap) || !has(oldSelf.bootstrap.done) || (has(self.bootstrap) && has(self.bootstrap.done) && self.bootstrap.done.at == oldSelf.bootstrap.done.at)",
        message: "bootstrap.done cannot be removed or changed: etcd is bootstrapped once",
      },
      {
        rule: "!has(oldSelf.openControlPlaneIntent) || !has(self.openControlPlaneIntent) || self.openControlPlaneIntent.id == oldSelf.openControlPlaneIntent.id",
        message: "another control-plane intent is open: close it first",
      },
      {
        rule: "!has(self.snapshot) || !has(self.openControlPlaneIntent) || (has(oldSelf.snapshot) && oldSelf.snapshot.run == self.snapshot.run)",
        message: "a control plane is being disturbed: a snapshot waits until that is over",
      },
    ],
  },
);

/** Facts about one cluster that must outlive a crash; no secrets. */
export interface ClusterRecordSpec extends Infer<typeof spec> {}
const specField: Field<ClusterRecordSpec, true> = required(spec);

const status = object(
  { conditions: conditionsField },
  { description: "Written only while the record of a preserved cluster is being deleted." },
);

/** What was observed about the record. */
export interface ClusterRecordStatus extends Infer<typeof status> {}

/**
 * The memory of one cluster: same name and namespace as its TalosControlPlane, no owner, a finalizer of its own.
 *
 * Written by compare-and-swap on `resourceVersion` only. What it says was decided; what a machine shows is the truth.
 */
export interface ClusterRecord {
  readonly apiVersion: "talos-operator.dev/v1alpha1";
  readonly kind: "ClusterRecord";
  readonly metadata: ObjectMeta;
  readonly spec: ClusterRecordSpec;
  readonly status?: ClusterRecordStatus;
}

export const clusterRecordResource = {
  group: OPERATOR_GROUP,
  version: API_VERSION,
  kind: "ClusterRecord",
  plural: "clusterrecords",
  singular: "clusterrecord",
  listKind: "ClusterRecordList",
  namespaced: true,
  shortNames: ["clr"],
} as const satisfies Resource;

/**
 * What a record holds that this release has no field or word for, as a path: a newer release wrote it. `undefined` = nothing. Who goes on all the same
 * acts on half of what was decided, and drops the rest with its next write.
 */
export function beyondThisRelease({ apiVersion, spec: stored }: ClusterRecord): string | undefined {
  const own = `${OPERATOR_GROUP}/${API_VERSION}`;
  return apiVersion === own ? beyondSchema(stored, specField.schema, "spec") : `apiVersion: ${String(apiVersion).slice(0, 64)}`;
}

export const clusterRecordKind: KindDefinition = {
  resource: clusterRecordResource,
  categories: ["talos"],
  description:
    "ClusterRecord is the operator's memory of one cluster: its keys' fingerprint, its bootstrap, the machines it ever had, open intents.",
  spec: specField,
  status,
  printerColumns: [
    { name: "Cluster ID", type: "string", jsonPath: ".spec.clusterId" },
    { name: "Bundle", type: "string", jsonPath: ".spec.bundle.secretName" },
    { name: "Bootstrapped", type: "date", jsonPath: ".spec.bootstrap.done.at" },
    { name: "Intent", type: "string", jsonPath: ".spec.openControlPlaneIntent.what" },
    ageColumn,
  ],
};
