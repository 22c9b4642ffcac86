import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClusterRecord } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { without } from "@talos-operator/operator/testing";
import type {
  Action,
  ActionOf,
  CheckOf,
  ClusterFacts,
  DecidedPass,
  EffectKind,
  LastLookName,
  Leading,
  Observed,
} from "@talos-operator/operator/testing";
import type { EffectWorld, Meanwhile } from "./effect-world.ts";

/** What alone stands in the way of an effect, so that one check holds it back. */
export interface Row<K extends EffectKind> extends Meanwhile {
  readonly action?: ActionOf<K>;
  readonly seen?: Observed;
  readonly before?: (facts: ClusterFacts) => ClusterFacts;
  /** Other checks that would hold it back as well: with them gone it is this one alone. */
  readonly beside?: readonly (CheckOf<K> | LastLookName)[];
  /** What is sent without the check; default as when nothing is in its way. */
  readonly sends?: string;
}

/** One effect that is sent when nothing is in its way, and what has to hold it back: a row for each check that it makes. A missing row does not compile. */
export interface Table<K extends EffectKind> {
  readonly action: () => ActionOf<K>;
  readonly before?: () => (facts: ClusterFacts) => ClusterFacts;
  readonly seen: () => Observed;
  /** Part of what has to hold; for every row. */
  readonly always?: () => Meanwhile;
  readonly sends: string;
  /** What is remembered of one that could not be asked; default `unknown`. */
  readonly remembers?: "refused";
  /** What is sent after all rows; default the same as before them. */
  readonly atLast?: readonly string[];
  readonly heldBackBy: Readonly<Record<CheckOf<K> | LastLookName, () => Row<K>>>;
  /** More of the kind: what a check has to hold back besides its row. */
  readonly also?: Readonly<Record<string, () => Row<K>>>;
}

const asItIs = (facts: ClusterFacts): ClusterFacts => facts;

/**
 * Plays a table: for each check, the effect is held back; and it is sent when that check alone is taken out of the registry, which is the planted fault that
 * the row notices.
 */
export function play<K extends EffectKind>(kind: K, world: () => EffectWorld, table: Table<K>): void {
  const send = (row: Row<K>, gone: readonly string[]): Promise<readonly string[]> => {
    const { action = table.action(), seen = table.seen(), before = table.before?.() ?? asItIs, beside: _, sends: __, ...meanwhile } = row;
    return world().send(action as Action, seen, before, { ...table.always?.(), ...meanwhile, ...without(kind, gone) });
  };
  void describe(kind, () => {
    void test("is sent when nothing is in its way", async () => assert.deepEqual(await send({}, []), [table.sends]));
    for (const [what, rowOf] of Object.entries<() => Row<K>>(table.also ?? {}))
      void test(`is held back by ${what}`, async () => assert.deepEqual(await send(rowOf(), []), []));
    void test("is not taken for refused when the machine refuses a question before it", async () => {
      const unimplemented = (): never => {
        throw Object.assign(new Error("unimplemented"), { name: "TalosCallFailure", code: 12 });
      };
      let told: DecidedPass | undefined;
      assert.deepEqual(await send({ lies: [{ method: "Get", tell: unimplemented }], prepare: (pass) => void (told = pass) }, []), []);
      const remembered = told?.effects.session.remembered();
      const outcomes = [...(remembered?.sent.values() ?? [])].map(({ outcome }) => outcome);
      const heldBack = [...(remembered?.notes?.values() ?? [])].flatMap((notes) => notes.heldBack ?? []);
      assert.deepEqual([...new Set(outcomes)], heldBack.length > 0 ? [] : [table.remembers ?? "unknown"]);
    });
    for (const [check, rowOf] of Object.entries<() => Row<K>>(table.heldBackBy))
      void test(`is held back by ${check}, and by nothing else when that is gone`, async () => {
        const row = rowOf();
        const { beside = [] } = row;
        assert.deepEqual(await send(row, []), [], "with every check");
        if (beside.length > 0) assert.deepEqual(await send(row, beside), [], `without ${beside.join(", ")}`);
        assert.deepEqual(await send(row, [check, ...beside]), [row.sends ?? table.sends], `without ${[check, ...beside].join(", ")}`);
      });
    void test("is what it was when all that is over", async () => assert.deepEqual(await send({}, []), table.atLast ?? [table.sends]));
  });
}

const leader: Leading = { identity: "one", fencingToken: "1/1", mayDisturb: true, remainingMs: () => 15_000, confirm: async () => true };

/** What holds every effect back that asks the guard. @param intent the row for a record that does not hold what the effect was decided on */
export function lastRows<K extends EffectKind>(
  world: () => EffectWorld,
  intent: () => Row<K>,
): Readonly<Record<LastLookName, () => Row<K>>> {
  const said = { "talos.alperen.cloud/reconcile-mode": "later" };
  return {
    word: () => ({ stored: storedAs("TalosControlPlane", ({ metadata }) => ({ metadata: { ...metadata, annotations: said } })) }),
    lease: () => ({ leading: { ...leader, confirm: async () => false } }),
    intent,
    snapshot: () => ({
      record: (facts) => withOpenEffect(facts, world().story.time.now()),
      stored: storedAs("ClusterRecord", withSnapshot),
    }),
    oneOperator: () => ({ other: "another operator", record: (facts) => ({ ...facts, importedAt: 1_000 }) }),
    timeLeft: () => ({ leading: { ...leader, remainingMs: () => 1_200 } }),
  };
}

/** An effect on a control plane is open, beside whatever else is. */
function withOpenEffect(facts: ClusterFacts, now: number): ClusterFacts {
  const [one] = facts.machines.filter(({ role }) => role === "controlplane");
  if (one === undefined) throw new Error("there is no control plane");
  if (facts.intents.some((intent) => intent.role === "controlplane")) return facts;
  const { name, address, uuid, role } = one;
  return {
    ...facts,
    intents: [...facts.intents, { what: "Reboot", machine: name, address, uuid, role, at: now, deadline: now + 1_000, why: "" }],
  };
}

/** A snapshot is being taken, whatever the time is. */
function withSnapshot({ spec }: ClusterRecord): object {
  const backup = { namespace: "default", name: "b" };
  return { spec: { ...spec, snapshot: { machine: "demo-10.0.0.2", backup, run: "1", deadline: "2999-01-01T00:00:00Z" } } };
}

/** What the API server tells of objects of one kind by then. */
export function storedAs<T extends KubeObject>(kind: string, as: (object: T) => object): NonNullable<Meanwhile["stored"]> {
  return (object) => (object.kind === kind ? { ...object, ...as(object as T) } : object);
}

/** A person paused the TalosMachine meanwhile. */
export const pausedMachine = storedAs("TalosMachine", ({ metadata }) => ({
  metadata: { ...metadata, annotations: { "talos.alperen.cloud/reconcile-mode": "disable" } },
}));
