import { withoutDiscovery } from "../bootstrap/endpoint-founder.ts";
import { factsOf } from "../../record/facts.ts";
import { writtenConfig } from "../../spec/written-config.ts";
import type { Observed } from "../../model/observation.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** What is to become of the endpoint of a running cluster. */
export type EndpointWish =
  /** It stays as it is. */
  | { readonly kind: "none" }
  /** Another one is asked for, and cannot be had. */
  | { readonly kind: "refused"; readonly url: string; readonly without: readonly string[] }
  /** It is asked for: once it leads to this cluster, machines get it. */
  | { readonly kind: "asked"; readonly url: string };

/** What the spec asks for. Without discovery control planes that join look for etcd at the endpoint, and so it stays where etcd was found. */
export function endpointWish(seen: Observed): EndpointWish {
  const facts = factsOf(seen);
  const url = facts === undefined ? undefined : anotherEndpoint(seen, facts);
  if (facts === undefined || url === undefined) return { kind: "none" };
  const without = facts.nextEndpoint === url ? [] : withoutDiscovery(seen, facts);
  return without.length === 0 ? { kind: "asked", url } : { kind: "refused", url, without };
}

/** Another endpoint than the one in force that the spec names, or the config that it refers to. */
function anotherEndpoint(seen: Observed, facts: ClusterFacts): string | undefined {
  const { controlPlane, mode, problems } = seen;
  const url = namedEndpoint(seen);
  if (url === "" || url === facts.endpoint || facts.endpoint === "") return undefined;
  const isGoing = controlPlane.metadata.deletionTimestamp !== undefined;
  return facts.bootstrapDone === undefined || mode !== "reconcile" || isGoing || problems.length > 0 ? undefined : url;
}

/** What the spec names, else the config that it refers to; empty = neither names one. */
export function namedEndpoint(seen: Observed): string {
  const own = seen.controlPlane.spec?.endpoint ?? "";
  return own === "" ? (writtenConfig(seen)?.endpoint ?? "") : own;
}

/** The record once an endpoint that is asked for is in force. */
export function afterMove(facts: ClusterFacts, wish: EndpointWish): ClusterFacts {
  if (wish.kind !== "asked") return facts;
  const { nextEndpoint: _next, formerEndpoints = [], ...rest } = facts;
  return { ...rest, endpoint: wish.url, formerEndpoints: [...new Set([...formerEndpoints, facts.endpoint])] };
}
