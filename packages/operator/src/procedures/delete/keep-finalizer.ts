import { finalizers } from "@talos-operator/api";
import { composedPools } from "../compose/composed-pools.ts";
import type { Action } from "../../model/effect.ts";
import type { Rule } from "../../model/decision.ts";

/** Before anything outside Kubernetes exists, the objects that guard it carry their finalizers. */
export const keepFinalizers: Rule = {
  name: "keepFinalizers",
  decide(assessed) {
    const { seen, byName } = assessed;
    const actions: Action[] = [];
    if (!(seen.controlPlane.metadata.finalizers ?? []).includes(finalizers.talosControlPlane))
      actions.push({ kind: "AddFinalizer", object: { kind: "TalosControlPlane", name: seen.controlPlane.metadata.name } });
    const pools = composedPools(seen).filter(({ metadata }) => !(metadata.finalizers ?? []).includes(finalizers.talosWorker));
    for (const { metadata } of pools) actions.push({ kind: "AddFinalizer", object: { kind: "TalosWorker", name: metadata.name } });
    const handMade = seen.machineObjects.filter(
      (object) =>
        object.metadata.deletionTimestamp === undefined &&
        !(object.metadata.finalizers ?? []).includes(finalizers.talosMachine) &&
        byName.get(object.metadata.name)?.declared.isHandMade === true,
    );
    for (const { metadata } of handMade) actions.push({ kind: "AddFinalizer", object: { kind: "TalosMachine", name: metadata.name } });
    return actions.length === 0
      ? undefined
      : { actions, waiting: { reason: "Composing", message: "The cluster was just seen; its objects are being made." } };
  },
};
