import { annotations, bundleSecretName, conditionFor, rfc3339 } from "@talos-operator/api";
import type { DeletionPolicy, ReasonOf } from "@talos-operator/api";
import { controlPlaneIntent, factsOf, intentOn, machineFact, mayHoldConfig } from "../../record/facts.ts";
import { FactsDraft } from "../../record/facts-draft.ts";
import { controlPlaneMargin } from "../../disruption/control-plane-margin.ts";
import type { MarginHolder } from "../../disruption/control-plane-margin.ts";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import type { SlotHolder } from "../../disruption/control-plane-slot.ts";
import { releaseOf, whyHeld } from "../../disruption/slot-words.ts";
import { wordFor } from "../../assess/identity.ts";
import { intentsThatFit } from "../../record/room.ts";
import { silentForMs } from "../../looking/look.ts";
import { stateOf } from "../../assess/machine-state.ts";
import { certificateSource } from "./certificate-source.ts";
import { readyToDisturb } from "../../disruption/drain.ts";
import { firstFacts } from "../join/first-facts.ts";
import { withUnknownRunning } from "../join/plan.ts";
import { COMES_BACK_MS, isMadeAnew, saysConfigured, signOfEarlierLife } from "../../observe/told-machines.ts";
import { projectWithout } from "../../assess/quorum.ts";
import { compareIdentity } from "../../observe/proven-look.ts";
import { endOfContainer, isContainer, isStop, KEEPS_VOLUMES, wordsOfEnd } from "../remove/container-end.ts";
import { configMayArriveUntil } from "../remove/removal.ts";
import { adopt, isOfAnother } from "../../gates/adoption.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { resetMachine } from "../../effects/reset-machine.ts";
import { releasePools } from "./release-pools.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { Rule } from "../../model/decision.ts";
import type { Verdict } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/** Between its reset and its answer in maintenance mode a machine is silent; only after this it is missed. */
const WIPE_TAKES_MS = 10 * 60_000;

/**
 * Takes a cluster, or a worker pool, down.
 *
 * `preserve` leaves the machines running and keeps record and keys. `reset` wipes: workers first, then control planes one by one; each wipe is written
 * down before it is sent and counts as done only when the machine answers in maintenance mode. Record, keys and the finalizer go last.
 */
export const finishDeletion: Rule = {
  name: "finishDeletion",
  decide(assessed) {
    const { seen } = assessed;
    const isClusterGoing = seen.controlPlane.metadata.deletionTimestamp !== undefined;
    if (!isClusterGoing && goingPools(seen).size === 0) return undefined;
    if (isOfAnother(seen)) return leaveToAnother(seen);
    const first = writtenDownFirst(assessed, isClusterGoing);
    if (first !== undefined) return first.kind === "verdict" ? first.verdict : undefined;

    // What waits holds up nothing else of a cluster that stays; it is said all the same.
    if (!isClusterGoing) return (assessed.goingPools?.actions.length ?? 0) > 0 ? assessed.goingPools : undefined;
    const poolVerdict = takeDown(assessed, machinesOfGoingPools(seen), true);
    if (poolVerdict !== undefined) return poolVerdict;
    const holding = seen.workers.filter(({ metadata }) => holdsMachines(seen, metadata.name)).map(({ metadata }) => metadata.name);
    if (holding.length > 0)
      return waits(
        "WaitingForWorkers",
        seen,
        `Worker pools with machines of this cluster: ${holding.join(", ")}. Workers go before the control plane: delete these TalosWorkers, too.`,
      );
    if (seen.untold !== undefined && seen.untold.length > 0)
      return waits(
        "WaitingForWorkers",
        seen,
        `The Kubernetes API lists no pool of ${seen.untold.join(", ")}, and there is one, or nobody could say. Nothing is wiped until its lists are whole again.`,
      );

    const own = takeDown(assessed, [...seen.machines, ...seen.former], true);
    if (own !== undefined) return own;
    // A pool outlives its control plane where somebody has to look for it: those that are deleted with it go first.
    const pools = releasePools.decide(assessed);
    if (pools !== undefined) return { ...waits("WaitingForWorkers", seen, "Worker pools without machines are being released."), ...pools };
    return dissolve(seen);
  },
};

/** What the machines of pools that are deleted wait for, while their cluster stays; `undefined` = for nothing, or there are none. */
export function waitingOfGoingPools(assessed: Assessment): Verdict | undefined {
  const { seen } = assessed;
  if (seen.controlPlane.metadata.deletionTimestamp !== undefined || goingPools(seen).size === 0) return undefined;
  if (isOfAnother(seen)) return undefined;
  const first = writtenDownFirst(assessed, false);
  if (first?.kind === "others")
    return waits(
      "Blocked",
      seen,
      `Whether the machines of ${[...goingPools(seen)].join(", ")} hold a configuration is known once the cluster has its record: the condition Ready says what that waits for.`,
    );
  if (first !== undefined) return undefined;
  return takeDown(assessed, machinesOfGoingPools(seen), false);
}

function goingPools({ workers }: Observed): ReadonlySet<string> {
  return new Set(workers.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.name));
}

function machinesOfGoingPools(seen: Observed): readonly SeenMachine[] {
  const pools = goingPools(seen);
  return [...seen.machines, ...seen.former].filter(({ declared: { owner } }) => owner.kind === "TalosWorker" && pools.has(owner.name));
}

/**
 * Lets objects go that never had a machine: the cluster that the record tells of is another object's, and it stays as it is, record and keys with it. What would
 * be wiped waits until a person says whose it is.
 */
function leaveToAnother(seen: Observed): Verdict | undefined {
  const asks = adopt(seen);
  if (asks === undefined || asks.actions.length > 0) return asks;
  const { metadata } = seen.controlPlane;
  const isDone = (machine: SeenMachine): boolean => isPoolGoing(seen, machine) && isPreserved(seen, machine);
  const names = new Set([...seen.machines, ...seen.former].filter(isDone).map(({ declared }) => declared.name));
  const actions = seen.machineObjects
    .filter((object) => names.has(object.metadata.name))
    .map((object): Action => ({ kind: "DeleteMachine", name: object.metadata.name }));
  if (actions.length > 0) return { ...waits("WaitingForChildren", seen, "TalosMachines are being removed."), actions };
  if (metadata.deletionTimestamp === undefined) return undefined;
  const pools = seen.workers.filter((worker) => holdsMachines(seen, worker.metadata.name)).map((worker) => worker.metadata.name);
  if (pools.length === 0 && policyOf(seen) === "preserve") return dissolve(seen);
  const why = asks.waiting?.message ?? "";
  const said =
    pools.length > 0
      ? waits("WaitingForWorkers", seen, `Worker pools go before the control plane: ${pools.join(", ")}. ${why}`)
      : waits("Blocked", seen, why);
  return { ...said, conditions: [...(asks.conditions ?? []), ...(said.conditions ?? [])] };
}

/** The pool of the machine is deleted or not there, or its control plane is deleted. */
function isPoolGoing(seen: Observed, { declared: { owner } }: SeenMachine): boolean {
  if (owner.kind === "TalosControlPlane") return seen.controlPlane.metadata.deletionTimestamp !== undefined;
  const pool = seen.workers.find(({ metadata }) => metadata.name === owner.name);
  return pool === undefined || pool.metadata.deletionTimestamp !== undefined;
}

/**
 * What comes before anything is released: a record that knows the machines that run with this cluster's keys. `undefined` = there is nothing to write down.
 *
 * Where the record is gone and the keys are not, it is made anew; `others` = that is for the rules that keep the record of a cluster that stays. Where both
 * are gone nothing can be wiped, and a machine that is said to be configured is not released by that.
 */
function writtenDownFirst(
  assessed: Assessment,
  isClusterGoing: boolean,
): { readonly kind: "verdict"; readonly verdict: Verdict } | { readonly kind: "others" } | undefined {
  const { seen } = assessed;
  const { record, bundle, controlPlane } = seen;
  const write = (facts: ClusterFacts, ifResourceVersion: string | undefined, why: string): ReturnType<typeof writtenDownFirst> => ({
    kind: "verdict",
    verdict: {
      ...waits("WaitingForChildren", seen, "What runs with this cluster's keys is written down."),
      actions: [{ kind: "WriteRecord", ifResourceVersion, facts, why }],
      requeueAfterMs: 1_000,
    },
  });
  const blocked = (message: string): ReturnType<typeof writtenDownFirst> =>
    isClusterGoing ? { kind: "verdict", verdict: waits("Blocked", seen, message) } : { kind: "others" };
  if (record.kind === "unknown") return undefined;
  if (record.kind === "present") {
    const { facts, resourceVersion } = record.value;
    const next = withUnknownRunning(seen, facts);
    return next === facts ? undefined : write(next, resourceVersion, "MetRunning");
  }
  if (bundle.kind === "present" && bundle.value.isOurs && seen.keysElsewhere?.kind !== "present") {
    if (seen.keysElsewhere?.kind === "unknown")
      return blocked(`Whether another cluster has the keys in the bundle Secret cannot be read: ${seen.keysElsewhere.detail}.`);
    if (!isClusterGoing)
      return machinesOfGoingPools(seen).some((machine) => mayHoldFoundKeys(seen, machine)) ? { kind: "others" } : undefined;
    const secret = bundleSecretName(controlPlane.metadata.name, 1);
    return write(firstFacts(assessed, secret, bundle.value), undefined, "FirstRecord");
  }
  if (bundle.kind === "unknown") return blocked(`The bundle Secret cannot be read: ${bundle.detail}.`);
  // Keys of another cluster are none of ours, and neither is what runs with them.
  const holder = bundle.kind === "present" ? undefined : mayHoldLostKeys(seen);
  if (holder === undefined) return undefined;
  if (!isClusterGoing) return { kind: "others" };
  return {
    kind: "verdict",
    verdict: waits(
      "MachineUnreachable",
      seen,
      `${holder} may hold a configuration of this cluster, and neither the ClusterRecord nor the keys to wipe it with are there. Restore both from a backup, or wipe it by hand: it is released once it waits in maintenance mode. Or give it up: annotate the TalosControlPlane with ${annotations.abandonMachine}: ${holder}, or set deletionPolicy to preserve.`,
    ),
  };
}

/**
 * A machine that has to be wiped, may be configured, and does not wait in maintenance mode. Its TalosMachine says so; where somebody deleted that one, too, the
 * status of a cluster that was bootstrapped speaks for all of its machines.
 */
function mayHoldLostKeys(seen: Observed): string | undefined {
  if (isSaidWiped(seen)) return undefined;
  const isFounded = signOfEarlierLife(seen) !== undefined;
  return [...seen.machines, ...seen.former].find((machine) => {
    const { declared, look } = machine;
    const object = seen.machineObjects.find(({ metadata }) => metadata.name === declared.name);
    const mayBeConfigured = isFounded || (object !== undefined && saysConfigured(object));
    if (!mayBeConfigured || look.kind === "maintenance") return false;
    return !isPreserved(seen, machine) && !isAbandoned(seen, machine, undefined) && isGoing(seen, machine);
  })?.declared.name;
}

/**
 * A machine that may be configured though there is no record: keys that this process made were sent to nobody before it is written. Keys that were found may be
 * those of a record that was lost.
 */
function mayHoldFoundKeys(seen: Observed, { declared, look }: SeenMachine): boolean {
  const object = seen.machineObjects.find(({ metadata }) => metadata.name === declared.name);
  if (look.kind === "running" || signOfEarlierLife(seen) !== undefined || (object !== undefined && saysConfigured(object))) return true;
  if (seen.sent.get("CreateBundle")?.outcome === "answered" || look.kind === "maintenance") return false;
  return comesBackUntil(seen, { declared, look }) !== undefined;
}

/** Its pool is deleted, or the whole cluster is. */
function isGoing(seen: Observed, { declared: { owner } }: SeenMachine): boolean {
  if (seen.controlPlane.metadata.deletionTimestamp !== undefined) return true;
  return seen.workers.some(
    ({ kind, metadata }) => kind === owner.kind && metadata.name === owner.name && metadata.deletionTimestamp !== undefined,
  );
}

/**
 * Whether a pool has a machine that is this cluster's, as far as can be known. One that is brought back while the control plane goes, by a TalosCluster or
 * from a repository, has none and gets none any more: whoever waits for it waits for ever.
 */
function holdsMachines(seen: Observed, pool: string): boolean {
  if (seen.record.kind !== "present") return true;
  const { facts } = seen.record.value;
  return [...seen.machines, ...seen.former].some(({ declared, look }) => {
    if (declared.owner.kind !== "TalosWorker" || declared.owner.name !== pool) return false;
    const fact = machineFact(facts, declared.name);
    if (look.kind === "running") return true;
    return fact === undefined ? look.kind !== "maintenance" : mayHoldConfig(fact);
  });
}

/** Actions until none of the machines is left, `undefined` when none is. */
function takeDown(assessed: Assessment, machines: readonly SeenMachine[], isClusterGoing: boolean): Verdict | undefined {
  const { seen } = assessed;
  const facts = factsOf(seen);
  if (seen.record.kind === "unknown") return waits("Blocked", seen, `The ClusterRecord cannot be read: ${seen.record.detail}.`);
  const objects = new Set(seen.machineObjects.map((object) => object.metadata.name));
  const draft = facts === undefined ? undefined : new FactsDraft(withoutOthers(seen, facts, machines));
  const former = new Set(seen.former);
  const resets: Action[] = [];
  const drains: Action[] = [];
  const gone: SeenMachine[] = [];
  const unreached: SeenMachine[] = [];
  const waiting: { readonly reason: ReasonOf<"Deleting">; readonly message: string }[] = [];
  // The record holds one open control-plane intent; the next one is opened only after this one was seen closed.
  let hasBegunControlPlane = false;
  let intentsLeft: number | undefined;
  const other = controlPlaneIntent(draft?.before);
  if (isClusterGoing && other !== undefined && other.what !== "Reset")
    waiting.push({
      reason: "Resetting",
      message: `${other.machine} is in the middle of an effect (${other.what}), which is waited for first.`,
    });

  for (const machine of machines) {
    const { declared, look } = machine;
    const fact = machineFact(facts, declared.name);
    const intent = intentOn(facts, declared.name, "Reset");
    const isFormer = former.has(machine);
    const shownBy = mayShowUntil(seen, machine, facts);
    if (shownBy !== undefined && !isAbandoned(seen, machine, facts)) {
      waiting.push({
        reason: "MachineUnreachable",
        message: `${declared.name} does not tell whether it holds a configuration of this cluster (${stateOf(machine)}), and the record that knew was lost: it is released at ${rfc3339(shownBy)} if it does not answer by then.`,
      });
      continue;
    }
    if (!hasToBeWiped(seen, machine, facts)) {
      if (!isFormer || objects.has(declared.name)) gone.push(machine);
      // A pool goes and its machines stay: they are nobody's from here on. With the whole cluster the record is kept as it is.
      if (!isClusterGoing && draft !== undefined && mayHoldConfig(fact))
        draft.release(fact, seen.now, "Preserved", `${declared.name} is released as it is: deletionPolicy is preserve.`);
      continue;
    }
    // Another machine at its address proves nothing about it.
    const isOther =
      look.kind === "maintenance" && facts !== undefined && fact !== undefined && compareIdentity(facts, fact, look) === "other";
    const isWiped = look.kind === "maintenance" && !isOther;
    const until = fact === undefined ? undefined : configMayArriveUntil(seen, { machine, fact });
    if (isWiped && until !== undefined && !isAbandoned(seen, machine, facts)) {
      waiting.push({
        reason: "Resetting",
        message: `${declared.name} waits with the key that its configuration was sent to, and it may still arrive: it is released at ${rfc3339(until)} if it waits then. Boot it anew to release it at once.`,
      });
      continue;
    }
    const inContainer = isContainer(look, fact);
    const end = inContainer && intent !== undefined ? endOfContainer(seen, machine, intent) : undefined;
    if (isWiped || end !== undefined || isAbandoned(seen, machine, facts)) {
      const reason = isWiped
        ? "AnswersInMaintenance"
        : end === undefined
          ? "AbandonedByPerson"
          : end === "stopped"
            ? "Stopped"
            : "StartedAgain";
      if (draft !== undefined && fact !== undefined)
        draft.release(fact, seen.now, reason, end === undefined ? `${declared.name} is released.` : wordsOfEnd(declared.name, end));
      continue;
    }
    if (seen.unknownMode !== undefined) {
      waiting.push({
        reason: "ConfirmationRequired",
        message: `The annotation reconcile-mode says ${JSON.stringify(seen.unknownMode)}, which is no known word, so ${declared.name} is not wiped. Correct or remove it, or set deletionPolicy to preserve on the ${declared.owner.kind} ${declared.owner.name}.`,
      });
      continue;
    }
    if (!mayWipe(seen)) {
      waiting.push({
        reason: "ConfirmationRequired",
        message: `The namespace or a CRD is going away, so ${declared.name} is not wiped. Annotate the TalosControlPlane with ${annotations.confirmReset}: ${seen.controlPlane.metadata.name}, or set deletionPolicy to preserve on the ${declared.owner.kind} ${declared.owner.name}.`,
      });
      continue;
    }
    const busy = inContainer
      ? `${declared.name} is being stopped; it is released when it does not answer any more: ${KEEPS_VOLUMES}.`
      : `${declared.name} is being wiped; it is released once it answers in maintenance mode.`;
    if (inContainer && look.kind === "silent" && intent !== undefined && draft !== undefined) {
      if (isStop(seen, machine, intent)) draft.replace(intent, { ...intent, stoppedAt: seen.now });
      waiting.push({ reason: "Resetting", message: busy });
      continue;
    }
    if (look.kind !== "running") unreached.push(machine);
    if (look.kind !== "running" && intent !== undefined && seen.now - intent.at < WIPE_TAKES_MS) {
      waiting.push({ reason: "Resetting", message: busy });
      continue;
    }
    if (look.kind === "running" ? assessed.keys === "lost" : !isClusterGoing && assessed.keys !== "sound") {
      waiting.push({
        reason: "Blocked",
        message: `${declared.name} must be wiped, which takes the cluster's keys${withoutKeys(assessed, declared.name, isClusterGoing)}`,
      });
      continue;
    }
    if (look.kind !== "running") {
      waiting.push({
        reason: "MachineUnreachable",
        message: `${declared.name} must be wiped and does not answer as a machine of this cluster (${stateOf(machine)}). Bring it back, or annotate the TalosControlPlane with ${annotations.abandonMachine}: ${wordFor(facts, declared.name, undefined)}.`,
      });
      continue;
    }
    if (intent === undefined) {
      const keeps = facts === undefined ? undefined : keptFromWipe(assessed, facts, machine, isClusterGoing);
      if (keeps !== undefined) {
        if (keeps.kind !== "effect")
          waiting.push({ reason: "Resetting", message: `${declared.name} is wiped later: ${whyHeld(keeps)}. ${releaseOf(keeps)}` });
        continue;
      }
      // When the whole cluster goes, pods have nowhere to go to.
      const drain = isClusterGoing ? undefined : readyToDisturb(assessed, declared.name);
      if (drain !== undefined && drain.kind !== "ready") {
        if (drain.kind === "act") drains.push(...drain.actions);
        waiting.push({ reason: "Draining", message: drain.message });
        continue;
      }
      if (declared.role === "controlplane" && hasBegunControlPlane) continue;
      if (declared.role === "controlplane") hasBegunControlPlane = true;
      if (draft !== undefined) {
        const opened = wipeIntent(seen, declared, fact?.uuid, isClusterGoing);
        intentsLeft ??= intentsThatFit(draft.facts(), opened);
        if (declared.role === "worker" && intentsLeft <= 0) {
          waiting.push({ reason: "Resetting", message: `${declared.name} is wiped later: as many are being wiped as the record holds.` });
          continue;
        }
        intentsLeft -= 1;
        draft.open(opened);
        draft.decide({
          at: seen.now,
          action: "Reset",
          reason: "Deleted",
          machine: declared.name,
          message: `${declared.name} is to be wiped.`,
        });
      }
    }
    const isStubborn = intent !== undefined && seen.now - intent.at >= WIPE_TAKES_MS;
    waiting.push({
      reason: "Resetting",
      message: isStubborn
        ? `${declared.name} was told to wipe itself at ${rfc3339(intent.at)} and still runs; it is told again. Look at its console and wipe it by hand, or give it up: annotate the TalosControlPlane with ${annotations.abandonMachine}: ${wordFor(facts, declared.name, undefined)}.`
        : busy,
    });
    const ifUuid = intent?.uuid ?? fact?.uuid ?? "";
    const isGraceful = leavesGracefully(assessed, machine);
    if (seen.mayDisturb && mayAskAgain(seen, resetMachine, declared.name))
      resets.push({
        kind: "ResetMachine",
        machine: declared.name,
        address: declared.address,
        ifUuid,
        ...(isGraceful ? { isGraceful } : {}),
      });
  }

  const removals = gone
    .filter((machine) => objects.has(machine.declared.name))
    .map((machine): Action => ({ kind: "DeleteMachine", name: machine.declared.name }));
  const next = draft?.facts();
  const writes: Action[] =
    next !== undefined && next !== facts && seen.record.kind === "present"
      ? [{ kind: "WriteRecord", ifResourceVersion: seen.record.value.resourceVersion, facts: next, why: "Deletion" }]
      : [];
  const source = isClusterGoing && facts !== undefined ? certificateSource(seen, facts, unreached) : undefined;
  resets.push(...(source?.actions ?? []));
  const actions = [...writes, ...drains, ...resets, ...removals];
  const [first] = source === undefined ? waiting : [{ reason: "Resetting" as const, message: source.message }];
  if (
    actions.length === 0 &&
    first === undefined &&
    gone.length === machines.filter((machine) => !former.has(machine)).length &&
    removals.length === 0
  )
    return undefined;
  return {
    ...waits(first?.reason ?? "WaitingForChildren", seen, first?.message ?? "TalosMachines are being removed."),
    actions,
    requeueAfterMs: 1_000,
  };
}

/** What releases a machine whose wipe takes keys that are away; the condition SecretsLost is told of a cluster that stays. */
function withoutKeys({ seen }: Assessment, name: string, isClusterGoing: boolean): string {
  if (!isClusterGoing) return ": see the condition SecretsLost. It stays as it is until they are back.";
  const facts = factsOf(seen);
  return `, and Secret ${facts?.bundle.secretName ?? ""} does not hold them. Restore it from a backup, or annotate the TalosControlPlane with ${annotations.abandonMachine}: ${wordFor(facts, name, undefined)}.`;
}

function wipeIntent(
  seen: Observed,
  { name, address, role }: SeenMachine["declared"],
  uuid: string | undefined,
  isClusterGoing: boolean,
): IntentFact {
  const why = isClusterGoing ? "The cluster is deleted." : "The worker pool is deleted.";
  return { what: "Reset", machine: name, address, uuid: uuid ?? "", role, at: seen.now, deadline: seen.now + WIPE_TAKES_MS, why };
}

/**
 * What keeps a machine from being wiped now, of what else is done to its cluster: a control plane that goes with everything waits for whatever is open, and workers of
 * a pool that goes alone while their control plane needs attention, if there is one.
 */
function keptFromWipe(
  assessed: Assessment,
  facts: ClusterFacts,
  { declared: { name, role } }: SeenMachine,
  isClusterGoing: boolean,
): SlotHolder | MarginHolder | undefined {
  if (role === "controlplane") {
    const slot = controlPlaneSlot(assessed, facts, { machine: name, why: "delete", member: undefined });
    return slot.kind === "held" ? slot.holder : undefined;
  }
  if (isClusterGoing) return undefined;
  const margin = controlPlaneMargin(assessed, facts);
  return margin.kind === "none" && margin.holder.kind !== "founding" ? margin.holder : undefined;
}

/** Intents of another kind on what is wiped anyway: those on workers end at once, those on control planes when nothing can come of them any more. */
function withoutOthers(seen: Observed, facts: ClusterFacts, machines: readonly SeenMachine[]): ClusterFacts {
  const names = new Set(machines.map(({ declared }) => declared.name));
  const isOver = ({ what, role, machine, deadline }: ClusterFacts["intents"][number]): boolean =>
    what !== "Reset" && names.has(machine) && (role === "worker" || seen.now >= deadline);
  return facts.intents.some(isOver) ? { ...facts, intents: facts.intents.filter((intent) => !isOver(intent)) } : facts;
}

/** While etcd keeps its quorum without it, a control plane leaves etcd before it is wiped; asked a second time, and as the last one, it wipes at once. */
function leavesGracefully(assessed: Assessment, { declared, look }: SeenMachine): boolean {
  const { seen } = assessed;
  // A container leaves nothing when it is reset, graceful or not; the others go next.
  if (declared.role !== "controlplane" || isContainer(look, undefined) || seen.sent.has(`Reset/${declared.name}`)) return false;
  const view = assessed.etcd;
  const member = look.kind === "running" ? look.etcd?.localMember : undefined;
  if (view.kind === "unsafe" || view.voters.length < 2 || !view.voters.some(({ id }) => id === member)) return false;
  return projectWithout(view, member, "leaves").isSafe;
}

/**
 * Everything of the cluster is gone: keys and memory go too, unless the machines were left running. That the machines are wiped is written on the object first:
 * a process that ends after the record is gone leaves nothing else that says so.
 */
function dissolve(seen: Observed): Verdict {
  const actions: Action[] = [];
  if (policyOf(seen) === "reset" && seen.record.kind === "present") {
    if (!isSaidWiped(seen))
      return {
        ...waits("WaitingForChildren", seen, "Every machine is wiped. The record and the keys of the cluster go next."),
        actions: [{ kind: "ConfirmWiped" }],
        requeueAfterMs: 1_000,
      };
    const { facts, metadata } = seen.record.value;
    const { secretName: secret, fingerprint } = facts.bundle;
    const ifFingerprint = seen.bundle.kind === "present" ? seen.bundle.value.fingerprint : fingerprint;
    if (seen.bundle.kind !== "absent") actions.push({ kind: "DeleteBundle", secret, ifFingerprint });
    actions.push({ kind: "DeleteRecord", ifUid: metadata.uid });
  }
  actions.push({ kind: "RemoveFinalizer", object: { kind: "TalosControlPlane", name: seen.controlPlane.metadata.name } });
  return { ...waits("WaitingForChildren", seen, "Everything made for this cluster is gone."), actions };
}

/** The operator said of this very object that its machines are wiped. */
function isSaidWiped({ controlPlane: { metadata } }: Observed): boolean {
  return metadata.uid !== undefined && metadata.annotations?.[annotations.machinesWiped] === metadata.uid;
}

/** False for a machine that never got a configuration, was released, or is to be left running. */
function hasToBeWiped(seen: Observed, machine: SeenMachine, facts: ClusterFacts | undefined): boolean {
  return !isPreserved(seen, machine) && mayHoldConfig(machineFact(facts, machine.declared.name));
}

/** That a pool is not there is no wish to wipe what it had. */
function isPreserved(seen: Observed, { declared: { owner } }: SeenMachine): boolean {
  const object = owner.kind === "TalosWorker" ? seen.workers.find(({ metadata }) => metadata.name === owner.name) : seen.controlPlane;
  return object === undefined || (object.spec?.deletionPolicy ?? "reset") === "preserve";
}

/**
 * Until when it has to be seen whether a machine runs with this cluster's keys that a record does not know which was made after they were, `undefined` = it
 * does not. Milliseconds since the epoch.
 */
function mayShowUntil(seen: Observed, machine: SeenMachine, facts: ClusterFacts | undefined): number | undefined {
  if (facts === undefined || !isMadeAnew(facts) || machineFact(facts, machine.declared.name) !== undefined || isPreserved(seen, machine))
    return undefined;
  return comesBackUntil(seen, machine);
}

/** Until when a machine of which nothing is known may come back with a configuration, `undefined` = no longer, or it answers. */
function comesBackUntil(seen: Observed, { declared, look }: SeenMachine): number | undefined {
  const until = seen.watchedSince + COMES_BACK_MS;
  // Its look is never older than this moment: nobody is asked.
  if (declared.address === "") return seen.now < until ? until : undefined;
  if (look.kind === "not-asked") return until;
  return look.kind === "silent" && silentForMs(look) < COMES_BACK_MS ? look.since + COMES_BACK_MS : undefined;
}

function policyOf(seen: Observed): DeletionPolicy {
  return seen.controlPlane.spec?.deletionPolicy ?? "reset";
}

/** Unknown counts as going away: nothing is wiped on a guess. */
function mayWipe(seen: Observed): boolean {
  return (
    seen.namespaceIsTerminating === false ||
    seen.controlPlane.metadata.annotations?.[annotations.confirmReset] === seen.controlPlane.metadata.name
  );
}

function isAbandoned(seen: Observed, { declared }: SeenMachine, facts: ClusterFacts | undefined): boolean {
  const named = seen.controlPlane.metadata.annotations?.[annotations.abandonMachine];
  return named !== undefined && named !== "" && named === wordFor(facts, declared.name, undefined);
}

function waits(reason: ReasonOf<"Deleting">, seen: Observed, message: string): Verdict {
  return {
    actions: [],
    waiting: { reason: "Deleting", message },
    conditions: [conditionFor("Deleting", reason, message, seen.controlPlane.metadata.generation)],
    requeueAfterMs: 5_000,
  };
}
