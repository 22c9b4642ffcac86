import {
  clusterRecordResource,
  kubernetesClusterResource,
  talosClusterResource,
  talosControlPlaneResource,
  talosMachineResource,
  talosWorkerResource,
} from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import { silentTracer } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Clock, Keys, Logger, RandomSource, TalosDialer, Timers, WorkloadDialer } from "@talos-operator/ports";
import { createReading } from "../controllers/shared/latest.ts";
import type { LatestWords } from "../controllers/shared/latest.ts";
import { mintCredentials } from "../secrets/credentials.ts";
import { demandKept } from "../effects/demand-kept.ts";
import { demandPool } from "../effects/demand-pool.ts";
import { demandReconciled } from "../effects/demand-reconciled.ts";
import { demandUnpaused } from "../effects/demand-unpaused.ts";
import { executeAll } from "../effects/execute.ts";
import { readRecord } from "../record/facts-codec.ts";
import { createGuard } from "../effects/guard.ts";
import type { LastLook } from "../effects/guard.ts";
import type { Definitions } from "../effects/definitions.ts";
import { ClusterSession } from "../reconcilers/cluster-session.ts";
import { EffectError, isEffectError } from "../errors.ts";
import type { Leading } from "../leading.ts";
import { LookGate } from "../looking/look-gate.ts";
import { Turnstile } from "../looking/turnstile.ts";
import { createAccessStore } from "../secrets/access-store.ts";
import { createBundleStore, usableBundle } from "../secrets/bundle-store.ts";
import type { Action } from "../model/effect.ts";
import type { Observed } from "../model/observation.ts";
import type { Effects } from "../effects/ports.ts";

/** Where effects act. */
export interface EffectPlace {
  readonly client: KubeClient;
  readonly dialer: TalosDialer;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly workloads?: WorkloadDialer;
}

/** What a pass is like; default: one process that leads and is not in anybody's way, and every effect as it is defined. */
export interface PassOptions {
  readonly leading?: Leading;
  /** Another operator at work. */
  readonly other?: string;
  readonly definitions?: Definitions;
  readonly lastLooks?: Readonly<Record<string, LastLook>>;
}

/** A pass that has decided, and has carried out nothing yet. */
export interface DecidedPass {
  /** The effects, for tests that change one of them. */
  readonly effects: Effects;
  /** @returns what was thrown; a look at the last moment that held an effect back is in the session's notes, or here */
  carryOut(actions: readonly Action[]): Promise<unknown>;
  close(): void;
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** One process that leads and is not in anybody's way. */
const undisturbed: Leading = {
  identity: "one",
  fencingToken: "1/1",
  mayDisturb: true,
  remainingMs: () => 15_000,
  confirm: () => Promise.resolve(true),
};

/**
 * A pass over one cluster between its decision and its effects: the record was read, machines are known, and whatever changes from here on only the last
 * looks of the effects can tell.
 */
export async function decidedPass(place: EffectPlace, seen: Observed, given: PassOptions = {}): Promise<DecidedPass> {
  const { client, clock, timers, keys } = place;
  const { namespace = "", name } = seen.controlPlane.metadata;
  const key = { namespace, name };
  const leading = given.leading ?? undisturbed;
  const bundles = createBundleStore(client);
  const workload = place.workloads === undefined ? undefined : { dialer: place.workloads, keys, wake: () => undefined };
  const session = new ClusterSession(
    { ...place, gate: new LookGate(timers), turnstile: new Turnstile(4), makingKeys: new Set(), workload },
    () => undefined,
  );
  const record = await client.resource<ClusterRecord>(clusterRecordResource).tryGet(key);
  session.record = { at: clock.now(), value: record ?? "absent" };
  const facts: Effects["facts"] = () => {
    const now = session.record?.value;
    const read = now === undefined || now === "absent" ? undefined : readRecord(now);
    if (read === undefined) throw new TypeError("an effect needs a record, and there is none");
    return read.facts;
  };
  const bundle: Effects["bundle"] = async () =>
    usableBundle(await bundles.read({ namespace, name: facts().bundle.secretName }), facts().bundle);
  if (record !== undefined && (seen.machines.length > 0 || seen.former.length > 0))
    session.machines.setCredentials(await mintCredentials(await bundle(), "os:reader", keys, clock));
  session.machines.watch(
    [...seen.machines, ...seen.former].map(({ declared }) => ({
      ...declared,
      mayBeConfigured: record !== undefined && facts().machines.find((fact) => fact.name === declared.name)?.configuredAt !== undefined,
    })),
  );
  const demandAlone: Effects["demandAlone"] = async () => {
    if (given.other !== undefined) throw new EffectError("ANOTHER_OPERATOR", given.other);
  };
  const latest = latestWords(client);
  const reconciled = (): Promise<void> => demandReconciled(latest, seen);
  const abort = new AbortController();
  const effects: Effects = {
    ...place,
    bundles,
    access: createAccessStore(client, keys, "talos-operator"),
    seen: { ...seen, sent: session.sent() },
    session,
    guard: createGuard(key, client, leading, reconciled, demandAlone, place.timers, place.clock, given.lastLooks),
    demandAlone,
    demandReconciled: reconciled,
    ...askedOf(latest, seen),
    leading,
    log: silent,
    span: silentTracer,
    signal: abort.signal,
    letEnd: (call) => call(),
    facts,
    bundle,
    event: () => undefined,
    written: () => undefined,
    tellStep: () => undefined,
    wake: () => undefined,
    caughtUp: async () => undefined,
    carriedOut: () => undefined,
  };
  return {
    effects,
    async carryOut(actions) {
      try {
        await executeAll(actions, effects, given.definitions);
        return undefined;
      } catch (thrown) {
        if (isEffectError(thrown) || thrown instanceof Error) return thrown;
        throw thrown;
      }
    },
    close() {
      abort.abort();
      session.close();
    },
  };
}

function latestWords(client: KubeClient): LatestWords {
  return {
    talosCluster: createReading(talosClusterResource, client),
    controlPlane: createReading(talosControlPlaneResource, client),
    worker: createReading(talosWorkerResource, client),
    machine: createReading(talosMachineResource, client),
    kubernetesCluster: createReading(kubernetesClusterResource, client),
  };
}

/** What is asked of machines and pools right before an effect. */
function askedOf(latest: LatestWords, seen: Observed): Pick<Effects, "demandUnpaused" | "demandPool" | "demandKept"> {
  return {
    demandUnpaused: (machine) => demandUnpaused(machine, latest, seen),
    demandPool: (pool) => demandPool(pool, latest, seen),
    demandKept: (machine) => demandKept(machine, latest, seen),
  };
}
