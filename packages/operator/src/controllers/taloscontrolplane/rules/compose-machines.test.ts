import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assess } from "../assess.ts";
import { controlPlane, observed } from "../../../testing/builders.ts";
import { composeMachines } from "./compose-machines.ts";
import type { Action } from "../../../model/effect.ts";
import type { DeclaredMachine } from "../../../model/machine.ts";

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
