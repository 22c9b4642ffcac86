import { annotations } from "@talos-operator/api";
import type { Observed, SeenMachine } from "../model/observation.ts";

/** What happens when a drain does not end. */
export interface DrainPolicy {
  /** `Wait`: on and on. `Proceed`: the machine is disturbed after `timeoutMs` all the same. `Skip`: nothing is drained. */
  readonly kind: "Wait" | "Proceed" | "Skip";
  /** Of one drain. Default 10 min; at least one minute. */
  readonly timeoutMs: number;
  /** A sentence about annotations that cannot be understood, which count as absent. */
  readonly objection?: string;
}

const DEFAULT_MS = 10 * 60_000;
const SHORTEST_MS = 60_000;
const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const kinds = ["Wait", "Proceed", "Skip"] as const;

/** The policy for one machine: annotations of the pool that lists it, those of the control plane where the pool has none. */
export function drainPolicyOf(seen: Observed, { declared }: SeenMachine): DrainPolicy {
  const pool = declared.owner.kind === "TalosWorker" ? seen.workers.find((one) => one.metadata.name === declared.owner.name) : undefined;
  const word = (annotation: string): string | undefined =>
    pool?.metadata.annotations?.[annotation] ?? seen.controlPlane.metadata.annotations?.[annotation];
  const policy = word(annotations.drainPolicy);
  const timeout = word(annotations.drainTimeout);
  const kind = kinds.find((one) => one.toLowerCase() === policy?.trim().toLowerCase());
  const timeoutMs = timeout === undefined ? undefined : durationMs(timeout.trim());
  const objections = [
    ...(policy === undefined || kind !== undefined ? [] : [`${annotations.drainPolicy} is none of ${kinds.join(", ")}`]),
    ...(timeout === undefined || timeoutMs !== undefined
      ? []
      : [`${annotations.drainTimeout} is no duration such as 30m, of at least a minute`]),
  ];
  return {
    kind: kind ?? "Wait",
    timeoutMs: timeoutMs ?? DEFAULT_MS,
    ...(objections.length === 0 ? {} : { objection: `Not understood: ${objections.join("; ")}.` }),
  };
}

/** `90s`, `10m`, `1h30m`; `undefined` for anything else, and for less than a minute or more than a week. */
function durationMs(text: string): number | undefined {
  if (!/^(\d{1,6}[smh]){1,3}$/.test(text)) return undefined;
  const parts = text.match(/\d+[smh]/g) ?? [];
  const total = parts.reduce((sum, part) => sum + Number(part.slice(0, -1)) * (unitMs[part.slice(-1)] ?? 0), 0);
  return total >= SHORTEST_MS && total <= 7 * 24 * 3_600_000 ? total : undefined;
}
