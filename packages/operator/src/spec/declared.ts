import { canonicalAddress, controllerOf, machineNameFor } from "@talos-operator/api";
import type { Machine, MachineAddress, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { ConfigReference, ResolvedConfig } from "../references/config-references.ts";
import { emptyAddressBook } from "../references/references.ts";
import type { AddressBook } from "../references/references.ts";
import type { AddressProblem, DeclaredMachine, MachineName, MachineRole, MachineSettings } from "../model/machine.ts";

/** Talos version of a pool that names none, as the schema fills it in. */
const DEFAULT_VERSION = "v1.13.0";

/** What is known about addresses that specs do not name themselves. */
export interface AddressKnowledge {
  /** What references gave. Default: nothing was read. */
  readonly book?: AddressBook;
  /** Where a machine was when it was written down: it is looked for there while its reference gives nothing. */
  readonly recorded?: (name: MachineName) => string | undefined;
  /** What `configRef` of an object gave, by `Kind/name`. Default: nothing was read. */
  readonly config?: (object: string) => ResolvedConfig | undefined;
  /** What is wrong with an address that a reference gave. */
  readonly check?: (address: MachineAddress) => AddressProblem | undefined;
}

/**
 * The machines that a pool lists, in its order. One whose reference gives no address stays on the list, with the reason: it was not taken out.
 *
 * Left out are references without a usable name, and a second entry of the same name: the spec's checks report them, and nothing is done until they are right.
 */
export function machinesOf(pool: TalosControlPlane | TalosWorker, knowledge: AddressKnowledge = {}): readonly DeclaredMachine[] {
  const owner = { kind: pool.kind, name: pool.metadata.name };
  const config = configOf(pool.spec?.configRef, knowledge.config?.(`${pool.kind}/${pool.metadata.name}`));
  const shared = sharedSettings(pool, config.settings);
  const seen = new Set<string>();
  return (pool.spec?.metalSpec?.machines ?? []).flatMap((machine, index) => {
    const field = `spec.metalSpec.machines[${index}]`;
    const found = placeOf(pool, machine, field, knowledge);
    if (found === undefined || seen.has(found.name)) return [];
    seen.add(found.name);
    return [
      {
        ...found,
        role: roleOf(pool.kind),
        owner,
        field,
        version: machine.version ?? pool.spec?.version ?? DEFAULT_VERSION,
        machineSpec: settingsOf(pool, shared, machine),
        ...withoutConfig(found, config.problem),
      },
    ];
  });
}

/** Name and address of one entry. */
function placeOf(
  pool: TalosControlPlane | TalosWorker,
  machine: Machine,
  field: string,
  { book = emptyAddressBook, recorded, check }: AddressKnowledge,
): Pick<DeclaredMachine, "name" | "address" | "reference" | "problem"> | undefined {
  const owner = pool.metadata.name;
  const { address, machineRef } = machine;
  if (address !== undefined) return { name: machineNameFor(owner, { kind: "address", address }), address: canonicalAddress(address) };
  if (machineRef === undefined || !isObjectName(machineRef.name)) return undefined;
  const name = machineNameFor(owner, { kind: "machineRef", name: machineRef.name });
  const reference = `${machineRef.kind ?? ""}/${machineRef.name}`;
  const resolution = book(machineRef, pool.metadata.namespace ?? "");
  const problem =
    resolution.kind === "unresolved"
      ? resolution.problem
      : check?.({ field: `${field}.machineRef`, address: resolution.address, object: `${pool.kind}/${owner}` });
  if (problem === undefined && resolution.kind === "address") return { name, address: resolution.address, reference };
  return { name, address: recorded?.(name) ?? "", reference, ...(problem === undefined ? {} : { problem }) };
}

/** True for a name that an object can have, and that so can become part of another's. */
export function isObjectName(name: string | undefined): name is string {
  return name !== undefined && /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name);
}

/** What a `configRef` means for the machines of its object: the config, or why there is none. */
export function configOf(
  reference: ConfigReference | undefined,
  resolved: ResolvedConfig | undefined,
): { readonly settings: Pick<MachineSettings, "base">; readonly problem?: AddressProblem } {
  if ((reference?.name ?? "") === "" || resolved === undefined || resolved.kind === "none") return { settings: {} };
  if (resolved.kind === "base") return { settings: { base: resolved.base } };
  return { settings: {}, problem: { reason: resolved.reason, message: `spec.configRef: ${resolved.message}. ${resolved.remedy}.` } };
}

/** What is said of a machine whose config is not there; what is wrong with its address comes first. */
export function withoutConfig(
  { problem: earlier }: Pick<DeclaredMachine, "problem">,
  problem: AddressProblem | undefined,
): Pick<DeclaredMachine, "problem" | "isConfigUnknown"> {
  return problem === undefined ? {} : { problem: earlier ?? problem, isConfigUnknown: true };
}

/** A host name is one machine's: several that shared it would be one node to Kubernetes. */
function sharedSettings({ spec }: TalosControlPlane | TalosWorker, config: Pick<MachineSettings, "base">): MachineSettings {
  const shared = spec?.metalSpec?.machineSpec ?? {};
  const settings = config.base === undefined ? shared : { ...shared, ...config };
  if (settings.meta === undefined || (spec?.metalSpec?.machines ?? []).length < 2) return settings;
  const { hostname: _hostname, ...meta } = settings.meta;
  return { ...settings, meta };
}

/** Nodes of a KubernetesCluster have the names of their Machines. */
function hostnameOf({ metadata }: TalosControlPlane | TalosWorker, { machineRef }: Machine): Pick<MachineSettings, "hostname"> {
  const isComposed = controllerOf(metadata)?.kind === "KubernetesCluster";
  return isComposed && machineRef?.name !== undefined ? { hostname: machineRef.name } : {};
}

/**
 * Shared settings with those of one machine: image replaces, patches and documents are appended. Machines without any of their own have the very same object: what
 * is made of it is made once for all of them.
 */
function settingsOf(pool: TalosControlPlane | TalosWorker, shared: MachineSettings, machine: Machine): MachineSettings {
  const own: MachineSettings = {
    ...(machine.image === undefined ? {} : { image: machine.image }),
    ...(machine.configPatches === undefined ? {} : { configPatches: [...(shared.configPatches ?? []), ...machine.configPatches] }),
    ...(machine.additionalConfig === undefined
      ? {}
      : { additionalConfig: [...(shared.additionalConfig ?? []), ...machine.additionalConfig] }),
    ...hostnameOf(pool, machine),
  };
  return Object.keys(own).length === 0 ? shared : { ...shared, ...own };
}

function roleOf(kind: "TalosControlPlane" | "TalosWorker"): MachineRole {
  return kind === "TalosControlPlane" ? "controlplane" : "worker";
}
