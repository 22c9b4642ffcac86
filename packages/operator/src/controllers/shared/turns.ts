import { eventCatalogue, findCondition, releaseOf, talosClusterResource } from "@talos-operator/api";
import type { Condition, EventReason } from "@talos-operator/api";
import { apiVersionOf } from "@talos-operator/kube-runtime";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { headOf } from "../../telling/head-of.ts";
import type { Telling } from "../../telling/telling.ts";

/** Kinds of which it is told in general words whether they are ready. Of a TalosEtcdBackup it is told what became of it: BackupSucceeded, BackupFailed. */
const TURNING: ReadonlySet<string> = new Set(eventCatalogue.Ready.on);

/** A status as all kinds have it. */
export interface StatusWithConditions {
  readonly conditions?: readonly Condition[];
}

/** A condition that turned, as an event tells it. */
export interface Turn {
  readonly reason: EventReason;
  readonly note: string;
}

/**
 * Conditions that turned between two statuses, of which the second was just stored. Pure: a status outlives the process that wrote it, so a turn is told once.
 *
 * That an object never said before whether it is ready is no turn to NotReady.
 */
export function turnsOf(before: StatusWithConditions | undefined, after: StatusWithConditions): readonly Turn[] {
  const turned = (type: "Ready" | "EtcdHealthy", to: "True" | "not"): Condition | undefined => {
    const told = findCondition(before?.conditions, type);
    const was = told?.status === "True" || isPlanned(told);
    const is = findCondition(after.conditions, type);
    if (isPlanned(is)) return undefined;
    return to === "True"
      ? !was && is?.status === "True"
        ? is
        : undefined
      : was && is !== undefined && is.status !== "True"
        ? is
        : undefined;
  };
  const all: readonly (readonly [EventReason, Condition | undefined])[] = [
    ["Ready", turned("Ready", "True")],
    ["NotReady", turned("Ready", "not")],
    ["EtcdHealthy", turned("EtcdHealthy", "True")],
    ["EtcdUnhealthy", turned("EtcdHealthy", "not") ?? stoppedEtcd(before, after)],
  ];
  return all.flatMap(([reason, condition]) => (condition === undefined ? [] : [{ reason, note: condition.message }]));
}

const PLANNED: ReadonlySet<string | undefined> = new Set(["Restarting", "MemberRestarting", "Removing"]);

/** The operator itself restarts and wipes machines: that they go down is no bad news, and that they are back no good news after it. */
function isPlanned(condition: Condition | undefined): boolean {
  return PLANNED.has(condition?.reason);
}

/** etcd was not healthy before, and has a reason now that only a person releases: what it was told of with then says nothing of that. */
function stoppedEtcd(before: StatusWithConditions | undefined, after: StatusWithConditions): Condition | undefined {
  const was = findCondition(before?.conditions, "EtcdHealthy");
  const is = findCondition(after.conditions, "EtcdHealthy");
  const isNew = was !== undefined && is?.reason !== was.reason;
  return isNew && is !== undefined && releaseOf(is) === "person" ? is : undefined;
}

/** Told by whoever stored a status. */
export type TellTurns = (object: KubeObject, before: StatusWithConditions | undefined, after: StatusWithConditions) => void;

/** Good news of which only the end of a bad one is worth an event: the rest is told by what was written down. */
const AFTER: Partial<Record<EventReason, EventReason>> = { EtcdHealthy: "EtcdUnhealthy" };
const AFTER_ON_MACHINES: Partial<Record<EventReason, EventReason>> = { ...AFTER, Ready: "NotReady" };

/** Tells turns in events, on what a person wrote and on machines; of an object that goes nobody asks whether it is ready. */
export function tellTurns(events: Telling, type: ResourceType): TellTurns {
  const kind = { apiVersion: apiVersionOf(type), kind: type.kind };
  const after = type.kind === "TalosMachine" ? AFTER_ON_MACHINES : AFTER;
  const told = new Set<string>();
  return (object, before, now) => {
    const whole = { ...object, ...kind };
    // What a pool was made for says the same of itself.
    if (headOf(whole) !== whole || isOfGivenPools(whole)) return;
    for (const { reason, note } of turnsOf(before, now)) {
      const keyOf = (one: EventReason): string => `${object.metadata?.uid}/${one}`;
      const awaited = after[reason];
      // A bad turn is remembered until the good one.
      if (Object.values(after).includes(reason)) told.add(keyOf(reason));
      if (awaited !== undefined && !told.delete(keyOf(awaited))) continue;
      if ((reason === "Ready" || reason === "NotReady") && !TURNING.has(type.kind)) continue;
      if (object.metadata?.deletionTimestamp === undefined) events.tell(whole, reason, reason, note);
    }
  };
}

/** A TalosCluster that names pools which a person wrote: those say it of themselves. */
function isOfGivenPools(object: KubeObject & { readonly spec?: { readonly controlPlaneRef?: unknown } }): boolean {
  return object.kind === talosClusterResource.kind && object.spec?.controlPlaneRef !== undefined;
}
