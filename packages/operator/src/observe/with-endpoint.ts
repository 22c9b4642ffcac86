import { annotations, canonicalAddress, findCondition } from "@talos-operator/api";
import type { TalosCluster } from "@talos-operator/api";
import { isReadyNode } from "../assess/machine-state.ts";
import { endpointHost } from "../config/endpoint-host.ts";
import { factsOf } from "../record/facts.ts";
import type { EndpointPhase, EndpointWatch } from "../looking/endpoint-watch.ts";
import type { ClusterSession } from "../reconcilers/cluster-session.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { ClusterFacts, IntentKind } from "../model/record.ts";

/** Effects that may take an API server away for a while. */
const DISTURBING: ReadonlySet<IntentKind> = new Set([
  "Reset",
  "RemoveMember",
  "ReplaceMember",
  "ApplyConfig",
  "Reboot",
  "WriteMeta",
  "UpgradeTalos",
]);

/**
 * Adds what answers at the endpoint, and says whether and how often it is to be asked. Asked from the bootstrap on, of a cluster that is neither paused nor deleted.
 *
 * @param cluster the TalosCluster that made the control plane
 */
export function withEndpoint(
  seen: Observed,
  session: Pick<ClusterSession, "endpoint" | "kubernetesAuthority">,
  cluster: TalosCluster | undefined,
): Observed {
  const { endpoint: watch, kubernetesAuthority } = session;
  if (watch === undefined) return seen;
  // A record that nobody could read says nothing new.
  if (seen.record.kind === "unknown" && seen.mode === "reconcile") return withSeen(seen, watch.seen());
  const facts = factsOf(seen);
  const { metadata } = seen.controlPlane;
  if (facts?.bootstrapDone === undefined || seen.mode !== "reconcile" || metadata.deletionTimestamp !== undefined) {
    watch.close();
    return seen;
  }
  if (isOutside(metadata) || isOutside(cluster?.metadata)) {
    watch.close();
    return withSeen(seen, { kind: "outside" });
  }
  // Without the keys nobody can say who is there; what was said stays.
  if (kubernetesAuthority?.fingerprint !== facts.bundle.fingerprint) return withSeen(seen, { kind: "not-asked", isAwaited: true });
  const running = seen.machines.filter(({ declared, look }) => declared.role === "controlplane" && look.kind === "running");
  watch.watch(
    { endpoint: facts.endpoint, ca: kubernetesAuthority.certificate },
    phaseOf(seen, facts, watch),
    running.map(({ declared }) => declared.name).join(),
  );
  return withSeen(seen, watch.seen());
}

function withSeen(seen: Observed, endpoint: Observed["endpoint"]): Observed {
  return endpoint === undefined ? seen : { ...seen, endpoint };
}

/** A person says that only others reach it. */
function isOutside(metadata: TalosCluster["metadata"] | undefined): boolean {
  return metadata?.annotations?.[annotations.endpointReachableFrom]?.toLowerCase() === "outside";
}

function phaseOf(seen: Observed, facts: ClusterFacts, watch: EndpointWatch): EndpointPhase {
  if (isDisturbed(seen, facts)) return "disturbed";
  const told = findCondition(seen.controlPlane.status?.conditions, "EndpointReachable")?.reason ?? "NotAsked";
  return told === "NotAsked" && !watch.hasAnswer() && !seen.machines.some(isReadyControlPlane) ? "starting" : "steady";
}

/** An effect is open on the machine whose address the endpoint is, or, where it is nobody's, on any control plane. */
function isDisturbed({ machines }: Observed, facts: ClusterFacts): boolean {
  const host = canonicalAddress(endpointHost(facts.endpoint) ?? "");
  const isThere = (address: string): boolean => address !== "" && canonicalAddress(address) === host;
  const isMachine = machines.some(({ declared }) => declared.role === "controlplane" && isThere(declared.address));
  return facts.intents.some(
    ({ what, role, address }) => role === "controlplane" && DISTURBING.has(what) && (!isMachine || isThere(address)),
  );
}

function isReadyControlPlane(machine: SeenMachine): boolean {
  return machine.declared.role === "controlplane" && isReadyNode(machine);
}
