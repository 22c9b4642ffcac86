import { stored } from "../planning/step-of.ts";
import { defineEffect } from "./define.ts";
import { lease } from "./lease.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Only the keys that were seen there. */
    DeleteBundle: { readonly secret: string; readonly ifFingerprint: string };
  }
}

/** Removes the keys of a cluster that is gone. Those of a cluster that has its name by now stay. */
export const deleteBundle = defineEffect("DeleteBundle", {
  inventory: "K1",
  at: "objects",
  disrupts: "nothing",
  before: { lease },
  async carryOut({ action: { secret, ifFingerprint }, effects: { bundles, seen, session } }) {
    await bundles.delete({ namespace: seen.controlPlane.metadata.namespace ?? "", name: secret }, ifFingerprint);
    session.bundle = undefined;
  },
  step: ({ secret }) => stored(secret, (named) => `Remove the cluster's keys: Secret ${named}.`),
  afterwards: (seen) => ({ ...seen, bundle: { kind: "absent" } }),
});
