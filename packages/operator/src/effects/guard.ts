import { clusterRecordResource } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import type { KubeClient, ObjectKey } from "@talos-operator/kube-runtime";
import type { Clock, ScheduledTimer, Timers } from "@talos-operator/ports";
import { EffectError, isEffectError } from "../errors.ts";
import type { Leading } from "../leading.ts";
import { controlPlaneIntent, snapshotStands } from "../record/facts.ts";
import { readRecord } from "../record/facts-codec.ts";
import type { ClusterFacts } from "../model/record.ts";

/** Longest an effect may take to be answered, when the lease leaves that much. */
const LONGEST_EFFECT_MS = 20_000;

/** Kept between the deadline of an effect and the end of the lease. */
const LEASE_MARGIN_MS = 500;

/** Longest that an effect which could be sent waits for others of its pass, to read with them. */
const GATHER_MS = 50;

/** What is looked at last, of all effects that ask at the same time. */
export interface LastReading {
  /** `undefined` = there is no record, or nobody can read it. */
  readonly facts: ClusterFacts | undefined;
  readonly isLeading: boolean;
  /** What people say against it by now. */
  readonly word: EffectError | undefined;
}

/** Why an effect is held back at the last moment, by name, in the order in which it is asked. */
export type LastLook = (
  reading: LastReading,
  about: {
    readonly holds: (facts: ClusterFacts) => boolean;
    readonly now: number;
    /** Of the lease, milliseconds. */
    readonly leftMs: number;
    readonly demandAlone: (isAdopted: boolean) => Promise<void>;
  },
) => void | Promise<void>;

/** @see LastLook */
export const lastLooks = {
  word: ({ word }) => {
    if (word !== undefined) throw word;
  },
  lease: ({ isLeading }) => {
    if (!isLeading) throw new EffectError("NOT_LEADING", "another process holds the lease");
  },
  intent: ({ facts }, { holds }) => {
    if (facts === undefined || !holds(facts))
      throw new EffectError("RECORD_CHANGED", "the ClusterRecord does not hold the intent of this effect any more");
  },
  // Both at once were written by clocks that differ: the snapshot is let end.
  snapshot: ({ facts }, { now }) => {
    if (controlPlaneIntent(facts) !== undefined && snapshotStands(facts, now))
      throw new EffectError("RECORD_CHANGED", `a snapshot is being taken from ${facts.snapshot.machine}`);
  },
  oneOperator: async ({ facts }, { demandAlone }) => {
    const isAdopted = facts?.importedAt !== undefined;
    if (isAdopted || (facts?.intents.length ?? 0) > 0) await demandAlone(isAdopted);
  },
  timeLeft: (_reading, { leftMs }) => {
    if (leftMs < 1_000) throw new EffectError("NOT_LEADING", "the lease ends before the effect could be answered");
  },
} as const satisfies Readonly<Record<string, LastLook>>;

/** The last check before a send: do we still lead, and does the record still say what the decision was made on? */
export interface Guard {
  /**
   * Reads lease and record live, and whether the cluster is still to be reconciled as late as that is known. Effects of one pass that ask at the same time share one reading.
   *
   * @returns the deadline of the effect in milliseconds, below what is left of the lease
   * @throws EffectError `NOT_LEADING`, `RECORD_CHANGED`, `MODE_CHANGED`, `ANOTHER_OPERATOR`
   */
  check(holds: (facts: ClusterFacts) => boolean): Promise<number>;
  /**
   * So many effects that run together are about to ask: the reading begins when all have asked, or some ended without, {@link GATHER_MS} after the first asked at the
   * latest. It begins after each one's own questions to its machine, as if that effect were alone.
   *
   * @returns what is called when one of them ended
   */
  gather(effects: number): () => void;
}

/** Effects that wait for each other before lease and record are read for all of them. */
interface Gathering {
  asked: number;
  ended: number;
  readonly expected: number;
  readonly all: Promise<void>;
  readonly begin: () => void;
  timer: ScheduledTimer | undefined;
}

/**
 * @param demandReconciled fails when people want the cluster to be left alone
 * @param demandAlone fails while another operator is at work; asked before what disturbs machines, and before everything on a cluster that others made
 * @param looks default: all
 */
export function createGuard(
  key: ObjectKey,
  client: KubeClient,
  leading: Leading,
  demandReconciled: () => Promise<void>,
  demandAlone: (isAdopted: boolean) => Promise<void>,
  timers: Timers,
  clock: Clock,
  looks: Readonly<Record<string, LastLook>> = lastLooks,
): Guard {
  let reading: Promise<LastReading> | undefined;
  let gathering: Gathering | undefined;
  const beginWhenAll = (): void => {
    if (gathering !== undefined && gathering.asked + gathering.ended >= gathering.expected) gathering.begin();
  };
  const gathered = async (): Promise<void> => {
    if (gathering === undefined) return;
    const { all, begin } = gathering;
    gathering.asked += 1;
    gathering.timer ??= timers.schedule(GATHER_MS, begin);
    beginWhenAll();
    await all;
  };
  const read = async (): Promise<LastReading> => {
    const [record, isLeading, word] = await Promise.all([
      client.resource<ClusterRecord>(clusterRecordResource).tryGet(key),
      leading.confirm(),
      wordOf(demandReconciled),
    ]);
    return { facts: record === undefined ? undefined : readRecord(record)?.facts, isLeading, word };
  };
  return {
    gather(effects) {
      const { promise: all, resolve } = Promise.withResolvers<void>();
      const own: Gathering = {
        asked: 0,
        ended: 0,
        expected: effects,
        all,
        begin() {
          own.timer?.cancel();
          if (gathering === own) gathering = undefined;
          resolve();
        },
        timer: undefined,
      };
      if (effects > 1) gathering = own;
      return () => {
        own.ended += 1;
        if (gathering === own) beginWhenAll();
      };
    },
    async check(holds) {
      await gathered();
      if (reading === undefined) {
        const begun = read();
        reading = begun;
        const forget = (): void => {
          if (reading === begun) reading = undefined;
        };
        begun.then(forget, forget);
      }
      const last = await reading;
      for (const look of Object.values(looks)) await look(last, { holds, now: clock.now(), leftMs: leftOf(leading), demandAlone });
      return Math.min(LONGEST_EFFECT_MS, leftOf(leading));
    },
  };
}

/** Of the lease, without the margin. */
function leftOf(leading: Leading): number {
  return leading.remainingMs() - LEASE_MARGIN_MS;
}

/** What a demand fails with. */
async function wordOf(demand: () => Promise<void>): Promise<EffectError | undefined> {
  try {
    await demand();
    return undefined;
  } catch (thrown) {
    if (isEffectError(thrown)) return thrown;
    throw thrown;
  }
}
