import { EffectError } from "../errors.ts";
import { findBundles } from "../procedures/import/found-bundles.ts";
import { stored } from "../planning/step-of.ts";
import { writtenConfig } from "../spec/written-config.ts";
import { defineEffect } from "./define.ts";
import type { Sending } from "./define.ts";
import { lease } from "./lease.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Copies the keys of a cluster that runs already. Create-only; only keys with this fingerprint. */
    TakeBundle: { readonly secret: string; readonly ifFingerprint: string };
  }
}

/** The keys where they are found now. */
const foundNow = ({ effects: { client, seen } }: Sending) =>
  findBundles(client, seen.controlPlane, { written: seen.adoption?.isAsked === true ? writtenConfig(seen) : undefined });

/**
 * Copies the keys of a running cluster into a Secret of ours, create-only. They are read again, and must be those that were verified; where they were found
 * they stay, so that there is a way back.
 */
export const takeBundle = defineEffect("TakeBundle", {
  inventory: "K1",
  at: "objects",
  disrupts: "nothing",
  before: {
    verifiedKeys: async (sending) => {
      const { places, bundle } = await sending.ask(foundNow);
      if (bundle === undefined || places.some((place) => place.fingerprint !== sending.action.ifFingerprint))
        throw new EffectError("PRECONDITION_GONE", "the keys that were found are not those that were verified");
    },
    oneOperator: ({ effects }) => effects.demandAlone(true),
    lease,
  },
  async carryOut(sending) {
    const { action, effects } = sending;
    const { seen, session, bundles, log } = effects;
    const { namespace, name } = seen.controlPlane.metadata;
    const { bundle } = await sending.ask(foundNow);
    if (bundle === undefined) return;
    log.info({ action: "TakeBundle", secretName: action.secret }, "Taking over the secrets bundle");
    await bundles.create({ namespace, name: action.secret }, name, bundle);
    session.bundle = undefined;
    effects.event("Imported", "TakeBundle", `Copied the cluster's keys into Secret ${action.secret}.`);
  },
  step: ({ secret }) => stored(secret, (named) => `Copy the keys of the running cluster into Secret ${named}.`),
  afterwards(seen, { ifFingerprint }) {
    const clusterId = seen.adoption?.places?.[0]?.clusterId ?? "";
    return { ...seen, bundle: { kind: "present", value: { fingerprint: ifFingerprint, clusterId, isOurs: true, isDeleting: false } } };
  },
});
