import { KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeApiErrorCode } from "@talos-operator/kube-runtime";

/** What the API server answers that it answers again: a right, a quota, an admission rule or a size is in the way, and only a person changes that. */
const REFUSALS: ReadonlySet<KubeApiErrorCode> = new Set(["FORBIDDEN", "UNAUTHORIZED", "INVALID", "BAD_REQUEST", "TOO_LARGE"]);

/** True for a call that the API server refuses, and goes on refusing until somebody changes something. */
export function isRefusedWrite(thrown: unknown): thrown is KubeApiError {
  return thrown instanceof KubeApiError && REFUSALS.has(thrown.code);
}
