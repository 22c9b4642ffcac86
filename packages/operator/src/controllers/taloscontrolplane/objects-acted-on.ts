import type { Action } from "../../model/effect.ts";

/**
 * Objects that a pass is to make, release, guard or send after their machines, as one word; `undefined` when it is to do anything else. What these actions
 * find done already, or changed since it was seen, they pass over.
 */
export function objectsActedOn(actions: readonly Action[]): string | undefined {
  const words = actions.map((action) => {
    if (action.kind === "CreateMachine") return `${action.kind} ${action.machine.name}`;
    if (action.kind === "FollowEndpoint") return `${action.kind} ${action.name} ${action.to}`;
    if (action.kind === "DeleteMachine") return `${action.kind} ${action.name}`;
    return action.kind === "AddFinalizer" || action.kind === "RemoveFinalizer"
      ? `${action.kind} ${action.object.kind}/${action.object.name}`
      : undefined;
  });
  return words.length === 0 || words.includes(undefined) ? undefined : words.join(", ");
}
