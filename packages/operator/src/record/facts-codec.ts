import {
  beyondThisRelease,
  clusterRecordResource,
  MAX_ACCEPTED_HAZARDS,
  MAX_FORMER_ENDPOINTS,
  MAX_QUARANTINED,
  finalizers,
  labels,
  rfc3339,
} from "@talos-operator/api";
import type {
  ClusterRecord,
  ClusterRecordSpec,
  KnownMachine,
  MachineIdentity,
  OpenIntent,
  OpenOperation,
  QuarantinedVersion,
} from "@talos-operator/api";
import { clusterLabel } from "../secrets/cluster-label.ts";
import type {
  BootstrapDoneFact,
  BootstrapIntentFact,
  BundleFact,
  ClusterFacts,
  DecisionFact,
  IntentFact,
  IntentKind,
  MachineFact,
  OperationFact,
  QuarantineFact,
} from "../model/record.ts";
import type { MachineRole } from "../model/machine.ts";
import type { SeenRecord } from "../model/observation.ts";

/** Who writes an intent, for the fence that keeps an older leader from acting on it. */
export interface Writer {
  /** Identity of this process in the lease. */
  readonly identity: string;
  /** Which turn of leadership it is. */
  readonly fencingToken: string;
}

/** What was found beyond this release in a record that was read; looked for once in each. */
const looked = new WeakMap<ClusterRecord, string | undefined>();

/**
 * What a stored record holds that only a newer release knows, as a path; `undefined` = nothing.
 *
 * An operator that goes on beside it would act on half of what was decided, and drop the rest with its next write.
 */
export function newerWord(record: ClusterRecord): string | undefined {
  if (looked.has(record)) return looked.get(record);
  const { openControlPlaneIntent, openWorkerIntents = [] } = record.spec;
  const open = [...(openControlPlaneIntent === undefined ? [] : [openControlPlaneIntent]), ...openWorkerIntents];
  const stranger = open.find(({ what }) => !intentKinds.some((known) => known === what));
  const operation = record.spec.operations?.find(({ kind }) => !operationKinds.some((known) => known === kind));
  const found =
    beyondThisRelease(record) ??
    (stranger === undefined ? undefined : `the intent ${stranger.what}`) ??
    // Whoever began a procedure that this release does not know has to end it.
    (operation === undefined ? undefined : `the operation ${operation.kind}`);
  looked.set(record, found);
  return found;
}

/** The facts of a stored record; `undefined` for one without bundle or cluster id (never written by us), and for one with words of a newer release. */
export function readRecord(record: ClusterRecord): SeenRecord | undefined {
  if (read.has(record)) return read.get(record);
  const seen = readAnew(record);
  read.set(record, seen);
  return seen;
}

/** Records that were read: copies in memory are replaced and never changed, and each pass asks again. */
const read = new WeakMap<ClusterRecord, SeenRecord | undefined>();

function readAnew(record: ClusterRecord): SeenRecord | undefined {
  const { spec, metadata } = record;
  if (spec.bundle === undefined || spec.clusterId === undefined || newerWord(record) !== undefined) return undefined;
  const intents = [
    ...(spec.openControlPlaneIntent === undefined ? [] : [readIntent(spec.openControlPlaneIntent, "controlplane")]),
    ...(spec.openWorkerIntents ?? []).map((intent) => readIntent(intent, "worker")),
  ].filter((intent) => intent !== undefined);
  return {
    resourceVersion: metadata.resourceVersion ?? "",
    metadata,
    facts: {
      controlPlaneUid: spec.controlPlaneUid,
      clusterId: spec.clusterId,
      bundle: readBundleFact(spec.bundle),
      endpoint: spec.endpoint ?? "",
      ...(spec.nextEndpoint === undefined ? {} : { nextEndpoint: spec.nextEndpoint }),
      ...(isEmpty(spec.formerEndpoints) ? {} : { formerEndpoints: spec.formerEndpoints }),
      podCIDR: spec.podCIDR ?? [],
      serviceCIDR: spec.serviceCIDR ?? [],
      cni: spec.cni,
      talosVersion: spec.talosVersion ?? "",
      kubernetesVersion: spec.kubernetesVersion ?? "",
      machines: [
        ...(spec.knownControlPlanes ?? []).map((machine) => readMachine(machine, "controlplane")),
        ...(spec.knownWorkers ?? []).map((machine) => readMachine(machine, "worker")),
      ],
      bootstrapIntent: readBootstrapIntent(spec),
      bootstrapDone: readBootstrapDone(spec),
      intents,
      ...(spec.snapshot === undefined
        ? {}
        : {
            snapshot: {
              machine: spec.snapshot.machine,
              backup: `${spec.snapshot.backup.namespace}/${spec.snapshot.backup.name}`,
              deadline: ms(spec.snapshot.deadline),
            },
          }),
      ...(spec.operations === undefined || spec.operations.length === 0 ? {} : { operations: spec.operations.map(readOperation) }),
      ...(spec.quarantine === undefined || spec.quarantine.length === 0 ? {} : { quarantine: spec.quarantine.map(readQuarantine) }),
      ...(spec.acceptedHazards === undefined || spec.acceptedHazards.length === 0
        ? {}
        : { acceptedHazards: spec.acceptedHazards.map(({ at, ...row }) => ({ ...row, at: ms(at) })) }),
      decisions: (spec.decisions ?? []).map(readDecision),
      ...(spec.importedAt === undefined ? {} : { importedAt: ms(spec.importedAt) }),
    },
  };
}

/**
 * The record to store for the given facts.
 *
 * @param before the record that is replaced; what the facts do not cover (applied templates, status, labels) is kept from it
 */
export function printRecord(
  key: { readonly namespace: string; readonly name: string },
  facts: ClusterFacts,
  before: ClusterRecord | undefined,
  writer: Writer,
): ClusterRecord {
  const known = (role: MachineRole): readonly KnownMachine[] => facts.machines.filter((machine) => machine.role === role).map(printMachine);
  const print = (intent: IntentFact): OpenIntent => printIntent(intent, before, writer);
  const [controlPlaneIntent, ...more] = facts.intents.filter((intent) => intent.role === "controlplane");
  if (more.length > 0) throw new Error(`two intents on control planes at once: ${controlPlaneIntent?.machine}, ${more[0]?.machine}`);
  const workerIntents = facts.intents.filter((intent) => intent.role === "worker");
  const {
    openControlPlaneIntent: _open,
    openWorkerIntents: _workers,
    operations: _operations,
    quarantine: _quarantine,
    acceptedHazards: _acceptedHazards,
    nextEndpoint: _nextEndpoint,
    formerEndpoints: _formerEndpoints,
    ...kept
  } = before?.spec ?? { controlPlaneUid: "" };
  return {
    apiVersion: `${clusterRecordResource.group}/${clusterRecordResource.version}` as ClusterRecord["apiVersion"],
    kind: "ClusterRecord",
    metadata: before?.metadata ?? { ...key, finalizers: [finalizers.clusterRecord], labels: { [labels.cluster]: clusterLabel(key.name) } },
    spec: {
      ...kept,
      controlPlaneUid: facts.controlPlaneUid,
      clusterId: facts.clusterId,
      endpoint: facts.endpoint,
      ...(facts.nextEndpoint === undefined ? {} : { nextEndpoint: facts.nextEndpoint }),
      ...(isEmpty(facts.formerEndpoints) ? {} : { formerEndpoints: mostOf(facts.formerEndpoints) }),
      podCIDR: facts.podCIDR,
      serviceCIDR: facts.serviceCIDR,
      ...(facts.cni === undefined ? {} : { cni: facts.cni }),
      talosVersion: facts.talosVersion,
      kubernetesVersion: facts.kubernetesVersion,
      bundle: {
        secretName: facts.bundle.secretName,
        fingerprint: facts.bundle.fingerprint,
        ...(facts.bundle.wasFound
          ? { foundAt: before?.spec.bundle?.foundAt ?? time(facts.bundle.foundAt ?? facts.decisions.at(-1)?.at ?? 0) }
          : {}),
      },
      ...(facts.bootstrapIntent === undefined && facts.bootstrapDone === undefined
        ? {}
        : {
            bootstrap: {
              ...(facts.bootstrapIntent === undefined ? {} : { intent: printBootstrapIntent(facts.bootstrapIntent, before, writer) }),
              ...(facts.bootstrapDone === undefined ? {} : { done: printBootstrapDone(facts.bootstrapDone) }),
            },
          }),
      knownControlPlanes: known("controlplane"),
      knownWorkers: known("worker"),
      ...(controlPlaneIntent === undefined ? {} : { openControlPlaneIntent: print(controlPlaneIntent) }),
      ...(workerIntents.length === 0 ? {} : { openWorkerIntents: workerIntents.map(print) }),
      ...(isEmpty(facts.operations) ? {} : { operations: facts.operations.map(printOperation) }),
      ...(isEmpty(facts.quarantine) ? {} : { quarantine: facts.quarantine.slice(-MAX_QUARANTINED).map(printQuarantine) }),
      ...(isEmpty(facts.acceptedHazards)
        ? {}
        : { acceptedHazards: facts.acceptedHazards.slice(-MAX_ACCEPTED_HAZARDS).map(({ at, ...row }) => ({ ...row, at: time(at) })) }),
      decisions: facts.decisions.map(printDecision),
      ...(facts.importedAt === undefined ? {} : { importedAt: time(facts.importedAt) }),
    },
  };
}

function readBundleFact({ secretName, fingerprint, foundAt }: NonNullable<ClusterRecordSpec["bundle"]>): BundleFact {
  return { secretName, fingerprint, wasFound: foundAt !== undefined, ...(foundAt === undefined ? {} : { foundAt: ms(foundAt) }) };
}

function readMachine(machine: KnownMachine, role: MachineRole): MachineFact {
  return {
    name: machine.name,
    role,
    ...(machine.pool === undefined ? {} : { pool: machine.pool }),
    address: machine.address,
    uuid: machine.uuid,
    macs: machine.macs ?? [],
    spki: machine.spki,
    platform: machine.platform,
    installDisk: machine.installDisk,
    configHash: machine.configHash,
    ...(machine.configContract === undefined ? {} : { contract: machine.configContract }),
    ...(machine.appliedHash === undefined ? {} : { appliedHash: machine.appliedHash }),
    ...(machine.stagedConfig === undefined ? {} : { staged: machine.stagedConfig }),
    ...(machine.failedConfig === undefined ? {} : { failed: machine.failedConfig }),
    pinnedAt: ms(machine.pinnedAt),
    vouchedAt: optionalMs(machine.vouchedAt),
    configuredAt: optionalMs(machine.configuredAt),
    releasedAt: optionalMs(machine.releasedAt),
    ...(machine.memberId === undefined ? {} : { memberId: machine.memberId }),
    ...(machine.metaHash === undefined ? {} : { metaHash: machine.metaHash }),
    ...(machine.defragmentedAt === undefined ? {} : { defragmentedAt: ms(machine.defragmentedAt) }),
    ...(machine.talosImage === undefined ? {} : { talosImage: machine.talosImage }),
    ...(machine.installedTalos === undefined ? {} : { installed: machine.installedTalos }),
    ...(machine.installingTalos === undefined ? {} : { installing: machine.installingTalos }),
  };
}

/** One machine as the record holds it. */
export function printMachine(machine: MachineFact): KnownMachine {
  return {
    name: machine.name,
    uuid: machine.uuid,
    address: machine.address,
    ...(machine.spki === undefined ? {} : { spki: machine.spki }),
    macs: machine.macs,
    ...(machine.platform === undefined ? {} : { platform: machine.platform }),
    ...(machine.installDisk === undefined ? {} : { installDisk: machine.installDisk }),
    ...(machine.configHash === undefined ? {} : { configHash: machine.configHash }),
    ...(machine.contract === undefined ? {} : { configContract: machine.contract }),
    ...(machine.appliedHash === undefined ? {} : { appliedHash: machine.appliedHash }),
    ...(machine.staged === undefined ? {} : { stagedConfig: machine.staged }),
    ...(machine.failed === undefined ? {} : { failedConfig: { ...machine.failed, why: machine.failed.why.slice(0, 512) } }),
    pinnedAt: time(machine.pinnedAt),
    ...(machine.vouchedAt === undefined ? {} : { vouchedAt: time(machine.vouchedAt) }),
    ...(machine.configuredAt === undefined ? {} : { configuredAt: time(machine.configuredAt) }),
    ...(machine.releasedAt === undefined ? {} : { releasedAt: time(machine.releasedAt) }),
    ...(machine.pool === undefined ? {} : { pool: machine.pool }),
    ...(machine.memberId === undefined ? {} : { memberId: machine.memberId }),
    ...(machine.metaHash === undefined ? {} : { metaHash: machine.metaHash }),
    ...(machine.defragmentedAt === undefined ? {} : { defragmentedAt: time(machine.defragmentedAt) }),
    ...(machine.talosImage === undefined ? {} : { talosImage: machine.talosImage }),
    ...(machine.installed === undefined ? {} : { installedTalos: machine.installed }),
    ...(machine.installing === undefined ? {} : { installingTalos: machine.installing }),
  };
}

function readBootstrapIntent(spec: ClusterRecordSpec): BootstrapIntentFact | undefined {
  const intent = spec.bootstrap?.intent;
  if (intent === undefined) return undefined;
  return {
    machine: intent.machine.name,
    address: intent.machine.address,
    uuid: intent.machine.uuid,
    at: ms(intent.at),
    deadline: ms(intent.deadline),
  };
}

/** An intent that stands is kept word for word: who wrote it first is part of it. */
function printBootstrapIntent(
  fact: BootstrapIntentFact,
  before: ClusterRecord | undefined,
  writer: Writer,
): NonNullable<NonNullable<ClusterRecordSpec["bootstrap"]>["intent"]> {
  const standing = before?.spec.bootstrap?.intent;
  if (standing !== undefined && standing.machine.name === fact.machine && ms(standing.at) === whole(fact.at)) return standing;
  return {
    machine: identity(fact),
    at: time(fact.at),
    by: writer.identity,
    deadline: time(fact.deadline),
    fencingToken: writer.fencingToken,
  };
}

function readBootstrapDone(spec: ClusterRecordSpec): BootstrapDoneFact | undefined {
  const done = spec.bootstrap?.done;
  if (done === undefined) return undefined;
  return { machine: done.machine.name, address: done.machine.address, uuid: done.machine.uuid, at: ms(done.at), evidence: done.evidence };
}

function printBootstrapDone(fact: BootstrapDoneFact): NonNullable<NonNullable<ClusterRecordSpec["bootstrap"]>["done"]> {
  return { at: time(fact.at), machine: identity(fact), evidence: fact.evidence };
}

const intentKinds: readonly IntentKind[] = [
  "Reset",
  "RemoveMember",
  "RemoveStray",
  "ReplaceMember",
  "ApplyConfig",
  "Reboot",
  "WriteMeta",
  "Defragment",
  "DisarmAlarms",
  "InstallTalos",
  "UpgradeTalos",
];

const operationKinds: readonly OperationFact["kind"][] = ["UpgradeTalos"];

/** `undefined` for a kind of intent that this release does not know; {@link newerWord} tells of it. */
function readIntent(intent: OpenIntent, role: MachineRole): IntentFact | undefined {
  const what = intentKinds.find((known) => known === intent.what);
  if (what === undefined) return undefined;
  return {
    what,
    machine: intent.machine.name,
    address: intent.machine.address,
    uuid: intent.machine.uuid,
    role,
    at: ms(intent.at),
    deadline: ms(intent.deadline),
    why: intent.why,
    ...(intent.bootIdBefore === undefined ? {} : { bootIdBefore: intent.bootIdBefore }),
    ...(intent.memberId === undefined ? {} : { memberId: intent.memberId }),
    ...(intent.stoppedAt === undefined ? {} : { stoppedAt: ms(intent.stoppedAt) }),
    ...(intent.configHash === undefined ? {} : { configHash: intent.configHash }),
    ...(intent.dbSizeBytes === undefined ? {} : { dbSizeBytes: intent.dbSizeBytes }),
    ...(intent.applyMode === undefined ? {} : { applyMode: intent.applyMode }),
    ...(intent.talosVersion === undefined ? {} : { talosVersion: intent.talosVersion }),
    ...(intent.talosBefore === undefined ? {} : { talosBefore: intent.talosBefore }),
    ...(intent.talosSchematic === undefined ? {} : { talosSchematic: intent.talosSchematic }),
    ...(intent.talosImage === undefined ? {} : { talosImage: intent.talosImage }),
    ...(intent.talosExtensions === undefined ? {} : { talosExtensions: intent.talosExtensions }),
    ...(intent.talosArguments === undefined ? {} : { talosArguments: intent.talosArguments }),
    ...(intent.provenAt === undefined ? {} : { provenAt: ms(intent.provenAt) }),
    ...(intent.rollsBackFrom === undefined ? {} : { rollsBackFrom: intent.rollsBackFrom }),
  };
}

/** An intent that stands is kept word for word: who wrote it first is part of it. */
export function printIntent(fact: IntentFact, before: ClusterRecord | undefined, writer: Writer): OpenIntent {
  const { at, deadline } = fact.recorded ?? fact;
  const id = `${fact.what.toLowerCase()}-${fact.machine}-${whole(at)}`.slice(-64);
  const open = [before?.spec.openControlPlaneIntent, ...(before?.spec.openWorkerIntents ?? [])];
  const standing = open.find((intent) => intent?.id === id);
  const { by, fencingToken } = standing ?? { by: writer.identity, fencingToken: writer.fencingToken };
  return {
    id,
    what: fact.what,
    // It names paths of configurations, and people choose their keys.
    why: fact.why.slice(0, 1024),
    machine: identity(fact),
    at: time(at),
    by,
    deadline: time(deadline),
    fencingToken,
    ...(fact.bootIdBefore === undefined ? {} : { bootIdBefore: fact.bootIdBefore }),
    ...(fact.memberId === undefined ? {} : { memberId: fact.memberId }),
    ...(fact.dbSizeBytes === undefined ? {} : { dbSizeBytes: fact.dbSizeBytes }),
    ...(fact.stoppedAt === undefined ? {} : { stoppedAt: time(fact.stoppedAt) }),
    ...(fact.configHash === undefined ? {} : { configHash: fact.configHash }),
    ...(fact.applyMode === undefined ? {} : { applyMode: fact.applyMode }),
    ...(fact.talosVersion === undefined ? {} : { talosVersion: fact.talosVersion }),
    ...(fact.talosBefore === undefined ? {} : { talosBefore: fact.talosBefore }),
    ...(fact.talosSchematic === undefined ? {} : { talosSchematic: fact.talosSchematic }),
    ...(fact.talosImage === undefined ? {} : { talosImage: fact.talosImage }),
    ...(fact.talosExtensions === undefined ? {} : { talosExtensions: [...fact.talosExtensions] }),
    ...(fact.talosArguments === undefined ? {} : { talosArguments: [...fact.talosArguments] }),
    ...(fact.provenAt === undefined ? {} : { provenAt: time(fact.provenAt) }),
    ...(fact.rollsBackFrom === undefined ? {} : { rollsBackFrom: fact.rollsBackFrom }),
  };
}

/** Kinds that are not known were found before. */
function readOperation({ startedAt, since, ...operation }: OpenOperation): OperationFact {
  return { ...operation, kind: "UpgradeTalos", startedAt: ms(startedAt), since: ms(since) };
}

function printOperation({ startedAt, since, ...operation }: OperationFact): OpenOperation {
  return { ...operation, startedAt: time(startedAt), since: time(since) };
}

function readQuarantine({ at, ...row }: QuarantinedVersion): QuarantineFact {
  return { ...row, at: ms(at) };
}

function printQuarantine({ at, why, ...row }: QuarantineFact): QuarantinedVersion {
  return { ...row, at: time(at), why: why.slice(0, 512) };
}

/** As many as a record holds; the first one is what the cluster was made with. */
function mostOf([first = "", ...others]: readonly string[]): readonly string[] {
  return [first, ...others.slice(1 - MAX_FORMER_ENDPOINTS)];
}

function isEmpty(list: readonly unknown[] | undefined): list is undefined {
  return list === undefined || list.length === 0;
}

function readDecision(decision: NonNullable<ClusterRecordSpec["decisions"]>[number]): DecisionFact {
  return {
    at: ms(decision.at),
    action: decision.action,
    reason: decision.reason,
    ...(decision.machine === undefined ? {} : { machine: decision.machine }),
    message: decision.message ?? "",
    ...(decision.rule === undefined ? {} : { rule: decision.rule }),
    ...(decision.releasedBy === undefined ? {} : { releasedBy: decision.releasedBy }),
  };
}

function printDecision(decision: DecisionFact): NonNullable<ClusterRecordSpec["decisions"]>[number] {
  return {
    at: time(decision.at),
    action: decision.action,
    reason: decision.reason,
    ...(decision.machine === undefined ? {} : { machine: decision.machine }),
    message: decision.message.slice(0, 1024),
    ...(decision.rule === undefined ? {} : { rule: decision.rule }),
    ...(decision.releasedBy === undefined ? {} : { releasedBy: decision.releasedBy.slice(0, 512) }),
  };
}

function identity(fact: { readonly machine: string; readonly address: string; readonly uuid: string }): MachineIdentity {
  return { name: fact.machine, uuid: fact.uuid, address: fact.address };
}

function time(at: number): string {
  return rfc3339(at);
}

function ms(text: string): number {
  return Date.parse(text);
}

function optionalMs(text: string | undefined): number | undefined {
  return text === undefined ? undefined : ms(text);
}

function whole(at: number): number {
  return Math.floor(at / 1000) * 1000;
}
