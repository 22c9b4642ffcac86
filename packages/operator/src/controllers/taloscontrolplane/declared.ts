import { machineNameFor } from "@talos-operator/api";
import type { Machine, MachineSpec, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import type { DeclaredMachine, MachineRole } from "./model.ts";

/** Talos version of a pool that names none, as the schema fills it in. */
const DEFAULT_VERSION = "v1.13.0";

/** The machines that a pool lists by address, in its order; references are not built yet and reported elsewhere. */
export function machinesOf(pool: TalosControlPlane | TalosWorker): readonly DeclaredMachine[] {
  const owner = { kind: pool.kind, name: pool.metadata.name };
  const shared = pool.spec?.metalSpec?.machineSpec ?? {};
  const seen = new Set<string>();
  return (pool.spec?.metalSpec?.machines ?? []).flatMap((machine, index) => {
    if (machine.address === undefined) return [];
    const name = machineNameFor(owner.name, { kind: "address", address: machine.address });
    if (seen.has(name)) return [];
    seen.add(name);
    return [
      {
        name,
        role: roleOf(pool.kind),
        address: machine.address,
        owner,
        field: `spec.metalSpec.machines[${index}]`,
        version: machine.version ?? pool.spec?.version ?? DEFAULT_VERSION,
        machineSpec: withOwn(shared, machine),
      },
    ];
  });
}

/** TalosMachines that a person made: they belong to the cluster that their reference names. */
export function handMade(objects: readonly TalosMachine[], declared: readonly DeclaredMachine[]): readonly DeclaredMachine[] {
  const names = new Set(declared.map((machine) => machine.name));
  return objects.flatMap((object) => {
    const { spec, metadata } = object;
    if (spec === undefined || names.has(metadata.name) || metadata.deletionTimestamp !== undefined) return [];
    if ((metadata.ownerReferences ?? []).some((reference) => reference.controller === true)) return [];
    const kind = spec.controlPlaneRef?.name === undefined ? "TalosWorker" : "TalosControlPlane";
    const owner = { kind, name: (kind === "TalosWorker" ? spec.workerRef?.name : spec.controlPlaneRef?.name) ?? "" } as const;
    return [
      {
        name: metadata.name,
        role: roleOf(kind),
        address: spec.endpoint,
        owner,
        field: `TalosMachine/${metadata.name} spec.endpoint`,
        version: spec.version,
        machineSpec: spec.machineSpec ?? {},
      },
    ];
  });
}

/** Shared settings with those of one machine: image replaces, patches and documents are appended. */
function withOwn(shared: MachineSpec, machine: Machine): MachineSpec {
  return {
    ...shared,
    ...(machine.image === undefined ? {} : { image: machine.image }),
    ...(machine.configPatches === undefined ? {} : { configPatches: [...(shared.configPatches ?? []), ...machine.configPatches] }),
    ...(machine.additionalConfig === undefined
      ? {}
      : { additionalConfig: [...(shared.additionalConfig ?? []), ...machine.additionalConfig] }),
  };
}

function roleOf(kind: "TalosControlPlane" | "TalosWorker"): MachineRole {
  return kind === "TalosControlPlane" ? "controlplane" : "worker";
}
