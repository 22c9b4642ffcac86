import { clusterRecordResource } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import type { KubeClient, ObjectKey } from "@talos-operator/kube-runtime";
import { EffectError } from "../../../errors.ts";
import type { Leading } from "../../../leading.ts";
import type { ClusterFacts } from "../record/facts.ts";
import { readRecord } from "../record/facts-codec.ts";

/** Longest an effect may take to be answered, when the lease leaves that much. */
const LONGEST_EFFECT_MS = 20_000;

/** Kept between the deadline of an effect and the end of the lease. */
const LEASE_MARGIN_MS = 500;

/** The last check before a send: do we still lead, and does the record still say what the decision was made on? */
export interface Guard {
  /**
   * Reads lease and record live, and whether the cluster is still to be reconciled as late as that is known. Effects of one pass that ask at the same time share one reading.
   *
   * @returns the deadline of the effect in milliseconds, below what is left of the lease
   * @throws EffectError `NOT_LEADING`, `RECORD_CHANGED`, `MODE_CHANGED`, `ANOTHER_OPERATOR`
   */
  check(holds: (facts: ClusterFacts) => boolean): Promise<number>;
}

/**
 * @param demandReconciled fails when people want the cluster to be left alone
 * @param demandAlone fails while another operator is at work; asked before what disturbs machines, and before everything on a cluster that others made
 */
export function createGuard(
  key: ObjectKey,
  client: KubeClient,
  leading: Leading,
  demandReconciled: () => Promise<void>,
  demandAlone: (isAdopted: boolean) => Promise<void>,
): Guard {
  let reading: Promise<ClusterFacts | undefined> | undefined;
  const read = async (): Promise<ClusterFacts | undefined> => {
    const [record, isLeading] = await Promise.all([
      client.resource<ClusterRecord>(clusterRecordResource).tryGet(key),
      leading.confirm(),
      demandReconciled(),
    ]);
    if (!isLeading) throw new EffectError("NOT_LEADING", "another process holds the lease");
    return record === undefined ? undefined : readRecord(record)?.facts;
  };
  return {
    async check(holds) {
      if (reading === undefined) {
        const begun = read();
        reading = begun;
        const forget = (): void => {
          if (reading === begun) reading = undefined;
        };
        begun.then(forget, forget);
      }
      const facts = await reading;
      if (facts === undefined || !holds(facts))
        throw new EffectError("RECORD_CHANGED", "the ClusterRecord does not hold the intent of this effect any more");
      const isAdopted = facts.importedAt !== undefined;
      if (isAdopted || facts.intents.length > 0) await demandAlone(isAdopted);
      const left = leading.remainingMs() - LEASE_MARGIN_MS;
      if (left < 1_000) throw new EffectError("NOT_LEADING", "the lease ends before the effect could be answered");
      return Math.min(LONGEST_EFFECT_MS, left);
    },
  };
}
