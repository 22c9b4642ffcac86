import { countOf } from "../report/listed.ts";
import type { Plan } from "../model/decision.ts";

/** Longest text of a plan in a condition; the schema allows 32,768 characters. */
const LONGEST = 16_000;

/** The plan for people: one numbered line for each step with its effect class, then what is waited for at the end. */
export function printPlan(plan: Plan): string {
  const lines = plan.steps.map(
    ({ effect, says, quorum }, index) => `${index + 1}. [${effect}] ${says}${quorum === undefined ? "" : ` etcd: ${quorum}.`}`,
  );
  const end =
    plan.waiting === undefined
      ? plan.isWhole
        ? []
        : ["What follows cannot be previewed."]
      : [`${plan.steps.length === 0 ? "Now" : "Then"} it waits (${plan.waiting.reason}): ${plan.waiting.message}`];
  const head =
    plan.steps.length === 0
      ? plan.pending === undefined
        ? "Nothing would be done."
        : "Nothing would be done yet."
      : `Plan: ${countOf(plan.steps.length, "step")}. Nothing is done yet.`;
  const pending = plan.pending === undefined ? [] : [`Not in this plan: ${plan.pending}`];
  const forecast = plan.forecast === undefined ? [] : [`Upgrade of Talos: ${plan.forecast}`];
  return bounded([head, ...forecast, ...lines], [...pending, ...end].join("\n"));
}

function bounded(lines: readonly string[], end: string): string {
  const kept: string[] = [];
  let length = end.length;
  for (const line of lines) {
    const cut = line.length > LONGEST / 2 ? `${line.slice(0, LONGEST / 2)}...` : line;
    if (length + cut.length > LONGEST) {
      kept.push(`... and ${countOf(lines.length - kept.length, "more step")}.`);
      break;
    }
    kept.push(cut);
    length += cut.length + 1;
  }
  return [...kept, ...(end === "" ? [] : [end])].join("\n");
}
