import { withDecisions, machineFact, mayHoldConfig } from "../../record/facts.ts";
import { asMade } from "../../spec/fixed-properties.ts";
import { configHashOf } from "../configure/config-hash.ts";
import { afterMove, endpointWish, namedEndpoint } from "./wish.ts";
import type { Observed } from "../../model/observation.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Rule } from "../../model/decision.ts";

/**
 * Brings another endpoint into force, in two steps that the record holds: control planes are given it once it was seen to lead to this cluster; clients and workers
 * once every control plane has it, and it answers them by its name. Configurations follow as with any change of settings.
 */
export const moveEndpoint: Rule = {
  name: "moveEndpoint",
  decide({ seen }) {
    if (seen.record.kind !== "present") return undefined;
    const { facts, resourceVersion } = seen.record.value;
    const next = moved(seen, facts);
    if (next === undefined) return undefined;
    return { actions: [{ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: next, why: "EndpointMoved" }] };
  },
};

/** The record after the next step; `undefined` = there is none to be taken. */
function moved(seen: Observed, facts: ClusterFacts): ClusterFacts | undefined {
  const { nextEndpoint, ...rest } = facts;
  const wish = endpointWish(seen);
  const decided = (next: ClusterFacts, message: string): ClusterFacts =>
    withDecisions(next, { at: seen.now, action: "MoveEndpoint", reason: "SettingsChanged", message });
  if (nextEndpoint !== undefined && isTakenBack(seen, facts))
    return decided(rest, `Control planes are not given ${nextEndpoint} any more.`);
  if (wish.kind !== "asked" || !leadsHere(seen, wish.url)) return undefined;
  if (nextEndpoint === undefined)
    return decided({ ...facts, nextEndpoint: wish.url }, `${wish.url} leads to this cluster: control planes are given it.`);
  if (controlPlanesWithout(seen, facts).length > 0) return undefined;
  return decided(afterMove(facts, wish), `Every control plane has ${nextEndpoint}: clients and workers follow from ${facts.endpoint}.`);
}

/** The spec names another one by now, or the one that is in force. What is wrong with a spec, or was not read of it, takes nothing back. */
function isTakenBack(seen: Observed, { nextEndpoint }: ClusterFacts): boolean {
  const isRead = !seen.machines.some(({ declared }) => declared.role === "controlplane" && declared.isConfigUnknown === true);
  return isRead && seen.problems.length === 0 && namedEndpoint(seen) !== nextEndpoint;
}

function leadsHere({ nextEndpoint }: Observed, url: string): boolean {
  return nextEndpoint?.url === url && nextEndpoint.seen.kind === "answered" && nextEndpoint.seen.answer.kind === "reached";
}

/** Control planes that do not run the endpoint yet that they are being given. */
export function controlPlanesWithout({ controlPlane: { spec }, machines }: Observed, facts: ClusterFacts): readonly string[] {
  if (spec === undefined) return [];
  const made = asMade(spec, facts);
  return machines.flatMap(({ declared }) => {
    const fact = machineFact(facts, declared.name);
    const isWithout = declared.role === "controlplane" && mayHoldConfig(fact) && fact.configHash !== configHashOf(declared, made, facts);
    return isWithout ? [declared.name] : [];
  });
}
