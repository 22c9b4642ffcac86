import { kubeconfigSecretName, talosconfigSecretName } from "@talos-operator/api";
import type { ReasonOf } from "@talos-operator/api";
import { removalsOf, removalWords } from "../report/describe-removal.ts";
import { listed } from "../report/listed.ts";
import { nodesState } from "../report/describe.ts";
import { isOnlyJoining, isOnlyPassing } from "../assess/joining.ts";
import { comingUpOf, isReadyNode, unmetOf } from "../assess/machine-state.ts";
import { awaitedAtEndpoint } from "../procedures/bootstrap/endpoint-founder.ts";
import { planMachines } from "../procedures/join/plan.ts";
import { factsOf, intentOn, machineFact, mayHoldConfig } from "../record/facts.ts";
import { onlyRestart } from "../report/restarting.ts";
import { accessOwner } from "../procedures/access/rule.ts";
import type { MachineRole } from "../model/machine.ts";
import type { Rule } from "../model/decision.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { StoppedMachine, Waiting } from "../model/plans.ts";
import type { Assessment } from "../model/assessment.ts";

/** The last rule: nothing to do now. Says what the cluster waits for, the gravest first, or that it is as asked for. */
export const waitOrSettle: Rule = {
  name: "waitOrSettle",
  decide(assessed) {
    const { waiting } = assessed;
    return waiting === undefined ? { actions: [] } : { actions: [], waiting };
  },
};

/** What the cluster waits for, the gravest first; `undefined` = it is as asked for. What its workers alone wait for comes last. */
export function waitingOf(assessed: Assessment): Waiting | undefined {
  const own = assessed.ownWaiting;
  const facts = factsOf(assessed.seen);
  if (facts === undefined) return own;
  const { stopped } = assessed.joining ?? planMachines(assessed, facts);
  const stoppedWorkers = stopped.filter(({ role }) => role === "worker");
  // Whoever reads of a control plane that it is awaited is not to look at a worker for it; that a worker is stopped is said beside.
  if (own !== undefined) return stoppedWorkers.length === 0 ? own : { ...own, message: `${own.message} ${alsoStopped(stoppedWorkers)}` };
  const ofWorkers = waitingOfStopped(stoppedWorkers) ?? waitingOfWorkers(assessed, facts);
  return ofWorkers === undefined ? undefined : { ...ofWorkers, ofWorkers: true };
}

/** What the control plane itself waits for; `undefined` = it is as asked for. */
export function waitingOfControlPlane(assessed: Assessment): Waiting | undefined {
  const { seen } = assessed;
  if (seen.record.kind !== "present") return { reason: "Unobserved", message: "The cluster's record is not there yet." };
  const { facts } = seen.record.value;
  const joining = assessed.joining ?? planMachines(assessed, facts);
  const ofStopped = waitingOfStopped(joining.stopped.filter(({ role }) => role === "controlplane"));
  if (ofStopped !== undefined) return ofStopped;
  const held = joining.held.flatMap(({ role, says }) => (role === "controlplane" ? [says] : []));
  const ofEtcd = facts.bootstrapDone === undefined ? waitingOfBootstrap(assessed, facts, held) : waitingOfEtcd(assessed, facts, held);
  return ofEtcd ?? waitingOfNodes(assessed, facts, "controlplane") ?? waitingOfAccess(seen);
}

/** What workers wait for while their control plane is as asked for. */
function waitingOfWorkers(assessed: Assessment, facts: ClusterFacts): Waiting | undefined {
  const leaving = leavingOf(assessed, "worker");
  return leaving ?? assessed.goingPools?.waiting ?? waitingOfNodes(assessed, facts, "worker");
}

/** What is waited for before etcd is bootstrapped. */
function waitingOfBootstrap(assessed: Assessment, facts: ClusterFacts, held: readonly string[]): Waiting {
  const { seen } = assessed;
  const refused = ofRole(seen, "controlplane").flatMap(({ declared }) => {
    const sent = seen.sent.get(`Configure/${declared.name}`);
    return sent?.outcome === "refused" ? [`${declared.name}: ${sent.detail}`] : [];
  });
  if (refused.length > 0)
    return {
      reason: "ConfigRejected",
      message: `Refused by the machine: ${refused.join("; ")}. Correct the patches or settings.`,
      saysRemedy: true,
    };
  const missing = ofRole(seen, "controlplane").filter((machine) => machine.look.kind !== "running");
  const awaited = awaitedAtEndpoint(seen, facts);
  if (missing.length > 0) {
    const names = missing.map((machine) => `${machine.declared.name} (${unmetOf(machine, machineFact(facts, machine.declared.name))})`);
    const message = `Waiting for control planes: ${listed(names)}.`;
    return {
      reason: reasonBeforeEtcd(missing, facts),
      message: [message, ...(awaited === undefined ? [] : [awaited]), ...held].join(" "),
    };
  }
  if (awaited !== undefined) return { reason: "WaitingForMachines", message: awaited };
  return { reason: "Bootstrapping", message: assessed.bootstrap.message };
}

/** What is waited for while etcd lacks a member or is not well. */
function waitingOfEtcd(assessed: Assessment, facts: ClusterFacts, held: readonly string[]): Waiting | undefined {
  const { seen } = assessed;
  const { health: etcd } = assessed;
  if (etcd.reason === "AllMembersHealthy") return undefined;
  if (etcd.reason === "MemberRestarting") return { reason: "Restarting", message: [etcd.message, ...held].join(" ") };
  const says = SAYS_REMEDY.has(etcd.reason) || etcd.saysRemedy === true ? ({ saysRemedy: true } as const) : {};
  const reason = etcdReason(etcd.reason, seen, facts);
  // No machine is to be replaced for what is over in seconds.
  if (reason === "EtcdUnhealthy" && MAY_PASS.has(etcd.reason) && isOnlyPassing(seen))
    return { reason, message: [etcd.message, ...held, "Wait: this often passes within a minute."].join(" "), saysRemedy: true };
  return { reason, message: [etcd.message, ...held].join(" "), ...says };
}

/** No machine is missing: what is said of etcd says itself what is done about it, and what a person can do. */
const SAYS_REMEDY: ReadonlySet<ReasonOf<"EtcdHealthy">> = new Set([
  "MemberUnexpected",
  "NoSpace",
  "NoSpaceStopped",
  "ReplacingMember",
  "DataCorrupt",
  "Defragmenting",
]);

/** A member does not serve; whether it ever will is not known at once. */
const MAY_PASS: ReadonlySet<ReasonOf<"EtcdHealthy">> = new Set(["MemberMissing", "MemberUnhealthy"]);

function etcdReason(health: ReasonOf<"EtcdHealthy">, seen: Observed, facts: ClusterFacts): Waiting["reason"] {
  if (health !== "MemberMissing") return "EtcdUnhealthy";
  if (servesWithoutNew(seen, facts)) return "WaitingForMachines";
  return isOnlyJoining(seen, facts) ? "Joining" : "EtcdUnhealthy";
}

function ofRole({ machines }: Observed, role: MachineRole): readonly SeenMachine[] {
  return machines.filter(({ declared }) => declared.role === role);
}

/** The spec is not met while machines leave. Those that only wait for a person, and no longer concern the cluster, do not count. */
function leavingOf(assessed: Assessment, wanted: MachineRole): Waiting | undefined {
  const leaving = removalsOf(assessed).filter(({ reason, role }) => reason !== "MachineUnreachable" && role === wanted);
  return leaving.length === 0 ? undefined : { reason: "Removing", message: removalWords(leaving) };
}

/** What is waited for while etcd is well. */
function waitingOfNodes(assessed: Assessment, facts: ClusterFacts, role: MachineRole): Waiting | undefined {
  const { seen } = assessed;
  const leaving = leavingOf(assessed, role);
  if (leaving !== undefined) return leaving;
  const machines = ofRole(seen, role);
  const unready = machines.filter((machine) => !isReadyNode(machine));
  if (unready.length === 0) return undefined;
  const { reason, message } = nodesState(seen, machines);
  if (onlyRestart(assessed, machines)) return { reason: "Restarting", message };
  return { reason: unreadyReason(unready, facts), message, ...(reason === "NoNetworkPlugin" ? { saysRemedy: true } : {}) };
}

/** What keeps people's access from being written. */
function waitingOfAccess(seen: Observed): Waiting | undefined {
  const access = [seen.kubeconfig, seen.talosconfig];
  const foreign = foreignAccess(seen);
  if (foreign.length > 0)
    return {
      reason: "NameConflict",
      message: foreign.map((name) => `Secret ${name} is not this cluster's. Rename or remove it.`).join(" "),
    };
  if (access.some((one) => one.kind !== "present")) return { reason: "Unobserved", message: "The access Secrets are being written." };
  return undefined;
}

/** Secrets of somebody else that have the names of the kubeconfig and the talosconfig. */
function foreignAccess(seen: Observed): readonly string[] {
  const owner = accessOwner(seen);
  const places = [
    { name: kubeconfigSecretName(owner), access: seen.kubeconfig },
    { name: talosconfigSecretName(owner), access: seen.talosconfig },
  ];
  return places.flatMap(({ name, access }) => (access.kind === "present" && !access.value.isOurs ? [name] : []));
}

function reasonBeforeEtcd(missing: readonly SeenMachine[], facts: ClusterFacts): Waiting["reason"] {
  if (missing.some((machine) => isAwaited(machine, facts))) return "WaitingForMachines";
  return missing.some((machine) => isLost(machine, facts) && comingUpOf(machine, facts) === undefined)
    ? "MachineUnreachable"
    : "Configuring";
}

/** Machines that nobody hears are about power and network, or were never booted: only of the others something can be said about their nodes. */
function unreadyReason(unready: readonly SeenMachine[], facts: ClusterFacts): Waiting["reason"] {
  if (unready.every((machine) => isAwaited(machine, facts))) return "WaitingForMachines";
  const others = unready.filter((machine) => !isAwaited(machine, facts));
  const comingUp = others.map((machine) => comingUpOf(machine, facts));
  if (!comingUp.includes(undefined)) return comingUp.includes("Configuring") ? "Configuring" : "Booting";
  if (others.every((machine, index) => comingUp[index] !== undefined || isLost(machine, facts))) return "MachineUnreachable";
  const rest = others.filter((machine, index) => comingUp[index] === undefined && !isLost(machine, facts));
  return rest.every(({ look }) => look.kind === "running" && look.sharesNode !== undefined) ? "NodeShared" : "NodesNotReady";
}

/** Of the control planes on the list only those are missing in etcd that nobody has booted yet. */
function servesWithoutNew({ machines }: Observed, facts: ClusterFacts): boolean {
  const missing = machines.filter(
    ({ declared, look }) => declared.role === "controlplane" && !(look.kind === "running" && look.etcd?.members !== undefined),
  );
  return missing.length > 0 && missing.every((machine) => isAwaited(machine, facts));
}

/** It is listed, was never configured, and does not answer. */
function isAwaited({ declared, look }: SeenMachine, facts: ClusterFacts): boolean {
  return look.kind === "silent" && look.stopped === undefined && !mayHoldConfig(machineFact(facts, declared.name));
}

/** It is part of the cluster, and answers nothing, though nobody asked it to boot: that is about power and network, not about its node. */
function isLost({ declared, look }: SeenMachine, facts: ClusterFacts): boolean {
  return look.kind === "silent" && mayHoldConfig(machineFact(facts, declared.name)) && intentOn(facts, declared.name) === undefined;
}

/** Machines to which nothing is sent. */
function waitingOfStopped(stopped: readonly StoppedMachine[]): Waiting | undefined {
  const [first, ...others] = stopped;
  if (first === undefined) return undefined;
  return {
    reason: first.reason,
    message: others.length === 0 ? first.message : `${first.message} ${alsoStopped(others)}`,
    saysRemedy: true,
  };
}

function alsoStopped(others: readonly StoppedMachine[]): string {
  return `Also stopped: ${listed(others.map(({ name, reason }) => `${name} (${reason})`))}.`;
}
