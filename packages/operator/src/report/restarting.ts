import type { ReasonOf } from "@talos-operator/api";
import { isReadyNode } from "../assess/machine-state.ts";
import { onceFor } from "../assess/once.ts";
import type { Assessment } from "../model/assessment.ts";
import type { MachineName } from "../model/machine.ts";
import type { SeenMachine } from "../model/observation.ts";
import type { Said } from "../model/plans.ts";
import type { IntentFact, IntentKind } from "../model/record.ts";

/** Effects that take a machine, or its services, down and up again. */
const RESTARTS: ReadonlySet<IntentKind> = new Set(["Reboot", "UpgradeTalos", "ApplyConfig"]);

/** Machines that the operator itself restarts, and that may still come back in their time: that they are down is no news. */
const restartingMachines = onceFor(
  ({ seen, facts }: Assessment): ReadonlySet<MachineName> =>
    new Set((facts?.intents ?? []).filter((intent) => isRestart(intent, seen.now)).map(({ machine }) => machine)),
);

/** The operator restarts the machine of this intent, and it may still come back in its time. */
function isRestart({ what, deadline }: Pick<IntentFact, "what" | "deadline">, now: number): boolean {
  return RESTARTS.has(what) && now < deadline;
}

/** The same, or it wipes the machine. */
export function isTakenDown(intent: Pick<IntentFact, "what" | "deadline">, now: number): boolean {
  return isRestart(intent, now) || (intent.what === "Reset" && now < intent.deadline);
}

/** Of these machines some are no ready nodes, and the operator restarts each of those. */
export function onlyRestart(assessed: Assessment, machines: readonly SeenMachine[]): boolean {
  const restarting = restartingMachines(assessed);
  const down = machines.filter((machine) => !isReadyNode(machine));
  return down.length > 0 && down.every(({ declared }) => restarting.has(declared.name));
}

/** What a member that is away brings along. */
const OF_RESTART: ReadonlySet<ReasonOf<"EtcdHealthy">> = new Set(["MemberMissing", "MemberUnhealthy", "NoAnswer"]);

/** How etcd is, unless all that is wrong with it is that the operator restarts a member. */
export function unlessRestarting(assessed: Assessment, health: Said<ReasonOf<"EtcdHealthy">>): Said<ReasonOf<"EtcdHealthy">> {
  if (!OF_RESTART.has(health.reason)) return health;
  const restarting = restartingMachines(assessed);
  const away = assessed.seen.machines.filter(
    ({ declared, look }) =>
      declared.role === "controlplane" && !(look.kind === "running" && look.etcd?.members !== undefined && look.etcd.isHealthy),
  );
  if (away.length === 0 || !away.every(({ declared }) => restarting.has(declared.name))) return health;
  return { reason: "MemberRestarting", message: health.message };
}
