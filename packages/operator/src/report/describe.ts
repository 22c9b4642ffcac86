import { conditionFor, findCondition, rfc3339 } from "@talos-operator/api";
import type { ConditionInput, ReasonOf } from "@talos-operator/api";
import { controlPlanesOf, waitsForEtcd, wasEverConfigured } from "../assess/etcd-view.ts";
import { awaitedAtEndpoint } from "../procedures/bootstrap/endpoint-founder.ts";
import { addressConditions } from "../controllers/shared/address-conditions.ts";
import { configHashOf } from "../procedures/configure/config-hash.ts";
import { hasStopped } from "../looking/look.ts";
import { identityOf } from "../assess/identity.ts";
import { factsOf, machineFact } from "../record/facts.ts";
import { wantedMeta } from "../procedures/configure/meta-plan.ts";
import { platformOf } from "../procedures/configure/platform-of.ts";
import { forecastOf } from "../planning/forecast-of.ts";
import { isUpgradeAhead } from "../planning/upgrade-ahead.ts";
import { sayForecast } from "../planning/upgrade-forecast.ts";
import { unreadAnnotations } from "../spec/unread-annotations.ts";
import { asMade } from "../spec/fixed-properties.ts";
import { drainsState } from "../disruption/drain.ts";
import { accessConditions } from "./access-state.ts";
import { deletionHeld } from "./deletion-held.ts";
import { endpointChosen } from "./endpoint-chosen.ts";
import { endpointMove } from "./endpoint-move.ts";
import { withHeadline } from "./headline.ts";
import { endpointReachable } from "./endpoint-reachable.ts";
import { unknownReleases } from "./unknown-releases.ts";
import { importWaits } from "./import-waits.ts";
import { nodesUnique } from "./nodes-unique.ts";
import { kubeletCertificates } from "./kubelet-certificates.ts";
import { awaitedNetwork } from "./awaited-network.ts";
import { isReadyNode, names, stateOf, unmetOf } from "../assess/machine-state.ts";
import { upgradePending } from "./upgrade-state.ts";
import { countOf, listed } from "./listed.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { Assessment } from "../model/assessment.ts";
import type { Said } from "../model/plans.ts";

/** Whether etcd was bootstrapped, and if not, what is waited for. */
export function bootstrapState(seen: Observed): Said<ReasonOf<"Bootstrapped">> {
  const facts = factsOf(seen);
  if (facts?.bootstrapDone !== undefined)
    return { reason: "Bootstrapped", message: `etcd bootstrapped on ${facts.bootstrapDone.machine}.` };
  // While the record is away, this word is what tells a cluster that exists from a new one: it stays.
  const told = findCondition(seen.controlPlane.status?.conditions, "Bootstrapped");
  if (facts === undefined && told?.status === "True") return { reason: "Bootstrapped", message: told.message };
  const pending = importWaits(seen);
  if (pending !== undefined) return pending;
  if (facts === undefined) return { reason: "WaitingForControlPlanes", message: "The cluster's record is not there yet." };
  const controlPlanes = controlPlanesOf(seen);
  const hidden = controlPlanes.filter((machine) => isSilent(machine) && wasEverConfigured(facts, machine));
  if (hidden.length > 0)
    return {
      reason: "ControlPlaneUnreachable",
      message: `No answer, and may hold etcd data: ${names(hidden)}. etcd is bootstrapped only after the answer, so that no second cluster is created.`,
    };
  const target = controlPlanes.find(({ declared }) => declared.name === facts.bootstrapIntent?.machine);
  if (
    target?.look.kind === "running" &&
    target.look.etcd !== undefined &&
    hasStopped(target.look.etcd) &&
    target.look.etcd.hasData === true
  )
    return {
      reason: "EtcdDataFound",
      message: `etcd has stopped on ${target.declared.name} and its data directory is not empty: nothing starts it again but a boot. Reboot ${target.declared.name}; its member list decides then.`,
    };
  if (facts.bootstrapIntent !== undefined)
    return {
      reason: "IntentOpen",
      message: `Bootstrapping etcd on ${facts.bootstrapIntent.machine}; no other machine is ever asked to.`,
    };
  const withData = controlPlanes.filter((machine) => machine.look.kind === "running" && machine.look.etcd?.service === "Running");
  if (withData.length > 0)
    return {
      reason: "EtcdDataFound",
      message: `etcd runs on ${names(withData)}, and the record knows nothing of it; its member list decides.`,
    };
  const awaited = awaitedAtEndpoint(seen, facts);
  if (awaited !== undefined) return { reason: "WaitingForControlPlanes", message: awaited };
  const waiting = controlPlanes.filter((machine) => !(machine.look.kind === "running" && waitsForEtcd(machine.look.etcd)));
  return {
    reason: "WaitingForControlPlanes",
    message:
      waiting.length === 0
        ? "etcd is bootstrapped next."
        : `etcd is bootstrapped once these control planes run: ${listed(waiting.map((machine) => `${machine.declared.name} (${stateOf(machine)})`))}.`,
  };
}

/** Whether every machine of the control plane answers with our configuration. */
function machinesState(machines: readonly SeenMachine[]): Said<ReasonOf<"MachinesReady">> {
  if (machines.length === 0) return { reason: "NoMachines", message: "No machine is listed." };
  const missing = machines.filter((machine) => machine.look.kind !== "running");
  if (missing.length === 0) return { reason: "AllMachinesReady", message: `${countOf(machines.length, "machine")} configured.` };
  return {
    reason: "MachinesNotReady",
    message: `Not running with the configuration: ${listed(missing.map((machine) => `${machine.declared.name} (${stateOf(machine)})`))}.`,
  };
}

/** Whether every machine is a ready node, each unmet condition by name. */
export function nodesState(seen: Observed, machines: readonly SeenMachine[]): Said<ReasonOf<"NodesReady">> {
  const pending = importWaits(seen);
  if (pending !== undefined) return pending;
  const facts = factsOf(seen);
  if (facts?.bootstrapDone === undefined)
    return { reason: "NotBootstrapped", message: "There is no Kubernetes yet: etcd is not bootstrapped." };
  const unready = machines.filter((machine) => !isReadyNode(machine));
  if (unready.length === 0) return { reason: "AllNodesReady", message: `${countOf(machines.length, "node")} ready.` };
  const words = unready.map((machine) => `${machine.declared.name}: ${unmetOf(machine, machineFact(facts, machine.declared.name))}`);
  const awaited = awaitedNetwork(seen, facts);
  return { reason: awaited.length === 0 ? "NodesNotReady" : "NoNetworkPlugin", message: [`${listed(words, "; ")}.`, ...awaited].join(" ") };
}

/** Conditions that only describe what was seen; the rule that decided adds its own. */
export function describe(assessed: Assessment): readonly ConditionInput[] {
  const { seen } = assessed;
  const generation = seen.controlPlane.metadata.generation;
  const { health: etcd, bootstrap } = assessed;
  const own = seen.machines.filter((machine) => machine.declared.owner.kind === "TalosControlPlane");
  const machines = machinesState(own);
  const nodes = nodesState(seen, own);
  const changed = keptAsMade(seen);
  const drains = drainsState(assessed);
  const inert = [...seen.inertFields, ...metaOfContainers(seen)];
  const unread = unreadAnnotations(seen.controlPlane.metadata);
  return [
    conditionFor("MachinesReady", machines.reason, machines.message, generation),
    conditionFor("Bootstrapped", bootstrap.reason, bootstrap.message, generation),
    conditionFor("EtcdHealthy", etcd.reason, etcd.message, generation),
    conditionFor("NodesReady", nodes.reason, nodes.message, generation),
    ...endpointChosen(seen),
    ...endpointReachable(seen),
    ...endpointMove(seen),
    ...unknownReleases(seen),
    ...addressConditions(
      seen.machines.map(({ declared }) => declared),
      generation,
    ),
    ...sharedIdentities(seen, generation),
    ...nodesUnique(assessed),
    ...(inert.length + changed.length + unread.length === 0
      ? []
      : [
          conditionFor(
            "FieldNotSupported",
            "FieldNotSupported",
            [
              ...(inert.length === 0 ? [] : [`Field ignored in metal mode: ${inert.join(", ")}.`]),
              ...(changed.length === 0 ? [] : [`Changed after the cluster was made, and kept as it was made: ${changed.join(", ")}.`]),
              ...unread,
            ].join(" "),
            generation,
          ),
        ]),
    ...(drains === undefined ? [] : [conditionFor("Draining", drains.reason, drains.message, generation)]),
    ...kubeletCertificates(seen),
    ...upgradePending(seen, seen.machines, generation, undefined, withForecast(assessed)),
    ...heldConditions(seen),
    ...accessConditions(seen),
    ...imported(seen),
  ];
}

/** What is done about another Talos, with what is ahead of it. */
function withForecast(assessed: Assessment): ReturnType<typeof withHeadline> {
  const step = withHeadline(assessed, assessed.seen.machines);
  if (step === undefined || !isUpgradeAhead(assessed)) return step;
  const ahead = forecastOf(assessed);
  const says = [step.says, ...(ahead === undefined ? [] : [`Ahead: ${sayForecast(ahead)}`]), ...(assessed.seen.ahead?.says ?? [])];
  return { ...step, says: says.filter((words) => words !== "").join(" ") };
}

/** That somebody deleted record or keys while the cluster is there. */
function heldConditions(seen: Observed): readonly ConditionInput[] {
  const held = deletionHeld(seen);
  return held === undefined ? [] : [conditionFor("DeletionHeld", held.reason, held.message, seen.controlPlane.metadata.generation)];
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
  const apart = (found: typeof kinds, words: string): string => (found.every(({ fact }) => fact.macs.length > 0) ? ` ${words}` : "");
  const named = (found: typeof kinds): string => listed(found.map(({ fact }) => `${fact.name} (${fact.uuid})`));
  if (shared.length > 0)
    return [
      conditionFor(
        "IdentityUnique",
        "UuidShared",
        `Several machines have one UUID: ${named(shared)}.${apart(shared, "Hardware addresses tell them apart.")} Give each its own UUID.`,
        generation,
      ),
    ];
  if (vendor.length === 0) return [];
  const message = `A UUID that the vendor gave to many machines: ${named(vendor)}.${apart(vendor, "Hardware addresses tell machines apart.")} Have the firmware set one.`;
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

function isSilent({ look }: SeenMachine): boolean {
  return look.kind === "silent" || look.kind === "not-asked";
}
