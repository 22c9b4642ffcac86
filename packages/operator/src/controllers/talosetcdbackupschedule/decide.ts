import { isDeepStrictEqual } from "node:util";
import {
  annotations,
  conditionFor,
  controllerOf,
  derivedName,
  durationMs,
  findCondition,
  findingsMessage,
  isConditionTrue,
  labelValueFor,
  labels,
  releaseOf,
  rfc3339,
} from "@talos-operator/api";
import type {
  ConditionInput,
  EventReason,
  Finding,
  ReadyReason,
  ReasonOf,
  TalosEtcdBackup,
  TalosEtcdBackupSchedule,
  TalosEtcdBackupScheduleStatus,
} from "@talos-operator/api";
import { standingConditions, storedCondition } from "../talosetcdbackup/conditions.ts";
import { RUNS_AT_ONCE } from "../talosetcdbackup/run.ts";
import { hasFailed, isStored } from "../talosetcdbackup/phase.ts";
import { dueAt, slotTime } from "../talosetcdbackup/slot.ts";
import type { FiringTimes, ReadSchedule } from "./cron.ts";
import { firingOf } from "./firing.ts";
import { expired } from "./retention.ts";
import type { KeptBackup, RetentionRules } from "./retention.ts";

/** Backups whose times say how long one takes. */
const MEASURED = 3;

const DAY_MS = 86_400_000;

/** A backup that was taken before a risk is kept for so long, whatever the schedule's rules say. Milliseconds. */
const BEFORE_RISK_KEPT_MS = 7 * DAY_MS;

/** Of all that is stored, the schedule's own among it: the newest one, and the newest that was proved, outlive the week. */
const BEFORE_RISK_RULES: RetentionRules = { count: 1, daily: 0, weekly: 0, monthly: 0, forMs: BEFORE_RISK_KEPT_MS };

/** Longest sleep: a clock that is set is noticed by then. Milliseconds. */
const LONGEST_SLEEP_MS = 300_000;

/** Everything that one pass over a schedule looks at. */
export interface ScheduleSeen {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly schedule: TalosEtcdBackupSchedule;
  readonly times: ReadSchedule;
  readonly problems: readonly Finding[];
  readonly isTerminating: boolean;
  /** TalosEtcdBackups of its namespace. */
  readonly backups: readonly TalosEtcdBackup[];
}

/** A backup that is to be made. */
export interface WantedBackup {
  readonly name: string;
  /** When it was due. Milliseconds since the epoch. */
  readonly at: number;
}

/** `status` without its conditions; `undefined` takes a field away. */
export type ScheduleFields = {
  readonly [K in keyof Omit<TalosEtcdBackupScheduleStatus, "conditions">]?: TalosEtcdBackupScheduleStatus[K] | undefined;
};

/** What a pass does, in this order, and says. */
export interface ScheduleDecision {
  readonly create: WantedBackup | undefined;
  /** Retention: with what is stored of them. */
  readonly remove: readonly TalosEtcdBackup[];
  /** Backups that have not begun and are to be taken as an edited template says. */
  readonly fit: readonly TalosEtcdBackup[];
  /** The backup that is to be proved, and the word that asks for it. */
  readonly prove: { readonly backup: TalosEtcdBackup; readonly word: string } | undefined;
  readonly fields: ScheduleFields;
  readonly conditions: readonly ConditionInput[];
  readonly isBusy: boolean;
  readonly news: readonly { readonly reason: EventReason; readonly note: string }[];
  readonly requeueAfterMs: number;
  /** Times that fell due, began nothing and never will, as this pass found; for the figures. */
  readonly missed: number;
}

interface Own {
  readonly all: readonly TalosEtcdBackup[];
  readonly active: readonly TalosEtcdBackup[];
  /** Newest first. */
  readonly stored: readonly TalosEtcdBackup[];
  readonly failed: readonly TalosEtcdBackup[];
  /** Taken with its store before control planes are disturbed: no times of its own ask for them, and its rules of retention neither count nor keep them. Newest first. */
  readonly beforeRisk: readonly TalosEtcdBackup[];
}

/** Decides about one schedule. Pure. */
export function decideSchedule(seen: ScheduleSeen): ScheduleDecision {
  const { now, schedule, times, problems } = seen;
  const own = ownOf(seen);
  const status = schedule.status ?? {};
  const obstacle = obstacleOf(seen, own);
  const firing = times.kind === "times" ? firingOf(schedule, times.times, now) : { due: undefined, earlier: 0, next: undefined };
  const turn = obstacle === undefined && firing.due !== undefined ? turnAt(seen, own, firing.due, firing.earlier) : nothingDue;
  const again = obstacle === undefined && turn.create === undefined && firing.due === undefined ? madeUp(own) : undefined;
  const create = turn.create ?? again;
  const prove = seen.isTerminating ? undefined : proofDue(seen, own);
  const [newest] = own.stored;
  const ready = obstacle ?? readyOf(own, firing.next);
  // While it is held up nothing is promised: what falls due meanwhile is not made up for.
  const next = obstacle === undefined ? firing.next : undefined;
  const asked = schedule.metadata.annotations?.[annotations.proveNow]?.slice(0, 256);
  // In a zone that is none there are no days either.
  const removed = seen.isTerminating || times.kind === "invalid" ? [] : removable(seen, own);
  const word = asked !== undefined && prove?.word === asked ? { provedNow: asked } : {};
  return {
    create,
    remove: removed,
    fit: seen.isTerminating || problems.length > 0 ? [] : outdated(seen, own),
    prove,
    fields: {
      ...withoutConditions(status),
      ...(create === undefined ? {} : { lastScheduleTime: rfc3339(create.at) }),
      nextScheduleTime: next === undefined ? undefined : rfc3339(next),
      ...(newest?.status?.completionTime === undefined ? {} : { lastSuccessfulBackupTime: newest.status.completionTime }),
      activeBackups: [...own.active.map(({ metadata }) => metadata.name), ...(create === undefined ? [] : [create.name])].toSorted(),
      backups: own.stored.length - removed.filter((one) => own.stored.includes(one)).length,
      missed: (status.missed ?? 0) + turn.missed + (again === undefined ? 0 : 1),
      skipped: (status.skipped ?? 0) + turn.skipped,
      ...word,
      ...lastProofOf(newest),
    },
    conditions: conditionsOf(seen, own, ready, create !== undefined),
    isBusy: false,
    news: [
      ...turn.news,
      ...(again === undefined ? [] : [missedNews(1, MADE_UP)]),
      ...removed.map((one) => ({ reason: "BackupRemoved" as const, note: `Retention removes ${one.metadata.name}.` })),
    ],
    // One that waited for a disruption until its time was over was counted by whoever waited.
    missed: turn.missed,
    requeueAfterMs: Math.max(0, Math.min(next === undefined ? LONGEST_SLEEP_MS : next - now, LONGEST_SLEEP_MS)),
  };
}

/** The backups that this very schedule made. */
function ownOf({ schedule, backups }: ScheduleSeen): Own {
  const label = labelValueFor(schedule.metadata.name);
  const made = backups
    .filter(({ metadata }) => metadata.labels?.[labels.backupSchedule] === label && controllerOf(metadata)?.uid === schedule.metadata.uid)
    .toSorted((a, b) => dueAt(b) - dueAt(a) || (a.metadata.name < b.metadata.name ? 1 : -1));
  const isBeforeRisk = ({ metadata }: TalosEtcdBackup): boolean => metadata.labels?.[labels.beforeRisk] !== undefined;
  const all = made.filter((backup) => !isBeforeRisk(backup));
  const there = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  // What another operator finished is neither counted nor deleted: no status of ours names its slot.
  const isFinished = ({ status }: TalosEtcdBackup): boolean =>
    isStored(status) || isConditionTrue(status?.conditions, "Failed") || isConditionTrue(status?.conditions, "Ready");
  return {
    all,
    active: there.filter((backup) => !isFinished(backup)),
    stored: there.filter(({ status }) => isStored(status)),
    failed: there.filter(({ status }) => hasFailed(status)),
    beforeRisk: made.filter((backup) => isBeforeRisk(backup)),
  };
}

interface Said {
  readonly reason: ReadyReason;
  readonly message: string;
}

/** Why no backup is made at all. */
function obstacleOf({ schedule, times, problems, isTerminating, now }: ScheduleSeen, own: Own): Said | undefined {
  if (isTerminating) return { reason: "NamespaceTerminating", message: "The namespace is going away: no backup is begun." };
  if (times.kind === "invalid") return { reason: "InvalidSchedule", message: times.message };
  const [problem] = problems;
  if (problem !== undefined) return { reason: problem.reason, message: findingsMessage(problems) };
  if (times.times.after(now) === undefined)
    return { reason: "NeverFires", message: "No time in the next nine years matches spec.schedule." };
  if (schedule.spec.paused === true)
    return { reason: "SchedulePaused", message: "spec.paused is true: no backup is made, and what is missed meanwhile stays missed." };
  return tooFrequent(times.times, own, now);
}

/** Refused for as long as nothing newer shows that it goes: one that was taken in time ends it, and after a day without any it is tried anew. */
function tooFrequent(times: FiringTimes, { stored }: Own, now: number): Said | undefined {
  const newestAt = Date.parse(stored[0]?.status?.completionTime ?? "");
  if (now - newestAt >= DAY_MS) return undefined;
  const took = stored
    .slice(0, MEASURED)
    .map(({ status }) => Date.parse(status?.completionTime ?? "") - Date.parse(status?.startTime ?? ""))
    .filter((ms) => ms >= 0);
  // Of two the lower: one that was slow once says nothing of the next.
  const median = Math.min(took[0] ?? 0, took.toSorted((a, b) => a - b)[Math.floor((took.length - 1) / 2)] ?? 0);
  const first = times.after(now);
  const second = first === undefined ? undefined : times.after(first);
  if (took.length < 2 || first === undefined || second === undefined || median <= second - first) return undefined;
  const seconds = (ms: number): number => Math.ceil(ms / 1_000);
  return {
    reason: "TooFrequent",
    message: `Backups are due every ${seconds(second - first)} s, and one takes ${seconds(median)} s, as the last ${took.length} show.`,
  };
}

interface Turn {
  readonly create: WantedBackup | undefined;
  readonly missed: number;
  readonly skipped: number;
  readonly news: ScheduleDecision["news"];
}

const nothingDue: Turn = { create: undefined, missed: 0, skipped: 0, news: [] };

/** What becomes of a time that is due: missed ones before it are made up for by it. */
function turnAt({ schedule, now }: ScheduleSeen, own: Own, due: number, earlier: number): Turn {
  const { metadata, spec } = schedule;
  const name = backupName(metadata.name, due);
  const deadlineMs = spec.startingDeadline === undefined ? undefined : durationMs(spec.startingDeadline);
  const news = earlier > 0 ? [missedNews(earlier, MADE_UP)] : [];
  // Made by an earlier pass, whose status was not stored.
  if (own.all.some((backup) => backup.metadata.name === name)) return { create: undefined, missed: earlier, skipped: 0, news };
  if (deadlineMs !== undefined && now - due > deadlineMs)
    return {
      ...nothingDue,
      missed: earlier + 1,
      news: [missedNews(earlier + 1, "it is later than spec.startingDeadline lets one begin.")],
    };
  const [active] = own.active;
  if (active !== undefined)
    return {
      create: undefined,
      missed: earlier,
      skipped: 1,
      news: [
        ...(earlier > 0 ? [missedNews(earlier, `${active.metadata.name} is still being taken.`)] : []),
        { reason: "RunSkipped", note: `${active.metadata.name} is still being taken: the one of ${rfc3339(due)} is left out.` },
      ],
    };
  return { create: { name, at: due }, missed: earlier, skipped: 0, news };
}

const MADE_UP = "one is made up for them.";

const missedNews = (count: number, outcome: string) =>
  ({ reason: "MissedRun", note: `${count} backup${count === 1 ? " was" : "s were"} due and did not begin in time: ${outcome}` }) as const;

/** The name of the backup of a time: whoever makes it again meets the one that is there. */
function backupName(schedule: string, at: number, suffix = ""): string {
  return derivedName(schedule, `${slotTime(at).replaceAll(/\D/g, "")}${suffix}`);
}

const AGAIN = "-again";

/** The spec of a backup that is made now. */
export function backupSpecOf({ spec }: TalosEtcdBackupSchedule): TalosEtcdBackup["spec"] {
  const { spec: template } = spec.backupTemplate;
  const identity = spec.drill?.identitySecretRef;
  return { ...template, ...(template.drill === undefined && identity !== undefined ? { drill: { identitySecretRef: identity } } : {}) };
}

/** An edit is in force at once: what waits for a Secret of the old template would wait for ever. What a person changed in a backup stays until then. */
function outdated({ schedule }: ScheduleSeen, { active, beforeRisk }: Own): readonly TalosEtcdBackup[] {
  if (schedule.status?.observedGeneration === schedule.metadata.generation) return [];
  const wanted = backupSpecOf(schedule);
  const waiting = beforeRisk.filter(
    ({ metadata, status }) => metadata.deletionTimestamp === undefined && !isStored(status) && !hasFailed(status),
  );
  return [...active, ...waiting].filter(
    ({ spec, status }) => status?.run === undefined && (status?.attempts ?? 0) === 0 && !isDeepStrictEqual(spec, wanted),
  );
}

/** A backup that waited for a disruption until its time was over never began: it is made up for once. */
function madeUp({ all, active }: Own): WantedBackup | undefined {
  const [newest] = all;
  if (newest === undefined || active.length > 0 || !hasFailed(newest.status) || (newest.status?.attempts ?? 0) > 0) return undefined;
  if (newest.metadata.deletionTimestamp !== undefined || newest.metadata.name.endsWith(AGAIN)) return undefined;
  const at = dueAt(newest);
  const schedule = controllerOf(newest.metadata)?.name ?? "";
  return { name: backupName(schedule, at, AGAIN), at };
}

/** A proof held last, and none has failed since: one that could not be tried says nothing about the backup. */
function wasProved({ status }: TalosEtcdBackup): boolean {
  const condition = findCondition(status?.conditions, "Proved");
  return condition?.status === "True" || (condition?.status === "Unknown" && status?.proof !== undefined);
}

/** Retention, and failed ones beyond as many as are kept of the good ones. */
function removable({ schedule, now }: ScheduleSeen, own: Own): readonly TalosEtcdBackup[] {
  const { retention = 5, keepDaily = 0, keepWeekly = 0, keepMonthly = 0, keepFor, timeZone } = schedule.spec;
  const rules = {
    count: retention,
    daily: keepDaily,
    weekly: keepWeekly,
    monthly: keepMonthly,
    forMs: keepFor === undefined ? undefined : durationMs(keepFor),
    ...(timeZone === undefined ? {} : { timeZone }),
  };
  const isAsked = ({ metadata, status }: TalosEtcdBackup): boolean => {
    const asked = metadata.annotations?.[annotations.proveNow];
    return asked !== undefined && asked.slice(0, 256) !== status?.provedNow;
  };
  const seenByRules = (backup: TalosEtcdBackup): KeptBackup => ({
    name: backup.metadata.name,
    at: dueAt(backup),
    isProved: wasProved(backup),
    isHeld: backup.status?.run !== undefined || backup.spec.retention?.keep === true || isAsked(backup),
  });
  const aside = own.beforeRisk.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const asideStored = aside.filter(({ status }) => isStored(status));
  const gone = new Set(expired(own.stored.map(seenByRules), rules, now));
  const asideGone = new Set(expired([...own.stored, ...asideStored].map(seenByRules), BEFORE_RISK_RULES, now));
  // A deletion waits for its run no longer than ten minutes: bytes of more than can be worked on would stay behind.
  const going = [...own.all, ...own.beforeRisk].filter(
    ({ metadata, status }) => metadata.deletionTimestamp !== undefined && isStored(status),
  ).length;
  const unwanted = aside.filter(({ spec }) => spec.retention?.keep !== true);
  const isOver = (backup: TalosEtcdBackup): boolean =>
    backup.status?.run === undefined && !isAsked(backup) && now - dueAt(backup) >= BEFORE_RISK_KEPT_MS;
  return [
    ...[
      ...own.stored.filter(({ metadata }) => gone.has(metadata.name)),
      ...asideStored.filter(({ metadata }) => asideGone.has(metadata.name)),
    ]
      .toReversed()
      .slice(0, Math.max(0, RUNS_AT_ONCE - going)),
    ...own.failed.slice(Math.max(1, retention)).filter(({ spec }) => spec.retention?.keep !== true),
    // Of those that failed the newest says why; one that was never begun has ended with what it was for.
    ...unwanted.filter(({ status }) => hasFailed(status)).filter((backup, index) => index > 0 || isOver(backup)),
    ...unwanted.filter(({ status }) => !isStored(status) && !hasFailed(status)).filter(isOver),
  ];
}

/** The newest backup is proved again when its last proof is old, or a person asks. */
function proofDue({ schedule, now }: ScheduleSeen, { stored: [newest] }: Own): ScheduleDecision["prove"] {
  if (newest?.status === undefined || newest.status.run !== undefined) return undefined;
  const pending = newest.metadata.annotations?.[annotations.proveNow]?.slice(0, 256);
  if (pending !== undefined && pending !== newest.status.provedNow) return undefined;
  const asked = schedule.metadata.annotations?.[annotations.proveNow]?.slice(0, 256);
  if (asked !== undefined && asked !== schedule.status?.provedNow) return { backup: newest, word: asked };
  const intervalMs = durationMs(schedule.spec.drill?.interval ?? "24h") ?? DAY_MS;
  const last = Date.parse(newest.status.lastProofTime ?? newest.status.completionTime ?? "");
  return intervalMs > 0 && now - last >= intervalMs ? { backup: newest, word: `schedule-${slotTime(now)}` } : undefined;
}

function lastProofOf(newest: TalosEtcdBackup | undefined): ScheduleFields {
  const { proof, lastProofTime, conditions } = newest?.status ?? {};
  const condition = findCondition(conditions, "Proved");
  if (newest === undefined || lastProofTime === undefined || condition === undefined || condition.status === "Unknown") return {};
  const base = { backup: newest.metadata.name, at: lastProofTime };
  if (condition.status === "False" || proof === undefined) return { lastProof: { ...base, result: "Failed" } };
  return { lastProof: { ...base, result: "Proved", how: proof.how, on: proof.on } };
}

function lastEnded({ stored: [good], failed: [bad] }: Own): "good" | "bad" | undefined {
  if (good === undefined || bad === undefined) return good === undefined ? (bad === undefined ? undefined : "bad") : "good";
  return dueAt(bad) > dueAt(good) ? "bad" : "good";
}

/** What a backup that is to be taken waits for goes by without anybody. */
const PASSING: ReadonlySet<string> = new Set(["BackupInProgress", "WaitingForTurn", "WaitingForDisruption"]);

/** What holds up a backup that is to be taken: while it does, none is. */
function heldUp({ active }: Own): Said | undefined {
  const [oldest] = active.toReversed();
  const ready = findCondition(oldest?.status?.conditions, "Ready");
  if (oldest === undefined || ready === undefined || ready.status !== "False" || PASSING.has(ready.reason)) return undefined;
  return { reason: ready.reason as ReadyReason, message: `${oldest.metadata.name}: ${ready.message}` };
}

function readyOf(own: Own, next: number | undefined): Said {
  const held = heldUp(own);
  if (held !== undefined) return held;
  const [bad] = own.failed;
  if (lastEnded(own) === "bad" && bad !== undefined) {
    const why = findCondition(bad.status?.conditions, "Ready")?.message ?? "";
    return { reason: "BackupFailed", message: `${bad.metadata.name}: ${why}` };
  }
  return { reason: "ScheduleActive", message: next === undefined ? "Backups are taken." : `The next backup is due at ${rfc3339(next)}.` };
}

function conditionsOf({ schedule }: ScheduleSeen, own: Own, ready: Said, isMaking: boolean): readonly ConditionInput[] {
  const { generation } = schedule.metadata;
  const isHeld = releaseOf({ type: "Ready", reason: ready.reason }) === "person" && ready.reason !== "BackupFailed";
  const isActive = (own.active.length > 0 || isMaking) && !(isHeld && heldUp(own)?.reason === ready.reason);
  const last = lastEnded(own);
  const progress: ReasonOf<"Progressing"> = isActive
    ? "BackupInProgress"
    : isHeld
      ? "Blocked"
      : last === "bad"
        ? "BackupFailed"
        : last === "good"
          ? "BackupSucceeded"
          : "Settled";
  const failed: ReasonOf<"Failed"> =
    ready.reason === "InvalidSchedule" || ready.reason === "NeverFires" || ready.reason === "TooFrequent"
      ? ready.reason
      : last === "bad"
        ? "BackupFailed"
        : "ScheduleActive";
  const [newest] = own.stored;
  const proved = newest === undefined ? undefined : storedCondition(newest, "Proved");
  // That of what was begun last, whatever became of it.
  const [begun] = own.all;
  const unlabelled = begun === undefined ? undefined : storedCondition(begun, "BackupStoreSecretUnlabelled");
  return [
    conditionFor("Ready", ready.reason, ready.message, generation),
    conditionFor("Progressing", progress, ready.message, generation),
    conditionFor("Failed", failed, ready.message, generation),
    newest === undefined || proved === undefined
      ? conditionFor("Proved", "NotProvedYet", "No backup is stored yet.", generation)
      : {
          ...proved,
          message: `${newest.metadata.name}: ${proved.message}`,
          ...(generation === undefined ? {} : { observedGeneration: generation }),
        },
    ...standingConditions(schedule.spec.backupTemplate.spec, generation),
    ...(unlabelled === undefined ? [] : [{ ...unlabelled, ...(generation === undefined ? {} : { observedGeneration: generation }) }]),
  ];
}

function withoutConditions({ conditions: _conditions, ...fields }: TalosEtcdBackupScheduleStatus): ScheduleFields {
  return fields;
}
