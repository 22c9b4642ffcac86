import type { Action } from "../model/effect.ts";
import { definitionOf } from "./definitions.ts";

/**
 * Objects that a pass is to make, release, guard or send after their machines, as one word; `undefined` when it is to do anything else. What these actions
 * find done already, or changed since it was seen, they pass over.
 */
export function objectsActedOn(actions: readonly Action[]): string | undefined {
  const words = actions.map((action) => {
    const object = definitionOf(action).object?.(action);
    return object === undefined ? undefined : `${action.kind} ${object}`;
  });
  return words.length === 0 || words.includes(undefined) ? undefined : words.join(", ");
}
