import type { ReconcileContext } from "@talos-operator/kube-runtime";
import { EffectError, isEffectError } from "../errors.ts";
import { sharedWords } from "../controllers/shared/latest.ts";
import type { BundleStore } from "../secrets/bundle-store.ts";
import type { AccessStore } from "../secrets/access-store.ts";
import type { BrainOptions } from "./brain.ts";
import { bundleInForce } from "../record/bundle-in-force.ts";
import type { Cluster } from "./clusters.ts";
import { demandKept } from "../effects/demand-kept.ts";
import { demandPool } from "../effects/demand-pool.ts";
import { demandReconciled } from "../effects/demand-reconciled.ts";
import { demandUnpaused } from "../effects/demand-unpaused.ts";
import { executeAll } from "../effects/execute.ts";
import { readRecord } from "../record/facts-codec.ts";
import { createGuard } from "../effects/guard.ts";
import { createSends } from "../effects/sends.ts";
import type { ClusterSession } from "./cluster-session.ts";
import { clusterOf, tellStep, tellWritten } from "../report/tell-news.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { Decision } from "../model/decision.ts";
import type { Observed } from "../model/observation.ts";
import type { Effects } from "../effects/ports.ts";

/** So long a write waits for the cache to show it, in milliseconds; then the next pass sees what is there. */
const CACHE_FOLLOWS_MS = 5_000;

/** What effects are made of besides what the brain has. */
export interface EffectPorts {
  readonly bundles: BundleStore;
  readonly access: AccessStore;
  /** Has the cluster looked at again. */
  readonly wake: () => void;
  /** The same when configurations were read: what begins because of them can wait for clusters of which something new is asked. */
  readonly wakeAfterReading: () => void;
}

/**
 * Carries out the actions of a pass, in their order. What shows that something was remembered wrongly is forgotten, so that the next pass reads it anew.
 *
 * @returns what stopped it; `undefined` = everything was done
 */
export async function carryOut(
  decision: Decision,
  seen: Observed,
  { key, session }: Cluster,
  options: BrainOptions,
  { bundles, access, wake }: EffectPorts,
  context: ReconcileContext,
): Promise<unknown> {
  if (decision.actions.length === 0) return undefined;
  const { client, clock, events, figures } = options;
  const demandAlone = async (isAdopted: boolean): Promise<void> => {
    const other = await options.neighbours.find(key, isAdopted);
    if (other === undefined) return;
    session.beside = { at: clock.now(), value: other };
    throw new EffectError("ANOTHER_OPERATOR", other);
  };
  const latest = sharedWords(options.latest);
  const reconciled = (): Promise<void> => demandReconciled(latest, seen);
  const sends = createSends(context.signal);
  const effects: Effects = {
    client,
    dialer: options.dialer,
    bundles,
    access,
    keys: options.keys,
    clock,
    random: options.random,
    seen,
    session,
    guard: createGuard(key, client, options.leading, reconciled, demandAlone, options.timers, clock),
    demandAlone,
    demandReconciled: reconciled,
    demandUnpaused: (machine) => demandUnpaused(machine, latest, seen),
    demandPool: (pool) => demandPool(pool, latest, seen),
    demandKept: (machine) => demandKept(machine, latest, seen),
    leading: options.leading,
    log: context.log.child({ rule: decision.rule }),
    span: context.span,
    signal: sends.signal,
    letEnd: (call) => sends.letEnd(call),
    facts: () => factsNow(session),
    bundle: () => bundleInForce(session, bundles, key.namespace, factsNow(session).bundle),
    wake,
    event: (reason, action, note, regarding = clusterOf(seen)) => events.tell(regarding, reason, action, note),
    written: (before, after) => tellWritten(seen, before, after, events),
    tellStep: (machine, reason, note) => tellStep(machine, reason, note, seen, events),
    carriedOut: (action, thrown) => figures?.carriedOut(action, thrown),
    caughtUp: async (kind, resourceVersion) => {
      if (resourceVersion === undefined) return;
      const caches = { TalosMachine: options.machines, TalosWorker: options.workers, TalosControlPlane: options.controlPlanes };
      await caches[kind].waitForResourceVersion(resourceVersion, { signal: context.signal, timeoutMs: CACHE_FOLLOWS_MS });
    },
  };
  try {
    await executeAll(decision.actions, effects);
    return undefined;
  } catch (thrown) {
    if (isEffectError(thrown, "RECORD_CHANGED", "PRECONDITION_GONE")) session.record = undefined;
    if (isEffectError(thrown, "KEYS_UNUSABLE")) session.bundle = undefined;
    return thrown;
  }
}

/** What the record says, as it was read or written last. @throws TypeError where there is none: every effect begins with a record */
export function factsNow({ record }: ClusterSession): ClusterFacts {
  const now = record === undefined || record.value === "absent" ? undefined : readRecord(record.value);
  if (now === undefined) throw new TypeError("an effect needs a record, and there is none");
  return now.facts;
}

/** Failures that the next look answers: the world moved between decision and effect. */
export function isExpected(failure: unknown): boolean {
  if (isEffectError(failure, "RECORD_CHANGED", "PRECONDITION_GONE", "MODE_CHANGED", "ANOTHER_OPERATOR")) return true;
  return failure instanceof Error && "code" in failure && (failure.code === "CONFLICT" || failure.code === "ALREADY_EXISTS");
}
