import { factsOf, machineFact, withMachine, withoutIntent } from "../record/facts.ts";
import type { EtcdMember, SeenEtcd } from "../../../model/look.ts";
import type { ClusterFacts } from "../../../model/record.ts";
import type { Action } from "../../../model/effect.ts";
import type { MachineName } from "../../../model/machine.ts";
import type { Observed, SeenMachine } from "../../../model/observation.ts";
import type { KnownConfig } from "../../../model/config.ts";

/** An action on a running machine, or on etcd's list of members. */
export type MachineAction = Extract<
  Action,
  { readonly kind: "LeaveEtcd" | "ForfeitLeadership" | "RemoveMember" | "ApplyConfig" | "KeepConfig" | "RebootMachine" | "WriteMeta" }
>;

/** What a machine would show after a boot that a plan foresees. */
const NEXT_BOOT = "(the next boot)";

/** What would be seen after an action on a running machine that goes as it should. Pure. */
export function afterwardsOnMachines(seen: Observed, action: MachineAction): Observed {
  switch (action.kind) {
    case "ForfeitLeadership":
      return withEtcd(seen, (etcd, members) => {
        const own = memberOf(seen, action.machine);
        return { ...etcd, leader: members.find(({ id, isLearner }) => id !== own && !isLearner)?.id ?? etcd.leader };
      });
    case "LeaveEtcd": {
      const left = withoutMember(seen, action.machine);
      return { ...left, former: left.former.map((one) => (one.declared.name === action.machine ? withoutEtcd(one) : one)) };
    }
    case "RemoveMember": {
      const facts = factsOf(seen);
      const without = withEtcd(seen, (etcd, members) => ({ ...etcd, members: members.filter(({ id }) => id !== action.memberId) }));
      return facts === undefined ? without : withFacts(without, withoutIntent(facts, action.machine));
    }
    case "ApplyConfig":
    case "KeepConfig": {
      const isStaged = action.kind === "ApplyConfig" && action.mode === "staged";
      const config = known(seen, action.machine);
      const next = withConfig(seen, action.machine, {
        ...config,
        settings: action.settings,
        activeHash: action.settings,
        changes: [],
        onDisk: "wanted",
      });
      return withFact(next, action.machine, (fact) => {
        const { staged: _staged, failed: _failed, ...rest } = fact;
        return isStaged
          ? { ...rest, staged: { configHash: action.settings, bootId: config.bootId } }
          : { ...rest, configHash: action.settings, appliedHash: action.settings };
      });
    }
    case "WriteMeta": {
      const config = known(seen, action.machine);
      const next = withConfig(seen, action.machine, { ...config, meta: { wanted: action.settings, live: action.settings } });
      return withFact(next, action.machine, (fact) => ({ ...fact, metaHash: action.settings }));
    }
    case "RebootMachine": {
      const config = known(seen, action.machine);
      const next = withConfig(seen, action.machine, { ...config, bootId: NEXT_BOOT });
      return withFact(next, action.machine, ({ staged, ...rest }) =>
        staged === undefined ? rest : { ...rest, configHash: staged.configHash, appliedHash: config.activeHash },
      );
    }
  }
}

/** The member of a machine is on no list any more. */
export function withoutMember(seen: Observed, name: MachineName): Observed {
  const own = memberOf(seen, name);
  return withEtcd(seen, (etcd, members) => ({ ...etcd, members: members.filter(({ id }) => id !== own) }));
}

function known(seen: Observed, name: MachineName): KnownConfig {
  const config = seen.configs?.get(name);
  return config?.kind === "known"
    ? config
    : { kind: "known", at: seen.now, settings: "", bootId: "", version: "", activeHash: "", changes: [], onDisk: "wanted" };
}

function withConfig(seen: Observed, name: MachineName, config: KnownConfig): Observed {
  return { ...seen, configs: new Map([...(seen.configs ?? []), [name, config]]) };
}

/** The record with the machine's fact changed, and no open intent on it any more. */
function withFact(
  seen: Observed,
  name: MachineName,
  change: (fact: ClusterFacts["machines"][number]) => ClusterFacts["machines"][number],
): Observed {
  const facts = factsOf(seen);
  const fact = machineFact(facts, name);
  return facts === undefined || fact === undefined ? seen : withFacts(seen, withoutIntent(withMachine(facts, change(fact)), name));
}

function withFacts(seen: Observed, facts: ClusterFacts): Observed {
  return seen.record.kind === "present" ? { ...seen, record: { kind: "present", value: { ...seen.record.value, facts } } } : seen;
}

function memberOf(seen: Observed, name: MachineName): string | undefined {
  const look = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === name)?.look;
  return look?.kind === "running" ? look.etcd?.localMember : undefined;
}

/** Its etcd has stopped and holds nothing. */
function withoutEtcd({ declared, look }: SeenMachine): SeenMachine {
  if (look.kind !== "running" || look.etcd === undefined) return { declared, look };
  const { members: _, ...etcd } = look.etcd;
  return { declared, look: { ...look, etcd: { ...etcd, members: undefined, service: "Finished", isHealthy: false, localMember: "none" } } };
}

function withEtcd(seen: Observed, change: (etcd: SeenEtcd, members: readonly EtcdMember[]) => SeenEtcd): Observed {
  const replace = (machine: SeenMachine): SeenMachine => {
    const { look, declared } = machine;
    if (look.kind !== "running" || look.etcd?.members === undefined) return machine;
    return { declared, look: { ...look, etcd: change(look.etcd, look.etcd.members) } };
  };
  return { ...seen, machines: seen.machines.map(replace), former: seen.former.map(replace) };
}
