import type { ToldRule } from "./rule.ts";
import { MESSAGES_MS, WRITTEN_MS } from "./rule.ts";
import { conditionOf, isWell, namedIn, nameOf, namesAny, type Told, type ToldMachine, type ToldObject, type ToldPool } from "./told.ts";

/** Reasons for not being ready that lie in machines: whoever reads them wants to know in which. */
const OF_MACHINES: ReadonlySet<string> = new Set([
  "WaitingForMachines",
  "MachineUnreachable",
  "NotTalos",
  "IdentityMismatch",
  "MaintenanceUnexpected",
  "ForeignCluster",
  "MachineInUse",
  "InstallDiskUnclear",
  "ConfigRejected",
  "EtcdUnhealthy",
  "Removing",
  "NodesNotReady",
  "Restarting",
]);

/** A machine that is well again is looked at so soon. */
const LOOKED_AT_MS = 40_000;

/** The conditions of an object that say that it waits for machines. */
function waiting(object: ToldObject): readonly { readonly type: string; readonly reason: string; readonly message: string }[] {
  return (object.status?.conditions ?? []).flatMap(({ type, status, reason = "", message = "" }) => {
    if (status !== "False") return [];
    const isMeant = (type === "Ready" && OF_MACHINES.has(reason)) || reason === "NodesNotReady" || reason === "MachinesNotReady";
    return isMeant ? [{ type, reason, message }] : [];
  });
}

/** It waits for a member of etcd that is no machine's: that is named by its id. */
function namesMember(message: string): boolean {
  return /\bmember .*\b[0-9a-f]{16}\b.* belongs to no machine|no machine that answers has member [0-9a-f]{16}\b/i.test(message);
}

/** Machines that give a reason to wait: no ready node, an alarm of etcd, on their way out, or with an open effect. */
function isConcerned(machine: ToldMachine): boolean {
  return (
    machine.truth === undefined ||
    !isWell(machine) ||
    machine.isAlarmed ||
    !machine.isListed ||
    machine.openEffect !== undefined ||
    machine.object?.metadata?.deletionTimestamp !== undefined
  );
}

/** W13 what waits for machines names one. */
const namesMachine: ToldRule = {
  id: "W13",
  toleranceMs: WRITTEN_MS,
  judge(told, broken) {
    for (const { object, machines } of told.pools) {
      if (machines.length === 0) continue;
      for (const { type, reason, message } of waiting(object))
        if (!namesAny(message, told) && !namesMember(message))
          broken(`${nameOf(object)} ${type}`, () => `${nameOf(object)}: ${type} ${reason} names no machine: ${message}`);
    }
  },
};

/** The same of a cluster, whose words follow those of its pools: where its reason stays they may wait for a while. */
const clusterNamesMachine: ToldRule = {
  id: "W13",
  toleranceMs: MESSAGES_MS,
  judge(told, broken) {
    for (const object of told.clusters) {
      const ready = conditionOf(object, "Ready");
      const blamed = blamedPool(told, ready?.reason, ready?.message ?? "");
      const ofPool = conditionOf(blamed?.object, "Ready");
      if (blamed === undefined || ofPool?.status !== "False" || !OF_MACHINES.has(ofPool.reason ?? "")) continue;
      if (!namesAny(ready?.message ?? "", told) && !namesMember(ready?.message ?? ""))
        broken(nameOf(object), () => `${nameOf(object)} waits for ${blamed.name} and names no machine: ${ready?.message}`);
    }
  },
};

/** W14 of the machines that are named as not ready one is the matter. */
const namesTheRightOne: ToldRule = {
  id: "W14",
  toleranceMs: LOOKED_AT_MS + MESSAGES_MS,
  judge(told, broken) {
    for (const object of [...told.pools.map((pool) => pool.object), ...told.clusters]) {
      for (const { type, reason, message } of waiting(object)) {
        const named = namedIn(message, told);
        if (namesAny(message, told) && !named.some(isConcerned))
          broken(
            `${nameOf(object)} ${type}`,
            () =>
              `${nameOf(object)}: ${type} ${reason} names machines that are well (${named.map((one) => `${one.name} ${one.object?.status?.state ?? ""} ${conditionOf(one.object, "Ready")?.reason ?? ""}`).join(", ")}): ${message}`,
          );
      }
    }
  },
};

/** W15 a pool tells of its own machines: a worker keeps no control plane from being ready. */
const blamesItsOwn: ToldRule = {
  id: "W15",
  toleranceMs: WRITTEN_MS,
  judge(told, broken) {
    for (const { plural, object, name } of told.pools) {
      // A control plane and a worker pool may have one name.
      const isOwn = (machine: ToldMachine): boolean =>
        machine.pool === name && machine.isControlPlane === (plural === "taloscontrolplanes");
      for (const { type, reason, message } of waiting(object)) {
        const named = namedIn(message, told);
        if (named.length > 0 && !named.some(isOwn))
          broken(`${nameOf(object)} ${type}`, () => `${nameOf(object)}: ${type} ${reason} names machines of others: ${message}`);
      }
    }
  },
};

/** And a cluster blames the pool whose machines it names. */
const blamesTheRightPool: ToldRule = {
  id: "W15",
  toleranceMs: MESSAGES_MS,
  judge(told, broken) {
    for (const object of told.clusters) {
      const ready = conditionOf(object, "Ready");
      const isControlPlane = ready?.reason === "ControlPlaneNotReady";
      if (ready === undefined || (!isControlPlane && ready.reason !== "WorkersNotReady")) continue;
      const named = namedIn(ready.message ?? "", told);
      if (named.length > 0 && named.every((machine) => machine.isControlPlane !== isControlPlane))
        broken(
          nameOf(object),
          () => `${nameOf(object)} says ${ready.reason} of ${named.map((one) => one.name).join(", ")}: ${ready.message}`,
        );
    }
  },
};

/** The pool that a cluster names as not ready. */
function blamedPool({ pools }: Told, reason: string | undefined, message: string): ToldPool | undefined {
  if (reason === "ControlPlaneNotReady") return pools.find(({ plural }) => plural === "taloscontrolplanes");
  if (reason !== "WorkersNotReady") return undefined;
  const words = new Set(message.split(/[\s,;:]+/));
  return pools.find(({ plural, name }) => plural === "talosworkers" && words.has(name));
}

export const blameRules: readonly ToldRule[] = [namesMachine, clusterNamesMachine, namesTheRightOne, blamesItsOwn, blamesTheRightPool];
