import { annotations, conditionFor, finalizers, reconcileModeOf } from "@talos-operator/api";
import type { ReasonOf } from "@talos-operator/api";
import { assessImport } from "./assess.ts";
import { composedPools } from "../compose/composed-pools.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed } from "../../model/observation.ts";
import type { Rule } from "../../model/decision.ts";
import type { Verdict } from "../../model/plans.ts";

const takingOver = {
  reason: "ImportPending",
  message: "The cluster is being taken over; its machines are left as they are.",
} as const;

/** How often a cluster that is to be taken over is verified anew. */
const LOOK_AGAIN_MS = 5_000;

/**
 * Takes over a cluster that runs and that the record does not know: reads and verifies first, tells the differences, and begins only when there are none or
 * a person approved exactly these. Until then nothing is written but the status. It never bootstraps etcd and never makes keys.
 */
export const importCluster: Rule = {
  name: "importCluster",
  decide(assessed) {
    const { seen } = assessed;
    const { adoption } = seen;
    if (adoption === undefined) return undefined;
    if (seen.controlPlane.metadata.deletionTimestamp !== undefined) return deletion(seen);
    const state = assessImport(assessed, adoption);
    switch (state.kind) {
      case "verifying":
        return stop(
          seen,
          "Verifying",
          `The running cluster is being verified; nothing is sent or made. Not known yet: ${state.pending.join("; ")}.`,
        );
      case "refused":
        return stop(seen, state.reason, `The cluster is not taken over, and nothing is sent or made. ${state.blockers.join(" ")}`);
      case "verified": {
        const approved = seen.controlPlane.metadata.annotations?.[annotations.importApprove];
        if (state.differences.length > 0 && approved !== state.hash) {
          const isStale = approved !== undefined && approved !== "";
          return stop(
            seen,
            "ApprovalRequired",
            `The cluster is verified. These differences were found:\n${state.differences.map((line, index) => `${index + 1}. ${line}`).join("\n")}\n${isStale ? `The approval ${approved.slice(0, 64)} was for other differences. ` : ""}Annotate the TalosControlPlane with ${annotations.importApprove}: ${state.hash} to take it over as it is, or remove the differences.`,
          );
        }
        const guards = missingFinalizers(seen);
        if (guards.length > 0) return { actions: guards, waiting: takingOver };
        const secret = state.facts.bundle.secretName;
        const take: readonly Action[] =
          seen.bundle.kind === "present" && seen.bundle.value.fingerprint === state.bundle.fingerprint
            ? []
            : [{ kind: "TakeBundle", secret, ifFingerprint: state.bundle.fingerprint }];
        const answer: readonly Action[] =
          approved === undefined
            ? []
            : [
                {
                  kind: "AnswerAnnotation",
                  annotation: annotations.importApprove,
                  value: approved,
                  answer: `The cluster was taken over with the differences that ${annotations.importApprove} approved; the annotation acts once and is removed.`,
                },
              ];
        return {
          actions: [...take, { kind: "WriteRecord", ifResourceVersion: undefined, facts: state.facts, why: "Imported" }, ...answer],
          waiting: takingOver,
        };
      }
    }
  },
};

/**
 * What is taken over is guarded first, pools too: whoever waits for the takeover to delete the cluster is faster than the pass that follows, and the machines of a
 * pool that is gone are nobody's.
 */
function missingFinalizers(seen: Observed): readonly Action[] {
  const { name, finalizers: held = [] } = seen.controlPlane.metadata;
  const own: readonly Action[] = held.includes(finalizers.talosControlPlane)
    ? []
    : [{ kind: "AddFinalizer", object: { kind: "TalosControlPlane", name } }];
  const pools = composedPools(seen).filter(
    ({ metadata }) =>
      !(metadata.finalizers ?? []).includes(finalizers.talosWorker) && ["reconcile", "import"].includes(reconcileModeOf(metadata)),
  );
  return [...own, ...pools.map(({ metadata }): Action => ({ kind: "AddFinalizer", object: { kind: "TalosWorker", name: metadata.name } }))];
}

/** Nothing of it is ours yet: a wipe that was asked for cannot be done, and is not silently left out. */
function deletion(seen: Observed): Verdict | undefined {
  if ((seen.controlPlane.spec?.deletionPolicy ?? "reset") === "preserve") return undefined;
  const message =
    "The cluster was not taken over yet, so its machines are not wiped. Set deletionPolicy to preserve to let the objects go and leave the machines as they are.";
  return {
    actions: [],
    waiting: { reason: "Deleting", message },
    conditions: [conditionFor("Deleting", "Blocked", message, seen.controlPlane.metadata.generation)],
    requeueAfterMs: LOOK_AGAIN_MS,
  };
}

function stop(seen: Observed, reason: ReasonOf<"Imported">, message: string): Verdict {
  return {
    actions: [],
    waiting: { reason: "ImportPending", message },
    conditions: [conditionFor("Imported", reason, message, seen.controlPlane.metadata.generation)],
    requeueAfterMs: LOOK_AGAIN_MS,
  };
}
