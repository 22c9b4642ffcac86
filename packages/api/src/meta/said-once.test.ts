import assert from "node:assert/strict";
import { test } from "node:test";
import { findCondition } from "./condition.ts";
import { saidOnce, spelledOut } from "./said-once.ts";

const DEAD = "cp-2 does not answer: check its power and network.";
const said = (...conditions: readonly (readonly [string, string])[]) => conditions.map(([type, message]) => ({ type, message }));
const told = (...conditions: readonly (readonly [string, string])[]): readonly string[] =>
  saidOnce(said(...conditions)).map(({ type, message }) => `${type}: ${message}`);

const cases: readonly {
  readonly name: string;
  readonly given: readonly (readonly [string, string])[];
  readonly want: readonly string[];
}[] = [
  {
    name: "stands in Ready, and the others name it",
    given: [
      ["Ready", `${DEAD} To continue: Bring it back.`],
      ["Progressing", DEAD],
      ["Reconciling", `${DEAD} To continue: Bring it back.`],
    ],
    want: [`Ready: ${DEAD} To continue: Bring it back.`, "Progressing: See Ready.", "Reconciling: See Ready."],
  },
  {
    name: "stands in Stalled where a person is needed, and nothing leads to it by a detour",
    given: [
      ["Ready", DEAD],
      ["Progressing", "See Ready."],
      ["Stalled", DEAD],
    ],
    want: ["Ready: See Stalled.", "Progressing: See Stalled.", `Stalled: ${DEAD}`],
  },
  {
    name: "stands in the first that says it where it is none of these",
    given: [
      ["Ready", "Every node is ready."],
      ["NodesReady", DEAD],
      ["MachinesReady", DEAD],
    ],
    want: ["Ready: Every node is ready.", `NodesReady: ${DEAD}`, "MachinesReady: See NodesReady."],
  },
  {
    name: "is no word that means something else in each condition",
    given: [
      ["Ready", "Pending."],
      ["Reachable", "Pending."],
    ],
    want: ["Ready: Pending.", "Reachable: Pending."],
  },
];

for (const { name, given, want } of cases)
  test(`a sentence that several conditions say ${name}`, () => assert.deepEqual(told(...given), want));

test("who reads a condition has its words, wherever they stand", () => {
  const time = { status: "True", reason: "X", lastTransitionTime: "2026-01-01T00:00:00Z" } as const;
  const stored = saidOnce(said(["Ready", DEAD], ["Progressing", "See Ready."], ["Stalled", DEAD])).map((one) => ({ ...time, ...one }));
  for (const type of ["Ready", "Progressing", "Stalled"]) assert.equal(findCondition(stored, type)?.message, DEAD);
  const [lost] = said(["Ready", "See Stalled."]);
  assert.equal(lost && spelledOut([lost], lost).message, "See Stalled.", "what leads nowhere stays as it is");
});
