import { integer } from "../schema/field.ts";

/**
 * The generation that the status speaks of: what a pass read and judged. Paused objects keep the one from before the pause.
 *
 * @see sigs.k8s.io/cli-utils `pkg/kstatus`: another one than `metadata.generation` means that the status is out of date
 */
export const observedGenerationField = integer({
  description: "The metadata.generation that the status speaks of; -1 before the first status.",
  format: "int64",
});

/** A status that nobody has written yet speaks of no generation: tools would take an object without one for finished. */
export const notObservedYet = { observedGeneration: -1 } as const;
