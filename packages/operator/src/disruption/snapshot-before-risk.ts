import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  annotations,
  controllerOf,
  derivedName,
  findCondition,
  labels,
  reconcileModeOf,
  rfc3339,
  snapshotPolicyOf,
} from "@talos-operator/api";
import type { TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { hasFailed, isStored } from "../controllers/talosetcdbackup/phase.ts";
import { repeated } from "../controllers/shared/written-fields.ts";
import { takingKey, takingOf } from "./snapshot-taking.ts";
import { elapsedMs } from "../elapsed.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { BeforeRisk } from "../model/plans.ts";
import type { ClusterFacts } from "../model/record.ts";

/** Up to this age a snapshot counts as fresh. Milliseconds. */
const FRESH_MS = 15 * 60_000;

/** One snapshot serves the machines that it was taken before for so long, however many leave one after another. Milliseconds. */
const RUN_MS = 60 * 60_000;

/** A control plane may join etcd this long after its configuration was sent. Milliseconds. */
const JOINS_WITHIN_MS = 60 * 60_000;

/** A snapshot that is preferred and cannot even be begun is waited for no longer. Milliseconds. */
const BEGINS_WITHIN_MS = 10 * 60_000;

/** A required one that failed is taken anew after this. Milliseconds. */
const ANEW_MS = 5 * 60_000;

/** Tries of a preferred one: the first and one retry. */
const TRIES = 2;

/** Most characters of what the API server said. */
const LONGEST = 512;

/** Clocks of this operator and the API server may differ by so much. Milliseconds. */
const AHEAD_MS = 60_000;

/**
 * Whether these control planes may be disturbed in a way that can cost etcd its quorum or its data, as far as a snapshot from before is concerned: the only place
 * that knows it, asked by whoever is about to take running ones out of etcd. Who repairs a dead member never asks.
 *
 * A snapshot does where it is fresh, taken after the last change of etcd's members and at most 15 minutes old, whoever asked for it; or where it was taken before
 * these very machines, within the hour and since no control plane has been added: one for a run, not one for each machine. Pure.
 *
 * @param anybodys one that is fresh does, whoever asked for it. Not so where data differ: it may be of the member whose data are wrong
 */
export function snapshotBefore(
  seen: Observed,
  facts: ClusterFacts,
  machines: readonly MachineName[],
  anybodys = true,
  before: "leave" | "upgrade" = "leave",
): BeforeRisk {
  const happens = before === "upgrade" ? "are upgraded" : "leave";
  const answer = policyAnswer({ seen, facts, machines, anybodys, happens });
  return before === "upgrade" ? { ...answer, before } : answer;
}

function policyAnswer(asked: Omit<Asked, "whom" | "isRequired">): BeforeRisk {
  const { seen, machines, happens } = asked;
  const { policy, unknown } = snapshotPolicyOf(seen.riskWord);
  const whom = machines.join(", ");
  if (policy === "off")
    return {
      reason: "SwitchedOff",
      holds: false,
      message: `No snapshot of etcd is taken before these ${happens}, for the annotation ${annotations.snapshotBeforeRisk} says off: ${whom}.`,
    };
  const answer = answerOf({ ...asked, whom, isRequired: policy === "required" });
  return unknown === undefined ? answer : { ...answer, reason: "WordUnknown", message: `${unknownWord(unknown)} ${answer.message}` };
}

/** What is said of a word that is none. */
export function unknownWord(word: string): string {
  return `The annotation ${annotations.snapshotBeforeRisk} says ${JSON.stringify(word)}, which is no known value (required, preferred, off). It counts as required until it is corrected.`;
}

interface Asked {
  readonly seen: Observed;
  readonly facts: ClusterFacts;
  readonly machines: readonly MachineName[];
  /** The same for people. */
  readonly whom: string;
  readonly anybodys: boolean;
  /** To them, for people. */
  readonly happens: "leave" | "are upgraded";
  readonly isRequired: boolean;
}

function answerOf(asked: Asked): BeforeRisk {
  const { seen, facts, whom, happens, anybodys, isRequired } = asked;
  const { schedules, backups } = seen.snapshots ?? { schedules: [], backups: [] };
  const serving = backups.filter((backup) => serves(asked, backup));
  const changedAt = membersChangedAt(facts);
  const taken = backups.find(
    (backup) => isUsable(backup) && (serving.includes(backup) || (anybodys && isFresh(backup, changedAt, seen.now))),
  );
  if (taken !== undefined)
    return {
      reason: "SnapshotTaken",
      holds: false,
      message: `TalosEtcdBackup ${taken.metadata.name} is a snapshot of etcd from before these ${happens}: ${whom}.`,
    };
  const store = schedules.find((schedule) => isStoreOf(schedule));
  if (store === undefined) return withoutStore(asked);
  const open = serving.find(({ metadata }) => controllerOf(metadata)?.uid === store.metadata.uid);
  if (open === undefined) return wanted(asked, store, undefined);
  const why = failureOf(open, asked);
  const { name } = open.metadata;
  // A store that was corrected is tried at once. One that was not tried yet gets the new one from its schedule.
  if (isRequired && open.status?.run === undefined && (open.status?.attempts ?? 0) > 0 && !isStoredAs(open, store))
    return wanted(asked, store, why === undefined ? undefined : `${name}: ${why}`);
  if (why === undefined) {
    const ready = saidBy(open, "Ready") ?? "It has not begun.";
    return {
      reason: "SnapshotAwaited",
      holds: true,
      message: `Before these ${happens}, a snapshot of etcd is taken (${name}): ${whom}. ${ready}`,
    };
  }
  if (!isRequired)
    return { reason: "WentOnWithout", holds: false, message: `These ${happens} without a snapshot of etcd: ${whom}. ${name}: ${why}` };
  const failedAt = Date.parse(findCondition(open.status?.conditions, "Failed")?.lastTransitionTime ?? "");
  const anewAt = Number.isNaN(failedAt) ? 0 : failedAt + ANEW_MS;
  if (seen.now >= anewAt || anewAt - seen.now > ANEW_MS + AHEAD_MS) return wanted(asked, store, `${name}: ${why}`);
  return {
    reason: "StoreFails",
    holds: true,
    message: `A snapshot of etcd is required before these ${happens}, and could not be taken: ${whom}. ${name}: ${why} It is taken anew at ${rfc3339(anewAt)}, or at once when the store of TalosEtcdBackupSchedule ${store.metadata.name} is corrected.`,
  };
}

/** The store of a schedule is used while nobody paused it. */
export function isStoreOf({ metadata, spec }: TalosEtcdBackupSchedule): boolean {
  return spec.paused !== true && metadata.deletionTimestamp === undefined && reconcileModeOf(metadata) === "reconcile";
}

/** The schedule would store it at the same place, with the same keys. */
function isStoredAs({ spec }: TalosEtcdBackup, store: TalosEtcdBackupSchedule): boolean {
  return isDeepStrictEqual(spec.backupStorage, store.spec.backupTemplate.spec.backupStorage);
}

function withoutStore({ seen, whom, happens, isRequired }: Asked): BeforeRisk {
  const paused = (seen.snapshots?.schedules ?? []).map(({ metadata }) => metadata.name);
  const why =
    seen.snapshots === undefined
      ? "this operator takes no backups"
      : paused.length === 0
        ? "no TalosEtcdBackupSchedule names this cluster"
        : `every TalosEtcdBackupSchedule of this cluster is paused (${paused.join(", ")})`;
  return isRequired
    ? { reason: "StoreMissing", holds: true, message: `A snapshot of etcd is required before these ${happens} (${whom}), and ${why}.` }
    : { reason: "NoStore", holds: false, message: `No snapshot of etcd is taken before these ${happens} (${whom}), for ${why}.` };
}

/** It is to be made now, or in a moment: what the API server refuses is asked for once more before that counts as a failure. @param before why the one before it failed */
function wanted(
  { seen, machines, whom, happens, isRequired }: Asked,
  store: TalosEtcdBackupSchedule,
  before: string | undefined,
): BeforeRisk {
  const name = nameOf(seen, store);
  const { attempt, isRefusedTwice, refusal, pauseMs } = takingOf(seen, name, RUN_MS);
  const tooSoonMs = pauseAfterStored(seen, machines);
  const refused =
    refusal === undefined ? undefined : `The API server refuses TalosEtcdBackup ${name}: ${refusal.slice(0, LONGEST).replace(/\.?$/, ".")}`;
  if (isRefusedTwice && !isRequired)
    return { reason: "WentOnWithout", holds: false, message: `These ${happens} without a snapshot of etcd: ${whom}. ${refused ?? ""}` };
  const failure = refused ?? before;
  const schedule = store.metadata.name;
  return {
    reason: failure !== undefined && isRequired ? "StoreFails" : "SnapshotAwaited",
    holds: true,
    message:
      failure === undefined
        ? `Before these ${happens}, a snapshot of etcd is taken with the store of TalosEtcdBackupSchedule ${schedule}: ${whom}.${tooSoonMs > 0 ? ` It is taken at ${rfc3339(seen.now + tooSoonMs)}, five minutes after the one before.` : ""}`
        : `A snapshot of etcd is ${isRequired ? "required" : "preferred"} before these ${happens}, and is asked for anew: ${whom}. ${failure}`,
    ...(pauseMs > 0 || tooSoonMs > 0 ? {} : { take: { name, attempt, schedule, ifUid: store.metadata.uid ?? "", machines, happens } }),
  };
}

/** When this process asked for it, by the clock that everything else is judged by. */
function askedAt({ sent }: Pick<Observed, "sent">, { metadata }: TalosEtcdBackup): number | undefined {
  return (sent.get(takingKey(metadata.name, 2)) ?? sent.get(takingKey(metadata.name, 1)))?.at;
}

/** Whatever makes one that this process had taken before these very machines not count: they are not taken one after the other without end. Milliseconds. */
function pauseAfterStored({ snapshots, sent, now }: Observed, machines: readonly MachineName[]): number {
  const asked = (snapshots?.backups ?? []).flatMap((backup) =>
    isBefore(backup, machines) && isUsable(backup) ? (askedAt({ sent }, backup) ?? []) : [],
  );
  return Math.max(0, ...asked.map((at) => ANEW_MS - elapsedMs(at, now)));
}

/**
 * The same name whoever asks, until there is one: who dies after it was made meets it. The next one gets another name, for it follows upon that; where the clock
 * was set back it does not come before that in the list, and the name that would follow is taken.
 */
function nameOf(seen: Observed, { metadata }: TalosEtcdBackupSchedule): string {
  const backups = seen.snapshots?.backups ?? [];
  const following = (last: TalosEtcdBackup | undefined): string => {
    const words = [seen.controlPlane.metadata.uid, metadata.uid, last?.metadata.uid].join(" ");
    const name = derivedName(metadata.name, `before-risk-${createHash("sha256").update(words).digest("hex").slice(0, 10)}`);
    const taken = backups.find((backup) => backup.metadata.name === name);
    return taken === undefined ? name : following(taken);
  };
  return following(backups.find((backup) => backup.metadata.labels?.[labels.beforeRisk] !== undefined));
}

/**
 * It was asked for before all of these, for this run. While it is under way it is waited for, whatever clocks say: who does not know the one that was just made makes
 * another, without end. When it was asked for is told by the clock that the record goes by, else by that of whoever took it; one of a time that has not come is of now.
 */
function serves({ seen, facts, machines }: Asked, backup: TalosEtcdBackup): boolean {
  const { metadata, status } = backup;
  if (!isBefore(backup, machines)) return false;
  if (!isStored(status) && !hasFailed(status)) return true;
  const at = askedAt(seen, backup) ?? Date.parse(status?.startTime ?? metadata.creationTimestamp ?? "");
  // One that was added in a time that has not come tells that the clock was set back, and nothing of before and after.
  const isAdded = facts.machines.some(
    ({ role, configuredAt }) => role === "controlplane" && configuredAt !== undefined && configuredAt > at && configuredAt <= seen.now,
  );
  return seen.now - at <= RUN_MS && !isAdded;
}

function isBefore({ metadata }: TalosEtcdBackup, machines: readonly MachineName[]): boolean {
  if (metadata.labels?.[labels.beforeRisk] === undefined || metadata.deletionTimestamp !== undefined) return false;
  const before = metadata.annotations?.[annotations.takenBefore]?.split(",") ?? [];
  return machines.every((machine) => before.includes(machine));
}

/** Whoever asked for it. */
function isFresh({ metadata, status }: TalosEtcdBackup, changedAt: number, now: number): boolean {
  const at = Date.parse(status?.startTime ?? "");
  return metadata.deletionTimestamp === undefined && isWithin(at, now, FRESH_MS) && at > changedAt;
}

function isWithin(at: number, now: number, ms: number): boolean {
  return now - at <= ms && at - now <= AHEAD_MS;
}

/** It is stored, and no proof of it has failed. */
function isUsable({ status }: TalosEtcdBackup): boolean {
  return isStored(status) && findCondition(status?.conditions, "Proved")?.status !== "False";
}

/** When etcd's members changed last, as far as the record tells; a control plane that was configured may join for a while. Milliseconds since the epoch. */
function membersChangedAt({ bootstrapDone, machines, decisions }: ClusterFacts): number {
  const ofMachines = machines.flatMap(({ role, configuredAt, releasedAt }) =>
    role === "controlplane" ? [releasedAt ?? (configuredAt === undefined ? 0 : configuredAt + JOINS_WITHIN_MS)] : [],
  );
  const removed = decisions.flatMap(({ action, at }) => (changesMembers(action) ? [at] : []));
  return Math.max(bootstrapDone?.at ?? 0, ...ofMachines, ...removed);
}

function changesMembers(action: string): boolean {
  return /^(Close)?(RemoveMember|RemoveStray|ReplaceMember)$/.test(action);
}

/** Why it is waited for no longer; `undefined` = it is. */
function failureOf(backup: TalosEtcdBackup, { seen, isRequired }: Asked): string | undefined {
  const { metadata, status } = backup;
  const said = saidBy(backup, "Ready") ?? "No reason is given.";
  if (hasFailed(status)) return said;
  if (isStored(status)) return saidBy(backup, "Proved") ?? said;
  if (isRequired || status?.run !== undefined) return undefined;
  if ((status?.attempts ?? 0) >= TRIES) return said;
  return seen.now - Date.parse(metadata.creationTimestamp ?? "") >= BEGINS_WITHIN_MS
    ? `It could not be taken within ten minutes. ${said}`
    : undefined;
}

function saidBy({ kind, metadata, status }: TalosEtcdBackup, type: "Ready" | "Proved"): string | undefined {
  const message = findCondition(status?.conditions, type)?.message;
  return message === undefined ? undefined : repeated(message, `${kind}/${metadata.name}`);
}
