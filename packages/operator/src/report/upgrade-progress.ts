import type { UpgradeStage, UpgradeStatus } from "@talos-operator/api";
import type { MachineHop } from "@talos-operator/talos";
import { machineApiFacts } from "@talos-operator/talos/client";
import { onceFor } from "../assess/once.ts";
import { isSameBuild } from "../effects/demand-talos.ts";
import { upgradePlanOf } from "../planning/upgrade-plan.ts";
import { quarantineOf, upgradeIntents } from "../record/upgrades.ts";
import type { AssessedMachine, Assessment } from "../model/assessment.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { TalosBuild, UpgradeIntent } from "../record/upgrades.ts";

/** Where a machine stands on its way to another Talos. */
export interface UpgradeProgress {
  readonly machine: MachineName;
  readonly from: string;
  readonly to: string;
  readonly stage: UpgradeStage;
}

const stageWords: Readonly<Record<UpgradeStage, string>> = {
  Pulling: "pulling the installer",
  Installing: "installing",
  Installed: "installed",
  Draining: "draining",
  Booting: "booting",
  BakeTime: "verifying",
  RollingBack: "rolling back",
  Failed: "failed",
};

/** A stage of `status.upgrade` for people. */
export function upgradeStageWord(stage: string): string {
  return (stageWords as Readonly<Record<string, string>>)[stage] ?? stage;
}

/** Rows of a status at most: what runs at once is bounded by budgets, and what failed by its quarantine. */
const MOST_ROWS = 64;

/** Machines that are under way to another Talos, or failed on it, by name. Those that wait for their turn are none of them. */
export const upgradesUnderWay = onceFor((assessed: Assessment): ReadonlyMap<MachineName, UpgradeProgress> => {
  const { seen, facts } = assessed;
  const rows = new Map<MachineName, UpgradeProgress>();
  if (facts?.bootstrapDone === undefined) return rows;
  for (const intent of upgradeIntents(facts))
    rows.set(intent.machine, { machine: intent.machine, from: intent.talosBefore, to: intent.talosVersion, stage: stageOf(intent) });
  for (const [name, { from, to }] of nextHops(seen)) {
    const machine = assessed.byName.get(name);
    if (machine === undefined || rows.has(name)) continue;
    const stage = stageBefore(assessed, machine, from, to);
    if (stage !== undefined) rows.set(name, { machine: name, from: from.version, to: to.version, stage });
  }
  return rows;
});

/** How far some machines of a cluster are, for a status; `undefined` = they run what is asked for, or nothing leads there. */
export function upgradeStatusOf(assessed: Assessment, machines: readonly SeenMachine[]): UpgradeStatus | undefined {
  const rows = upgradesUnderWay(assessed);
  const left = nextHops(assessed.seen);
  const own = machines.filter(({ look }) => look.kind === "running" || look.kind === "silent").map(({ declared }) => declared.name);
  const underWay = own.flatMap((name) => rows.get(name) ?? []);
  const done = own.filter((name) => !left.has(name) && !rows.has(name)).length;
  if (done === own.length) return undefined;
  return {
    done,
    machines: own.length,
    progress: `${done}/${own.length}`,
    ...(underWay.length === 0 ? {} : { underWay: underWay.slice(0, MOST_ROWS) }),
  };
}

/** The next hop of each machine that has one; none while nothing of the plan can begin. */
const nextHops = onceFor((seen: Observed): ReadonlyMap<MachineName, Pick<MachineHop, "from" | "to">> => {
  const plan = upgradePlanOf(seen);
  const next = new Map<MachineName, Pick<MachineHop, "from" | "to">>();
  if (plan.kind !== "hops" || plan.heldBy !== undefined) return next;
  for (const hop of plan.hops)
    if (hop.kind === "talos") for (const { name, from, to } of hop.machines) if (!next.has(name)) next.set(name, { from, to });
  return next;
});

function stageOf({ what, rollsBackFrom, provenAt }: UpgradeIntent): UpgradeStage {
  if (rollsBackFrom !== undefined) return "RollingBack";
  if (what === "InstallTalos") return "Installing";
  return provenAt === undefined ? "Booting" : "BakeTime";
}

/** Of a machine on which no step is open; `undefined` = nothing is done with it yet. */
function stageBefore({ seen, facts }: Assessment, machine: AssessedMachine, from: TalosBuild, to: TalosBuild): UpgradeStage | undefined {
  const { name } = machine.declared;
  if (facts !== undefined && quarantineOf(facts, to).some((row) => row.machine === name)) return "Failed";
  const isInstalled = machine.fact?.installed !== undefined && isSameBuild(machine.fact.installed, to);
  const drains = machine.drain !== undefined && machine.intents.length === 0;
  if (drains && (isInstalled || machineApiFacts(from.version).upgrade !== "in-steps")) return "Draining";
  if (isInstalled) return "Installed";
  const begun = seen.sent.get(`PullInstaller/${name}`);
  const ended = seen.sent.get(`PullInstallerEnded/${name}`);
  const isPulling = begun?.outcome === "answered" && (ended === undefined || ended.at < begun.at || ended.outcome !== "answered");
  return isPulling ? "Pulling" : undefined;
}
