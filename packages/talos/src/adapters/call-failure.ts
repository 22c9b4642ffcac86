import type { TalosCallFailure } from "@talos-operator/ports";

import type { ConnectionRecord } from "./tls-credentials.ts";

/** Sizes beyond what any Talos message can have are bytes of another protocol read as a length, for example a proxy's "404 ". */
const MAX_BELIEVABLE_BYTES = 256 * 1024 * 1024;

/**
 * A failed call as the port describes it.
 *
 * What TLS found out is attached when grpc-js reports that very attempt: it has no field for the cause, but quotes its message.
 * Two more facts exist only as text of grpc-js (1.14.7): an HTTP status instead of a gRPC one, and the announced size of a message.
 */
export function callFailure(code: number, details: string, connectFailure: ConnectionRecord["failure"]): TalosCallFailure {
  const isThatAttempt = connectFailure !== undefined && connectFailure.message !== "" && details.includes(connectFailure.message);
  const facts = isThatAttempt ? connectFailure : undefined;
  const announced = /larger than max \((\d+) vs/.exec(details)?.[1];
  const isForeign =
    facts?.peer === "not-grpc" ||
    /^Received HTTP status code \d+/.test(details) ||
    (announced !== undefined && Number(announced) > MAX_BELIEVABLE_BYTES);
  return Object.assign(new Error(facts?.message ?? shortened(details)), {
    name: "TalosCallFailure" as const,
    code,
    ...(facts?.tls === undefined ? {} : { tls: facts.tls }),
    ...(isForeign ? { peer: "not-grpc" as const } : {}),
  });
}

/** grpc-js wraps the reason: `No connection established. Last error: Error: connect ECONNREFUSED ... (2026-...). Resolution note: `. */
function shortened(details: string): string {
  const reason = /Last error: (?:Error: )?(.*)$/s.exec(details)?.[1] ?? details;
  return reason
    .replace(/\.? ?Resolution note: *$/, "")
    .replace(/ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)/, "")
    .trim();
}
