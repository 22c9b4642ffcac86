import { conditionFor, findCondition, findingsMessage, isConditionTrue } from "@talos-operator/api";
import type {
  ConditionInput,
  Finding,
  ReasonOf,
  RemovalStatus,
  TalosControlPlane,
  TalosMachine,
  TalosWorker,
  UpgradeStatus,
  WorkerState,
} from "@talos-operator/api";
import { addressConditions } from "../../controllers/shared/address-conditions.ts";
import { aboutMachine } from "../../report/about.ts";
import { blockedByEdit, isForAuthor, refusalOf } from "../../report/edit-refused.ts";
import { toldGeneration } from "../../controllers/shared/kstatus.ts";
import { runningFieldsOf } from "../../controllers/shared/running-fields.ts";
import type { RunningFields } from "../../controllers/shared/running-fields.ts";
import { settledOr } from "../../controllers/shared/settled.ts";
import type { PoolComposition } from "../../procedures/compose/pool-composition.ts";
import type { PoolState } from "../../report/pool-state.ts";
import { isNameTaken } from "../../spec/machine-names.ts";
import { unreadAnnotations } from "../../spec/unread-annotations.ts";
import { notFound } from "./waiting-status.ts";
import { countOf, listed, sentences } from "../../report/listed.ts";
import type { DeclaredMachine } from "../../model/machine.ts";

/** Everything that one pass over a worker pool looks at. */
export interface WorkerSeen {
  readonly worker: TalosWorker;
  readonly controlPlane: TalosControlPlane | undefined;
  readonly problems: readonly Finding[];
  readonly inertFields: readonly string[];
  readonly declared: readonly DeclaredMachine[];
  /** TalosMachines that refer to this pool. */
  readonly machines: readonly TalosMachine[];
  /** How far the reconciler of the cluster got with the pool; `undefined` before its first pass in this process. */
  readonly composition?: PoolComposition | undefined;
  /** What the reconciler of the cluster knows of the pool; `undefined` before its first pass in this process. */
  readonly state?: PoolState | undefined;
}

/** What a pass does and says. Machines are made, configured and wiped by the brain of the cluster, and it lets the pool go, never from here. */
export interface WorkerDecision {
  /** TalosMachines whose objects may go without a wipe: there is no control plane that ever configured them. */
  readonly release: readonly string[];
  /** The pool goes, and no control plane is there to let it. */
  readonly removeFinalizer: boolean;
  readonly state: WorkerState;
  /** What people see of the machines. */
  readonly running: RunningFields & { readonly configContract: string | undefined };
  readonly conditions: readonly ConditionInput[];
  /** Machines that leave; `undefined` = none does. */
  readonly removals?: readonly RemovalStatus[] | undefined;
  /** How far they are on their way to another Talos; `undefined` = they are on none. */
  readonly upgrade?: UpgradeStatus | undefined;
  /** A change of one of its machines is open or about to begin. */
  readonly hasOpenEffect: boolean;
  /** What the pool waits for in its control plane. */
  readonly parts: readonly TalosControlPlane[];
}

/** Sums up how the machines of a pool are. Pure. */
export function decideWorker(seen: WorkerSeen, finalizer: string): WorkerDecision {
  const { worker, problems, machines, controlPlane } = seen;
  const generation = worker.metadata.generation;
  const hasFinalizer = (worker.metadata.finalizers ?? []).includes(finalizer);
  const { inertFields } = seen;
  const notes = [
    ...(inertFields.length === 0 ? [] : [`Field ignored in metal mode: ${inertFields.join(", ")}.`]),
    ...unreadAnnotations(worker.metadata),
  ];
  const inert: readonly ConditionInput[] =
    notes.length === 0 ? [] : [conditionFor("FieldNotSupported", "FieldNotSupported", notes.join(" "), generation)];
  const nothing = {
    release: [],
    removeFinalizer: false,
    state: "Pending",
    running: { ...runningOf(seen), configContract: contractOf(seen) },
    hasOpenEffect: seen.state?.hasOpenEffect === true,
    parts: [],
  } as const;

  if (worker.metadata.deletionTimestamp !== undefined) {
    const message = leftWords(seen);
    return {
      ...nothing,
      release: controlPlane === undefined ? machines.filter((machine) => isFree(worker, machine)).map(({ metadata }) => metadata.name) : [],
      removeFinalizer: controlPlane === undefined && hasFinalizer && machines.length === 0,
      conditions: [
        conditionFor("Ready", "Deleting", message, generation),
        conditionFor("Deleting", "WaitingForChildren", message, generation),
        ...inert,
      ],
    };
  }
  const [first] = problems;
  if (isForAuthor(problems) && runs(seen)) {
    const summary = summaryOf(asRuns(seen));
    const told = summary.conditions.filter(({ type }) => type !== "Progressing");
    const refused = [blockedByEdit(generation), refusalOf(problems, generation)];
    return { ...nothing, state: summary.isReady ? "Ready" : "Pending", conditions: [...told, ...refused, ...inert] };
  }
  if (first !== undefined) {
    const message = findingsMessage(problems);
    return {
      ...nothing,
      conditions: [
        conditionFor("Ready", first.reason, message, generation),
        conditionFor("Progressing", "Blocked", "See Ready.", generation),
        // Whatever is wrong with the spec, the machines are how they are.
        ...summaryOf(seen).conditions.filter(({ type }) => type === "MachinesReady" || type === "NodesReady"),
        ...inert,
      ],
    };
  }
  const summary = summaryOf(seen);
  return {
    ...nothing,
    state: summary.isReady ? "Ready" : "Pending",
    removals: removalsOf(seen),
    upgrade: upgradeOf(seen),
    conditions: [...summary.conditions, ...ofPool(seen), ...addressConditions(seen.declared, generation), ...inert],
    ...(controlPlane !== undefined && waitsForControlPlane(seen) ? { parts: [controlPlane] } : {}),
  };
}

/** Machines of the pool run in a cluster that does: an edit that is refused takes nothing from them. */
function runs({ controlPlane, machines }: WorkerSeen): boolean {
  const isFounded = isConditionTrue(controlPlane?.status?.conditions, "Bootstrapped");
  return isFounded && machines.some(({ status }) => status?.state === "Available");
}

/** The pool with the machines that it has: of a spec that is refused none is made. */
function asRuns(seen: WorkerSeen): WorkerSeen {
  const there = new Set(seen.machines.map(({ metadata }) => metadata.name));
  return { ...seen, declared: seen.declared.filter(({ name }) => there.has(name)) };
}

function runningOf({ declared, machines }: WorkerSeen): RunningFields {
  const byName = new Map(machines.map((machine) => [machine.metadata.name, machine.status]));
  return runningFieldsOf(
    declared.map(({ name }) => {
      const status = byName.get(name);
      return { isReady: isConditionTrue(status?.conditions, "Ready"), version: status?.observedVersion };
    }),
  );
}

/** Without a control plane nobody has keys to wipe with; what was never configured, or is to be left alone, may go. */
function isFree({ spec }: TalosWorker, machine: TalosMachine): boolean {
  return spec?.deletionPolicy === "preserve" || (machine.status?.state ?? "Pending") === "Pending";
}

/** What a pool that goes waits for. */
function leftWords({ worker, machines, controlPlane, composition }: WorkerSeen): string {
  const waitedFor = controlPlane === undefined ? machines.filter((machine) => !isFree(worker, machine)) : machines;
  const names = waitedFor.map(({ metadata }) => metadata.name).join(", ");
  if (controlPlane === undefined && names !== "")
    return `These may hold a configuration, and there is no TalosControlPlane to wipe them with: ${names}. Create TalosControlPlane ${worker.spec?.controlPlaneRef?.name ?? ""} again, or set deletionPolicy to preserve on TalosWorker ${worker.metadata.name} to leave them as they run.`;
  // Its record stays for whoever adopts what was preserved.
  const held = controlPlane === undefined ? [] : (composition?.held ?? "unknown");
  const where = "See the condition Deleting of the TalosControlPlane.";
  if (names !== "") return `TalosMachines that are still there: ${names}. ${where}`;
  if (held === "unknown") return `There are no TalosMachines, and the ClusterRecord does not say whether machines are left. ${where}`;
  if (held.length > 0) return `Their TalosMachines are gone, and they may hold the cluster's configuration: ${held.join(", ")}. ${where}`;
  return "Every machine of the pool is gone.";
}

/** Conditions that only the reconciler of the cluster knows. */
const OF_POOL: ReadonlySet<string> = new Set(["ConfigUpToDate", "ConfigDrift", "Removing", "UpgradePending"]);

/** What the reconciler of the cluster says of the pool. Until its first pass in this process, what an earlier one said stands. */
function ofPool(seen: WorkerSeen): readonly ConditionInput[] {
  const { worker, state } = seen;
  const said = state?.conditions ?? (worker.status?.conditions ?? []).filter(({ type }) => OF_POOL.has(type));
  return said.some(({ type }) => type === "Removing") ? said : [...said, ...departed(seen)];
}

/** The machines that leave, as data. */
function removalsOf(seen: WorkerSeen): readonly RemovalStatus[] | undefined {
  const { worker, state } = seen;
  const told = state === undefined ? worker.status?.removals : state.removals;
  if (told !== undefined && told.length > 0) return told;
  const names = departing(seen);
  return names.length === 0 ? undefined : names.map((machine) => ({ machine, reason: "WaitingForTurn" satisfies ReasonOf<"Removing"> }));
}

/** Until the first pass of the cluster in this process, what an earlier one said stands. */
function contractOf({ worker, state }: WorkerSeen): string | undefined {
  return state === undefined ? worker.status?.configContract : state.configContract;
}

/** Likewise. */
function upgradeOf({ worker, state }: WorkerSeen): UpgradeStatus | undefined {
  return state === undefined ? worker.status?.upgrade : state.upgrade;
}

/** Machines that another Talos is under way on, and only those, are no ready nodes: that is what an upgrade looks like. */
function isOnlyUpgrading(seen: WorkerSeen, unready: readonly { readonly name: string }[]): boolean {
  const rows = (upgradeOf(seen)?.underWay ?? []).filter(({ stage }) => stage !== "Failed");
  return unready.every(({ name }) => rows.some(({ machine }) => machine === name));
}

/** That machines leave, before the reconciler of the cluster says where each stands. */
function departed(seen: WorkerSeen): readonly ConditionInput[] {
  const names = departing(seen);
  if (names.length === 0) return [];
  return [conditionFor("Removing", "WaitingForTurn", `Not listed any more: ${names.join(", ")}.`, seen.worker.metadata.generation)];
}

/** Machines that the pool made and lists no more. */
function departing({ worker, declared, machines }: WorkerSeen): readonly string[] {
  const listed = new Set(declared.map(({ name }) => name));
  return machines
    .filter(({ metadata }) => !listed.has(metadata.name) && metadata.ownerReferences?.some((owner) => owner.uid === worker.metadata.uid))
    .map(({ metadata }) => metadata.name);
}

/** Reasons of a machine that may pass without a person's help; every other one is what the pool waits for. */
const GOES_ON: ReadonlySet<string> = new Set<ReasonOf<"Ready">>([
  "Unobserved",
  "WaitingForMachines",
  "Configuring",
  "Booting",
  "Restarting",
  "NodesNotReady",
]);

/**
 * Whether the reconciler of the cluster has decided on the newest spec. Before its first pass in this process nobody knows better than what was told.
 */
function isDecided({ worker: { metadata, status }, state }: WorkerSeen): boolean {
  return (state === undefined ? toldGeneration(status) : state.generation) === metadata.generation;
}

/** `Progressing` of a pool whose machines are ready nodes. */
function progressOf(seen: WorkerSeen): ConditionInput {
  const { generation } = seen.worker.metadata;
  const conditions = ofPool(seen);
  const isLeaving = conditions.some(({ type }) => type === "Removing");
  if (seen.state?.isChangingConfig === true && !isLeaving)
    return conditionFor("Progressing", "ChangingConfiguration", "See ConfigUpToDate.", generation);
  // What is said of its machines was said of an earlier spec. Whether the newest one changes anything nobody has decided yet.
  if (seen.declared.length > 0 && !isLeaving && !isDecided(seen))
    return conditionFor("Progressing", "Starting", "The newest spec is read, and is about to be carried out.", generation);
  return settledOr(conditions, generation);
}

/** TalosMachines of the pool are missing, and its control plane waits for something else first. */
function waitsForControlPlane({ composition }: WorkerSeen): boolean {
  return composition?.waitsForControlPlane === true;
}

function heldUpWords({ spec }: TalosWorker): string {
  const name = spec?.controlPlaneRef?.name ?? "";
  return `Its TalosMachine is made when TalosControlPlane ${name} goes on: see its conditions.`;
}

/** Machines of the pool that are no ready nodes, and why. */
function unreadyOf(
  seen: WorkerSeen,
  byName: ReadonlyMap<string, TalosMachine>,
): readonly { readonly name: string; readonly reason: string; readonly message: string }[] {
  return seen.declared.flatMap((one) => {
    const { name, problem } = one;
    if (problem !== undefined && isNameTaken(one)) return [{ name, ...problem }];
    if (!byName.has(name) && waitsForControlPlane(seen))
      return [{ name, reason: "ControlPlaneNotReady", message: heldUpWords(seen.worker) }];
    const ready = findCondition(byName.get(name)?.status?.conditions, "Ready");
    return ready?.status === "True" ? [] : [{ name, reason: ready?.reason ?? "Unobserved", message: ready?.message ?? "Pending." }];
  });
}

function summaryOf(seen: WorkerSeen): {
  readonly isReady: boolean;
  readonly conditions: readonly ConditionInput[];
} {
  const { worker, controlPlane, declared, machines } = seen;
  const generation = worker.metadata.generation;
  const progress = (reason: "Blocked" | "WaitingForMachines" | "WaitingForNodes", message: string): ConditionInput =>
    conditionFor("Progressing", reason, message, generation);
  if (controlPlane === undefined) {
    const message = notFound(worker.spec?.controlPlaneRef?.name ?? "");
    return {
      isReady: false,
      conditions: [conditionFor("Ready", "ControlPlaneNotFound", message, generation), progress("Blocked", message)],
    };
  }
  if (declared.length === 0) {
    const message = "The pool lists no machine.";
    return {
      isReady: true,
      conditions: [
        conditionFor("Ready", "AllReady", message, generation),
        conditionFor("MachinesReady", "NoMachines", message, generation),
        progressOf(seen),
      ],
    };
  }
  const byName = new Map(machines.map((machine) => [machine.metadata.name, machine]));
  const unready = unreadyOf(seen, byName);
  const missing = declared.filter(({ name }) => byName.get(name)?.status?.state !== "Available").map(({ name }) => name);
  const machinesReady =
    missing.length === 0
      ? conditionFor("MachinesReady", "AllMachinesReady", `${countOf(declared.length, "machine")} configured.`, generation)
      : conditionFor("MachinesReady", "MachinesNotReady", `Not running with the configuration: ${listed(missing)}.`, generation);
  if (unready.length === 0) {
    const message = `${countOf(declared.length, "node")} ready.`;
    return {
      isReady: true,
      conditions: [
        conditionFor("Ready", "AllReady", message, generation),
        machinesReady,
        conditionFor("NodesReady", "AllNodesReady", message, generation),
        progressOf(seen),
      ],
    };
  }
  const message = sentences(unready.map(({ name, message: words }) => aboutMachine(name, words)));
  const stopped = unready.find(({ reason }) => !GOES_ON.has(reason));
  const isUpgrading = stopped === undefined && isOnlyUpgrading(seen, unready);
  const isRestart = unready.every((one) => one.reason === "Restarting");
  const down = isUpgrading ? "Booting" : "WaitingForMachines";
  const waiting = isRestart ? "Restarting" : missing.length === 0 ? "NodesNotReady" : down;
  const reason = (stopped?.reason ?? waiting) as "NodesNotReady";
  return {
    isReady: false,
    conditions: [
      conditionFor("Ready", reason, message, generation),
      machinesReady,
      conditionFor("NodesReady", "NodesNotReady", message, generation),
      isUpgrading
        ? conditionFor("Progressing", "UpgradingTalos", message, generation)
        : progress(
            stopped !== undefined ? "Blocked" : missing.length > 0 && !isRestart ? "WaitingForMachines" : "WaitingForNodes",
            message,
          ),
    ],
  };
}
