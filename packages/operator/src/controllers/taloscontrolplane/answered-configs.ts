import { withMachine } from "./facts.ts";
import type { ClusterFacts } from "./facts.ts";
import type { Observed } from "./model.ts";

/**
 * The facts with what machines took in maintenance mode as applied: it needs not be read back at once to be told from what somebody else changes later.
 *
 * Only what this process sent and they answered to; after a restart it is read back instead.
 */
export function withAnsweredConfigs(facts: ClusterFacts, { sent }: Observed): ClusterFacts {
  return facts.machines.reduce((before, fact) => {
    const text = sent.get(`Configure/${fact.name}`);
    if (text?.outcome !== "answered" || text.configHash === undefined || fact.appliedHash !== undefined) return before;
    if (fact.configuredAt === undefined || fact.releasedAt !== undefined || text.at < fact.configuredAt) return before;
    return withMachine(before, { ...fact, appliedHash: text.configHash });
  }, facts);
}
