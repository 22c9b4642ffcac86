import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, observed, running } from "../../testing/builders.ts";
import { metaHashOf, wantedMeta } from "../configure/meta-plan.ts";
import { machineFact } from "../../record/facts.ts";
import { configureMachines } from "./rule.ts";
import type { MachineFact } from "../../model/record.ts";

describe("a running machine whose reference gives another of its addresses", () => {
  const meta = { interface: "eth0", subnet: 24, gateway: "10.0.0.254" };
  const pool = controlPlane(1, { metalSpec: { machines: [{ address: "10.0.0.1" }], machineSpec: { meta } } });
  const [machine] = observed({ controlPlane: pool }).machines;
  const hashAt = (address: string): string => wantedMeta({ ...machine!.declared, address }, "metal").hash;
  const after = (metaHash: string): MachineFact | undefined => {
    const seen = observed({
      controlPlane: pool,
      looks: { "10.0.0.1": running(member(0, 1), { hardware: { uuid: "uuid-10.0.0.1", macs: [] } }) },
      facts: facts({
        bootstrapDone: founded,
        machines: [configured("10.0.0.1", "controlplane", "demo", { address: "10.0.0.9", configHash: "a", metaHash })],
      }),
    });
    const [action] = configureMachines.decide(assess(seen))?.actions ?? [];
    return action?.kind === "WriteRecord" ? machineFact(action.facts, machine!.declared.name) : undefined;
  };

  test("is followed, and the static address in its META is not changed for that", () => {
    assert.notEqual(hashAt("10.0.0.9"), hashAt("10.0.0.1"));
    assert.deepEqual([after(hashAt("10.0.0.9"))?.address, after(hashAt("10.0.0.9"))?.metaHash], ["10.0.0.1", hashAt("10.0.0.1")]);
  });
  test("gets settings for its META that were asked for before and not written yet", () => {
    const other = metaHashOf("other settings");
    assert.deepEqual([after(other)?.address, after(other)?.metaHash], ["10.0.0.1", other]);
  });
});
