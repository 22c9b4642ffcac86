import { conditionFor, findCondition, isConditionTrue } from "@talos-operator/api";
import type {
  ClusterModel,
  Condition,
  ConditionInput,
  ReadyReason,
  ReasonOf,
  TalosControlPlane,
  TalosWorker,
  VitistackMachine,
} from "@talos-operator/api";
import { machineAnnotations } from "./keys.ts";
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
  return {
    stage: found.stage,
    message: found.message,
    conditions: [
      conditionFor("Ready", found.reason, found.message, generation),
      progressOf(seen, found, generation),
      ...mirrored(seen.controlPlane, generation),
      ...inert(seen, generation),
    ],
  };
}

interface Standing {
  readonly stage: Stage;
  readonly reason: ReadyReason;
  readonly message: string;
}

function standing(seen: Seen, model: ClusterModel, composition: Composition): Standing {
  const pools = composition.pools.map((wanted) => ({ wanted, stored: storedOf(seen, wanted) }));
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
  const unready = pools.find(({ stored }) => !isCurrent(stored));
  if (unready === undefined && waiting.length === 0) {
    const count = model.groups.reduce((sum, { replicas }) => sum + replicas, 0);
    return { stage: "ready", reason: "AllReady", message: `${count} machine(s) are ready nodes, and etcd is healthy.${failedWords(seen)}` };
  }
  if (waiting.length > 0) return unfulfilled(seen, waiting);
  const { wanted, stored } = unready as (typeof pools)[number];
  const why = findCondition(stored?.status?.conditions, "Ready");
  const words =
    why === undefined ? "it was not looked at yet." : why.status === "True" ? "it has not seen the newest spec yet." : why.message;
  return {
    stage: stageOf(seen, "configuring"),
    reason: wanted.kind === "TalosControlPlane" ? "ControlPlaneNotReady" : "WorkersNotReady",
    message: `${wanted.kind} ${wanted.metadata.name}: ${words}`,
  };
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
      return say("Settled", "Nothing is left to do.");
    case "NameConflict":
      return say("Blocked", "See the condition Ready.");
    case "WaitingForProvider":
    case "WaitingForEndpoint":
      return say("WaitingForMachines", found.message);
    case "MachinesNotCreated":
      return seen.isPausedAfterFiles ? say("Blocked", "See the condition Ready.") : say("Composing", found.message);
    default: {
      const pools = [seen.controlPlane, ...seen.workers];
      const told = pools
        .map((pool) => findCondition(pool?.status?.conditions, "Progressing"))
        .find((one) => one !== undefined && one.reason !== "Settled");
      return told === undefined ? say("Composing", found.message) : input(told, generation);
    }
  }
}

/** What the control plane says of etcd, in its own words. */
export function mirrored(controlPlane: TalosControlPlane | undefined, generation: number | undefined): readonly ConditionInput[] {
  return ["Bootstrapped", "EtcdHealthy"].flatMap((type) => {
    const condition = findCondition(controlPlane?.status?.conditions, type);
    return condition === undefined ? [] : [input(condition, generation)];
  });
}

function input({ type, status, reason, message }: Condition, generation: number | undefined): ConditionInput {
  return { type, status, reason, message, ...(generation === undefined ? {} : { observedGeneration: generation }) };
}

function inert({ inertFields }: Seen, generation: number | undefined): readonly ConditionInput[] {
  if (inertFields.length === 0) return [];
  const message = `Set and without effect: ${inertFields.map(({ field, why }) => `${field} (${why})`).join("; ")}.`;
  return [conditionFor("FieldNotSupported", "FieldNotSupported", message, generation)];
}

function storedOf(seen: Seen, { kind, metadata }: TalosControlPlane | TalosWorker): TalosControlPlane | TalosWorker | undefined {
  return kind === "TalosControlPlane" ? seen.controlPlane : seen.workers.find((worker) => worker.metadata.name === metadata.name);
}

/** Ready, and said of the newest spec. */
function isCurrent(pool: TalosControlPlane | TalosWorker | undefined): boolean {
  const ready = findCondition(pool?.status?.conditions, "Ready");
  return isConditionTrue(pool?.status?.conditions, "Ready") && (ready?.observedGeneration ?? 0) >= (pool?.metadata.generation ?? 0);
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
