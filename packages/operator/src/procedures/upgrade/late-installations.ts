import { FactsDraft } from "../../record/facts-draft.ts";
import { isUpgrade } from "../../record/upgrades.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { ClusterFacts } from "../../model/record.ts";

/**
 * An installer goes on without its caller, and may be done long after anybody waits for it. What is on a machine then is what was to be installed in the same boot:
 * a node takes one installation at a time, and its next boot, which is another one, says what that started.
 */
export function withLateInstallations({ seen }: Assessment, facts: ClusterFacts): ClusterFacts {
  const pending = facts.machines.filter(({ name, installing }) => installing !== undefined && !isBusy(facts, name));
  if (pending.length === 0) return facts;
  const draft = new FactsDraft(facts);
  for (const { installing, ...fact } of pending) {
    const config = seen.configs?.get(fact.name);
    if (config?.kind !== "known" || installing === undefined) continue;
    const isSameBoot = config.bootId === installing.bootId;
    const isThere = isSameBoot && config.talos?.fallback !== undefined;
    if (isSameBoot && !isThere) continue;
    draft.put(isThere ? { ...fact, installed: installing } : fact);
    const message = `Talos ${installing.version} is installed on ${fact.name} after all, beside ${installing.before}.`;
    if (isThere) draft.decide({ at: seen.now, action: "InstallTalos", reason: "Installed", machine: fact.name, message });
  }
  return draft.facts();
}

function isBusy({ intents }: ClusterFacts, name: string): boolean {
  return intents.some((intent) => intent.machine === name && isUpgrade(intent));
}
