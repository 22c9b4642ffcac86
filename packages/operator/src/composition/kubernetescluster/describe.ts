import { conditionFor, findCondition } from "@talos-operator/api";
import type {
  ClusterModel,
  ConditionInput,
  ReadyReason,
  ReasonOf,
  TalosControlPlane,
  TalosWorker,
  VitistackMachine,
} from "@talos-operator/api";
import {
  etcdConditions,
  progressOfReady,
  progressOfUnready,
  readyAsBefore,
  refusedEditsOf,
  unreadyPool,
  upgradesOf,
} from "../../controllers/shared/pools.ts";
import type { StoredPool, UnreadyPool } from "../../controllers/shared/pools.ts";
import { withAdded } from "../../controllers/shared/written-fields.ts";
import type { WrittenFields } from "../../controllers/shared/written-fields.ts";
import { machineAnnotations } from "./keys.ts";
import { countOf } from "../../report/listed.ts";
import type { Seen, Stage } from "./model.ts";
import type { Composition } from "./plan.ts";

/** How a cluster stands: the condition Ready and its companions, where it is on its way, and a sentence. */
export interface Description {
  readonly stage: Stage;
  readonly message: string;
  readonly conditions: readonly ConditionInput[];
}

/** A cluster of which no provider has fulfilled a single machine for so long has failed; it recovers by itself. Milliseconds. */
const PROVIDER_TIMEOUT_MS = 15 * 60_000;

/** Sums up what was seen of a cluster whose spec is sound. Pure. */
export function describe(seen: Seen, model: ClusterModel, composition: Composition): Description {
  const generation = seen.cluster.metadata.generation;
  const found = standing(seen, model, composition);
  const told = found.unready === undefined ? undefined : readyAsBefore(found.unready, seen.cluster.status?.conditions, generation);
  return {
    stage: told === undefined ? found.stage : "ready",
    message: told?.message ?? found.message,
    conditions: [
      told ?? conditionFor("Ready", found.reason, found.message, generation),
      progressOf(seen, found, generation),
      ...etcdConditions({ stored: seen.controlPlane, fields: writtenFields(seen) }, generation),
      ...upgradesOf(poolsOf(seen), generation),
      ...refusedEditsOf(poolsOf(seen), generation),
      ...inert(seen, generation),
    ],
  };
}

interface Standing {
  readonly stage: Stage;
  readonly reason: ReadyReason;
  readonly message: string;
  /** The pool that is waited for. */
  readonly unready?: UnreadyPool;
}

function standing(seen: Seen, model: ClusterModel, composition: Composition): Standing {
  const conflicts = [...composition.conflicts].map(([name, holder]) => `${name} is ${holder}'s`);
  if (conflicts.length > 0)
    return {
      stage: "failed",
      reason: "NameConflict",
      message: `Machines that are needed exist and belong to others: ${conflicts.join(", ")}. ${wayOut(seen, composition)}`,
    };
  if (seen.isPausedAfterFiles && composition.machines.some(({ metadata }) => !isThere(seen, metadata.name)))
    return {
      stage: "pending",
      reason: "MachinesNotCreated",
      message: "The manifests are in the files and nothing is made, as the annotation pause-after-files says. Remove it to go on.",
    };
  const missing = composition.machines.map(({ metadata }) => metadata.name).filter((name) => !isThere(seen, name));
  if (missing.length > 0)
    return { stage: stageOf(seen, "pending"), reason: "MachinesNotCreated", message: `Machines are being made: ${listed(missing)}.` };
  if (seen.waitsForEndpoint !== undefined)
    return { stage: stageOf(seen, "machines"), reason: "WaitingForEndpoint", message: seen.waitsForEndpoint };
  const waiting = composition.machines.filter(({ metadata }) => !hasAddress(seen, metadata.name)).map(({ metadata }) => metadata.name);
  const [controlPlane, ...workers] = composition.pools
    .map(({ kind, metadata: { name }, spec }) => {
      const stored = storedOf(seen, kind, name);
      return { kind, name, stored, fields: withAdded(writtenFields(seen), stored?.spec, spec) };
    })
    .toSorted((a, b) => Number(a.kind === "TalosWorker") - Number(b.kind === "TalosWorker"));
  const isListed = (name: string): boolean => workers.some((one) => one.name === name);
  const going = poolsOf(seen).filter(({ kind, name }) => kind === "TalosWorker" && !isListed(name));
  const unready = controlPlane === undefined ? undefined : unreadyPool(controlPlane, [...workers, ...going]);
  if (unready === undefined && waiting.length === 0) {
    const count = model.groups.reduce((sum, { replicas }) => sum + replicas, 0);
    return { stage: "ready", reason: "AllReady", message: `${countOf(count, "ready node")}, and etcd is healthy.${failedWords(seen)}` };
  }
  if (waiting.length > 0) return unfulfilled(seen, waiting);
  const { reason, message } = unready as UnreadyPool;
  return { stage: stageOf(seen, "configuring"), reason, message, ...(unready === undefined ? {} : { unready }) };
}

/** Who has a Machine that this cluster made is to give it back; another one of its name is in the way. */
function wayOut({ controlPlane, workers }: Seen, { conflicts, pools }: Composition): string {
  const names = new Set(pools.map(({ metadata }) => metadata.name));
  const stored = [controlPlane, ...workers].filter((pool) => pool !== undefined && names.has(pool.metadata.name));
  const listed = stored.flatMap((pool) => pool?.spec?.metalSpec?.machines ?? []).map(({ machineRef }) => machineRef?.name);
  return [...conflicts.keys()].some((name) => listed.includes(name))
    ? "Those that the pools of this cluster list keep their place and stay as they are: put this cluster back as their owner (metadata.ownerReferences)."
    : "Delete them, or rename this cluster.";
}

/** What providers say of machines that are nodes all the same: nodes tell how they are themselves, but whoever reads the cluster is to hear of it. */
function failedWords({ machines }: Seen): string {
  const failed = machines.filter(({ status }) => status?.phase === "Failed").map(wordsOfProvider);
  return failed.length === 0 ? "" : ` Their provider says otherwise of ${listed(failed)}.`;
}

/** A Machine and what its provider says of it. */
function wordsOfProvider({ metadata, status }: VitistackMachine): string {
  const words = [status?.phase ?? "no phase", status?.failureMessage ?? status?.failureReason];
  return `${metadata.name} (${words.filter((word) => word !== undefined && word !== "").join(": ")})`;
}

/** Machines without an address, with what their provider says of them. */
function unfulfilled(seen: Seen, names: readonly string[]): Standing {
  const machines = seen.machines.filter(({ metadata }) => names.includes(metadata.name));
  const failed = machines.filter(({ status }) => status?.phase === "Failed");
  const words = machines.slice(0, 5).map(wordsOfProvider);
  const more = names.length > words.length ? ` and ${names.length - words.length} more` : "";
  const createdAt = Date.parse(seen.cluster.metadata.creationTimestamp ?? "");
  const isLate = machines.length === seen.machines.length && seen.now - createdAt >= PROVIDER_TIMEOUT_MS;
  return {
    stage: failed.length > 0 || isLate ? stageOf(seen, "failed") : stageOf(seen, "machines"),
    reason: "WaitingForProvider",
    message: `Machines without an address: ${words.join(", ")}${more}. Their provider gives them one, or says why not.`,
  };
}

/** How far the control plane has come, at least `early`. */
function stageOf({ controlPlane }: Seen, early: Stage): Stage {
  const bootstrapped = findCondition(controlPlane?.status?.conditions, "Bootstrapped");
  if (bootstrapped?.status === "True") return "nodes";
  return bootstrapped?.reason === "IntentOpen" ? "bootstrapping" : early;
}

function progressOf(seen: Seen, found: Standing, generation: number | undefined): ConditionInput {
  const say = (reason: ReasonOf<"Progressing">, message: string): ConditionInput =>
    conditionFor("Progressing", reason, message, generation);
  switch (found.reason) {
    case "AllReady":
      return progressOfReady(poolsOf(seen), generation);
    case "NameConflict":
      return say("Blocked", "See Ready.");
    case "WaitingForProvider":
    case "WaitingForEndpoint":
      return say("WaitingForMachines", found.message);
    case "MachinesNotCreated":
      return seen.isPausedAfterFiles ? say("Blocked", "See Ready.") : say("Composing", found.message);
    default:
      return found.unready === undefined ? say("Composing", found.message) : progressOfUnready(found.unready, generation);
  }
}

/**
 * Where a person wrote what the pools are made of. Of machines, addresses and patches many fields together make one, and a pool's path leads to what was made.
 *
 * @see pools.ts
 */
export function writtenFields({ shape }: Pick<Seen, "shape">): WrittenFields {
  return {
    "spec.version": "spec.talosVersion",
    "spec.kubeVersion": shape === "flat" ? "spec.kubernetesVersion" : "spec.topology.version",
    "spec.endpoint": "spec.clusterEndpoint",
    "spec.clusterDomain": "spec.talosConfig.cluster.network.dnsDomain",
    "spec.podCIDR": "spec.podSubnets",
    "spec.serviceCIDR": "spec.serviceSubnets",
    "spec.metalSpec.machineSpec.installDisk": "spec.talosConfig.install.disk",
    "spec.metalSpec.machineSpec.image": "spec.talosConfig.install.image",
    "spec.metalSpec.machineSpec.wipe": "spec.talosConfig.install.wipe",
  };
}

/** The pools that are there, the control plane first. */
export function poolsOf(seen: Seen): readonly StoredPool[] {
  return [seen.controlPlane, ...seen.workers].flatMap((stored) =>
    stored === undefined ? [] : [{ kind: stored.kind, name: stored.metadata.name, stored, fields: writtenFields(seen) }],
  );
}

function inert({ inertFields }: Seen, generation: number | undefined): readonly ConditionInput[] {
  if (inertFields.length === 0) return [];
  const message = `Field ignored: ${inertFields.map(({ field, why }) => `${field} (${why})`).join("; ")}.`;
  return [conditionFor("FieldNotSupported", "FieldNotSupported", message, generation)];
}

function storedOf(seen: Seen, kind: StoredPool["kind"], name: string): TalosControlPlane | TalosWorker | undefined {
  return kind === "TalosControlPlane" ? seen.controlPlane : seen.workers.find(({ metadata }) => metadata.name === name);
}

function isThere(seen: Seen, name: string): boolean {
  return seen.machines.some(({ metadata }) => metadata.name === name);
}

function hasAddress(seen: Seen, name: string): boolean {
  return seen.machines.some(
    ({ metadata }) => metadata.name === name && metadata.annotations?.[machineAnnotations.nodeAddress] !== undefined,
  );
}

function listed(names: readonly string[]): string {
  return names.length <= 10 ? names.join(", ") : `${names.slice(0, 10).join(", ")} and ${names.length - 10} more`;
}
