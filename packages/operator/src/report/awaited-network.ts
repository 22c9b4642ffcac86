import { checkConfig } from "../config/check.ts";
import { wantedDisk } from "../config/wanted-disk.ts";
import { isReadyNode } from "../assess/machine-state.ts";
import { poolContract } from "../spec/pool-contract.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";

const WORDS =
  "No CNI: with cni none Talos brings no network plugin, and a Node is Ready once one runs on it. Install one with a TalosClusterAddon, which waits for no Node, or by hand.";

/** A sentence about the network plugin that somebody has yet to install; empty = there is one, or Talos brings it. */
export function awaitedNetwork(seen: Observed, facts: ClusterFacts): readonly string[] {
  return awaitsNetwork(seen, facts) ? [WORDS] : [];
}

/**
 * The machine as far as anybody can demand it: while the network plugin is awaited, that its Node is not Ready says nothing of it. Whoever waited for that would
 * hold up what the plugin may need. Some releases of Talos call themselves booting until their Node is Ready.
 */
export function withoutAwaited(seen: Observed, facts: ClusterFacts | undefined, machine: SeenMachine): SeenMachine {
  const { look } = machine;
  if (facts === undefined || look.kind !== "running" || !lacksOnlyItsNode(machine) || !awaitsNetwork(seen, facts)) return machine;
  return { ...machine, look: { ...look, stage: look.stage === "booting" ? "running" : look.stage, unmet: [], ready: true } };
}

/** Where one Node is Ready there is a plugin: what the others lack is something else, or comes in a moment. */
function awaitsNetwork(seen: Observed, facts: ClusterFacts): boolean {
  return !seen.machines.some(isReadyNode) && seen.machines.some(lacksOnlyItsNode) && !bringsNetwork(seen, facts);
}

/** Everything of it runs, and its Node is not Ready. */
function lacksOnlyItsNode({ look }: SeenMachine): boolean {
  return look.kind === "running" && look.unmet.length > 0 && look.unmet.every(({ name }) => name === "nodeReady");
}

/** By the settings of the control planes, patches included. Of those that make no config nothing is known. */
function bringsNetwork({ controlPlane: { spec, metadata }, machines }: Observed, facts: ClusterFacts): boolean {
  const first = machines.find(({ declared }) => declared.role === "controlplane")?.declared;
  if (spec === undefined || first === undefined) return true;
  const check = checkConfig({
    role: "controlplane",
    clusterName: metadata.name,
    endpoint: facts.endpoint,
    // The plugin that was chosen when the cluster was made is the one that counts.
    controlPlane: facts.cni === undefined ? spec : { ...spec, cni: facts.cni },
    machineSpec: first.machineSpec,
    version: first.version,
    contract: poolContract(facts, first.owner),
    readBy: undefined,
    platform: "metal",
    installDisk: wantedDisk(first.machineSpec) ?? "/dev/sda",
    addresses: [],
  });
  return check.kind !== "fine" || check.bringsNetwork;
}
