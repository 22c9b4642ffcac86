import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assess } from "../../assess/assess.ts";
import { controlPlane, NOW, observed, worker } from "../../testing/builders.ts";
import { composeMachines } from "./rule.ts";
import type { Action } from "../../model/effect.ts";
import type { DeclaredMachine } from "../../model/machine.ts";
import type { Observed, SentEffect } from "../../model/observation.ts";

describe("the TalosMachine of a machine that is found by a reference", () => {
  const seen = observed({ controlPlane: controlPlane(1) });
  const actionsFor = (over: Partial<DeclaredMachine>): readonly Action[] => {
    const machines = seen.machines.map((one) => ({ ...one, declared: { ...one.declared, reference: "Machine/one", ...over } }));
    return composeMachines.decide(assess({ ...seen, machines }))?.actions ?? [];
  };

  it("shows the address that the reference gives now", () => {
    assert.deepEqual(actionsFor({ address: "10.0.0.9" }), [{ kind: "FollowEndpoint", name: "demo-10.0.0.1", to: "10.0.0.9" }]);
    assert.deepEqual(actionsFor({}), []);
  });

  it("keeps the address that it shows while the reference gives none, whether or not one was written down", () => {
    const problem = { reason: "ReferenceNotFound", message: "Machine/one does not exist." } as const;
    for (const address of ["", "10.0.0.9"]) assert.deepEqual(actionsFor({ address, problem }), []);
  });
});

describe("the TalosMachines of worker pools", () => {
  const pool = worker(2);
  const made = (over: Parameters<typeof observed>[0]): readonly string[] =>
    (
      composeMachines.decide(assess(observed({ controlPlane: controlPlane(1), workers: [pool], hasObjects: false, ...over })))?.actions ??
      []
    )
      .filter(({ kind }) => kind === "CreateMachine")
      .map((action) => (action.kind === "CreateMachine" ? action.machine.name : ""));
  const own = ["demo-10.0.0.1"];
  const note = (outcome: SentEffect["outcome"], agoMs: number): Observed["sent"] =>
    new Map([["Compose/demo-workers", { at: NOW - agoMs, outcome, detail: "quota" }]]);

  for (const [what, over, want] of [
    ["are made with those of the control plane", {}, [...own, "demo-workers-10.0.1.1", "demo-workers-10.0.1.2"]],
    ["are not made of a pool without its finalizer", { workers: [worker(2, { finalizers: [] })] }, own],
    ["are not made of a pool that is deleted", { workers: [worker(2, { deletionTimestamp: "2026-01-01T11:00:00Z" })] }, own],
    ["are not made of a pool whose spec cannot be", { unsoundPools: ["demo-workers"] }, own],
    ["are not made of a paused pool", { heldPools: new Set(["demo-workers"]) }, own],
    ["are not made of a machine that is left alone", { held: new Set(["demo-workers-10.0.1.1"]) }, [...own, "demo-workers-10.0.1.2"]],
    ["wait after a refusal", { sent: note("refused", 14_000) }, own],
    ["are tried again after a while", { sent: note("refused", 15_000) }, [...own, "demo-workers-10.0.1.1", "demo-workers-10.0.1.2"]],
    ["wait for a cache that is behind", { sent: note("unknown", 900) }, own],
  ] as const)
    it(what, () => assert.deepEqual(made(over), want));

  it("are made a hundred in a pass, the control planes' first", () => {
    const names = made({ workers: [worker(200)] });
    assert.deepEqual([names.length, names[0]], [100, "demo-10.0.0.1"]);
  });

  it("get no name that another cluster's has", () => {
    const seen = observed({ controlPlane: controlPlane(1), workers: [pool], hasObjects: false });
    const problem = { reason: "NameConflict", message: "taken" } as const;
    const machines = seen.machines.map((one) => ({ ...one, declared: { ...one.declared, problem } }));
    assert.equal(composeMachines.decide(assess({ ...seen, machines })), undefined);
  });

  it("follow their references as those of the control plane do, unless their pool is paused", () => {
    const seen = observed({ controlPlane: controlPlane(1), workers: [pool] });
    const machines = seen.machines.map((one) => ({ ...one, declared: { ...one.declared, reference: "Machine/one", address: "10.0.9.9" } }));
    const followed = (over: Partial<Observed>): readonly string[] =>
      (composeMachines.decide(assess({ ...seen, machines, ...over }))?.actions ?? []).map((action) =>
        action.kind === "FollowEndpoint" ? action.name : action.kind,
      );
    assert.deepEqual(followed({}), [...own, "demo-workers-10.0.1.1", "demo-workers-10.0.1.2"]);
    assert.deepEqual(followed({ heldPools: new Set(["demo-workers"]) }), own);
  });
});
