import type { PlannedEffect } from "../model/effect.ts";
import type { MachineName } from "../model/machine.ts";
import type { PlanStep } from "../model/decision.ts";

/** An effect as a step of a plan, before neighbours are put together: the words take the names of all machines of the step. */
export interface StepWords {
  readonly effect: PlannedEffect;
  /** The machine that it concerns, with what people recognise it by. */
  readonly machine?: MachineName;
  readonly named: string;
  /** The sentence for one or several that are alike. */
  readonly says: (named: string) => string;
}

/** A step of a plan by itself. */
export interface Step extends StepWords {
  /** Name of the effect, or `Wait`. */
  readonly action: string;
  readonly quorum?: string;
  /** Of the play: what is done in different ones is done one after the other. */
  readonly pass: number;
}

/** Effects that are told together though one machine follows the other: nobody is away for them. */
const TOGETHER: ReadonlySet<PlannedEffect> = new Set(["stored", "waits", "installs"]);

/** Only objects of the management cluster are written. */
export function stored(named: string, says: StepWords["says"], machine?: MachineName): StepWords {
  return { effect: "stored", named, says, ...(machine === undefined ? {} : { machine }) };
}

/** Something is done to this machine. @param named default: its name */
export function onMachine(effect: PlannedEffect, machine: MachineName, says: StepWords["says"], named: string = machine): StepWords {
  return { effect, machine, named, says };
}

/** Neighbours of one kind and effect as one step. */
export function joined(steps: readonly Step[]): readonly PlanStep[] {
  const groups: Step[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    const first = last?.[0];
    const isAlike = first?.action === step.action && first.effect === step.effect;
    if (isAlike && (first.pass === step.pass || TOGETHER.has(step.effect))) last?.push(step);
    else groups.push([step]);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return [
      {
        effect: first.effect,
        action: first.action,
        machines: group.flatMap(({ machine }) => machine ?? []),
        says: first.says(group.map(({ named }) => named).join(", ")),
        ...(first.quorum === undefined ? {} : { quorum: first.quorum }),
      },
    ];
  });
}
