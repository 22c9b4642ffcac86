import { annotations, talosControlPlaneResource } from "@talos-operator/api";
import type { TalosControlPlane } from "@talos-operator/api";
import { stored } from "../planning/step-of.ts";
import { defineEffect } from "./define.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** On the object on its way out, before record and keys go: what is left of the cluster is this object alone. */
    ConfirmWiped: object;
  }
}

/** Writes down, where it outlives the record, that no machine holds anything of this cluster any more. */
export const confirmWiped = defineEffect("ConfirmWiped", {
  inventory: "K7",
  at: "objects",
  disrupts: "nothing",
  async carryOut({ effects }) {
    const { client, seen, signal } = effects;
    const { namespace = "", name, uid } = seen.controlPlane.metadata;
    // With the UID the API server refuses it for another object of this name.
    const value = { metadata: { uid, annotations: { [annotations.machinesWiped]: uid } } };
    const updated = await client
      .resource<TalosControlPlane>(talosControlPlaneResource)
      .patch({ namespace, name }, { type: "merge", value }, { signal });
    return effects.caughtUp("TalosControlPlane", updated.metadata.resourceVersion);
  },
  step: () => stored(annotations.machinesWiped, (named) => `Write down that every machine is wiped: annotation ${named}.`),
  afterwards(seen) {
    const { metadata } = seen.controlPlane;
    const said = { ...metadata.annotations, [annotations.machinesWiped]: metadata.uid ?? "" };
    return { ...seen, controlPlane: { ...seen.controlPlane, metadata: { ...metadata, annotations: said } } };
  },
});
