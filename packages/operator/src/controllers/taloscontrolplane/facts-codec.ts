import { clusterRecordResource, finalizers, labels, rfc3339 } from "@talos-operator/api";
import type { ClusterRecord, ClusterRecordSpec, KnownMachine, MachineIdentity, OpenIntent } from "@talos-operator/api";
import type { BootstrapDoneFact, BootstrapIntentFact, ClusterFacts, DecisionFact, MachineFact, ResetFact } from "./facts.ts";
import type { MachineRole, SeenRecord } from "./model.ts";

/** Who writes an intent, for the fence that keeps an older leader from acting on it. */
export interface Writer {
  /** Identity of this process in the lease. */
  readonly identity: string;
  /** Which turn of leadership it is. */
  readonly fencingToken: string;
}

/** How long a reset may take until the machine shows it. */
const RESET_DEADLINE_MS = 10 * 60_000;

/** The facts of a stored record; a record without bundle or cluster id (never written by us) gives `undefined`. */
export function readRecord(record: ClusterRecord): SeenRecord | undefined {
  const { spec, metadata } = record;
  if (spec.bundle === undefined || spec.clusterId === undefined) return undefined;
  return {
    resourceVersion: metadata.resourceVersion ?? "",
    metadata,
    facts: {
      controlPlaneUid: spec.controlPlaneUid,
      clusterId: spec.clusterId,
      bundle: { secretName: spec.bundle.secretName, fingerprint: spec.bundle.fingerprint, wasFound: spec.bundle.foundAt !== undefined },
      endpoint: spec.endpoint ?? "",
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
      resets: [
        ...(spec.openControlPlaneIntent?.what === "Reset" ? [readReset(spec.openControlPlaneIntent, "controlplane")] : []),
        ...(spec.openWorkerIntents ?? []).filter((intent) => intent.what === "Reset").map((intent) => readReset(intent, "worker")),
      ],
      decisions: (spec.decisions ?? []).map(readDecision),
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
  const [controlPlaneReset] = facts.resets.filter((reset) => reset.role === "controlplane");
  const workerResets = facts.resets.filter((reset) => reset.role === "worker");
  const { openControlPlaneIntent: _open, openWorkerIntents: _workers, ...kept } = before?.spec ?? { controlPlaneUid: "" };
  return {
    apiVersion: `${clusterRecordResource.group}/${clusterRecordResource.version}` as ClusterRecord["apiVersion"],
    kind: "ClusterRecord",
    metadata: before?.metadata ?? { ...key, finalizers: [finalizers.clusterRecord], labels: { [labels.cluster]: key.name } },
    spec: {
      ...kept,
      controlPlaneUid: facts.controlPlaneUid,
      clusterId: facts.clusterId,
      endpoint: facts.endpoint,
      podCIDR: facts.podCIDR,
      serviceCIDR: facts.serviceCIDR,
      ...(facts.cni === undefined ? {} : { cni: facts.cni }),
      talosVersion: facts.talosVersion,
      kubernetesVersion: facts.kubernetesVersion,
      bundle: {
        secretName: facts.bundle.secretName,
        fingerprint: facts.bundle.fingerprint,
        ...(facts.bundle.wasFound ? { foundAt: before?.spec.bundle?.foundAt ?? time(facts.decisions.at(-1)?.at ?? 0) } : {}),
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
      ...(controlPlaneReset === undefined ? {} : { openControlPlaneIntent: printReset(controlPlaneReset, writer) }),
      ...(workerResets.length === 0 ? {} : { openWorkerIntents: workerResets.map((reset) => printReset(reset, writer)) }),
      decisions: facts.decisions.map(printDecision),
    },
  };
}

function readMachine(machine: KnownMachine, role: MachineRole): MachineFact {
  return {
    name: machine.name,
    role,
    address: machine.address,
    uuid: machine.uuid,
    macs: machine.macs ?? [],
    spki: machine.spki,
    platform: machine.platform,
    installDisk: machine.installDisk,
    configHash: machine.configHash,
    pinnedAt: ms(machine.pinnedAt),
    vouchedAt: optionalMs(machine.vouchedAt),
    configuredAt: optionalMs(machine.configuredAt),
    releasedAt: optionalMs(machine.releasedAt),
  };
}

function printMachine(machine: MachineFact): KnownMachine {
  return {
    name: machine.name,
    uuid: machine.uuid,
    address: machine.address,
    ...(machine.spki === undefined ? {} : { spki: machine.spki }),
    macs: machine.macs,
    ...(machine.platform === undefined ? {} : { platform: machine.platform }),
    ...(machine.installDisk === undefined ? {} : { installDisk: machine.installDisk }),
    ...(machine.configHash === undefined ? {} : { configHash: machine.configHash }),
    pinnedAt: time(machine.pinnedAt),
    ...(machine.vouchedAt === undefined ? {} : { vouchedAt: time(machine.vouchedAt) }),
    ...(machine.configuredAt === undefined ? {} : { configuredAt: time(machine.configuredAt) }),
    ...(machine.releasedAt === undefined ? {} : { releasedAt: time(machine.releasedAt) }),
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

function readReset(intent: OpenIntent, role: MachineRole): ResetFact {
  return {
    machine: intent.machine.name,
    address: intent.machine.address,
    uuid: intent.machine.uuid,
    role,
    at: ms(intent.at),
    why: intent.why,
  };
}

function printReset(fact: ResetFact, writer: Writer): OpenIntent {
  return {
    id: `reset-${fact.machine}-${whole(fact.at)}`.slice(-64),
    what: "Reset",
    why: fact.why,
    machine: identity(fact),
    at: time(fact.at),
    by: writer.identity,
    deadline: time(fact.at + RESET_DEADLINE_MS),
    fencingToken: writer.fencingToken,
  };
}

function readDecision(decision: NonNullable<ClusterRecordSpec["decisions"]>[number]): DecisionFact {
  return {
    at: ms(decision.at),
    action: decision.action,
    reason: decision.reason,
    ...(decision.machine === undefined ? {} : { machine: decision.machine }),
    message: decision.message ?? "",
  };
}

function printDecision(decision: DecisionFact): NonNullable<ClusterRecordSpec["decisions"]>[number] {
  return {
    at: time(decision.at),
    action: decision.action,
    reason: decision.reason,
    ...(decision.machine === undefined ? {} : { machine: decision.machine }),
    message: decision.message.slice(0, 1024),
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
