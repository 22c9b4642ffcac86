import { finalizers } from "@talos-operator/api";
import type { Action, Rule } from "../model.ts";

/** Before anything outside Kubernetes exists, the objects that guard it carry their finalizers. */
export const keepFinalizers: Rule = {
  name: "keepFinalizers",
  decide(seen) {
    const actions: Action[] = [];
    if (!(seen.controlPlane.metadata.finalizers ?? []).includes(finalizers.talosControlPlane))
      actions.push({ kind: "AddFinalizer", object: { kind: "TalosControlPlane", name: seen.controlPlane.metadata.name } });
    return actions.length === 0
      ? undefined
      : { actions, waiting: { reason: "WaitingForMachines", message: "The cluster was just seen; its objects are being made." } };
  },
};
