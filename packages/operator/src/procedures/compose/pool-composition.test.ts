import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionFor } from "@talos-operator/api";
import { configured, controlPlane, facts, NOW, observed, worker } from "../../testing/builders.ts";
import { poolCompositions } from "./pool-composition.ts";
import type { Decision } from "../../model/decision.ts";
import type { World } from "../../testing/builders.ts";

const going = worker(1, { deletionTimestamp: "2026-01-01T11:00:00Z" });
const refused: World["sent"] = new Map([["Compose/demo-workers", { at: NOW - 60_000, outcome: "refused", detail: "quota" }]]);
const blocked: Decision["conditions"] = [conditionFor("Progressing", "Blocked", "x")];
const one = configured("10.0.1.1", "worker", "demo-workers");

function told(world: World, over: Partial<Decision> = {}): unknown {
  const decision: Decision = { rule: "any", actions: [], conditions: [], state: "Pending", requeueAfterMs: undefined, ...over };
  const seen = observed({ controlPlane: controlPlane(1), workers: [worker(1)], facts: facts({ machines: [one] }), ...world });
  return poolCompositions(seen, decision).get("demo-workers");
}

test("a pool whose TalosMachines are there has nothing to tell", () => {
  assert.deepEqual(told({ sent: refused }, { conditions: blocked }), {});
});

test("a pool that lacks one tells what the API server refused, for as long as that is tried again", () => {
  assert.deepEqual(told({ hasObjects: false, sent: refused }), { refusal: "quota" });
  assert.deepEqual(told({ hasObjects: false, sent: refused, now: NOW + 60_000 }), {});
  assert.deepEqual(told({ hasObjects: false, sent: new Map([["Compose/demo-workers", { at: NOW, outcome: "unknown", detail: "" }]]) }), {});
});

test("a pool that lacks one waits for a control plane that is stopped, not for one that is about to make it", () => {
  assert.deepEqual(told({ hasObjects: false }, { conditions: blocked }), { waitsForControlPlane: true });
  assert.deepEqual(told({ hasObjects: false }), {});
  const actions: Decision["actions"] = [{ kind: "LookAtNodes" }];
  assert.deepEqual(told({ hasObjects: false }, { conditions: blocked, actions }), {});
});

test("a pool that goes tells which machines may be configured still", () => {
  assert.deepEqual(told({ workers: [going] }), { held: ["demo-workers-10.0.1.1"] });
  assert.deepEqual(told({ workers: [going], record: { kind: "unknown", detail: "x" } }), { held: "unknown" });
  assert.deepEqual(told({ workers: [going], facts: facts(), sent: refused }), { held: [], refusal: "quota" });
});
