import type { ToldRule } from "./rule.ts";
import { WRITTEN_MS } from "./rule.ts";
import { conditionOf, isGoing, isWell, nameOf, type Told, type ToldMachine, type ToldObject, type ToldPool } from "./told.ts";

/** A worker that was powered off is noticed after that time at the latest: by a look that is due and its second chance. */
const NOTICED_MS = 70_000;

interface Summed {
  readonly object: ToldObject;
  readonly machines: readonly (ToldMachine & { readonly isGoing: boolean })[];
  /** Statuses between the record and this one. */
  readonly levels: number;
}

/** Each object with all machines that its words are about. What is under way a control plane says of the whole cluster. */
function summed({ pools, clusters }: Told): readonly Summed[] {
  const withGoing = (pool: ToldPool) => pool.machines.map((machine) => ({ ...machine, isGoing: isGoing(machine, pool) }));
  const all = pools.flatMap(withGoing);
  return [
    ...pools.map((pool) => ({
      object: pool.object,
      machines: pool.plural === "taloscontrolplanes" ? all : withGoing(pool),
      levels: pool.plural === "taloscontrolplanes" ? 1 : 2,
    })),
    ...clusters.map((object) => ({ object, machines: all, levels: 3 })),
  ];
}

/** Effects by which the operator restarts a machine: a cluster that was ready is so meanwhile. */
const RESTARTS: ReadonlySet<string> = new Set(["Reboot", "UpgradeTalos", "ApplyConfig"]);

/** The machine keeps this object from being ready while it is no ready node: a worker no control plane, a planned restart no cluster. */
function counts({ kind }: ToldObject, { isControlPlane, openEffect = "" }: ToldMachine): boolean {
  if (kind === "TalosControlPlane") return isControlPlane;
  return kind === "TalosWorker" || !RESTARTS.has(openEffect);
}

/** What an object says, in short. */
function reasonsOf({ status }: ToldObject): string {
  return (status?.conditions ?? []).map(({ type, reason = "" }) => `${type} ${reason}`).join(", ");
}

/** W5 nothing is Ready while a machine that it lists is no ready node. */
const readyMachines: ToldRule = {
  id: "W5",
  toleranceMs: NOTICED_MS + WRITTEN_MS,
  judge(told, broken) {
    for (const machine of told.machines.values()) {
      const isReady = conditionOf(machine.object, "Ready")?.status === "True";
      if (isReady && machine.object !== undefined && !isWell(machine))
        broken(machine.name, () => `TalosMachine ${machine.name} is Ready, and the machine is ${wordFor(machine)}`);
    }
    for (const { object, machines } of summed(told)) {
      if (conditionOf(object, "Ready")?.status !== "True") continue;
      const ill = machines.find((machine) => machine.isListed && !machine.isGoing && counts(object, machine) && !isWell(machine));
      if (ill !== undefined) broken(nameOf(object), () => `${nameOf(object)} is Ready, and ${ill.name} is ${wordFor(ill)}`);
    }
  },
};

function wordFor({ truth }: ToldMachine): string {
  if (truth === undefined) return "another one";
  const { power, isConnected, stage, kubernetes } = truth;
  return `${power === "off" ? "off" : isConnected ? stage : "cut off"}${kubernetes.isNodeReady ? "" : ", no ready node"}`;
}

/** W6 nothing says that nothing is left to do, to people or to tools, while an effect on one of its machines is open, or one of them is on its way out. */
const settled: ToldRule = {
  id: "W6",
  toleranceMs: WRITTEN_MS,
  judge(told, broken) {
    for (const { object, machines } of summed(told)) {
      const word = finalWord(object);
      if (word === undefined) continue;
      const open = machines.find(({ openEffect }) => openEffect !== undefined);
      if (open !== undefined)
        broken(
          `${nameOf(object)} effect`,
          () => `${nameOf(object)} is ${word} while ${open.openEffect} of ${open.name} is open: ${reasonsOf(object)}`,
        );
      const leaving = machines.find((machine) => machine.isGoing && machine.isKnown);
      if (leaving !== undefined)
        broken(`${nameOf(object)} leaves`, () => `${nameOf(object)} is ${word} while ${leaving.name} leaves: ${reasonsOf(object)}`);
    }
  },
};

/** By which an object is taken for carried out: by its `Progressing`, or by kstatus as Flux and Argo CD read it; `undefined` = it is not. */
function finalWord(object: ToldObject): string | undefined {
  const { reason } = conditionOf(object, "Progressing") ?? {};
  if (reason === "Settled" || reason === "UpgradePending") return reason;
  const { metadata, status } = object;
  const isOpen = ["Reconciling", "Stalled"].some((type) => conditionOf(object, type)?.status === "True");
  const isCurrent = metadata?.deletionTimestamp === undefined && status?.observedGeneration === metadata?.generation && !isOpen;
  return isCurrent && conditionOf(object, "Ready")?.status === "True" ? "Current" : undefined;
}

/** W7 nothing is settled that is not Ready of its newest spec. */
const settledIsReady: ToldRule = {
  id: "W7",
  toleranceMs: 0,
  judge(told, broken) {
    for (const { object } of summed(told)) {
      const progress = conditionOf(object, "Progressing");
      const ready = conditionOf(object, "Ready");
      if (progress?.reason !== "Settled") continue;
      if (ready?.status !== "True")
        broken(nameOf(object), () => `${nameOf(object)} is Settled and Ready=${ready?.status ?? "absent"} ${ready?.reason ?? ""}`);
      if (ready?.observedGeneration !== progress.observedGeneration)
        broken(`${nameOf(object)} generation`, () => `${nameOf(object)}: Ready and Progressing are of two generations`);
    }
  },
};

/** W8 no condition is of a spec that nobody wrote yet. */
const generations: ToldRule = {
  id: "W8",
  toleranceMs: 0,
  judge(told, broken) {
    const all = [...summed(told).map(({ object }) => object), ...[...told.machines.values()].flatMap(({ object }) => object ?? [])];
    for (const object of all) {
      const newest = object.metadata?.generation ?? 0;
      const early = object.status?.conditions?.find(({ observedGeneration = 0 }) => observedGeneration > newest);
      if (early !== undefined)
        broken(
          nameOf(object),
          () => `${nameOf(object)}: ${early.type} is of generation ${early.observedGeneration}, and ${newest} is the newest`,
        );
    }
  },
};

/** W20 conditions of one object agree: it is under way for people and for tools alike, and never stalled beside that. */
const agree: ToldRule = {
  id: "W20",
  toleranceMs: 0,
  judge(told, broken) {
    for (const { object } of summed(told)) {
      const isTrue = (type: string): boolean => conditionOf(object, type)?.status === "True";
      if (conditionOf(object, "Progressing") === undefined || isTrue("Paused")) continue;
      if (isTrue("Progressing") !== isTrue("Reconciling") || (isTrue("Progressing") && isTrue("Stalled")))
        broken(nameOf(object), () => `${nameOf(object)} contradicts itself: ${reasonsOf(object)}`);
    }
  },
};

export const readyRules: readonly ToldRule[] = [readyMachines, settled, settledIsReady, generations, agree];
