import { annotations } from "@talos-operator/api";
import type { ReconcileMode } from "@talos-operator/api";
import { concernedBy } from "../effects/definitions.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { Verdict } from "../model/plans.ts";

/** Pools and machines of a cluster that are paused by themselves, while the cluster as a whole is not. */
export interface Pauses {
  /** By name of the TalosWorker. */
  readonly pools: ReadonlyMap<string, ReconcileMode>;
  /** By name of the TalosMachine. */
  readonly machines: ReadonlyMap<MachineName, ReconcileMode>;
}

/**
 * The observation as the rules get it: a paused pool is not on its way out, and its machines are not heard of, so no rule finds anything to do with them.
 * Names of paused machines are kept for {@link withoutHeld}: a control plane is part of etcd, and stays visible.
 */
export function withPauses(seen: Observed, { pools, machines }: Pauses): Observed {
  if (pools.size === 0 && machines.size === 0) return seen;
  const modeOf = ({ declared }: SeenMachine): ReconcileMode | undefined =>
    machines.get(declared.name) ?? (declared.owner.kind === "TalosWorker" ? pools.get(declared.owner.name) : undefined);
  const hide = (machine: SeenMachine): SeenMachine => {
    const mode = modeOf(machine);
    if (mode === undefined || machine.declared.role === "controlplane") return machine;
    return {
      ...machine,
      look: {
        kind: "silent",
        at: seen.now,
        since: seen.now,
        detail: `left alone: the annotation ${annotations.reconcileMode} says ${mode}`,
      },
    };
  };
  const held = [...seen.machines, ...seen.former].filter((machine) => modeOf(machine) !== undefined).map(({ declared }) => declared.name);
  return {
    ...seen,
    workers: seen.workers.map((worker) => {
      if (!pools.has(worker.metadata.name)) return worker;
      const { deletionTimestamp: _going, ...metadata } = worker.metadata;
      return { ...worker, metadata };
    }),
    machines: seen.machines.map(hide),
    former: seen.former.map(hide),
    ...(seen.configs === undefined ? {} : { configs: new Map([...seen.configs].filter(([name]) => !held.includes(name))) }),
    held: new Set(held),
    heldPools: new Set(pools.keys()),
  };
}

/** The verdict, or nothing where it would act on a machine that is paused: whatever rule says so. */
export function withoutHeld(verdict: Verdict | undefined, seen: Observed): Verdict | undefined {
  const { held } = seen;
  if (verdict === undefined || held === undefined || held.size === 0) return verdict;
  return verdict.actions.some((action) => concernedBy(action, seen).some((name) => held.has(name))) ? undefined : verdict;
}
