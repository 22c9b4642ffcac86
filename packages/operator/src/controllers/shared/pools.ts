import { conditionFor, findCondition, isConditionTrue } from "@talos-operator/api";
import type { ConditionInput, ConditionType, ReadyReason, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { settledOr } from "./settled.ts";
import { written } from "./written-fields.ts";
import type { WrittenFields } from "./written-fields.ts";

/** A pool of machines that a TalosCluster or KubernetesCluster is made of. */
type Pool = TalosControlPlane | TalosWorker;

/** A pool as it should be there, and as it is. */
export interface StoredPool {
  readonly kind: Pool["kind"];
  readonly name: string;
  readonly stored: Pool | undefined;
  /** Where the person wrote what the pool's spec says. Absent: in the pool itself. */
  readonly fields?: WrittenFields;
}

/** Which pool keeps a cluster from being ready, and why. */
export interface UnreadyPool {
  readonly reason: Extract<ReadyReason, "ControlPlaneNotReady" | "WorkersNotReady">;
  readonly message: string;
  readonly pool: StoredPool;
  /** It was ready, and has not answered its newest spec yet: nothing shows that anything is wrong. */
  readonly isUnanswered: boolean;
  /** All that is the matter with any pool is that the operator restarts machines of it. */
  readonly isRestart: boolean;
}

/** The pool that keeps a cluster from being ready; `undefined` = none does. The control plane comes first: without it there is no cluster. One that is only restarted comes last. */
export function unreadyPool(controlPlane: StoredPool, workers: readonly StoredPool[]): UnreadyPool | undefined {
  const unready = [controlPlane, ...workers].filter(({ stored }) => !isCurrent(stored));
  const first = unready.find(({ stored }) => !isRestarting(stored)) ?? unready[0];
  if (first === undefined) return undefined;
  const reason = first === controlPlane ? "ControlPlaneNotReady" : "WorkersNotReady";
  return { ...unreadyAs(reason, first), isRestart: unready.every(({ stored }) => isRestarting(stored)) };
}

/** `Progressing` of a cluster that waits for a pool, as that pool says it. */
export function progressOfUnready({ pool, message, isUnanswered }: UnreadyPool, generation: number | undefined): ConditionInput {
  // What is said of an earlier spec is no answer to the newest one, nor a wait for a person.
  const progress = isUnanswered ? undefined : progressOf(pool.stored);
  if (pool.stored?.metadata.deletionTimestamp !== undefined) return conditionFor("Progressing", "Removing", message, generation);
  if (progress === undefined || progress.reason === "Settled") return conditionFor("Progressing", "Composing", message, generation);
  return { ...withoutTime(progress, generation), message: progressWords(pool, progress) };
}

/** What a pool that is ready may be at, or wait for. */
const LEFT_BESIDE_READY: ReadonlySet<string> = new Set(["ChangingConfiguration", "Removing", "Blocked", "TendingEtcd"]);

/** `Progressing` of a cluster whose pools are all ready: what is still being done about one of them, or what is left. */
export function progressOfReady(pools: readonly StoredPool[], generation: number | undefined): ConditionInput {
  for (const pool of pools) {
    const progress = progressOf(pool.stored);
    if (progress === undefined || !LEFT_BESIDE_READY.has(progress.reason)) continue;
    return { ...withoutTime(progress, generation), message: progressWords(pool, progress) };
  }
  return settledOr(upgradesOf(pools, generation), generation);
}

/** What a pool is at. */
function progressWords(pool: StoredPool, { reason, message }: ConditionInput): string {
  if (reason === "Blocked" && !isConditionTrue(pool.stored?.status?.conditions, "Ready")) return "See Ready.";
  return ofWholeCluster(pool, message);
}

/** What goes on in a cluster its control plane says of all machines; one that the cluster describes itself needs no name. */
function ofWholeCluster({ kind, name, fields }: StoredPool, message: string): string {
  return `${kind === "TalosControlPlane" && fields !== undefined ? "" : `${kind} ${name}: `}${written(message, fields)}`;
}

/** What the control plane says of the cluster as a whole, in its words. */
export function etcdConditions(
  { stored, fields }: Pick<StoredPool, "stored" | "fields">,
  generation: number | undefined,
): readonly ConditionInput[] {
  return ["Bootstrapped", "EtcdHealthy", "EndpointChosen", "EndpointReachable", "EndpointUpToDate", "ReleaseUnknown"].flatMap((type) => {
    const condition = findCondition(stored?.status?.conditions, type);
    return condition === undefined ? [] : [{ ...withoutTime(condition, generation), message: written(condition.message, fields) }];
  });
}

/** `UpgradePending` of a cluster: what its control plane says of all machines, or what only a pool says. */
export function upgradesOf(pools: readonly StoredPool[], generation: number | undefined): readonly ConditionInput[] {
  return firstOf("UpgradePending", pools, generation);
}

/** `EditRefused` of a cluster: what the first of its pools says that refuses its newest spec. */
export function refusedEditsOf(pools: readonly StoredPool[], generation: number | undefined): readonly ConditionInput[] {
  return firstOf("EditRefused", pools, generation);
}

function firstOf(type: ConditionType, pools: readonly StoredPool[], generation: number | undefined): readonly ConditionInput[] {
  for (const pool of pools) {
    const condition = findCondition(pool.stored?.status?.conditions, type);
    if (condition !== undefined) return [{ ...withoutTime(condition, generation), message: ofWholeCluster(pool, condition.message) }];
  }
  return [];
}

/** Ready, and said of the newest spec. */
function isCurrent(pool: Pool | undefined): boolean {
  return isConditionTrue(pool?.status?.conditions, "Ready") && isSeen(pool, "Ready");
}

/** All that keeps it from being ready is that the operator restarts machines. */
function isRestarting(pool: Pool | undefined): boolean {
  return findCondition(pool?.status?.conditions, "Ready")?.reason === "Restarting" && isSeen(pool, "Ready");
}

function isSeen(pool: Pool | undefined, type: string): boolean {
  return (findCondition(pool?.status?.conditions, type)?.observedGeneration ?? 0) >= (pool?.metadata.generation ?? 0);
}

function unreadyAs(reason: UnreadyPool["reason"], pool: StoredPool): Omit<UnreadyPool, "isRestart"> {
  const isUnanswered = isConditionTrue(pool.stored?.status?.conditions, "Ready") && !isSeen(pool.stored, "Ready");
  return { reason, pool, message: `${pool.kind} ${pool.name}: ${written(wordsOf(pool.stored), pool.fields)}`, isUnanswered };
}

/**
 * `Ready` of a cluster that was ready and is so still, as far as anybody knows: its pool has not answered its newest spec yet, or only restarts machines, which
 * is planned. Before an answer the condition keeps the generation that it was said of, so that nobody who waits for the newest one takes it for an answer.
 * `undefined` = it is to be said anew.
 */
export function readyAsBefore(
  { isUnanswered, isRestart }: UnreadyPool,
  conditions: readonly StoredCondition[] | undefined,
  generation: number | undefined,
): ConditionInput | undefined {
  const told = conditions?.find(({ type }) => type === "Ready");
  if ((!isUnanswered && !isRestart) || told?.status !== "True") return undefined;
  return withoutTime({ ...told, status: told.status }, isRestart ? generation : told.observedGeneration);
}

/** The schema of one of the kinds lets any word stand for a status. */
type StoredCondition = Omit<ConditionInput, "status"> & { readonly status: string };

function wordsOf(stored: Pool | undefined): string {
  const conditions = stored?.status?.conditions;
  const ready = findCondition(conditions, "Ready");
  if (ready === undefined) return "Pending.";
  if (ready.status !== "True") return ready.message;
  return findCondition(conditions, "Removing")?.message ?? "it does not know the newest spec yet.";
}

function progressOf(stored: Pool | undefined): ReturnType<typeof findCondition> {
  return findCondition(stored?.status?.conditions, "Progressing");
}

function withoutTime(condition: ConditionInput, generation: number | undefined): ConditionInput {
  const { type, status, reason, message } = condition;
  return { type, status, reason, message, ...(generation === undefined ? {} : { observedGeneration: generation }) };
}
