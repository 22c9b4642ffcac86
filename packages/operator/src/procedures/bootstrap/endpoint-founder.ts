import { canonicalAddress } from "@talos-operator/api";
import { checkConfig } from "../../config/check.ts";
import { endpointHost } from "../../config/endpoint-host.ts";
import { wantedDisk } from "../../config/wanted-disk.ts";
import { stateOf } from "../../assess/machine-state.ts";
import { waitsForEtcd } from "../../assess/etcd-view.ts";
import type { DeclaredMachine } from "../../model/machine.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** The listed control plane whose own address the endpoint is; `undefined` where the endpoint is a virtual address, a name or a load balancer. */
export function machineAtEndpoint(seen: Observed, facts: ClusterFacts): SeenMachine | undefined {
  const host = endpointHost(facts.endpoint);
  if (host === undefined) return undefined;
  return seen.machines.find(
    ({ declared }) =>
      declared.role === "controlplane" && declared.address !== "" && canonicalAddress(declared.address) === canonicalAddress(host),
  );
}

/**
 * The only control plane that may be bootstrapped, where there is such a one.
 *
 * Without discovery a machine that is to join looks for etcd where the endpoint leads. Where that is a control plane's own address, an etcd that was begun
 * elsewhere is never found: the machine at the endpoint waits for itself, and everybody else for it. One control plane without discovery is enough.
 */
export function onlyFounder(seen: Observed, facts: ClusterFacts): SeenMachine | undefined {
  const there = machineAtEndpoint(seen, facts);
  if (there === undefined) return undefined;
  const others = seen.machines.filter((machine) => machine.declared.role === "controlplane" && machine !== there);
  return others.some((machine) => !findsOthers(seen, facts, machine)) ? there : undefined;
}

/** A control plane that would wait for itself if it had to join: the endpoint is its own address, and it finds nobody else. */
export function joinsItself(seen: Observed, facts: ClusterFacts, machine: SeenMachine): boolean {
  return machineAtEndpoint(seen, facts) === machine && !findsOthers(seen, facts, machine);
}

/** Its settings have discovery, and so does what it runs, if it runs: settings that change now reach a machine that waits for etcd only later. */
function findsOthers(seen: Observed, facts: ClusterFacts, { declared, look }: SeenMachine): boolean {
  return usesDiscovery(seen, facts, declared) && (look.kind !== "running" || look.discovers === true);
}

/** What has to be done before etcd can be bootstrapped at the endpoint, as sentences; `undefined` = nothing, or it may be bootstrapped elsewhere. */
export function awaitedAtEndpoint(seen: Observed, facts: ClusterFacts): string | undefined {
  if (facts.bootstrapDone !== undefined || facts.bootstrapIntent !== undefined) return undefined;
  const founder = onlyFounder(seen, facts);
  if (founder === undefined || (founder.look.kind === "running" && waitsForEtcd(founder.look.etcd))) return undefined;
  const name = founder.declared.name;
  const without = seen.machines.filter(
    (machine) => machine !== founder && machine.declared.role === "controlplane" && !findsOthers(seen, facts, machine),
  );
  // Those that only have just begun tell nothing yet.
  const running = without.filter(({ look }) => look.kind === "running").map(({ declared }) => declared.name);
  const alsoOn = running.length === 0 ? "" : `, in the spec and on the machines that run without it already: ${running.join(", ")}`;
  return `Without discovery control planes look for etcd at the endpoint alone, which is ${name} (${stateOf(founder)}): only it is bootstrapped. Start ${name}, or switch discovery on (cluster.discovery.enabled, airGap)${alsoOn}.`;
}

/** Control planes whose settings have no discovery. */
export function withoutDiscovery(seen: Observed, facts: ClusterFacts): readonly string[] {
  return seen.machines.flatMap(({ declared }) =>
    declared.role === "controlplane" && !usesDiscovery(seen, facts, declared) ? [declared.name] : [],
  );
}

/** By the settings, patches included. Of those that make no config nothing is known, and nothing is configured with them. */
function usesDiscovery(seen: Observed, facts: ClusterFacts, { machineSpec, version }: DeclaredMachine): boolean {
  const { spec, metadata } = seen.controlPlane;
  if (spec === undefined) return false;
  const check = checkConfig({
    role: "controlplane",
    clusterName: metadata.name,
    endpoint: facts.endpoint,
    controlPlane: spec,
    machineSpec,
    version,
    readBy: undefined,
    platform: "metal",
    installDisk: wantedDisk(machineSpec) ?? "/dev/sda",
    addresses: [],
  });
  return check.kind === "fine" && check.usesDiscovery;
}
