import { clusterRecordResource, type ClusterRecord } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Keys, RandomSource, Timers } from "@talos-operator/ports";
import type { Datacenter, SimulatedMachine } from "@talos-operator/simulator";
import type { EffectId } from "../effects.ts";
import type { FaultPlan } from "../fault.ts";
import { addressesOf, CLUSTER_NAME, NAMESPACE, type Scenario } from "../scenario.ts";
import type { Stage } from "../stage.ts";
import type { TroubleKind } from "./kinds.ts";

/** What a trouble sees of a world, and may do to it. */
export interface TroubleInput {
  readonly kind: TroubleKind;
  readonly random: RandomSource;
  readonly timers: Timers;
  readonly now: () => number;
  /** Latest begin of what comes at any time. Milliseconds, counted from the apply or the first edit. */
  readonly latestMs: number;
  /** Past every fault. */
  readonly client: KubeClient;
  readonly datacenter: Datacenter;
  readonly scenario: Scenario;
  readonly stage: Stage;
  readonly keys: Keys;
  readonly pauseOperator: (ms: number) => void;
  /** Calls `act` between the last check before the `n`-th send of the effect and the send itself. */
  readonly beforeSend: (effect: EffectId, n: number, act: () => void) => void;
  /** Stands still until the returned function is called, which must be before the lease ends. */
  readonly holdOperator: () => () => void;
  readonly startOperator: () => void;
  readonly setClock: (skewMs: number) => void;
  /** Everybody's clock is ahead by so much, and stays so. */
  readonly setWorldClock: (aheadMs: number) => void;
  readonly plan: FaultPlan;
  /** Resolves when the effect took place for the `n`-th time, before the sender hears of it. */
  readonly tookEffect: (effect: EffectId, n: number) => Promise<void>;
  /** While set, one run of Helm of three fails, hangs or dies. */
  readonly failHelm: (isFailing: boolean) => void;
  /** While set, the store keeps one byte of each upload wrong. */
  readonly garbleStore: (isGarbling: boolean) => void;
  /** Changes a part of a backup that is there, and tells which. */
  readonly tamperBackup: () => string | undefined;
  readonly trace: (line: string) => void;
}

/** A field of known machines that the CRD of these worlds has, and no release yet. */
export const LATER_FIELD = "laterFact";

export const ofCluster = { namespace: NAMESPACE, name: CLUSTER_NAME } as const;
export const bundleKey = { namespace: NAMESPACE, name: `${CLUSTER_NAME}-bundle-1` } as const;

/** Earliest begin, counted from the apply or the first edit. */
const EARLIEST_MS = 2_000;

/** Waits for the moment at which a trouble begins that may begin at any time. */
export async function begin(
  { timers, random, trace, kind, ...input }: TroubleInput,
  lastsMs: number,
  latestMs = input.latestMs,
): Promise<void> {
  await timers.sleep(EARLIEST_MS + Math.floor(random.fraction() * (Math.min(latestMs, input.latestMs) - EARLIEST_MS)));
  trace(`trouble ${kind} for ${lastsMs} ms`);
}

/** A trouble that may begin at any time; what `act` returns ends it. */
export function forAWhile(act: (input: TroubleInput) => () => void) {
  return async (input: TroubleInput, lastsMs: number): Promise<void> => {
    await begin(input, lastsMs);
    const end = act(input);
    await input.timers.sleep(lastsMs);
    end();
  };
}

export function machinesOf({ scenario, datacenter }: TroubleInput): readonly SimulatedMachine[] {
  const { controlPlanes, workers } = addressesOf(scenario);
  return [...controlPlanes, ...workers].map((address) => datacenter.machine(address));
}

export async function readRecord({ client }: Pick<TroubleInput, "client">): Promise<ClusterRecord | undefined> {
  return (await client.resource(clusterRecordResource).tryGet(ofCluster)) as ClusterRecord | undefined;
}

export async function recordThat(input: TroubleInput, holds: (record: ClusterRecord) => boolean): Promise<ClusterRecord> {
  for (;;) {
    const record = await readRecord(input);
    if (record !== undefined && holds(record)) return record;
    await input.timers.sleep(1000);
  }
}
