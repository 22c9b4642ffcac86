import type { Finding, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { ResolvedConfig } from "../references/config-references.ts";
import { checkOf } from "./config-problems.ts";
import { machinesOf } from "./declared.ts";
import type { DeclaredMachine, MachineName } from "../model/machine.ts";

type Pool = TalosControlPlane | TalosWorker;

/** A pool with what its machines' configurations are made from. */
export interface NamedPool {
  readonly pool: Pool;
  readonly config: ResolvedConfig | undefined;
  readonly contract: string | undefined;
}

/** A machine whose Node gets a name that a person chose. */
interface Named {
  readonly pool: Pool;
  readonly machine: DeclaredMachine;
  readonly nodeName: string;
}

/** Machines that would share the name of their Nodes with others, by name. */
export type SharedNodeNames = ReadonlyMap<MachineName, { readonly named: Named; readonly others: readonly Named[] }>;

/** Most machines that a sentence names. */
const MOST_NAMED = 3;

/**
 * Machines of one cluster whose Nodes would have one name: two kubelets would write one Node in turns. Names that Talos makes by itself are unique.
 *
 * @param pools all of one cluster, the control plane first
 */
export function sharedNodeNames(pools: readonly NamedPool[], controlPlane: TalosControlPlane | undefined): SharedNodeNames {
  if (controlPlane?.spec === undefined || !pools.some(mentionsHostname)) return none;
  const named = pools.flatMap((pool) => namesOf(pool, controlPlane));
  return new Map(
    [...Map.groupBy(named, ({ nodeName }) => nodeName).values()]
      .filter((group) => group.length > 1)
      .flatMap((group) => group.map((one) => [one.machine.name, { named: one, others: group.filter((other) => other !== one) }] as const)),
  );
}

const none: SharedNodeNames = new Map();

/** Only where somebody chose a name can two be the same. Specs are replaced and never changed. */
function mentionsHostname({ pool, config }: NamedPool): boolean {
  if (config?.kind === "base") return true;
  const { spec } = pool;
  if (spec === undefined) return false;
  const known = mentions.get(spec) ?? /"[^"]*hostname[^"]*"/.test(JSON.stringify(spec.metalSpec ?? {}));
  mentions.set(spec, known);
  return known;
}

const mentions = new WeakMap<object, boolean>();

/** Answers by pool: most passes ask again about the same objects. */
const kept = new WeakMap<Pool, { readonly asked: readonly unknown[]; readonly names: readonly Named[] }>();

function namesOf({ pool, config, contract }: NamedPool, { spec, metadata }: TalosControlPlane): readonly Named[] {
  const asked = [config, contract, spec];
  const last = kept.get(pool);
  if (last !== undefined && asked.every((one, index) => one === last.asked[index])) return last.names;
  const names = spec === undefined ? [] : findNames(pool, config, (machine) => checkOf(machine, spec, metadata.name, contract));
  kept.set(pool, { asked, names });
  return names;
}

function findNames(
  pool: Pool,
  config: ResolvedConfig | undefined,
  check: (machine: DeclaredMachine) => ReturnType<typeof checkOf>,
): readonly Named[] {
  // Machines without settings of their own share one object, and give one answer.
  const checked = new Map<unknown, string | undefined>();
  return machinesOf(pool, { config: () => config }).flatMap((machine) => {
    const { machineSpec } = machine;
    if (!checked.has(machineSpec)) {
      const found = check(machine);
      checked.set(machineSpec, found.kind === "fine" ? found.nodeName : undefined);
    }
    // What META says counts where the configuration says nothing.
    const nodeName = checked.get(machineSpec) ?? machineSpec.meta?.hostname?.toLowerCase();
    return nodeName === undefined || nodeName === "" ? [] : [{ pool, machine, nodeName }];
  });
}

/**
 * What is said of a pool whose machines would share names. A pool that runs is not disturbed by what another one asks for, and a worker's name is never the
 * trouble of the control plane.
 *
 * @param holds whether a machine has a configuration already
 */
export function sharedNodeNameProblems(pool: Pool, shared: SharedNodeNames, holds: (machine: MachineName) => boolean): readonly Finding[] {
  const told = new Set<string>();
  return [...shared.values()].flatMap(({ named, others }) => {
    if (named.pool !== pool || told.has(named.nodeName) || !isConcerned(named, others, holds)) return [];
    told.add(named.nodeName);
    const all = [named, ...others].map(({ machine }) => (machine.address === "" ? machine.name : machine.address));
    return [
      {
        field: fieldOf(named),
        message: `the host name ${named.nodeName} would be that of ${listed(all)}`,
        remedy: "Give each its own in machines[].configPatches",
        reason: "NameConflict",
      },
    ];
  });
}

function isConcerned(named: Named, others: readonly Named[], holds: (machine: MachineName) => boolean): boolean {
  const group = [named, ...others];
  if (named.pool.kind === "TalosControlPlane" && group.some(({ pool }) => pool.kind === "TalosWorker")) return false;
  const isRunning = (pool: Pool): boolean => group.every((one) => one.pool !== pool || holds(one.machine.name));
  return !isRunning(named.pool) || group.every(({ pool }) => isRunning(pool));
}

/** Why changed settings that name the host are not sent to a machine that runs, by machine. */
export function sharedNodeNameWords(shared: SharedNodeNames): ReadonlyMap<MachineName, string> {
  return new Map(
    [...shared].map(([machine, { named, others }]) => [
      machine,
      `the host name ${named.nodeName} is that of ${listed(others.map((other) => other.machine.name))} too, and two machines cannot share a Node`,
    ]),
  );
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  if (more > 0) return `${names.slice(0, MOST_NAMED).join(", ")} and ${more} more`;
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

/** Where the name is said: the last entry that speaks of one, else what else can say it. */
function fieldOf({ pool, machine }: Named): string {
  const shared = pool.spec?.metalSpec?.machineSpec;
  for (const list of ["additionalConfig", "configPatches"] as const) {
    const entries = machine.machineSpec[list] ?? [];
    const index = entries.findLastIndex((entry) => JSON.stringify(entry).includes("hostname"));
    if (index < 0) continue;
    const before = shared?.[list]?.length ?? 0;
    return index < before ? `spec.metalSpec.machineSpec.${list}[${index}]` : `${machine.field}.${list}[${index - before}]`;
  }
  if (machine.machineSpec.base !== undefined) return "spec.configRef";
  return machine.machineSpec.meta?.hostname === undefined ? machine.field : "spec.metalSpec.machineSpec.meta.hostname";
}
