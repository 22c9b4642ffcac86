import { conditionFor } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";
import { KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeApiErrorCode } from "@talos-operator/kube-runtime";
import { withOutlook } from "./outlook.ts";

/** What the API server answers that it answers again: a right, a quota, an admission rule or a size is in the way, and only a person changes that. */
const REFUSALS: ReadonlySet<KubeApiErrorCode> = new Set(["FORBIDDEN", "UNAUTHORIZED", "INVALID", "BAD_REQUEST", "TOO_LARGE"]);

/** Most characters of what the server said. */
const LONGEST = 1_024;

/** True for a call that the API server refuses, and goes on refusing until somebody changes something. */
export function isRefusedWrite(thrown: unknown): thrown is KubeApiError {
  return thrown instanceof KubeApiError && REFUSALS.has(thrown.code);
}

/**
 * The conditions of a pass whose effects the API server refused: `Ready` and `Progressing` say so, in place of what would have come of them. The words of the
 * server about Secrets are not in the error, for they may quote values.
 */
export function withRefusal(
  conditions: readonly ConditionInput[],
  failure: unknown,
  generation: number | undefined,
): readonly ConditionInput[] {
  return withRefusalWords(conditions, isRefusedWrite(failure) ? failure.message : undefined, generation);
}

/** The same with what the server said. @param refusal `undefined` = it refused nothing */
export function withRefusalWords(
  conditions: readonly ConditionInput[],
  refusal: string | undefined,
  generation: number | undefined,
): readonly ConditionInput[] {
  if (refusal === undefined) return conditions;
  const words = `The API server refuses what has to be written next, and nothing is done without it: ${refusal.slice(0, LONGEST)}`;
  const ready = conditionFor("Ready", "WriteRefused", withOutlook({ reason: "WriteRefused", message: words }), generation);
  const progressing = conditionFor("Progressing", "Blocked", "See Ready.", generation);
  return conditions.map((one) => (one.type === "Ready" ? ready : one.type === "Progressing" ? progressing : one));
}

/** Does what has to be written, and tells people first when the API server refuses it. @throws whatever `write` throws */
export async function tellingRefusals<T>(write: () => Promise<T>, tell: (refusal: KubeApiError) => Promise<unknown>): Promise<T> {
  try {
    return await write();
  } catch (thrown) {
    if (isRefusedWrite(thrown)) await tell(thrown);
    throw thrown;
  }
}
