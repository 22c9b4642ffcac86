import { factsOf } from "../record/facts.ts";
import { controlPlanesWithout } from "../procedures/endpoint/rule.ts";
import { endpointWish } from "../procedures/endpoint/wish.ts";
import type { ClusterSession } from "../reconcilers/cluster-session.ts";
import type { Observed } from "../model/observation.ts";

/**
 * Adds what answers at the endpoint that the spec asks for instead of the one in force. Before control planes are given it, their certificates are for other names,
 * which count then as well; from then on it must be one for its own.
 */
export function withNextEndpoint(seen: Observed, session: Pick<ClusterSession, "nextEndpoint" | "kubernetesAuthority">): Observed {
  const { nextEndpoint: watch, kubernetesAuthority } = session;
  // A record that nobody could read says nothing new.
  if (watch === undefined || seen.record.kind === "unknown") return seen;
  const facts = factsOf(seen);
  const wish = endpointWish(seen);
  // Without the keys nobody can say who is there.
  const isOurs = kubernetesAuthority !== undefined && kubernetesAuthority.fingerprint === facts?.bundle.fingerprint;
  if (facts === undefined || wish.kind !== "asked" || !isOurs || seen.endpoint?.kind === "outside") {
    watch.close();
    return wish.kind === "asked" && seen.endpoint?.kind === "outside"
      ? { ...seen, nextEndpoint: { url: wish.url, seen: { kind: "outside" } } }
      : seen;
  }
  const { url } = wish;
  const isGiven = facts.nextEndpoint === url;
  watch.watch(
    { endpoint: url, ca: kubernetesAuthority.certificate, ...(isGiven ? {} : { anyName: true as const }) },
    "steady",
    isGiven ? controlPlanesWithout(seen, facts).join() : "",
  );
  const known = watch.seen();
  return known === undefined ? seen : { ...seen, nextEndpoint: { url, seen: known } };
}
