import { intentOn } from "../record/facts.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { MachineName } from "../model/machine.ts";
import type { SentEffect } from "../model/observation.ts";

/** An order that takes a machine away for minutes. */
export type UnderWay = "reset" | "reboot";

/** What was ordered of a machine and is not over. A reset is written down before the machine is drained: only once it is sent it is under way. */
export function underWayOn(
  facts: ClusterFacts | undefined,
  sent: ReadonlyMap<string, SentEffect>,
  name: MachineName,
): UnderWay | undefined {
  const what = intentOn(facts, name)?.what;
  if (what === "Reset") return sent.has(`Reset/${name}`) ? "reset" : undefined;
  return what === "Reboot" ? "reboot" : undefined;
}
