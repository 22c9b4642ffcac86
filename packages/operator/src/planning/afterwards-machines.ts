import { factsOf, machineFact, withMachine, withoutIntent } from "../record/facts.ts";
import type { TalosBuild } from "../record/upgrades.ts";
import type { EtcdMember, SeenEtcd } from "../model/look.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { KnownConfig } from "../model/config.ts";

/** What a machine would show after a boot that a plan foresees. */
export const NEXT_BOOT = "(the next boot)";

/** The member of a machine is on no list any more. */
export function withoutMember(seen: Observed, name: MachineName): Observed {
  const own = memberOf(seen, name);
  return withEtcd(seen, (etcd, members) => ({ ...etcd, members: members.filter(({ id }) => id !== own) }));
}

/** The configuration as far as it is known; empty where it was not read. */
export function known(seen: Observed, name: MachineName): KnownConfig {
  const config = seen.configs?.get(name);
  return config?.kind === "known"
    ? config
    : { kind: "known", at: seen.now, settings: "", bootId: "", version: "", activeHash: "", changes: [], onDisk: "wanted" };
}

/** The machine shows this configuration. */
export function withConfig(seen: Observed, name: MachineName, config: KnownConfig): Observed {
  return { ...seen, configs: new Map([...(seen.configs ?? []), [name, config]]) };
}

/** The record with the machine's fact changed, and no open intent on it any more. */
export function withFact(
  seen: Observed,
  name: MachineName,
  change: (fact: ClusterFacts["machines"][number]) => ClusterFacts["machines"][number],
): Observed {
  const facts = factsOf(seen);
  const fact = machineFact(facts, name);
  return facts === undefined || fact === undefined ? seen : withFacts(seen, withoutIntent(withMachine(facts, change(fact)), name));
}

/** With its boot or reset its drain is over. */
export function withoutDrain(seen: Observed, name: MachineName): Observed {
  if (seen.drains?.has(name) !== true) return seen;
  return { ...seen, drains: new Map([...seen.drains].filter(([machine]) => machine !== name)) };
}

/** The machine booted another Talos and is well with it. */
export function withTalos(seen: Observed, name: MachineName, { version, schematic }: TalosBuild): Observed {
  const built = schematic === undefined ? {} : { schematic };
  const shown = (machine: SeenMachine): SeenMachine =>
    machine.declared.name === name && machine.look.kind === "running"
      ? { ...machine, look: { ...machine.look, version, ...built } }
      : machine;
  const { arguments: before, ...config } = known(seen, name);
  const booted = withConfig({ ...withoutDrain(seen, name), machines: seen.machines.map(shown) }, name, {
    ...config,
    ...(before === undefined ? {} : { arguments: { ...before, lacks: [] } }),
    bootId: NEXT_BOOT,
    version,
  });
  return withFact(booted, name, ({ installed: _installed, ...rest }) => rest);
}

/** The record says this. */
export function withFacts(seen: Observed, facts: ClusterFacts): Observed {
  return seen.record.kind === "present" ? { ...seen, record: { kind: "present", value: { ...seen.record.value, facts } } } : seen;
}

/** The member of etcd that a machine shows as its own. */
export function memberOf(seen: Observed, name: MachineName): string | undefined {
  const look = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === name)?.look;
  return look?.kind === "running" ? look.etcd?.localMember : undefined;
}

/** Its etcd has stopped and holds nothing. */
export function withoutEtcd({ declared, look }: SeenMachine): SeenMachine {
  if (look.kind !== "running" || look.etcd === undefined) return { declared, look };
  const { members: _, ...etcd } = look.etcd;
  return { declared, look: { ...look, etcd: { ...etcd, members: undefined, service: "Finished", isHealthy: false, localMember: "none" } } };
}

/** etcd on one machine shows something else. */
export function withEtcdOf(seen: Observed, name: MachineName, change: (etcd: SeenEtcd) => SeenEtcd): Observed {
  const shown = (machine: SeenMachine): SeenMachine =>
    machine.declared.name !== name || machine.look.kind !== "running" || machine.look.etcd === undefined
      ? machine
      : { ...machine, look: { ...machine.look, etcd: change(machine.look.etcd) } };
  return { ...seen, machines: seen.machines.map(shown), former: seen.former.map(shown) };
}

/** Every machine that lists members of etcd tells another list. */
export function withEtcd(seen: Observed, change: (etcd: SeenEtcd, members: readonly EtcdMember[]) => SeenEtcd): Observed {
  const replace = (machine: SeenMachine): SeenMachine => {
    const { look, declared } = machine;
    if (look.kind !== "running" || look.etcd?.members === undefined) return machine;
    return { declared, look: { ...look, etcd: change(look.etcd, look.etcd.members) } };
  };
  return { ...seen, machines: seen.machines.map(replace), former: seen.former.map(replace) };
}
