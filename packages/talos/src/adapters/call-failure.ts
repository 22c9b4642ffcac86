import type { TalosCallFailure } from "@talos-operator/ports";

import type { SeenConnectFailure } from "./tls-credentials.ts";

/** Sizes beyond what any Talos message can have are bytes of another protocol read as a length, for example a proxy's "404 ". */
const MAX_BELIEVABLE_BYTES = 256 * 1024 * 1024;

/**
 * A failed call as the port describes it.
 *
 * What TLS found out is attached when grpc-js reports that very attempt: it has no field for the cause, but quotes its message.
 * Two more facts exist only as text of grpc-js (1.14.7): an HTTP status instead of a gRPC one, and the announced size of a message.
 */
export function callFailure(
  code: number,
  details: string,
  connectFailure: SeenConnectFailure | undefined,
  timeoutMs?: number,
): TalosCallFailure {
  const isThatAttempt = connectFailure !== undefined && connectFailure.quoted !== "" && details.includes(connectFailure.quoted);
  const facts = isThatAttempt ? connectFailure : undefined;
  const announced = /larger than max \((\d+) vs/.exec(details)?.[1];
  const isForeign =
    facts?.peer === "not-grpc" ||
    /^Received HTTP status code \d+/.test(details) ||
    (announced !== undefined && Number(announced) > MAX_BELIEVABLE_BYTES);
  return Object.assign(new Error(facts?.text ?? steadyText(details, timeoutMs)), {
    name: "TalosCallFailure" as const,
    code,
    ...(facts?.tls === undefined ? {} : { tls: facts.tls }),
    ...(facts?.byTime === undefined ? {} : { byTime: facts.byTime }),
    ...(isForeign ? { peer: "not-grpc" as const } : {}),
  });
}

/**
 * The reason without what differs from one attempt to the next, because it ends up in conditions and must not rewrite them each time:
 * `No connection established. Last error: Error: connect ECONNREFUSED ... (2026-...). Resolution note: ` and
 * `Deadline exceeded after 0.102s,name resolution: 0.001s,...`.
 */
function steadyText(details: string, timeoutMs: number | undefined): string {
  if (timeoutMs !== undefined && details.startsWith("Deadline exceeded after ")) return `no answer within ${timeoutMs} ms`;
  const reason = /Last error: (?:Error: )?(.*)$/s.exec(details)?.[1] ?? details;
  return reason
    .replace(/\.? ?Resolution note: *$/, "")
    .replace(/ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)/, "")
    .trim();
}
