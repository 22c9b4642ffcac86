import { conditionCatalogue, findCondition } from "@talos-operator/api";
import type { ClusterRecord, Condition, ConditionEntry, ObjectMeta, OpenIntent, RecordedDecision } from "@talos-operator/api";

/** An object with conditions, as it is stored. */
export interface Explained {
  readonly kind: string;
  readonly metadata: ObjectMeta;
  /** `state` is no word in a KubernetesCluster, which has a `phase`. */
  readonly status?: { readonly state?: unknown; readonly phase?: string; readonly conditions?: readonly Condition[] };
}

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
  /** True when nothing is waited for. */
  readonly isSettled: boolean;
  /** Gravest first: what stops the object itself, then what it consists of. */
  readonly waitingFor: readonly WaitedFor[];
  /** Effects that may have been sent and whose end was not seen. */
  readonly openIntents: readonly OpenIntent[];
  /** Newest first. */
  readonly decisions: readonly RecordedDecision[];
}

/** Conditions that stop an object or tell what it is about, in the order in which people should read them. `Ready` sums them up and comes first. */
const STANDING: readonly string[] = [
  "Paused",
  "DryRun",
  "AnotherOperatorActive",
  "Imported",
  "SecretsLost",
  "AdoptionRequired",
  "DeletionHeld",
  "AccessNotRenewed",
  "Deleting",
  "Removing",
  "Draining",
  "ConfigUpToDate",
  "ConfigDrift",
  "FieldNotSupported",
  "UpgradePending",
];

/** Types of which `False` is what is waited for, and `True` is fine. */
const WAITED_WHEN_FALSE: ReadonlySet<string> = new Set(["Imported", "ConfigUpToDate"]);

/** Kinds that are made of others: they wait for what those wait for. */
const PARENTS: ReadonlySet<string> = new Set(["TalosCluster", "KubernetesCluster"]);

/** What nobody waits for and people may want to know all the same: a configuration would be written otherwise than it is, or a machine installed otherwise. */
const WORTH_KNOWING: ReadonlySet<string> = new Set(["RenderedOtherwise", "InstalledOtherwise"]);

/** What a machine shows proves nothing without the keys, and nobody is to do anything to it that cannot be taken back. */
const KEYS_FIRST =
  "The cluster's keys come back first: see the condition SecretsLost of the TalosControlPlane, and the runbook secrets-lost.";

/** Tells what an object waits for, since when, what releases it, and what was decided. Pure: it only reads what is stored. */
export function explain({ object, related, record }: ExplainInput): Explanation {
  const areKeysLost = [object, ...related].some(({ status }) => findCondition(status?.conditions, "SecretsLost")?.status === "True");
  const held = (one: WaitedFor): WaitedFor => (areKeysLost && one.condition !== "SecretsLost" ? { ...one, releasedBy: KEYS_FIRST } : one);
  const own = waitsOf(object).map(held);
  const others = related.flatMap((one) => [...waitsOf(one).slice(0, 1), ...remarksOn(one)]).map(held);
  const { spec } = record ?? {};
  return {
    object: nameOf(object),
    namespace: object.metadata.namespace ?? "",
    ...stateOf(object),
    // What a parent consists of is waited for by itself too; what an object belongs to, or has beside it, is not.
    isSettled: own.length === 0 && !(PARENTS.has(object.kind) && others.some(({ reason }) => !WORTH_KNOWING.has(reason))),
    waitingFor: [...own, ...remarksOn(object), ...others],
    openIntents: [...(spec?.openControlPlaneIntent === undefined ? [] : [spec.openControlPlaneIntent]), ...(spec?.openWorkerIntents ?? [])],
    decisions: (spec?.decisions ?? []).toReversed(),
  };
}

function stateOf({ status }: Explained): Pick<Explanation, "state"> {
  const word = typeof status?.state === "string" ? status.state : status?.phase;
  return word === undefined ? {} : { state: word };
}

function waitsOf(object: Explained): readonly WaitedFor[] {
  const conditions = object.status?.conditions ?? [];
  const ready = findCondition(conditions, "Ready");
  if (ready === undefined && conditions.length === 0)
    return [
      {
        object: nameOf(object),
        condition: "Ready",
        status: "Unknown",
        reason: "Unobserved",
        message: "The operator has not written a status yet.",
        since: object.metadata.creationTimestamp ?? "",
        releasedBy: "Start the operator if none runs: `kubectl get lease -A` shows who leads.",
      },
    ];
  const standing = STANDING.flatMap((type) => {
    const condition = findCondition(conditions, type);
    if (condition === undefined) return [];
    return WAITED_WHEN_FALSE.has(type) ? (condition.status === "True" ? [] : [condition]) : condition.status === "False" ? [] : [condition];
  });
  return [...(ready === undefined || ready.status === "True" ? [] : [ready]), ...standing].map((condition) => toldOf(object, condition));
}

function remarksOn(object: Explained): readonly WaitedFor[] {
  const { conditions = [] } = object.status ?? {};
  return conditions.filter(({ reason }) => WORTH_KNOWING.has(reason)).map((condition) => toldOf(object, condition));
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

/** What the catalogue says to a reason. */
function releaseOf({ type, reason }: Condition): string {
  const catalogue: Readonly<Record<string, ConditionEntry>> = conditionCatalogue;
  const next = catalogue[type]?.reasons[reason]?.next;
  if (next === undefined) return "See the message.";
  return next === "-" ? "Nothing to do; it continues by itself." : next;
}

function nameOf({ kind, metadata }: Explained): string {
  return `${kind}/${metadata.name}`;
}
