import { annotations } from "@talos-operator/api";
import { compareVersions, isSameSchematic, tryParseVersion } from "@talos-operator/talos";
import { compareIdentity } from "../observe/proven-look.ts";
import { argumentsToCome } from "../planning/upgrade-plan.ts";
import { intentOn, machineFact } from "../record/facts.ts";
import { asksMachine, isClusterGoing, isDisruptive, machineOf } from "./pass.ts";
import type { MachineAction, Pass, PassInvariant } from "./pass.ts";
import type { AssessedPool } from "../model/assessment.ts";
import type { ActionOf } from "../model/effect.ts";
import type { MachineName } from "../model/machine.ts";

/** Why this machine must not be wiped. */
function wipeUnfounded(pass: Pass, name: MachineName, ifUuid: string): string | undefined {
  const { seen, byName } = pass.assessed;
  const machine = byName.get(name);
  const intent = intentOn(pass.after, name, "Reset");
  if (intent === undefined) return "no intent to wipe it is written down";
  if (intent.uuid !== ifUuid) return `the intent names the hardware ${intent.uuid || "of no UUID"}`;
  if (machine?.isListed === true && !isClusterGoing(pass) && machine.pool?.metadata.deletionTimestamp === undefined) return "it is listed";
  if (seen.unknownMode !== undefined) return "the annotation reconcile-mode says no known value";
  const isConfirmed = seen.controlPlane.metadata.annotations?.[annotations.confirmReset] === seen.controlPlane.metadata.name;
  if (seen.namespaceIsTerminating !== false && !isConfirmed) return "its namespace may be going away";
  return undefined;
}

/** What is sent to a machine is sent to the one that was written down. */
function isForAnother(pass: Pass, action: MachineAction): boolean {
  const name = machineOf(action);
  const fact = machineFact(pass.after, name);
  if (action.kind === "ConfigureMachine") return fact === undefined || fact.spki !== action.ifSpki;
  if (action.kind === "RemoveMember") return false;
  if (fact === undefined || pass.after === undefined) return true;
  const { look } = pass.assessed.byName.get(name) ?? {};
  const isOther = fact.uuid !== "" && action.ifUuid !== "" && action.ifUuid !== fact.uuid;
  return isOther || (look?.kind === "running" && compareIdentity(pass.after, fact, look.hardware) === "other");
}

/** Why a pool would have too many of its machines down. */
function poolExceeded(
  { assessed, before, after, actions }: Pass,
  [name, { worker, machines, leaving, limit }]: [string, AssessedPool],
): string | undefined {
  if (worker?.metadata.deletionTimestamp !== undefined) return undefined;
  const all = [...machines, ...leaving];
  const openIn = (facts: typeof after): ReadonlySet<MachineName> => new Set(facts?.intents.map(({ machine }) => machine));
  const [wasBusy, isBusy] = [openIn(before), openIn(after)];
  const drained = new Set(actions.flatMap((action) => (action.kind === "CordonAndDrain" ? [action.machine] : [])));
  const down = all.filter(({ declared, isListed, isMember, isReady }) => isBusy.has(declared.name) || (isListed && isMember && !isReady));
  const namesOf = (some: typeof all): string => some.map(({ declared }) => declared.name).join(", ");
  const taken = down.filter(({ declared, isReady }) => isReady && !wasBusy.has(declared.name));
  if (taken.length > 0 && down.length > limit)
    return `${namesOf(taken)} is to be taken down in ${name}, and ${namesOf(down)} would be down; ${limit} may be`;
  const begun = all.filter(({ declared, isReady, drain }) => isReady && drain === undefined && drained.has(declared.name));
  const counted = new Set([...down, ...begun]);
  const out = all.filter((machine) => counted.has(machine) || assessed.seen.drains?.has(machine.declared.name) === true);
  if (begun.length > 0 && out.length > limit)
    return `${namesOf(begun)} is to be drained in ${name}, and ${namesOf(out)} would be down or drained; ${limit} may be`;
  return undefined;
}

/** Why this Talos must not go to this machine. */
function talosUnfounded(pass: Pass, { machine, version, schematic }: ActionOf<"InstallTalos" | "UpgradeTalos">): string | undefined {
  const { byName, machines, seen } = pass.assessed;
  const { look, declared } = byName.get(machine) ?? {};
  if (look?.kind !== "running" || look.version === undefined) return "nobody knows which one it runs";
  if (tryParseVersion(version) === undefined || tryParseVersion(look.version) === undefined) return "that is no version";
  const order = compareVersions(version, look.version);
  if (order === 0 && isSameSchematic(look.schematic, schematic) && argumentsToCome(seen.configs?.get(machine)).length === 0)
    return "it runs that already";
  const allowed = seen.controlPlane.metadata.annotations?.[annotations.allowDowngrade] ?? "";
  const isAllowed = tryParseVersion(allowed) !== undefined && compareVersions(allowed, declared?.version ?? "") === 0;
  if (order < 0 && !isAllowed) return `it runs the newer ${look.version}, and nobody allowed it to go back`;
  const failed = pass.before?.quarantine?.find(
    (row) => row.version === version && (row.schematic === undefined || row.schematic === schematic),
  );
  if (failed !== undefined) return `it failed on ${failed.machine}`;
  const away = machines.find(
    (one) => one.declared.role === "controlplane" && one.isMember && !one.isReady && one.declared.name !== machine,
  );
  return declared?.role === "controlplane" && away !== undefined ? `${away.declared.name} is not back` : undefined;
}

/** What is done to machines, and when. */
export const ofMachines: readonly PassInvariant[] = [
  {
    id: "S19",
    says: "Only a machine that nobody wants any more, and that was written down, is wiped.",
    broken(pass) {
      for (const action of pass.actions) {
        if (action.kind !== "ResetMachine") continue;
        const why = wipeUnfounded(pass, action.machine, action.ifUuid);
        if (why !== undefined) return `${action.machine} is to be wiped, and ${why}`;
      }
      return undefined;
    },
  },
  {
    id: "S20",
    says: "Nothing is sent to another machine than the one that was written down.",
    broken(pass) {
      const stray = pass.actions.filter(asksMachine).find((action) => isForAnother(pass, action));
      return stray === undefined
        ? undefined
        : `${stray.kind} is to go to ${machineOf(stray)}, which is not the machine that was written down`;
    },
  },
  {
    id: "S21",
    says: "A Talos goes to no machine that runs it from that schematic, back only where a person said so, and to no control plane while another one is not back: of workers S24 says how many.",
    broken(pass) {
      for (const action of pass.actions) {
        if (action.kind !== "InstallTalos" && action.kind !== "UpgradeTalos") continue;
        const why = talosUnfounded(pass, action);
        if (why !== undefined) return `Talos ${action.version} is to go to ${action.machine}, and ${why}`;
      }
      return undefined;
    },
  },
  {
    id: "S24",
    says: "No more machines of a pool are down than maxUnavailable allows, counting those that are down already.",
    broken(pass) {
      if (isClusterGoing(pass)) return undefined;
      for (const pool of pass.assessed.pools) {
        const exceeded = poolExceeded(pass, pool);
        if (exceeded !== undefined) return exceeded;
      }
      return undefined;
    },
  },
  {
    id: "S32",
    says: "Nothing is disturbed while effects of an earlier leader may still take place.",
    broken({ assessed: { seen }, actions }) {
      const early = seen.mayDisturb ? undefined : actions.find((action) => isDisruptive(action) || action.kind === "CordonAndDrain");
      return early === undefined ? undefined : `${early.kind} is to be sent, and this operator just took over`;
    },
  },
];
