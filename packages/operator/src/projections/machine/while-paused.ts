import type { ReconcileMode } from "@talos-operator/api";

/** How often it is asked whether a cluster that is to be taken over has a record by now. */
const RECORD_AGAIN_MS = 10_000;

/**
 * When a machine that is left alone is looked at again without an event, `undefined` = not at all.
 *
 * The end of a pause is an event. That this process has read the record of a cluster that was taken over is none.
 *
 * @param modes the words that pause it; at least one
 */
export function againWhilePaused(modes: readonly ReconcileMode[]): { readonly requeueAfterMs: number } | undefined {
  return modes.every((mode) => mode === "import") ? { requeueAfterMs: RECORD_AGAIN_MS } : undefined;
}
