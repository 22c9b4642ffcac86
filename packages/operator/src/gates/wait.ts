import { kubeconfigSecretName, talosconfigSecretName } from "@talos-operator/api";
import type { ReasonOf } from "@talos-operator/api";
import { removalsOf } from "../report/describe-removal.ts";
import { nodesState } from "../report/describe.ts";
import { isOnlyJoining } from "../assess/joining.ts";
import { comingUpOf, isReadyNode, unmetOf } from "../assess/machine-state.ts";
import { awaitedAtEndpoint } from "../procedures/bootstrap/endpoint-founder.ts";
import { planMachines } from "../procedures/join/plan.ts";
import { intentOn, machineFact, mayHoldConfig } from "../record/facts.ts";
import { accessOwner } from "../procedures/access/rule.ts";
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

/** What the cluster waits for, the gravest first; `undefined` = it is as asked for. */
export function waitingOf(assessed: Assessment): Waiting | undefined {
  const { seen } = assessed;
  if (seen.record.kind !== "present") return { reason: "Unobserved", message: "The cluster's record is not there yet." };
  const { facts } = seen.record.value;
  const { stopped, held } = assessed.joining ?? planMachines(assessed, facts);
  if (stopped.some(({ role }) => role === "controlplane")) return waitingOfStopped(stopped);
  const ofEtcd = facts.bootstrapDone === undefined ? waitingOfBootstrap(assessed, facts, held) : waitingOfEtcd(assessed, facts, held);
  // Whoever reads of a control plane that it is awaited is not to look at a worker for it; that a worker is stopped is said beside.
  if (ofEtcd !== undefined) return stopped.length === 0 ? ofEtcd : { ...ofEtcd, message: `${ofEtcd.message} ${alsoStopped(stopped)}` };
  const ofNodes = waitingOfNodes(assessed, facts);
  if (stopped.length > 0 && ofNodes !== undefined && seen.machines.some(isUnreadyControlPlane))
    return { ...ofNodes, message: `${ofNodes.message} ${alsoStopped(stopped)}` };
  return waitingOfStopped(stopped) ?? ofNodes;
}

function isUnreadyControlPlane(machine: SeenMachine): boolean {
  return machine.declared.role === "controlplane" && !isReadyNode(machine);
}

/** What is waited for before etcd is bootstrapped. */
function waitingOfBootstrap(assessed: Assessment, facts: ClusterFacts, held: readonly string[]): Waiting {
  const { seen } = assessed;
  const refused = seen.machines.flatMap(({ declared }) => {
    const sent = seen.sent.get(`Configure/${declared.name}`);
    return sent?.outcome === "refused" ? [`${declared.name}: ${sent.detail}`] : [];
  });
  if (refused.length > 0)
    return {
      reason: "ConfigRejected",
      message: `Refused by the machine: ${refused.join("; ")}. Correct the patches or settings.`,
      saysRemedy: true,
    };
  const missing = seen.machines.filter((machine) => machine.declared.role === "controlplane" && machine.look.kind !== "running");
  const awaited = awaitedAtEndpoint(seen, facts);
  if (missing.length > 0) {
    const names = missing
      .map((machine) => `${machine.declared.name} (${unmetOf(machine, machineFact(facts, machine.declared.name))})`)
      .join(", ");
    const message = `Control planes that do not run with their configuration yet: ${names}.`;
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
  const says = SAYS_REMEDY.has(etcd.reason) ? ({ saysRemedy: true } as const) : {};
  return { reason: etcdReason(etcd.reason, seen, facts), message: [etcd.message, ...held].join(" "), ...says };
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

function etcdReason(health: ReasonOf<"EtcdHealthy">, seen: Observed, facts: ClusterFacts): Waiting["reason"] {
  if (health !== "MemberMissing") return "EtcdUnhealthy";
  if (servesWithoutNew(seen, facts)) return "WaitingForMachines";
  return isOnlyJoining(seen, facts) ? "Joining" : "EtcdUnhealthy";
}

/** What is waited for while etcd is well. */
function waitingOfNodes(assessed: Assessment, facts: ClusterFacts): Waiting | undefined {
  const { seen } = assessed;
  // The spec is not met while machines leave. Those that only wait for a person, and no longer concern the cluster, do not count.
  const leaving = removalsOf(assessed).filter(({ reason }) => reason !== "MachineUnreachable");
  const unready = seen.machines.filter((machine) => !isReadyNode(machine));
  // A control plane that is no ready node is graver than a worker that leaves.
  const isGraver = leaving.every(({ role }) => role === "worker") && unready.some(isUnreadyControlPlane);
  if (leaving.length > 0 && !isGraver) return { reason: "Removing", message: leaving.map(({ message }) => message).join(" ") };
  const pools = isGraver ? undefined : assessed.goingPools?.waiting;
  if (pools !== undefined) return pools;
  const access = [seen.kubeconfig, seen.talosconfig];
  if (unready.length > 0) {
    const { reason, message } = nodesState(seen, seen.machines);
    return { reason: unreadyReason(unready, facts), message, ...(reason === "NoNetworkPlugin" ? { saysRemedy: true } : {}) };
  }
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
  const [first, ...others] = stopped.toSorted((a, b) => weight(a.role) - weight(b.role));
  if (first === undefined) return undefined;
  return {
    reason: first.reason,
    message: others.length === 0 ? first.message : `${first.message} ${alsoStopped(others)}`,
    saysRemedy: true,
  };
}

function alsoStopped(others: readonly StoppedMachine[]): string {
  return `Also stopped: ${others.map(({ name, reason }) => `${name} (${reason})`).join(", ")}.`;
}

/** Control planes first: without them there is no cluster. */
function weight(role: "controlplane" | "worker"): number {
  return role === "controlplane" ? 0 : 1;
}
