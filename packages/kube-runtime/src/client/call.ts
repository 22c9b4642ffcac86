import type { KubeCallOptions, KubeRequest, KubeResponse } from "@talos-operator/ports";
import { type CallSubject, callText, isRead } from "./error-of-response.ts";
import { KubeApiError } from "./kube-api-error.ts";

/** Sends one request, with its retries. @throws KubeApiError for every answer of 400 or more, and for none */
export type Call = (request: KubeRequest, options: KubeCallOptions, subject: CallSubject) => Promise<KubeResponse>;

/** The part of richer options that a transport understands. */
export function callOptions(options: KubeCallOptions): KubeCallOptions {
  return {
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  };
}

/** Error of a call that got no answer. */
export function givenUp(thrown: unknown, signal: AbortSignal | undefined, subject: CallSubject): KubeApiError {
  const call = callText(subject);
  if (signal?.aborted === true && !(thrown instanceof KubeApiError)) {
    return new KubeApiError("CANCELED", { call, detail: "the caller gave the call up", cause: thrown });
  }
  return KubeApiError.from(thrown, call, isRead(subject));
}
