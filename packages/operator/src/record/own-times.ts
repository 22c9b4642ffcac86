import type { ClusterFacts, IntentFact } from "../model/record.ts";

interface Times {
  readonly at: number;
  readonly deadline: number;
}

/**
 * Open intents by the clock of this process.
 *
 * An intent that lies in the future was written by another clock: this one was set back since, or another host's is ahead. By the times in the record it would
 * be waited for until the clock gets there. It was written before it was first seen like that, so it counts from then, with the whole of its time: what it
 * allows is over by then, and nothing is repeated earlier. Once the clock has got there the record's own times count again.
 */
export class OwnTimes {
  readonly #known = new Map<string, Times>();

  /** The facts with the times of intents as rules are to take them; the same object where the record's own do. */
  of(facts: ClusterFacts, now: number): ClusterFacts {
    const ahead = new Map(facts.intents.filter(({ at }) => at > now).map((intent) => [keyOf(intent), intent] as const));
    for (const key of this.#known.keys()) if (!ahead.has(key)) this.#known.delete(key);
    if (ahead.size === 0) return facts;
    return {
      ...facts,
      intents: facts.intents.map((intent) => {
        if (intent.at <= now) return intent;
        const { at, deadline } = intent;
        return { ...intent, ...this.#timesOf(intent, now), recorded: { at, deadline } };
      }),
    };
  }

  #timesOf(intent: IntentFact, now: number): Times {
    const known = this.#known.get(keyOf(intent));
    if (known !== undefined && known.at <= now) return known;
    const times = { at: now, deadline: now + Math.max(0, intent.deadline - intent.at) };
    this.#known.set(keyOf(intent), times);
    return times;
  }
}

function keyOf({ what, machine, at, deadline }: IntentFact): string {
  return JSON.stringify([what, machine, at, deadline]);
}
