import { bootstrapState } from "../report/describe.ts";
import { beforeReplacement } from "../procedures/care/before-replacement.ts";
import { planCare } from "../procedures/care/plan-care.ts";
import { etcdAlarms } from "../report/etcd-alarms.ts";
import { etcdHealth } from "../report/etcd-health.ts";
import { keysState } from "./keys-in-doubt.ts";
import { isReadyNode } from "./machine-state.ts";
import { planConfigs } from "../procedures/configure/plan.ts";
import { chooseNext } from "../procedures/configure/rollout.ts";
import { maxUnavailableOf } from "../disruption/limit.ts";
import { downIn } from "../disruption/pool-budget.ts";
import { beforeUpgrades } from "../procedures/upgrade/before-upgrades.ts";
import { planUpgrades } from "../procedures/upgrade/plan-upgrades.ts";
import { beforeRemovals } from "../procedures/remove/before-removals.ts";
import { identityOf } from "./identity.ts";
import { formerNames, idleCordons, leftNodes } from "./node-owners.ts";
import { planMachines } from "../procedures/join/plan.ts";
import { unlessRestarting } from "../report/restarting.ts";
import { planMembership } from "../procedures/remove/plan.ts";
import { besideFull, etcdMembership, settled } from "./quorum.ts";
import { once } from "./once.ts";
import { strayMembers } from "./stray-members.ts";
import { planStrays } from "../procedures/strays/plan-strays.ts";
import { indexOfIntents } from "../record/facts-index.ts";
import { factsOf, machineFact, mayHoldConfig } from "../record/facts.ts";
import { waitingOfGoingPools } from "../procedures/delete/rule.ts";
import { waitingOf, waitingOfControlPlane } from "../gates/wait.ts";
import type { AssessedMachine, AssessedPool, Assessment, StrayMember } from "../model/assessment.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";

/**
 * Concludes from an observation what rules, conditions and plans go by, each thing once for a pass. Pure; the table of machines costs one walk over them, and what
 * is planned is planned when it is first asked for, so that a cluster that is left alone pays for none of it.
 */
export function assess(seen: Observed): Assessment {
  const facts = factsOf(seen);
  const membership = once(() => etcdMembership(seen));
  const etcd = once(() => settled(membership()));
  const plans = plansOf(seen, facts, () => assessment);
  const goingPools = once(() => waitingOfGoingPools(assessment));
  const keys = once(() => keysState(assessment));
  const health = once(() => etcdAlarms(assessment) ?? unlessRestarting(assessment, etcdHealth(seen, plans.straying()?.says)));
  const bootstrap = once(() => bootstrapState(seen));
  const waiting = once(() => waitingOf(assessment));
  const ownWaiting = once(() => waitingOfControlPlane(assessment));
  const assessment: Assessment = withGetters(
    { seen, facts, ...tableOf(seen, facts) },
    {
      etcdMembership: membership,
      etcd,
      configs: orNone(plans.configs),
      rollout: plans.rollout,
      joining: plans.joining,
      leaving: plans.leaving,
      beforeRisk: plans.risk,
      beforeUpgrade: plans.upgradeRisk,
      upgrade: plans.upgrade,
      care: plans.care,
      strays: plans.strays,
      straying: plans.straying,
      idleCordons: orNone(plans.cordons),
      leftNodes: orNone(plans.left),
      formerNames: orNone(plans.formerNames),
      goingPools,
      keys,
      health,
      bootstrap,
      waiting,
      ownWaiting,
    },
  );
  return assessment;
}

/** Nothing of it where it cannot be told. */
function orNone<T>(tell: () => readonly T[] | undefined): () => readonly T[] {
  return once(() => tell() ?? []);
}

/** What is made when it is first read. */
function withGetters<P extends object, L extends object>(plain: P, lazy: { readonly [K in keyof L]: () => L[K] }): P & L {
  const getters = Object.entries<() => unknown>(lazy).map(([name, get]) => [name, { get, enumerable: true }] as const);
  return Object.defineProperties(plain, Object.fromEntries(getters)) as P & L;
}

/** What cannot be told without a record, each when it is first asked for. */
function plansOf(seen: Observed, facts: ClusterFacts | undefined, of: () => Assessment) {
  const ofRecord = ofRecordOf(facts);
  const configs = ofRecord((known) => planConfigs(seen, known));
  return {
    configs,
    rollout: ofRecord((known) => chooseNext(of(), known, configs() ?? [])),
    joining: ofRecord((known) => planMachines(of(), known)),
    leaving: ofRecord((known) => planMembership(of(), known)),
    risk: ofRecord((known) => beforeReplacement(of(), known) ?? beforeRemovals(of(), known)),
    upgradeRisk: ofRecord((known) => beforeUpgrades(of(), known)),
    upgrade: ofRecord((known) => planUpgrades(of(), known)),
    care: ofRecord((known) => planCare(of(), known)),
    strays: ofRecord((known) => straysOf(of(), known)),
    straying: ofRecord((known) => planStrays(of(), known)),
    cordons: ofRecord((known) => idleCordons(of(), known)),
    left: ofRecord((known) => leftNodes(of(), known)),
    formerNames: ofRecord((known) => formerNames(of(), known)),
  };
}

/** Members that are nobody's, where the members agree on who there is. */
function straysOf({ seen, etcdMembership }: Assessment, facts: ClusterFacts): readonly StrayMember[] | undefined {
  const view = besideFull(etcdMembership);
  return facts.bootstrapDone === undefined || view.kind === "unsafe" ? undefined : strayMembers(seen, facts, view);
}

/** Every machine, by itself, by name and by pool. */
function tableOf(seen: Observed, facts: ClusterFacts | undefined): Pick<Assessment, "machines" | "former" | "byName" | "pools"> {
  const { machines, former } = machinesOf(seen, facts);
  const byName = new Map([...former, ...machines].map((machine) => [machine.declared.name, machine]));
  return { machines, former, byName, pools: poolsOf(machines, former) };
}

/** What cannot be told without a record is told of none. */
function ofRecordOf(facts: ClusterFacts | undefined): <T>(conclude: (known: ClusterFacts) => T) => () => T | undefined {
  return (conclude) => once(() => (facts === undefined ? undefined : conclude(facts)));
}

/** Every machine with what is known of it, listed or not. */
function machinesOf(seen: Observed, facts: ClusterFacts | undefined): Pick<Assessment, "machines" | "former"> {
  const workers = new Map(seen.workers.map((worker) => [worker.metadata.name, worker]));
  const assessed = (machine: SeenMachine, isListed: boolean): AssessedMachine => {
    const { name, owner } = machine.declared;
    const fact = machineFact(facts, name);
    return {
      ...machine,
      isListed,
      fact,
      identity: facts === undefined || fact === undefined ? undefined : identityOf(facts, fact),
      isMember: mayHoldConfig(fact),
      intents: facts === undefined ? [] : (indexOfIntents(facts).get(name) ?? []),
      pool: owner.kind === "TalosWorker" ? workers.get(owner.name) : undefined,
      config: seen.configs?.get(name),
      drain: seen.drains?.get(name),
      isReady: isReadyNode(machine),
    };
  };
  return {
    machines: seen.machines.map((machine) => assessed(machine, true)),
    former: seen.former.map((machine) => assessed(machine, false)),
  };
}

function poolsOf(machines: readonly AssessedMachine[], former: readonly AssessedMachine[]): ReadonlyMap<string, AssessedPool> {
  const poolOf = ({ declared: { owner } }: AssessedMachine): string | undefined => (owner.kind === "TalosWorker" ? owner.name : undefined);
  const listed = Map.groupBy(machines, poolOf);
  const left = Map.groupBy(former, poolOf);
  const names = new Set([...listed.keys(), ...left.keys()]);
  const pools = new Map<string, AssessedPool>();
  for (const name of names) {
    if (name === undefined) continue;
    const [own, leaving] = [listed.get(name) ?? [], left.get(name) ?? []];
    const worker = (own[0] ?? leaving[0])?.pool;
    const limit = maxUnavailableOf(worker?.spec?.rolloutStrategy, own.length);
    pools.set(name, { worker, machines: own, leaving, limit, down: downIn(own, leaving) });
  }
  return pools;
}
