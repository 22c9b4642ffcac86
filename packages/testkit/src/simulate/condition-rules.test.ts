import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeConditions } from "./condition-rules.ts";
import type { Conditioned } from "./object-view.ts";

/** What is reported of a TalosControlPlane at rest with this condition. */
function told(type: string, reason: string, message = "Because."): readonly string[] {
  const found: string[] = [];
  const object: Conditioned = { metadata: { name: "a" }, status: { conditions: [{ type, status: "True", reason, message }] } };
  const objects = {
    start: async () => undefined,
    onChange: () => undefined,
    get: () => undefined,
    all: (plural: string) => (plural === "taloscontrolplanes" ? [object] : []),
    isReady: () => true,
    waitsFor: () => "",
  };
  judgeConditions(objects, (invariant) => void found.push(invariant));
  return found;
}

test("Li3 is broken by what waits for somebody in a cluster at rest, by unknown reasons and by silence", () => {
  assert.deepEqual(told("Draining", "BudgetBlocks"), ["Li3"]);
  assert.deepEqual(told("Ready", "SomethingElse"), ["Li3"]);
  assert.deepEqual(told("NodesReady", "AllNodesReady", ""), ["Li3"]);
  assert.deepEqual(told("NodesReady", "AllNodesReady"), []);
  assert.deepEqual(told("IdentityUnique", "UuidShared"), []);
});
