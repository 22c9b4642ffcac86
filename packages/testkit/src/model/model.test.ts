import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { beginnings } from "./beginnings.ts";
import { explore } from "./explore.ts";
import { movesOf } from "./moves.ts";
import type { State } from "./state.ts";

function begin(name: string, nodes: number, operators: number): State {
  const found = beginnings.find((one) => one.name === name);
  assert.ok(found !== undefined, name);
  return found.state(nodes, operators);
}

describe("every state that can be reached", () => {
  for (const [name, nodes, effects] of [
    ["founding", 3, 12],
    ["shrinking", 3, 12],
    ["replacing", 3, 12],
    ["shrinking", 5, 7],
    ["founding-and-shrinking", 3, 6],
  ] as const)
    it(`keeps the rules: ${name}, ${nodes} nodes, 2 operators, ${effects} effects`, (test) => {
      const found = explore(begin(name, nodes, 2), effects);
      assert.deepEqual(found.broken, undefined);
      assert.ok(found.isComplete);
      test.diagnostic(`${found.states} states`);
    });

  it("includes one where the cluster is what was wanted", () => {
    let isReached = false;
    explore(begin("growing-and-shrinking", 2, 1), 20, Number.POSITIVE_INFINITY, (state) => {
      isReached ||=
        state.wishes.length === 0 &&
        state.etcd?.members.map(({ machine }) => machine).join() === "1" &&
        state.machines[0]?.stage === "waiting";
    });
    assert.ok(isReached);
  });

  it("shows the way to a state that breaks a rule", () => {
    // Somebody bootstraps etcd a second time.
    const founded = begin("shrinking", 3, 1);
    const found = explore({ ...founded, foundings: 2 }, 3);
    assert.match(found.broken?.rule ?? "", /^S1/);
    assert.ok((found.broken?.way.length ?? 0) > 0);
  });

  it("is the same for the same beginning", () => {
    const state = begin("replacing", 3, 2);
    const moves = movesOf(state).map(({ what }) => what);
    const found = explore(state, 4).states;
    // Whatever was explored meanwhile, and whether or not it is the same object.
    assert.notEqual(explore(begin("shrinking", 3, 1), 3).states, found);
    const again = structuredClone(state);
    assert.deepEqual(
      movesOf(again).map(({ what }) => what),
      moves,
    );
    assert.equal(explore(again, 4).states, found);
    assert.equal(explore(state, 4).states, found);
  });
});
