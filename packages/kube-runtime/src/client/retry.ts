import type { KubeCallOptions, KubeRequest, KubeResponse, RandomSource, Timers } from "@talos-operator/ports";
import { parseStatus, retryAfterOf } from "./error-of-response.ts";
import type { FlowControl } from "./flow-control.ts";

/** When and how often an answer of 429 or 503 is asked again. */
export interface RetryPolicy {
  /** Attempts in all, the first included. Default 4. */
  readonly maxAttempts?: number;
  /** First wait without `Retry-After`, doubling. Default 200. */
  readonly baseDelayMs?: number;
  /** A longer `Retry-After` is not waited for: the error goes to the caller, who has better things to do. Default 10_000. */
  readonly maxDelayMs?: number;
}

/** What retries need. */
export interface RetryPorts {
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly retry?: RetryPolicy;
  /** Limits what this client sends, watches not counted. Default: no limit; the server's priority and fairness decides. */
  readonly flowControl?: FlowControl;
}

/**
 * Sends, and sends again after 429 and 503 when repeating cannot do harm: GET, PUT, DELETE, apply and merge patches.
 * A POST or a JSON patch is sent once. An answer that did not arrive is never repeated here: only the caller can look first.
 */
export async function sendWithRetry(
  send: (request: KubeRequest, options: KubeCallOptions) => Promise<KubeResponse>,
  request: KubeRequest,
  options: KubeCallOptions,
  ports: RetryPorts | undefined,
): Promise<KubeResponse> {
  const { maxAttempts = 4, baseDelayMs = 200, maxDelayMs = 10_000 } = ports?.retry ?? {};
  for (let attempt = 1; ; attempt += 1) {
    const response = await send(request, options);
    if (ports === undefined || attempt >= maxAttempts || !isBusy(response.status) || !isIdempotent(request)) return response;
    const asked = retryAfterOf(response.headers, parseStatus(response.body));
    if (asked !== undefined && asked > maxDelayMs) return response;
    const own = Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1));
    // Jitter only ever adds to what the server asked for: all clients were told the same second.
    const delay = asked === undefined ? own * (0.5 + ports.random.fraction() / 2) : asked + own * ports.random.fraction();
    await ports.timers.sleep(delay, options.signal);
  }
}

function isBusy(status: number): boolean {
  return status === 429 || status === 503;
}

function isIdempotent(request: KubeRequest): boolean {
  return request.method === "PATCH" ? request.headers?.["content-type"] !== "application/json-patch+json" : request.method !== "POST";
}
