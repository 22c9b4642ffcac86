import { MAX_KNOWN_MACHINES } from "@talos-operator/api";
import { isMadeAnew } from "../observe/reported-machines.ts";
import { printIntent, printMachine } from "./facts-codec.ts";
import type { MachineName, MachineRole } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../model/record.ts";

/**
 * etcd takes no request above 1.5 MiB, and what it does not take of one machine is not written down of any: nothing at all is done in the cluster from then
 * on. Below that stay the decisions (77 KB at most), who wrote which field, and what machines add to themselves later.
 */
const MOST_BYTES = 1_400_000;

/** Of these, what machines that join may take: wipes and changes have to be written down beside them. */
const MOST_OF_MACHINES = 1_200_000;

/** Workers that were released last stay known for as long as there is room: their Nodes may still be there. */
const LEFT_KEPT = 64;

/** Who wrote an intent, at the longest that it usually is. */
const WRITER = { identity: "x".repeat(128), fencingToken: "x".repeat(64) };

const sizes = new WeakMap<MachineFact | IntentFact, number>();

/** Room for machines in a record, counted down as they are written down. */
export class RecordRoom {
  readonly #count: Record<MachineRole, number> = { controlplane: 0, worker: 0 };
  readonly #known: ReadonlySet<MachineName>;
  #bytes = 0;

  constructor({ machines }: ClusterFacts) {
    this.#known = new Set(machines.map(({ name }) => name));
    for (const machine of machines) this.#take(machine);
  }

  /** Takes the room for a machine; false = there is none. One that is known has its room. */
  tryTake(fact: MachineFact): boolean {
    if (this.#known.has(fact.name)) return true;
    if (this.#count[fact.role] >= MAX_KNOWN_MACHINES || this.#bytes + sizeOf(fact) > MOST_OF_MACHINES) return false;
    this.#take(fact);
    return true;
  }

  #take(fact: MachineFact): void {
    this.#count[fact.role] += 1;
    this.#bytes += sizeOf(fact);
  }
}

/** Room for effects on workers in a record, counted down as they are written down. */
export class IntentRoom {
  #bytes: number;
  #isEmpty: boolean;

  constructor({ machines, intents }: ClusterFacts) {
    this.#bytes = [...machines, ...intents].reduce((sum, one) => sum + sizeOf(one), 0);
    this.#isEmpty = intents.length === 0;
  }

  /** Takes the room for an intent; false = there is none. The first one always has it, so that whatever is there is brought to its end. */
  tryTake(intent: IntentFact): boolean {
    if (!this.#isEmpty && this.#bytes + sizeOf(intent) > MOST_BYTES) return false;
    this.#bytes += sizeOf(intent);
    this.#isEmpty = false;
    return true;
  }
}

/** How many more effects on workers can be written down now; at least one, so that whatever is there is brought to its end. */
export function intentsThatFit({ machines, intents }: ClusterFacts, next: IntentFact): number {
  const taken = [...machines, ...intents].reduce((sum, one) => sum + sizeOf(one), 0);
  return Math.max(intents.length === 0 ? 1 : 0, Math.floor((MOST_BYTES - taken) / sizeOf(next)));
}

/**
 * The facts without workers that were released and that nobody names any more, but for those that left last; the same object when there are none. Control planes
 * stay for ever: a member of etcd may turn up again.
 */
export function withoutLongGone(seen: Observed, facts: ClusterFacts): ClusterFacts {
  // A record that was made anew holds what objects tell of machines, too: what is dropped here would come back.
  if (isMadeAnew(facts)) return facts;
  const named = new Set([
    ...[...seen.machines, ...seen.former].map(({ declared }) => declared.name),
    ...seen.machineObjects.map(({ metadata }) => metadata.name),
    ...facts.intents.map(({ machine }) => machine),
  ]);
  const gone = facts.machines
    .filter(({ name, role, releasedAt }) => role === "worker" && releasedAt !== undefined && !named.has(name))
    .toSorted((a, b) => (b.releasedAt ?? 0) - (a.releasedAt ?? 0))
    .slice(LEFT_KEPT);
  if (gone.length === 0) return facts;
  const dropped = new Set(gone);
  return { ...facts, machines: facts.machines.filter((machine) => !dropped.has(machine)) };
}

/** Bytes in the record. Facts are replaced and never changed. */
function sizeOf(fact: MachineFact | IntentFact): number {
  const known = sizes.get(fact);
  if (known !== undefined) return known;
  const printed = "what" in fact ? printIntent(fact, undefined, WRITER) : printMachine(fact);
  const size = Buffer.byteLength(JSON.stringify(printed)) + 1;
  sizes.set(fact, size);
  return size;
}
