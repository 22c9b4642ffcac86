import { hash } from "node:crypto";
import type { TalosControlPlaneSpec } from "@talos-operator/api";
import { onceFor } from "../../assess/once.ts";
import { endpointSettings } from "../../config/endpoints.ts";
import { asMade } from "../../spec/fixed-properties.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { DeclaredMachine, MachineRole, MachineSettings } from "../../model/machine.ts";

/** Hashes that were made, by the settings of a machine: those that many machines share are hashed once. Settings are replaced and never changed. */
const made = onceFor((_settings: MachineSettings) => new Map<string, string>());

/**
 * Hash of the settings that a machine's configuration is made from, so that a later change of them can be told.
 *
 * Versions and images are left out (their change is an upgrade), and so is what matters only for the installation.
 *
 * @param facts of the cluster, whose endpoint may have changed; absent = there is none yet
 */
export function configHashOf(
  { role, machineSpec }: DeclaredMachine,
  spec: TalosControlPlaneSpec | undefined,
  facts?: Pick<ClusterFacts, "endpoint" | "nextEndpoint" | "formerEndpoints">,
): string {
  const { clusterDomain, podCIDR, serviceCIDR, cni } = spec ?? {};
  const endpoint = facts === undefined ? undefined : endpointSettings(role, facts);
  const ofCluster = { clusterDomain, podCIDR, serviceCIDR, cni, ...(endpoint === undefined ? {} : { endpoint }) };
  const known = made(machineSpec);
  const key = JSON.stringify([role, ofCluster]);
  const own = known.get(key) ?? hashOf(role, machineSpec, ofCluster);
  known.set(key, own);
  return own;
}

function hashOf(role: MachineRole, machineSpec: MachineSettings, ofCluster: object): string {
  const {
    installDisk: _disk,
    diskSelector: _selector,
    wipe: _wipe,
    image: _image,
    meta: _meta,
    imageCache: _cache,
    base,
    ...rest
  } = machineSpec;
  const settings = base === undefined ? rest : { ...rest, base: base.hash };
  return hash("sha256", JSON.stringify(ordered([role, settings, ofCluster])), "hex").slice(0, 16);
}

/**
 * Hash of the settings that count as applied to a machine that was found running: those of now, so that any that come later are sent, though it be at once.
 * `undefined` while the config that a person wrote for it was not read.
 */
export function foundConfigHash(
  machine: DeclaredMachine,
  spec: TalosControlPlaneSpec | undefined,
  facts: ClusterFacts,
): string | undefined {
  return spec === undefined || machine.isConfigUnknown === true ? undefined : configHashOf(machine, asMade(spec, facts), facts);
}

/** The value with the keys of its objects in one order: how an API server stores them means nothing. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, ordered(inner)]),
  );
}
