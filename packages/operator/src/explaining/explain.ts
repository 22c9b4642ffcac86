import { findCondition } from "@talos-operator/api";
import type { ClusterRecord, Condition, OpenIntent, RecordedDecision } from "@talos-operator/api";
import { notesOn, progressOf, releaseOf, stateWordOf, waitsOf } from "./what-stands.ts";
import type { Explained } from "./what-stands.ts";

/** What an explanation is made from. */
export interface ExplainInput {
  readonly object: Explained;
  /** Objects that it consists of, or belongs to, in the order in which they are told. */
  readonly related: readonly Explained[];
  /** `undefined` = there is none, or it may not be read. */
  readonly record: ClusterRecord | undefined;
}

/** One thing that is waited for. */
export interface WaitedFor {
  /** `TalosMachine/demo-10.0.0.1` */
  readonly object: string;
  readonly condition: string;
  readonly status: Condition["status"];
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly since: string;
  /** What a person can do, or that it goes on by itself. */
  readonly releasedBy: string;
}

/** Why an object is as it is. */
export interface Explanation {
  readonly object: string;
  readonly namespace: string;
  /** The published word; absent where the kind has none. */
  readonly state?: string;
  /** As tools read it; absent = neither. */
  readonly progress?: "stalled" | "in progress";
  /** True when nothing is waited for. */
  readonly isSettled: boolean;
  /** Gravest first: what stops the object itself, then what it consists of. */
  readonly waitingFor: readonly WaitedFor[];
  /** What nobody waits for: a version that is asked for and not carried out, a field without effect, a change by hand; and what is wrong beside the object. */
  readonly worthKnowing: readonly WaitedFor[];
  /** Effects that may have been sent and whose end was not seen. */
  readonly openIntents: readonly OpenIntent[];
  /** Newest first. */
  readonly decisions: readonly RecordedDecision[];
}

/** Kinds that are made of others: they wait for what those wait for. */
const PARENTS: ReadonlySet<string> = new Set(["TalosCluster", "KubernetesCluster"]);

/** What a machine shows proves nothing without the keys, and nobody is to do anything to it that cannot be taken back. */
const KEYS_FIRST =
  "The cluster's keys come back first: see the condition SecretsLost of the TalosControlPlane and the runbook secrets-lost.";

/** Tells what an object waits for, since when, what releases it, and what was decided. Pure: it only reads what is stored. */
export function explain({ object, related, record }: ExplainInput): Explanation {
  const areKeysLost = [object, ...related].some(({ status }) => findCondition(status?.conditions, "SecretsLost")?.status === "True");
  const held = (one: WaitedFor): WaitedFor => (areKeysLost && one.condition !== "SecretsLost" ? { ...one, releasedBy: KEYS_FIRST } : one);
  const told = (one: Explained, conditions: readonly Condition[]): readonly WaitedFor[] =>
    conditions.map((condition) => held(toldOf(one, condition)));
  const own = told(object, waitsOf(object));
  const others = related.flatMap((one) => told(one, waitsOf(one).slice(0, 1)));
  // What a parent consists of is waited for by itself too; what an object belongs to, or has beside it, is not.
  const isWaitedFor = own.length > 0 || PARENTS.has(object.kind);
  const notes = [object, ...related].flatMap((one) => told(one, notesOn(one)));
  const referred = referredTo([...own, ...others, ...notes], [object, ...related], told);
  const { spec } = record ?? {};
  const intents = [
    ...(spec?.openControlPlaneIntent === undefined ? [] : [spec.openControlPlaneIntent]),
    ...(spec?.openWorkerIntents ?? []),
  ];
  // The record is the whole cluster's: of a machine its own part is told.
  const isOwn = (machine: string | undefined): boolean => object.kind !== "TalosMachine" || machine === object.metadata.name;
  return {
    object: nameOf(object),
    namespace: object.metadata.namespace ?? "",
    ...stateOf(object),
    ...progressing(object),
    isSettled: own.length === 0 && !(PARENTS.has(object.kind) && others.length > 0),
    waitingFor: isWaitedFor ? [...own, ...others] : own,
    worthKnowing: [...(isWaitedFor ? [] : others), ...notes, ...referred],
    openIntents: intents.filter(({ machine }) => isOwn(machine.name)),
    decisions: (spec?.decisions ?? []).filter(({ machine }) => isOwn(machine)).toReversed(),
  };
}

function progressing(object: Explained): Pick<Explanation, "progress"> {
  const told = progressOf(object);
  return told === undefined ? {} : { progress: told.type === "Stalled" ? "stalled" : "in progress" };
}

/** Conditions that a text refers to, and that are not told themselves. */
function referredTo(
  texts: readonly WaitedFor[],
  objects: readonly Explained[],
  told: (object: Explained, conditions: readonly Condition[]) => readonly WaitedFor[],
): readonly WaitedFor[] {
  const types = new Set(
    texts.flatMap(({ message, releasedBy }) =>
      [...`${message} ${releasedBy}`.matchAll(/\bcondition ([A-Z][A-Za-z]+)/g)].map(([, type = ""]) => type),
    ),
  );
  return [...types].flatMap((type) => {
    if (texts.some(({ condition }) => condition === type)) return [];
    for (const object of objects) {
      const condition = findCondition(object.status?.conditions, type);
      if (condition !== undefined) return told(object, [condition]);
    }
    return [];
  });
}

function stateOf(object: Explained): Pick<Explanation, "state"> {
  const word = stateWordOf(object);
  return word === undefined ? {} : { state: word };
}

function toldOf(object: Explained, condition: Condition): WaitedFor {
  return {
    object: nameOf(object),
    condition: condition.type,
    status: condition.status,
    reason: condition.reason,
    message: condition.message,
    since: condition.lastTransitionTime,
    releasedBy: releaseOf(condition),
  };
}

function nameOf({ kind, metadata }: Explained): string {
  return `${kind}/${metadata.name}`;
}
