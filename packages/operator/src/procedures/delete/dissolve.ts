import { annotations } from "@talos-operator/api";
import { waits } from "./waits.ts";
import { policyOf } from "./whom-to-wipe.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed } from "../../model/observation.ts";
import type { Verdict } from "../../model/plans.ts";

/**
 * Everything of the cluster is gone: keys and memory go too, unless the machines were left running. That the machines are wiped is written on the object first:
 * a process that ends after the record is gone leaves nothing else that says so.
 */
export function dissolve(seen: Observed): Verdict {
  const actions: Action[] = [];
  if (policyOf(seen) === "reset" && seen.record.kind === "present") {
    if (!isSaidWiped(seen))
      return {
        ...waits("WaitingForChildren", seen, "Every machine is wiped. The record and the keys of the cluster go next."),
        actions: [{ kind: "ConfirmWiped" }],
        requeueAfterMs: 1_000,
      };
    const { facts, metadata } = seen.record.value;
    const { secretName: secret, fingerprint } = facts.bundle;
    const ifFingerprint = seen.bundle.kind === "present" ? seen.bundle.value.fingerprint : fingerprint;
    if (seen.bundle.kind !== "absent") actions.push({ kind: "DeleteBundle", secret, ifFingerprint });
    actions.push({ kind: "DeleteRecord", ifUid: metadata.uid });
  }
  actions.push({ kind: "RemoveFinalizer", object: { kind: "TalosControlPlane", name: seen.controlPlane.metadata.name } });
  return { ...waits("WaitingForChildren", seen, "Everything made for this cluster is gone."), actions };
}

/** The operator said of this very object that its machines are wiped. */
export function isSaidWiped({ controlPlane: { metadata } }: Observed): boolean {
  return metadata.uid !== undefined && metadata.annotations?.[annotations.machinesWiped] === metadata.uid;
}
