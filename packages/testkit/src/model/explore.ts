import { movesOf } from "./moves.ts";
import { brokenBy, brokenIn } from "./rules.ts";
import type { State } from "./state.ts";

/** What an exploration found. */
export interface Exploration {
  /** Different states. */
  readonly states: number;
  readonly moves: number;
  /** Effects of operators on the longest of the shortest ways to a state. */
  readonly depth: number;
  /** False: `mostStates` stopped it before every state within `effects` was seen. */
  readonly isComplete: boolean;
  /** The first broken rule with the way to it. */
  readonly broken: { readonly rule: string; readonly way: readonly string[] } | undefined;
}

interface Seen {
  readonly from: string | undefined;
  readonly what: string;
}

/**
 * Visits every state that can be reached with so many effects of operators; what machines and people do on the way costs nothing.
 *
 * @param effects most effects on a way
 * @param mostStates stops there; default: never
 * @param onState told of each state once
 */
export function explore(
  begin: State,
  effects: number,
  mostStates = Number.POSITIVE_INFINITY,
  onState: (state: State) => void = () => undefined,
): Exploration {
  const seen = new Map<string, Seen>();
  let moves = 0;
  let depth = 0;
  // By the number of effects: what costs none is visited first.
  const layers: (readonly [string, State])[][] = [];
  const keyOf = createKeys();
  const wayTo = (key: string | undefined): string[] => {
    const way: string[] = [];
    for (let at = key; at !== undefined;) {
      const known = seen.get(at);
      if (known === undefined) break;
      way.push(known.what);
      at = known.from;
    }
    return way.toReversed();
  };
  const end = (isComplete: boolean, broken?: Exploration["broken"]): Exploration => ({
    states: seen.size,
    moves,
    depth,
    isComplete,
    broken,
  });

  const first = keyOf(begin);
  seen.set(first, { from: undefined, what: "begin" });
  layers[0] = [[first, begin]];
  for (let cost = 0; cost <= effects; cost += 1) {
    const layer = layers[cost] ?? [];
    if (layer.length > 0) depth = cost;
    for (let item = layer.pop(); item !== undefined; item = layer.pop()) {
      const [key, state] = item;
      onState(state);
      for (const { what, isEffect, next, sent } of movesOf(state)) {
        moves += 1;
        const rule = (sent === undefined ? undefined : brokenBy(sent, state)) ?? brokenIn(next, state);
        if (rule !== undefined) return end(false, { rule, way: [...wayTo(key), what] });
        const target = cost + (isEffect ? 1 : 0);
        if (target > effects) continue;
        const nextKey = keyOf(next);
        if (seen.has(nextKey)) continue;
        seen.set(nextKey, { from: key, what });
        if (seen.size >= mostStates) return end(false);
        (layers[target] ??= []).push([nextKey, next]);
      }
    }
  }
  return end(true);
}

/** States as short texts: facts and actions, which are long and few, are numbered. */
function createKeys(): (state: State) => string {
  const numbers = new Map<string, number>();
  const known = new WeakMap<object, number>();
  const numberOf = (value: object | undefined): number => {
    if (value === undefined) return 0;
    const before = known.get(value);
    if (before !== undefined) return before;
    const text = JSON.stringify(value);
    const number = numbers.get(text) ?? numbers.size + 1;
    numbers.set(text, number);
    known.set(value, number);
    return number;
  };
  return ({ facts, operators, machines, etcd, listed, wishes, ...rest }) =>
    JSON.stringify([
      Object.values(rest),
      numberOf(facts),
      machines.map(numberOf),
      numberOf(etcd),
      numberOf(listed),
      numberOf(wishes),
      operators.map(({ mayDisturb, pending, armed, isCurrent }) => [mayDisturb, numberOf(pending), numberOf(armed), isCurrent]),
    ]);
}
