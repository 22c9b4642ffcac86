import { isSaid } from "../controllers/shared/outlook.ts";
import type { Explanation, WaitedFor } from "./explain.ts";

/** Decisions that are printed for people; `-o json` has all. */
const SHOWN_DECISIONS = 10;

/** The explanation as text for a terminal. */
export function printExplanation(explanation: Explanation, now: number): string {
  const { object, namespace, state, progress, isSettled, waitingFor, worthKnowing, openIntents, decisions } = explanation;
  const head = `${object} in namespace ${namespace}${state === undefined ? "" : `: ${state}`}`;
  const printed: string[] = [];
  // A parent says what its parts say: nothing is told twice.
  const once = (text: string): boolean => {
    const isNew = !printed.some((earlier) => earlier.includes(text));
    printed.push(text);
    return isNew;
  };
  const linesOf =
    (label: string) =>
    (one: WaitedFor): readonly string[] => [
      "",
      `  ${one.object}  ${one.condition}=${one.status}  ${one.reason}  since ${one.since} (${agoOf(one.since, now)})`,
      ...(once(one.message) ? one.message.split("\n").map((line) => `    ${line}`) : ["    As above."]),
      ...(saysRemedy(one) || !once(one.releasedBy) ? [] : [`    ${label}: ${one.releasedBy}`]),
    ];
  const intents = openIntents.flatMap(({ what, machine, at, deadline, why }) => [
    `  ${what} ${machine.name} (${machine.address}), begun ${at}, must end by ${deadline}`,
    `    ${why}`,
  ]);
  const told = decisions.slice(0, SHOWN_DECISIONS).flatMap(({ at, action, reason, rule, machine, message, releasedBy }, index) => [
    `  ${at}  ${action}${machine === undefined ? "" : ` ${machine}`}  ${reason}${rule === undefined ? "" : `  (rule ${rule})`}`,
    ...(message === undefined || message === "" ? [] : [`    ${message}`]),
    // What older decisions waited for came, or a newer one says it.
    ...(releasedBy === undefined || hasNothingToDo(releasedBy) || index > 0 || isSettled ? [] : [`    To continue: ${releasedBy}`]),
  ]);
  return [
    head,
    ...(progress === undefined ? [] : ["", progress === "stalled" ? "Stalled: a person is needed." : "In progress."]),
    ...(isSettled ? ["", worthKnowing.length === 0 ? "It is as the spec asks; nothing is waited for." : "Nothing is waited for."] : []),
    ...(waitingFor.length === 0 ? [] : ["", "Waiting for:", ...waitingFor.flatMap(linesOf("To continue"))]),
    ...(worthKnowing.length === 0 ? [] : ["", "Worth knowing:", ...worthKnowing.flatMap(linesOf("To change it"))]),
    ...(intents.length === 0 ? [] : ["", "Open effects, whose end was not seen yet:", ...intents]),
    ...(told.length === 0
      ? []
      : ["", `Last decisions${decisions.length > SHOWN_DECISIONS ? ` (${SHOWN_DECISIONS} of ${decisions.length})` : ""}:`, ...told]),
    "",
  ].join("\n");
}

/** The message says what a person can do, or there is nothing. A TalosControlPlane's Ready always says it, in its own words where it has better ones. */
function saysRemedy({ object, condition, message, releasedBy }: WaitedFor): boolean {
  return hasNothingToDo(releasedBy) || isSaid(message, releasedBy) || (condition === "Ready" && object.startsWith("TalosControlPlane/"));
}

function hasNothingToDo(releasedBy: string): boolean {
  return /^Nothing\b/.test(releasedBy);
}

/** `3 min ago`. */
function agoOf(since: string, now: number): string {
  const at = Date.parse(since);
  if (Number.isNaN(at)) return "unknown";
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min ago`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h ago` : `${Math.round(seconds / 86_400)} days ago`;
}
