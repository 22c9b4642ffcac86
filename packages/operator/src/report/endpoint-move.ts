import { annotations, conditionFor } from "@talos-operator/api";
import type { ConditionInput, ReasonOf } from "@talos-operator/api";
import type { EndpointAnswer } from "@talos-operator/ports";
import { factsOf, machineFact, mayHoldConfig } from "../record/facts.ts";
import { controlPlanesWithout } from "../procedures/endpoint/rule.ts";
import { endpointWish } from "../procedures/endpoint/wish.ts";
import type { Observed } from "../model/observation.ts";
import type { Said } from "../model/plans.ts";
import type { ClusterFacts } from "../model/record.ts";
import { listed } from "./listed.ts";

/** How far the cluster is on its way to another endpoint, and what is in the way; nothing while the spec asks for none. */
export function endpointMove(seen: Observed): readonly ConditionInput[] {
  const facts = factsOf(seen);
  const said = facts === undefined ? undefined : moveState(seen, facts);
  return said === undefined ? [] : [conditionFor("EndpointUpToDate", said.reason, said.message, seen.controlPlane.metadata.generation)];
}

function moveState(seen: Observed, facts: ClusterFacts): Said<ReasonOf<"EndpointUpToDate">> | undefined {
  const wish = endpointWish(seen);
  if (wish.kind === "none") return undefined;
  const kept = `The cluster keeps ${facts.endpoint}.`;
  if (wish.kind === "refused")
    return {
      reason: "DiscoveryOff",
      message: `The endpoint does not change without discovery: control planes that join look for etcd there. Off on: ${listed(wish.without, ", ", 3)}. ${kept} Switch discovery on (cluster.discovery.enabled, airGap), or set spec.endpoint back.`,
    };
  const { url } = wish;
  const known = seen.nextEndpoint?.url === url ? seen.nextEndpoint.seen : undefined;
  if (known?.kind === "outside")
    return {
      reason: "OutsideOnly",
      message: `The new endpoint ${url} is not asked: the annotation ${annotations.endpointReachableFrom} says outside. ${kept} Remove the annotation while the endpoint changes, or set spec.endpoint back.`,
    };
  const without = controlPlanesWithout(seen, facts);
  if (facts.nextEndpoint === url && without.length > 0) return following(seen, facts, url, without);
  if (known?.kind !== "answered" || known.answer.kind === "reached" || !known.isSure)
    return { reason: "Asked", message: `The new endpoint ${url} is being asked. ${kept} It changes once ${url} leads to this cluster.` };
  return { reason: "NotReached", message: `The new endpoint ${url} does not lead to this cluster: ${trouble(known.answer)} ${kept}` };
}

function following({ machines }: Observed, facts: ClusterFacts, url: string, without: readonly string[]): Said<"ControlPlanesFollow"> {
  const all = machines.filter(
    ({ declared }) => declared.role === "controlplane" && mayHoldConfig(machineFact(facts, declared.name)),
  ).length;
  return {
    reason: "ControlPlanesFollow",
    message: `Control planes are given the endpoint ${url}, one at a time: ${all - without.length} of ${all} have it. Clients and workers follow when all have it. See the condition ConfigUpToDate.`,
  };
}

const LEAD = "Let it lead to port 6443 of the control planes.";

/** Cause and cure. */
function trouble({ kind, detail }: EndpointAnswer): string {
  switch (kind) {
    case "unresolvable":
      return "its name does not resolve. Create a DNS record that leads to the control planes.";
    case "foreign":
      return `${detail}. Correct its DNS record, virtual IP or load balancer, which must pass TLS through.`;
    case "unfit":
      return `${detail}. Correct the clocks of the control planes, or what ends TLS there.`;
    case "silent":
      return `${detail}, three times in a row. Check its virtual IP or load balancer, and firewalls.`;
    default:
      return `${detail}. ${LEAD}`;
  }
}
