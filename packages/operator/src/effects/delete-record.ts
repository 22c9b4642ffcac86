import { clusterRecordResource, finalizers } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import { deleteExactly, removeFinalizer } from "@talos-operator/kube-runtime";
import { stored } from "../planning/step-of.ts";
import { defineEffect } from "./define.ts";
import type { Sending } from "./define.ts";
import { lease } from "./lease.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Only the very record that was seen: one of its name may be a new cluster's by now. */
    DeleteRecord: { readonly ifUid: string | undefined };
  }
}

/** The record as it is stored now. */
const recordNow = async ({ effects: { client, seen, session } }: Sending) => {
  const { namespace = "", name } = seen.controlPlane.metadata;
  const record = await client.resource<ClusterRecord>(clusterRecordResource).tryGet({ namespace, name });
  session.record = undefined;
  return record;
};

/** Removes what is written down of a cluster that is gone. */
export const deleteRecord = defineEffect("DeleteRecord", {
  inventory: "K2",
  at: "objects",
  disrupts: "nothing",
  before: {
    lease,
    sameRecord: async (sending) => {
      const record = await sending.ask(recordNow);
      return record === undefined || record.metadata.uid === sending.action.ifUid ? undefined : "not-now";
    },
  },
  async carryOut(sending) {
    const record = await sending.ask(recordNow);
    if (record === undefined) return;
    const records = sending.effects.client.resource<ClusterRecord>(clusterRecordResource);
    await removeFinalizer(records, record, finalizers.clusterRecord, { signal: sending.effects.signal });
    await deleteExactly(records, record);
  },
  step: () => stored("ClusterRecord", (named) => `Remove the ${named}.`),
  afterwards: (seen) => ({ ...seen, record: { kind: "absent" } }),
});
