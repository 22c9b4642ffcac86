import { askAll, sendingOf } from "./define.ts";
import { asksGuard, asksWord, definitionOf, effects as every } from "./definitions.ts";
import type { Sending } from "./define.ts";
import type { Definitions } from "./definitions.ts";
import { PoolFailure } from "./for-pool.ts";
import type { Action, ActionOf, EffectKind } from "../model/effect.ts";
import type { Effects } from "./ports.ts";

/** Carries out one effect. It takes no decision: what it finds changed at the last moment it leaves to the next pass. */
async function execute<K extends EffectKind>(action: ActionOf<K>, effects: Effects, definitions: Definitions): Promise<void> {
  const definition = definitionOf(action, definitions);
  const sending = sendingOf<Sending<ActionOf<K>>>(action, effects, {});
  if ((await askAll(definition.before, sending)) === undefined) await definition.carryOut(sending, definition);
}

/**
 * Runs the actions in order; neighbours that concern different machines run together. The first failure ends the pass.
 *
 * @param definitions default: every effect as it is defined
 */
export async function executeAll(actions: readonly Action[], effects: Effects, definitions: Definitions = every): Promise<void> {
  for (const group of grouped(actions)) {
    if (group.some((action) => asksWord(action, effects.seen))) await effects.demandReconciled();
    const ended = effects.guard.gather(group.filter(asksGuard).length);
    const results = await Promise.allSettled(
      group.map(async (action) => {
        try {
          const about = { effect: action.kind, machine: definitionOf(action).machine?.(action) };
          await effects.span.inSpan(`effect ${action.kind}`, about, () => execute(action, effects, definitions));
        } finally {
          if (asksGuard(action)) ended();
        }
      }),
    );
    for (const [index, result] of results.entries())
      effects.carriedOut(group[index]?.kind ?? "", result.status === "rejected" ? result.reason : undefined);
    // What a pool alone is refused holds up nobody else.
    const failed = results.find((result) => result.status === "rejected" && !(result.reason instanceof PoolFailure));
    if (failed?.status === "rejected") throw failed.reason;
  }
}

function grouped(actions: readonly Action[]): readonly (readonly Action[])[] {
  const goesTogether = (action: Action): boolean => definitionOf(action).goesTogether === true;
  const groups: Action[][] = [];
  for (const action of actions) {
    const last = groups.at(-1);
    const before = last?.[0];
    if (last !== undefined && before !== undefined && goesTogether(action) && goesTogether(before)) last.push(action);
    else groups.push([action]);
  }
  return groups;
}
