import { isDeepStrictEqual } from "node:util";
import { conditionCatalogue, isConditionTrue, saidOnce, setCondition, spelledOut } from "@talos-operator/api";
import type { Condition, ConditionInput } from "@talos-operator/api";
import { apiVersionOf, compareResourceVersions, isConflict, isInvalid, keyOf } from "@talos-operator/kube-runtime";
import type { Delta, KubeClient, KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import type { Clock } from "@talos-operator/ports";
import { elapsedMs } from "../../elapsed.ts";
import type { Telling } from "../../telling/telling.ts";
import { activityOf } from "./activity.ts";
import { tellTurns } from "./turns.ts";

/** A status as all kinds have it. */
export interface StatusShape {
  readonly state?: string;
  /** How far an upgrade is; people watch it as they do a state. */
  readonly upgrade?: object;
  /** Of a control plane: it was taken over. */
  readonly imported?: boolean;
  /** Of a machine. */
  readonly nodeName?: string;
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

/** What a pass wants the status to say. */
export interface WantedStatus {
  /** Fields beside the conditions; an `undefined` one goes where this writer said it, and is left as it is where somebody else did. */
  readonly fields: Readonly<Record<string, string | number | boolean | object | undefined>>;
  readonly conditions: readonly ConditionInput[];
  /** True leaves the conditions that are not wanted in place: a paused object hears one word more. Default false: they go. */
  readonly keepsOthers?: boolean;
  /** Condition types that go although others are kept, unless they are wanted. */
  readonly drops?: readonly string[];
}

/** An object whose status is written. */
export type WithStatus = KubeObject & { readonly status?: StatusShape | undefined };

/** Writes the status of one kind, and only what differs: a settled pass costs no request. */
export interface StatusWriter<T extends WithStatus> {
  /**
   * @param everyMs least pause between two writes for one object, unless it turns ready or unready; 0 writes at once. A change of `state`
   *   waits for {@link STATE_PAUSE_MS} at most, and the answer to a new spec not at all. What an object says that is not ready waits {@link HOLD_MS}, so that what
   *   passes by is not written, and what follows is written with it. The pause doubles with each write that changes neither, or says again what somebody changed, up to
   *   {@link LONGEST_PAUSE_MS}, and starts anew with what people wait for. While very many objects change, both are longer, up to {@link LONGEST_PAUSE_MS}.
   *   Where all that differs is what {@link MOVING} conditions of an object that is not ready say of machines that come up or go down, {@link MESSAGES_PAUSE}
   *   times as long passes between two writes, {@link LONGEST_MESSAGES_PAUSE_MS} at most. The first words about an object wait, too. What stays is always written
   * @returns milliseconds after which the pass should come again because the write was put off; `undefined` when nothing is left
   */
  write(object: T, wanted: WantedStatus, everyMs?: number): Promise<number | undefined>;
  /** True for a change that is our own last write, and for nothing else: a status that somebody changed, or a write that took effect late, is put right. */
  isOwn(delta: Delta<T>): boolean;
  /** The object is gone. */
  forget(key: string): void;
}

/** Longest that a change of a condition, or what was said before, is put off. */
const LONGEST_PAUSE_MS = 8_000;

/** Conditions whose messages tell how far machines are. While status and reason stay nobody acts on them, and the next message is on its way. */
const MOVING: ReadonlySet<string> = new Set([
  "Ready",
  "Progressing",
  "Reconciling",
  "Stalled",
  "MachinesReady",
  "EtcdHealthy",
  "NodesReady",
]);

/** Fields that say no more than such a message. */
const MOVING_FIELDS: ReadonlySet<string> = new Set(["stage", "nodeName", "etcdLeader", "observedSchematic", "observedExtensions"]);

/** Fields that stay while an object is left alone: ours, of all kinds. */
const KEPT_FIELDS = [
  "state",
  "imported",
  "observedGeneration",
  "observedVersion",
  "observedSchematic",
  "observedExtensions",
  "observedKubeVersion",
  "wantedMachines",
  "readyMachines",
  "machines",
  "activity",
  "role",
  "cluster",
  "pool",
  "nodeName",
  "stage",
  "identity",
  "failedConfig",
  "removals",
  "upgrade",
  "configContract",
  "etcdLeader",
] as const;

/** Fields that nobody else has: one that an earlier process wrote goes, too, when there is nothing to say any more. */
const OURS: ReadonlySet<string> = new Set([
  "observedSchematic",
  "observedExtensions",
  "upgrade",
  "configContract",
  "etcdLeader",
  "activity",
]);

/** With the word for what goes on, of kinds that have one. */
function withActivity({ kind }: ResourceType, wanted: WantedStatus): WantedStatus {
  return ACTIVE.has(kind) ? { ...wanted, fields: { ...wanted.fields, activity: activityOf(wanted.conditions) } } : wanted;
}

/** Kinds whose status has a word for what goes on. */
const ACTIVE: ReadonlySet<string> = new Set(["TalosCluster", "TalosControlPlane", "TalosWorker"]);

/** So many times the least pause passes before a write that brings nothing but such messages; not longer than a machine takes that comes up in its time. */
const MESSAGES_PAUSE = 60;
const LONGEST_MESSAGES_PAUSE_MS = 45_000;

/** A state that passes within a second is not worth a request. */
const STATE_PAUSE_MS = 1_000;

/** While machines come up one thing follows the other: what is said for less than this is not worth a request either. */
const HOLD_MS = 2_000;

/** While more than this is written in {@link CROWD_WINDOW_MS}, as when hundreds of clusters begin at once, words and passing states wait longer. */
const CROWD = 25;
const CROWD_WINDOW_MS = 10_000;

interface OwnWrite {
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  readonly status: StatusShape;
  readonly fields: WantedStatus["fields"];
  readonly at: number;
  /** Until the next write that is no news. */
  readonly pauseMs: number;
}

/** How the statuses of a kind are written. */
export interface StatusWriterOptions {
  /**
   * True where a status is the only place that something is known by, as what a run of a backup told: it is written by compare-and-swap on the object that the pass
   * read, which must be a live one, so that a write that arrives late takes nothing back. Default false: what is looked at again is said again.
   */
  readonly isMemory?: boolean;
  /** The first words about an object wait so long for what they sum up. Milliseconds; default a second. */
  readonly firstWordsMs?: number;
}

/** Status is applied server-side by one field manager per controller. What turned in it is told in events, once it is stored. */
export function createStatusWriter<T extends WithStatus>(
  client: KubeClient,
  type: ResourceType,
  clock: Clock,
  fieldManager: string,
  events: Telling,
  options: StatusWriterOptions = {},
): StatusWriter<T> {
  const tell = tellTurns(events, type);
  const written = new Map<string, OwnWrite>();
  const pauses = createPauses(options.firstWordsMs ?? STATE_PAUSE_MS);
  return {
    async write(object, given, everyMs = 0, wanted = withActivity(type, given)) {
      const key = keyOf(object);
      const own = written.get(key)?.uid === object.metadata?.uid ? written.get(key) : undefined;
      const now = clock.now();
      // The cache may lag behind our own last write.
      const before = own !== undefined && isNewer(own.resourceVersion, object.metadata?.resourceVersion) ? own.status : object.status;
      const after = statusAfter(before, wanted, own?.fields ?? {}, now);
      if (after === before) return pauses.end(key);
      // What others made of it since is no reason to hurry: two that put each other right would do nothing else.
      const told = own?.status ?? before;
      const isNews = stateOf(told) !== stateOf(after) || isTurn(told, after);
      const left = everyMs === 0 || isNewGeneration(told, after) ? 0 : pauses.leftMs(key, { own, told, before, after }, everyMs, now);
      if (left > 0) return left;
      const { name = "", namespace, uid, resourceVersion } = object.metadata ?? {};
      const types = new Set(wanted.conditions.map((condition) => condition.type));
      const conditions = (after.conditions ?? []).filter(
        (condition) => types.has(condition.type) || (wanted.keepsOthers === true && condition.type in conditionCatalogue),
      );
      const fields = Object.fromEntries(
        Object.entries(wanted.keepsOthers === true ? { ...keptFields(before), ...wanted.fields } : wanted.fields).filter(
          ([, value]) => value !== undefined,
        ),
      );
      const applied = {
        apiVersion: apiVersionOf(type),
        kind: type.kind,
        // The cache may be behind: what is said of one object is never said of the next one of its name.
        metadata: {
          name,
          ...(namespace === undefined ? {} : { namespace }),
          ...(uid === undefined ? {} : { uid }),
          ...(options.isMemory === true && resourceVersion !== undefined ? { resourceVersion } : {}),
        },
        status: { ...fields, conditions },
      };
      pauses.written(key, now);
      let stored: WithStatus;
      try {
        stored = await client.resource<WithStatus>(type).applyStatus(applied, { fieldManager, force: true });
      } catch (thrown) {
        if (isOfAnother(thrown)) return STATE_PAUSE_MS;
        throw thrown;
      }
      written.set(key, {
        uid: object.metadata?.uid,
        resourceVersion: stored.metadata?.resourceVersion ?? "",
        status: stored.status ?? after,
        fields,
        at: now,
        pauseMs: own === undefined || isNews ? everyMs : Math.min(own.pauseMs * 2, LONGEST_PAUSE_MS),
      });
      tell(object, told, after);
      return undefined;
    },
    isOwn: (delta) =>
      delta.type === "updated" && written.get(keyOf(delta.object))?.resourceVersion === delta.object.metadata?.resourceVersion,
    forget(key) {
      written.delete(key);
      pauses.end(key);
    },
  };
}

/** What an object said, and what it is to say. */
interface Change {
  /** The last write of this process. */
  readonly own: OwnWrite | undefined;
  /** What that said, or else what is stored. */
  readonly told: StatusShape | undefined;
  readonly before: StatusShape | undefined;
  readonly after: StatusShape;
}

/** How long what is to be said waits, and since when it does. */
function createPauses(firstWordsMs: number) {
  const firstAt = new Map<string, number>();
  const heldSince = new Map<string, number>();
  const crowd = createCrowd();
  const since = (waiting: Map<string, number>, key: string, now: number): number => {
    const at = waiting.get(key) ?? now;
    waiting.set(key, at);
    return at;
  };
  /** The first words about an object wait like any others: most of them are not true any more when people come to read them, in a crowd even later. */
  const firstMs = (key: string, { before, after }: Change, now: number): number => {
    const factor = crowd.factor(now);
    // Of an object that was told about by an earlier process it is news what it is now.
    if (isTurn(before, after) || (factor === 1 && before?.conditions !== undefined)) return 0;
    return Math.min(firstWordsMs * factor, LONGEST_PAUSE_MS) - elapsedMs(since(firstAt, key, now), now);
  };
  const end = (key: string): undefined => {
    firstAt.delete(key);
    heldSince.delete(key);
  };
  return {
    leftMs(key: string, change: Change, everyMs: number, now: number): number {
      const { own, told, before, after } = change;
      if (own === undefined) return firstMs(key, change, now);
      if (!isReady(after) && saysTheSame(told, after) && saysTheSame(before, after))
        return Math.min(everyMs * MESSAGES_PAUSE, LONGEST_MESSAGES_PAUSE_MS) - elapsedMs(own.at, now);
      const pauseMs = pauseBefore(told, after, own.pauseMs, crowd.factor(now)) - elapsedMs(own.at, now);
      if (isReady(after) || isTurn(told, after)) return pauseMs;
      const holdMs = stateOf(told) === stateOf(after) ? HOLD_MS : STATE_PAUSE_MS;
      return Math.max(pauseMs, holdMs - elapsedMs(since(heldSince, key, now), now));
    },
    written(key: string, now: number): void {
      crowd.add(now);
      end(key);
    },
    end,
  };
}

/** The server refused what was applied to an object by its UID: another one has the name by now, or none. */
export function isOfAnother(thrown: unknown): boolean {
  return isConflict(thrown) || (isInvalid(thrown) && thrown.causes.some(({ field }) => field === "metadata.uid"));
}

/**
 * The status after a pass. The same object when nothing differs.
 *
 * Conditions of the catalogue that are not wanted any more are gone; those of others are left alone.
 *
 * @param said fields of the last write of this process: only these go when nobody knows them any more
 */
function statusAfter(before: StatusShape | undefined, wanted: WantedStatus, said: WantedStatus["fields"], now: number): StatusShape {
  const conditions = conditionsAfter(before?.conditions, wanted, now);
  const old: Readonly<Record<string, unknown>> = { ...before };
  const gone = new Set(
    Object.keys(wanted.fields).filter(
      (key) => wanted.fields[key] === undefined && (said[key] !== undefined || OURS.has(key)) && key in old,
    ),
  );
  const isSame =
    gone.size === 0 && Object.entries(wanted.fields).every(([key, value]) => value === undefined || isDeepStrictEqual(old[key], value));
  if (before !== undefined && isSame && before.conditions === conditions) return before;
  const kept = Object.fromEntries(Object.entries(old).filter(([key]) => !gone.has(key)));
  return { ...kept, ...Object.fromEntries(Object.entries(wanted.fields).filter(([, value]) => value !== undefined)), conditions };
}

/** What was said is about an earlier spec than what is said now: whoever edited it waits for an answer. */
function isNewGeneration(before: StatusShape | undefined, after: StatusShape): boolean {
  const { observedGeneration = -1 } = before ?? {};
  return observedGeneration >= 0 && observedGeneration !== after.observedGeneration;
}

function keptFields(status: StatusShape | undefined): WantedStatus["fields"] {
  const fields: WantedStatus["fields"] = { ...status, conditions: undefined };
  const kept = KEPT_FIELDS.filter((name) => !(name === "observedGeneration" && fields[name] === -1));
  return Object.fromEntries(kept.map((name) => [name, fields[name]]));
}

/** The word for people, and how far an upgrade is. */
function stateOf(status: StatusShape | undefined): string {
  return status?.upgrade === undefined ? (status?.state ?? "") : JSON.stringify([status.state, status.upgrade]);
}

/** Milliseconds between the last write and one that says this. What people wait for is never put off. */
function pauseBefore(before: StatusShape | undefined, after: StatusShape, wordsPauseMs: number, crowd: number): number {
  if (isTurn(before, after)) return 0;
  const pauseMs = stateOf(before) === stateOf(after) ? wordsPauseMs : Math.min(wordsPauseMs, STATE_PAUSE_MS);
  return Math.min(pauseMs * crowd, LONGEST_PAUSE_MS);
}

/** How many times more is written lately than {@link CROWD}; at least 1. */
function createCrowd(): { add(now: number): void; factor(now: number): number } {
  let since = Number.NEGATIVE_INFINITY;
  let count = 0;
  let countBefore = 0;
  const turn = (now: number): void => {
    const elapsed = elapsedMs(since, now);
    if (elapsed < CROWD_WINDOW_MS) return;
    countBefore = elapsed < 2 * CROWD_WINDOW_MS ? count : 0;
    count = 0;
    since = now;
  };
  return {
    add(now) {
      turn(now);
      count += 1;
    },
    factor(now) {
      turn(now);
      return Math.max(1, Math.max(count, countBefore) / CROWD);
    },
  };
}

/**
 * Whether only messages of {@link MOVING} conditions differ: every field, and every condition's status, reason and generation, is the same. That settings are in
 * force on what still comes up is no news either, nor that the endpoint leads there.
 */
function saysTheSame(before: StatusShape | undefined, after: StatusShape): boolean {
  return before !== undefined && withoutMessages(before) === withoutMessages(after);
}

function withoutMessages({ conditions = [], ...fields }: StatusShape): string {
  const said = conditions
    .filter(({ type, status }) => !(type === "ConfigUpToDate" && status === "True"))
    .filter(({ type, status, reason }) => !(type === "EndpointReachable" && (status === "True" || reason === "NotAsked")))
    .map(({ type, status, reason, message, observedGeneration }) =>
      [type, status, reason, observedGeneration, MOVING.has(type) ? "" : message].join(" "),
    );
  const told = Object.entries(fields).filter(([name]) => !MOVING_FIELDS.has(name));
  return JSON.stringify([told.toSorted(([a], [b]) => (a < b ? -1 : 1)), said.toSorted()]);
}

function isReady(status: StatusShape | undefined): boolean {
  return isConditionTrue(status?.conditions, "Ready");
}

/** What people, tools and other controllers wait for is another thing: the object turned ready or unready, is finished or is no more, or was taken over. */
function isTurn(before: StatusShape | undefined, after: StatusShape): boolean {
  const isFinished = (status: StatusShape | undefined): boolean =>
    isReady(status) && !isConditionTrue(status?.conditions, "Reconciling") && !isConditionTrue(status?.conditions, "Stalled");
  const isImported = (status: StatusShape | undefined): boolean =>
    status?.imported === true || isConditionTrue(status?.conditions, "Imported");
  return isRenamed(before, after) || [isReady, isFinished, isImported].some((is) => is(before) !== is(after));
}

/** Its Node is another one: who drains or counts Nodes goes by that. */
function isRenamed(before: StatusShape | undefined, { nodeName }: StatusShape): boolean {
  return before?.nodeName !== undefined && nodeName !== undefined && before.nodeName !== nodeName;
}

/** Each sentence once; where conditions of before stay, none names one that says something else by now. */
function conditionsAfter(before: readonly Condition[] | undefined, wanted: WantedStatus, now: number): readonly Condition[] {
  if (wanted.keepsOthers !== true) return joined(before, { ...wanted, conditions: saidOnce(wanted.conditions) }, now);
  const after = saidOnce(
    joined(
      before?.map((condition) => spelledOut(before, condition)),
      wanted,
      now,
    ),
  );
  return before !== undefined && isDeepStrictEqual(before, after) ? before : after;
}

function joined(before: readonly Condition[] | undefined, wanted: WantedStatus, now: number): readonly Condition[] {
  const types = new Set(wanted.conditions.map((condition) => condition.type));
  const old = before ?? [];
  const stays = (type: string): boolean =>
    types.has(type) || (wanted.keepsOthers === true ? wanted.drops?.includes(type) !== true : !(type in conditionCatalogue));
  const kept = old.filter(({ type }) => stays(type));
  const start = kept.length === old.length ? old : kept;
  return wanted.conditions.reduce<readonly Condition[]>((conditions, condition) => setCondition(conditions, condition, now), start);
}

function isNewer(version: string, other = "0"): boolean {
  return (compareResourceVersions(version, other) ?? 0) > 0;
}
