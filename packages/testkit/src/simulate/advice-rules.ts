import { conditionCatalogue, type ConditionEntry } from "@talos-operator/api";
import type { KubeRequest } from "@talos-operator/ports";
import type { Report } from "./violation.ts";
import { NAMESPACE } from "./scenario.ts";

const catalogue: Readonly<Record<string, ConditionEntry | undefined>> = conditionCatalogue;

/** What a machine does not survive, or what gives it up. */
const DESTROYS =
  /\b(reset (it|that|the|them)\b|wipe (it|that|the|them)\b|into maintenance mode|remove (it|the entry|one of the two)|take (it|its machine|the machine|them) out|abandon-machine|approve-reprovision)/i;

interface Told {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly reason?: string; readonly message?: string }[] };
  readonly note?: string;
}

/**
 * S35 of what the operator writes while the keys of a cluster that stays are away: neither a condition, nor what the catalogue says to its reason, nor an event
 * tells anybody to reset a machine, or to give it up. The keys may come back, and a machine that was wiped meanwhile does not.
 */
export function judgeAdvice({ method, path, body }: KubeRequest, report: Report): void {
  if (method === "GET" || !path.includes(`/namespaces/${NAMESPACE}/`)) return;
  const { status, note } = (body ?? {}) as Told;
  for (const { type, reason = "", message = "" } of status?.conditions ?? []) {
    const words = [message, catalogue[type]?.reasons[reason]?.next ?? ""].find((one) => DESTROYS.test(one));
    if (words !== undefined) report("S35", `${path}: ${type} ${reason} says while the keys are away: ${words}`);
  }
  if (note !== undefined && DESTROYS.test(note)) report("S35", `an event says while the keys are away: ${note}`);
}
