import { indexOfIntents } from "./facts-index.ts";
import { machineFact, withDecisions, withMachines } from "./facts.ts";
import type { MachineName } from "../model/machine.ts";
import type { ClusterFacts, DecisionFact, IntentFact, IntentKind, MachineFact } from "../model/record.ts";

/**
 * What one pass writes down about many machines, put together and made into facts once at the end: facts are replaced and never changed, and a copy for each of
 * a thousand machines would cost the pass a second.
 */
export class FactsDraft {
  /** As they were; who decides about one machine after another goes by these. */
  readonly before: ClusterFacts;
  readonly #machines = new Map<MachineName, MachineFact>();
  /** By the intent as it was; `undefined` = it is closed. */
  readonly #intents = new Map<IntentFact, IntentFact | undefined>();
  readonly #opened: IntentFact[] = [];
  readonly #decisions: DecisionFact[] = [];

  constructor(facts: ClusterFacts) {
    this.before = facts;
  }

  /** The fact of one machine as it is by now. */
  machine(name: MachineName): MachineFact | undefined {
    return this.#machines.get(name) ?? machineFact(this.before, name);
  }

  /** Replaces the fact of a machine, or adds it. */
  put(fact: MachineFact): void {
    this.#machines.set(fact.name, fact);
  }

  open(intent: IntentFact): void {
    this.#opened.push(intent);
  }

  /** Closes what was open on this machine before, or what of it is of one kind. */
  close(name: MachineName, what?: IntentKind): void {
    for (const intent of indexOfIntents(this.before).get(name) ?? [])
      if (what === undefined || intent.what === what) this.#intents.set(intent, undefined);
  }

  /** Replaces an intent that was open before. */
  replace(intent: IntentFact, next: IntentFact): void {
    this.#intents.set(intent, next);
  }

  /** The machine is released, and what was open on it is closed. */
  release(fact: MachineFact, at: number, reason: string, message: string): void {
    this.put({ ...fact, releasedAt: at });
    this.close(fact.name);
    this.decide({ at, action: "Release", reason, machine: fact.name, message });
  }

  decide(decision: DecisionFact): void {
    this.#decisions.push(decision);
  }

  /** The facts with all of it; the same object when there is nothing. */
  facts(): ClusterFacts {
    const next = withMachines(this.before, [...this.#machines.values()]);
    const intents = this.before.intents.flatMap((intent) => (this.#intents.has(intent) ? (this.#intents.get(intent) ?? []) : [intent]));
    const changed = this.#intents.size + this.#opened.length === 0 ? next : { ...next, intents: [...intents, ...this.#opened] };
    return this.#decisions.length === 0 ? changed : withDecisions(changed, ...this.#decisions);
  }
}
