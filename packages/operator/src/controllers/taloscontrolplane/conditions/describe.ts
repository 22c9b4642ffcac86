import { conditionFor, findCondition, rfc3339 } from "@talos-operator/api";
import type { ConditionInput, ReasonOf } from "@talos-operator/api";
import { controlPlanesOf, waitsForEtcd, wasEverConfigured } from "../membership/etcd-view.ts";
import type { EtcdMember } from "../../../looking/look.ts";
import { addressConditions } from "../../shared/address-conditions.ts";
import { configHashOf } from "../config-changes/config-hash.ts";
import { identityOf } from "../membership/identity.ts";
import { machineFact } from "../record/facts.ts";
import { wantedMeta } from "../config-changes/meta-plan.ts";
import { platformOf } from "../config-changes/platform-of.ts";
import { asMade } from "../spec/fixed-properties.ts";
import { drainsState } from "../membership/drain.ts";
import type { ClusterFacts } from "../record/facts.ts";
import type { Observed, SeenMachine } from "../model.ts";

/** A condition's reason and message before it is put under its type. */
export interface Finding<R extends string> {
  readonly reason: R;
  readonly message: string;
}

/** How etcd is, as its members tell it: each one asked for its own list. */
export function etcdHealth(seen: Observed): Finding<ReasonOf<"EtcdHealthy">> {
  const facts = factsOf(seen);
  if (facts?.bootstrapDone === undefined) return { reason: "NotBootstrapped", message: "etcd is not founded yet." };
  const declared = seen.machines.filter((machine) => machine.declared.role === "controlplane");
  const answering = declared.flatMap((machine) =>
    machine.look.kind === "running" && machine.look.etcd?.members !== undefined
      ? [{ machine, etcd: machine.look.etcd, members: machine.look.etcd.members }]
      : [],
  );
  const lost = quorumLost(seen, facts);
  if (lost !== undefined) return lost;
  if (answering.length === 0) return { reason: "NoAnswer", message: "No control plane answers for etcd." };
  const silent = declared.filter((machine) => !answering.some((one) => one.machine === machine));
  const [first] = answering;
  const learner = first?.members.find((member) => member.isLearner);
  // Those that wait to be configured wait for the learner: it is what concerns people.
  if (silent.length > 0 && (learner === undefined || silent.some(({ look }) => look.kind !== "maintenance"))) {
    const named = silent.map((machine) => `${machine.declared.name} (${etcdStateOf(machine)})`).join(", ");
    return { reason: "MemberMissing", message: `Not a serving member of etcd: ${named}.` };
  }
  const list = idsOf(first?.members ?? []);
  const differing = answering.find((one) => idsOf(one.members) !== list);
  if (differing !== undefined)
    return {
      reason: "MemberUnhealthy",
      message: `${differing.machine.declared.name} lists other members than ${first?.machine.declared.name}.`,
    };
  if (learner !== undefined) {
    const owner = answering.find(({ etcd }) => etcd.localMember === learner.id)?.machine.declared.name;
    const waiting = silent.length === 0 ? "" : ` Waiting for it: ${names(silent)}.`;
    return {
      reason: "MemberMissing",
      message:
        `${owner ?? `Member ${learner.name || learner.id}`} is still a learner of etcd: it has no vote before it has caught up, and nothing else is done to etcd meanwhile.${waiting} ` +
        `Talos promotes it by itself. If it stays so, look at its disk and network, or take its machine off the list; see docs/runbooks/stuck-learner.md.`,
    };
  }
  const owned = new Set(answering.map((one) => one.etcd.localMember));
  const twin = answering.find((one, index) => answering.findIndex((other) => other.etcd.localMember === one.etcd.localMember) < index);
  if (twin !== undefined)
    return {
      reason: "MemberMissing",
      message: `${twin.machine.declared.name} shows the etcd member of another machine, and has none of its own.`,
    };
  // Members on their way out are the condition Removing's.
  const listed = new Set(seen.machines.map((machine) => machine.declared.name));
  const leaving = new Set(facts.machines.flatMap(({ name, memberId }) => (listed.has(name) ? [] : (memberId ?? []))));
  for (const { look } of seen.former)
    if (look.kind === "running" && look.etcd?.localMember !== undefined) leaving.add(look.etcd.localMember);
  const foreign = first?.members.find((member) => !owned.has(member.id) && !leaving.has(member.id));
  if (foreign !== undefined)
    return { reason: "MemberUnexpected", message: `Member ${foreign.name || foreign.id} belongs to no machine of this cluster.` };
  const unhealthy = answering.find((one) => !one.etcd.isHealthy);
  if (unhealthy !== undefined) return { reason: "MemberUnhealthy", message: `etcd on ${unhealthy.machine.declared.name} is not healthy.` };
  const alarmed = answering.find(({ etcd }) => (etcd.alarms ?? []).length > 0);
  if (alarmed !== undefined)
    return {
      reason: "MemberUnhealthy",
      message:
        `etcd on ${alarmed.machine.declared.name} raises an alarm (${(alarmed.etcd.alarms ?? []).join(", ")}); no control plane is disturbed meanwhile. ` +
        `Free its space with talosctl etcd defrag, or replace the member whose data is corrupt, then talosctl etcd alarm disarm.`,
    };
  const leaderless = answering.find(
    (one) => one.etcd.leader === undefined || !(owned.has(one.etcd.leader) || leaving.has(one.etcd.leader)),
  );
  if (leaderless !== undefined)
    return { reason: "MemberUnhealthy", message: `${leaderless.machine.declared.name} knows no leader among the members.` };
  return { reason: "AllMembersHealthy", message: `${answering.length} voting member(s), one leader, all healthy.` };
}

/**
 * A majority of the voters that were written down does not serve, and those that answer say that they have no leader; `undefined` while that is not so.
 *
 * Nothing is done about it here: whatever is left of the data is on these machines.
 */
function quorumLost(seen: Observed, facts: ClusterFacts): Finding<"QuorumLost"> | undefined {
  const voters = controlPlanesOf(seen).filter(({ declared }) => machineFact(facts, declared.name)?.memberId !== undefined);
  const needed = Math.floor(voters.length / 2) + 1;
  const serving = voters.filter(({ look }) => look.kind === "running" && look.etcd?.members !== undefined);
  const stuck = voters.filter(
    ({ look }) =>
      look.kind === "running" && look.etcd?.service === "Running" && look.etcd.members === undefined && (look.etcd.leader ?? "0") === "0",
  );
  if (stuck.length === 0 || serving.length > 0 || voters.length < 2) return undefined;
  const missing = voters.filter((machine) => !stuck.includes(machine));
  if (stuck.length >= needed) return undefined;
  return {
    reason: "QuorumLost",
    message:
      `etcd has lost its quorum: of ${voters.length} members only ${stuck.map(({ declared }) => declared.name).join(", ")} run, and ${needed} are needed. ` +
      `Nothing is changed or wiped meanwhile. Bring back ${missing.map((machine) => `${machine.declared.name} (${stateOf(machine)})`).join(" or ")}; etcd goes on by itself. ` +
      `If they are gone for good, see docs/runbooks/lost-quorum.md.`,
  };
}

/** Whether etcd was founded, and if not, what is waited for. */
function bootstrapState(seen: Observed): Finding<ReasonOf<"Bootstrapped">> {
  const facts = factsOf(seen);
  if (facts?.bootstrapDone !== undefined)
    return { reason: "Bootstrapped", message: `Founded on ${facts.bootstrapDone.machine}. ${facts.bootstrapDone.evidence}` };
  // While the record is away, this word is what tells a cluster that exists from a new one: it stays.
  const told = findCondition(seen.controlPlane.status?.conditions, "Bootstrapped");
  if (facts === undefined && told?.status === "True") return { reason: "Bootstrapped", message: told.message };
  if (facts === undefined) return { reason: "WaitingForControlPlanes", message: "The cluster's record is not there yet." };
  const controlPlanes = controlPlanesOf(seen);
  const hidden = controlPlanes.filter((machine) => isSilent(machine) && wasEverConfigured(facts, machine));
  if (hidden.length > 0)
    return {
      reason: "ControlPlaneUnreachable",
      message: `Does not answer and may hold etcd data: ${names(hidden)}. etcd is not founded until it answers, so that no second cluster is made.`,
    };
  if (facts.bootstrapIntent !== undefined)
    return {
      reason: "IntentOpen",
      message: `${facts.bootstrapIntent.machine} is the only machine that is ever asked to found etcd; what it shows decides.`,
    };
  const withData = controlPlanes.filter((machine) => machine.look.kind === "running" && machine.look.etcd?.service === "Running");
  if (withData.length > 0)
    return {
      reason: "EtcdDataFound",
      message: `etcd runs on ${names(withData)}, and the record knows nothing of it; its member list decides.`,
    };
  const waiting = controlPlanes.filter((machine) => !(machine.look.kind === "running" && waitsForEtcd(machine.look.etcd)));
  return {
    reason: "WaitingForControlPlanes",
    message:
      waiting.length === 0
        ? "etcd is about to be founded."
        : `Not waiting for etcd yet: ${waiting.map((machine) => `${machine.declared.name} (${stateOf(machine)})`).join(", ")}.`,
  };
}

/** Whether every machine of the control plane answers with our configuration. */
function machinesState(machines: readonly SeenMachine[]): Finding<ReasonOf<"MachinesReady">> {
  if (machines.length === 0) return { reason: "NoMachines", message: "No machine is listed." };
  const missing = machines.filter((machine) => machine.look.kind !== "running");
  if (missing.length === 0)
    return { reason: "AllMachinesReady", message: `${machines.length} machine(s) answer with their configuration.` };
  return {
    reason: "MachinesNotReady",
    message: `Not running with their configuration: ${missing.map((machine) => `${machine.declared.name} (${stateOf(machine)})`).join(", ")}.`,
  };
}

/** Whether every machine is a ready node, each unmet condition by name. */
export function nodesState(seen: Observed, machines: readonly SeenMachine[]): Finding<ReasonOf<"NodesReady">> {
  if (factsOf(seen)?.bootstrapDone === undefined)
    return { reason: "NotBootstrapped", message: "There is no Kubernetes yet: etcd is not founded." };
  const unready = machines.filter((machine) => !isReadyNode(machine));
  if (unready.length === 0) return { reason: "AllNodesReady", message: `${machines.length} node(s) are ready.` };
  return { reason: "NodesNotReady", message: `${unready.map((machine) => `${machine.declared.name}: ${unmetOf(machine)}`).join("; ")}.` };
}

/** True when the machine says that it runs and that nothing is unmet. */
export function isReadyNode({ look }: SeenMachine): boolean {
  return look.kind === "running" && look.stage === "running" && look.ready && look.unmet.length === 0;
}

/** Conditions that only describe what was seen; the rule that decided adds its own. */
export function describe(seen: Observed): readonly ConditionInput[] {
  const generation = seen.controlPlane.metadata.generation;
  const etcd = etcdHealth(seen);
  const bootstrap = bootstrapState(seen);
  const own = seen.machines.filter((machine) => machine.declared.owner.kind === "TalosControlPlane");
  const machines = machinesState(own);
  const nodes = nodesState(seen, own);
  const changed = keptAsMade(seen);
  const drains = drainsState(seen);
  const inert = [...seen.inertFields, ...metaOfContainers(seen)];
  return [
    conditionFor("MachinesReady", machines.reason, machines.message, generation),
    conditionFor("Bootstrapped", bootstrap.reason, bootstrap.message, generation),
    conditionFor("EtcdHealthy", etcd.reason, etcd.message, generation),
    conditionFor("NodesReady", nodes.reason, nodes.message, generation),
    ...addressConditions(
      seen.machines.map(({ declared }) => declared),
      generation,
    ),
    ...sharedIdentities(seen, generation),
    ...(inert.length === 0 && changed.length === 0
      ? []
      : [
          conditionFor(
            "FieldNotSupported",
            "FieldNotSupported",
            [
              ...(inert.length === 0 ? [] : [`Set and without effect in this release: ${inert.join(", ")}.`]),
              ...(changed.length === 0 ? [] : [`Changed after the cluster was made, and kept as it was made: ${changed.join(", ")}.`]),
            ].join(" "),
            generation,
          ),
        ]),
    ...(drains === undefined ? [] : [conditionFor("Draining", drains.reason, drains.message, generation)]),
    ...upgradePending(seen),
    ...imported(seen),
  ];
}

/** Machines whose UUID tells nobody apart; nothing is said where each has its own. */
function sharedIdentities(seen: Observed, generation: number | undefined): readonly ConditionInput[] {
  const facts = factsOf(seen);
  if (facts === undefined) return [];
  const kinds = facts.machines
    .filter(({ releasedAt }) => releasedAt === undefined)
    .map((fact) => ({ fact, kind: identityOf(facts, fact) }));
  const shared = kinds.filter(({ kind }) => kind === "shared");
  const vendor = kinds.filter(({ kind }) => kind === "vendor");
  const listed = (found: typeof kinds): string => found.map(({ fact }) => `${fact.name} (${fact.uuid})`).join(", ");
  if (shared.length > 0)
    return [
      conditionFor(
        "IdentityUnique",
        "UuidShared",
        `One UUID is shown by several machines, as by clones: ${listed(shared)}. Hardware addresses tell them apart. Give each a UUID of its own.`,
        generation,
      ),
    ];
  if (vendor.length === 0) return [];
  const message = `A UUID that vendors ship by the thousand: ${listed(vendor)}. Hardware addresses tell machines apart. Have the firmware set one.`;
  return [conditionFor("IdentityUnique", "UuidOfVendor", message, generation)];
}

/** Static network settings for machines that turned out to be containers. */
function metaOfContainers(seen: Observed): readonly string[] {
  const facts = factsOf(seen);
  const names = seen.machines.flatMap(({ declared, look }) => {
    const platform = platformOf(look, machineFact(facts, declared.name));
    return platform === "container" && wantedMeta(declared, undefined).text !== undefined ? [declared.name] : [];
  });
  return names.length === 0 ? [] : [`spec.metalSpec.machineSpec.meta of ${names.slice(0, 8).join(", ")} (a container has no META)`];
}

/** Fields that were chosen when the cluster was made, and say something else by now. */
function keptAsMade(seen: Observed): readonly string[] {
  const facts = factsOf(seen);
  const { spec } = seen.controlPlane;
  const [first] = seen.machines;
  // What is wrong with the spec is said elsewhere, and may be too deep to be read.
  if (facts === undefined || spec === undefined || first === undefined || seen.problems.length > 0) return [];
  return configHashOf(first.declared, spec) === configHashOf(first.declared, asMade(spec, facts)) ? [] : ["spec.cni"];
}

function imported(seen: Observed): readonly ConditionInput[] {
  const facts = factsOf(seen);
  if (facts?.importedAt === undefined) return [];
  const message = `Taken over at ${rfc3339(facts.importedAt)} with the keys and machines that were there.`;
  return [conditionFor("Imported", "TakenOver", message, seen.controlPlane.metadata.generation)];
}

function upgradePending(seen: Observed): readonly ConditionInput[] {
  const facts = factsOf(seen);
  if (facts?.bootstrapDone === undefined) return [];
  const differing = seen.machines.flatMap(({ declared, look }) =>
    look.kind === "running" && look.platform !== "container" && look.version !== undefined && look.version !== declared.version
      ? [`${declared.name} runs ${look.version}, the spec asks for ${declared.version}`]
      : [],
  );
  const kubeVersion = seen.controlPlane.spec?.kubeVersion;
  if (kubeVersion !== undefined && facts.kubernetesVersion !== "" && facts.kubernetesVersion !== kubeVersion)
    differing.push(`Kubernetes runs ${facts.kubernetesVersion}, the spec asks for ${kubeVersion}`);
  if (differing.length === 0) return [];
  return [
    conditionFor(
      "UpgradePending",
      "VersionDiffers",
      `${differing.join("; ")}. Nothing is sent to running machines.`,
      seen.controlPlane.metadata.generation,
    ),
  ];
}

/** A short word for where a machine is, stable while nothing changes. */
export function stateOf({ look }: SeenMachine): string {
  switch (look.kind) {
    case "not-asked":
      return "not asked yet";
    case "silent":
      return look.detail;
    case "not-talos":
      return "not Talos";
    case "foreign":
      return look.isByTime === true ? "certificates refused for their dates" : "another identity";
    case "maintenance":
      return "in maintenance mode";
    case "running":
      return look.stage === undefined || look.stage === "running"
        ? look.etcd?.service === undefined
          ? "running"
          : `etcd ${look.etcd.service}`
        : look.stage;
  }
}

function etcdStateOf(machine: SeenMachine): string {
  return machine.look.kind === "running" ? `etcd ${machine.look.etcd?.service ?? "not told"}` : stateOf(machine);
}

function unmetOf(machine: SeenMachine): string {
  const { look } = machine;
  if (look.kind !== "running") return stateOf(machine);
  if (look.unmet.length > 0)
    return look.unmet.map((unmet) => (unmet.reason === "" ? unmet.name : `${unmet.name} (${unmet.reason})`)).join(", ");
  return look.stage === "running" ? "not ready" : `stage ${look.stage ?? "not told"}`;
}

function isSilent({ look }: SeenMachine): boolean {
  return look.kind === "silent" || look.kind === "not-asked";
}

function names(machines: readonly SeenMachine[]): string {
  return machines.map((machine) => machine.declared.name).join(", ");
}

function idsOf(members: readonly EtcdMember[]): string {
  return members
    .map((member) => member.id)
    .toSorted()
    .join(",");
}

function factsOf(seen: Observed): ClusterFacts | undefined {
  return seen.record.kind === "present" ? seen.record.value.facts : undefined;
}
