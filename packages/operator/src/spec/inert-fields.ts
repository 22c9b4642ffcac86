import type { TalosControlPlane, TalosControlPlaneSpec, TalosWorker, TalosWorkerSpec } from "@talos-operator/api";
import { compareContracts, contractFor, tryParseVersion } from "@talos-operator/talos";
import { hasUnusedAddressSettings } from "../config/meta-network.ts";
import { unknownModeField } from "../controllers/shared/mode.ts";
import { isUnusableLimit, maxUnavailableOf } from "../disruption/limit.ts";

/** Fields that are set, have no effect in this release, and do not change which cluster is made. */
export function inertFieldsOf(pool: TalosControlPlane | TalosWorker): readonly string[] {
  const { spec } = pool;
  const inert = [...unknownModeField(pool.metadata)];
  if (spec === undefined || spec.mode !== "metal") return inert;
  // The schema gives workers replicas: 1, which says nothing about the author.
  if (spec.replicas !== undefined && (pool.kind === "TalosControlPlane" || spec.replicas !== 1)) inert.push("spec.replicas");
  if (spec.storageClassName !== undefined) inert.push("spec.storageClassName");
  if (spec.metalSpec?.machineSpec?.imageCache === true && isBefore19(spec.version)) inert.push("spec.metalSpec.machineSpec.imageCache");
  if (pool.kind === "TalosWorker" && spec.metalSpec?.machineSpec?.allowSchedulingOnControlPlanes === true)
    inert.push("spec.metalSpec.machineSpec.allowSchedulingOnControlPlanes (of control planes only)");
  inert.push(...inertMeta(spec), ...overruledFields(spec), ...inertLimit(spec, pool.kind === "TalosControlPlane"));
  (spec.metalSpec?.machines ?? []).forEach((machine, index) => {
    if (machine.pxeClientSpec !== undefined) inert.push(`spec.metalSpec.machines[${index}].pxeClientSpec`);
  });
  if ("cni" in spec && spec.cni?.name !== "custom" && (spec.cni?.urls?.length ?? 0) > 0) inert.push("spec.cni.urls");
  return inert;
}

/** Settings for META that no machine can have: a host name for several, and an address where there is only a name. */
function inertMeta(spec: TalosControlPlaneSpec | TalosWorkerSpec): readonly string[] {
  const { machines = [], machineSpec: { meta } = {} } = spec.metalSpec ?? {};
  if (meta === undefined) return [];
  const field = "spec.metalSpec.machineSpec.meta";
  const isNamed = machines.some(({ address }) => address !== undefined && hasUnusedAddressSettings(meta, address));
  return [
    ...(machines.length > 1 && meta.hostname !== undefined && meta.hostname !== "" ? [`${field}.hostname (of one machine only)`] : []),
    ...(isNamed ? [`${field}.interface, subnet and gateway of machines that are named by DNS`] : []),
  ];
}

/** A limit that is neither a count of machines nor a share of them, and any above one of a control plane: one machine at a time is what happens then. */
function inertLimit({ rolloutStrategy, metalSpec }: TalosControlPlaneSpec | TalosWorkerSpec, isControlPlane: boolean): readonly string[] {
  const field = "spec.rolloutStrategy.rollingUpdate.maxUnavailable";
  const limit = rolloutStrategy?.rollingUpdate?.maxUnavailable;
  if (isUnusableLimit(rolloutStrategy))
    return [`${field}: ${JSON.stringify(limit).slice(0, 40)} (taken as 1; write a count or a share such as 25%)`];
  const isAbove = isControlPlane && maxUnavailableOf(rolloutStrategy, metalSpec?.machines?.length ?? 0) > 1;
  return isAbove ? [`${field}: ${limit} (taken as 1; control planes are disturbed one at a time)`] : [];
}

/** Talos has an image cache from 1.9 on. */
function isBefore19(version: string): boolean {
  return tryParseVersion(version) !== undefined && compareContracts(contractFor(version), "1.9") < 0;
}

/** Fields that say nothing beside a whole config, which says the same in its own words. */
function overruledFields(spec: TalosControlPlaneSpec | TalosWorkerSpec): readonly string[] {
  if ((spec.configRef?.name ?? "") === "") return [];
  const { machineSpec = {} } = spec.metalSpec ?? {};
  const shared = (["registries", "airGap", "imageCache", "allowSchedulingOnControlPlanes", "wipe"] as const)
    .filter((key) => machineSpec[key] !== undefined && machineSpec[key] !== false)
    .map((key) => `spec.metalSpec.machineSpec.${key}`);
  const { cni, podCIDR, serviceCIDR, clusterDomain }: Partial<TalosControlPlaneSpec> = spec;
  const own = Object.entries({
    cni,
    podCIDR,
    serviceCIDR,
    // The schema gives every control plane this one, which says nothing about the author.
    clusterDomain: clusterDomain === "cluster.local" ? undefined : clusterDomain,
  }).flatMap(([key, value]) => (value === undefined ? [] : [`spec.${key}`]));
  return [...own, ...shared].map((field) => `${field} (configRef says it)`);
}
