import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, facts, founded, member, NOW, observed, running } from "../../testing/builders.ts";
import { planConfigs } from "./plan.ts";
import { intentOn } from "../../record/facts.ts";
import { changeConfig } from "./rule.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { Observed } from "../../model/observation.ts";

/** Three healthy control planes whose settings changed; what changes is in force at once. */
function changed(): Observed {
  const addresses = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
  const looks = Object.fromEntries(addresses.map((address, index) => [address, running(member(index, 3))]));
  const machines = addresses.map((address) =>
    configured(address, "controlplane", "demo", { configHash: "of before", appliedHash: "applied" }),
  );
  const known = facts({ bootstrapDone: founded, cni: undefined, machines });
  const unread = observed({ facts: known, looks });
  const labelled = { document: "/v1alpha1/", path: "machine.nodeLabels.a", change: "added", effect: "live", services: [] } as const;
  const configs = planConfigs(unread, known).map(({ machine, settings }): [string, KnownConfig] => [
    machine.declared.name,
    {
      kind: "known",
      at: NOW,
      settings,
      bootId: "boot-1",
      version: "v1.13.9",
      activeHash: "applied",
      changes: [{ ...labelled, rebootsItself: false, reason: "", before: undefined, after: "b" }],
      onDisk: "other",
    },
  ]);
  return { ...unread, configs: new Map(configs) };
}

describe("changed settings", () => {
  it("are sent after the record says that they are, for the last look before the send demands it", () => {
    const [first, second, ...more] = changeConfig.decide(assess(changed()))?.actions ?? [];
    assert.ok(first?.kind === "WriteRecord", `${first?.kind} comes first`);
    assert.ok(second?.kind === "ApplyConfig", `${second?.kind} comes second`);
    assert.deepEqual(more, []);
    const intent = intentOn(first.facts, second.machine, "ApplyConfig");
    assert.equal(intent?.configHash, second.settings);
  });

  it("are sent to nobody while nobody knows what the machines run", () => {
    assert.equal(changeConfig.decide(assess({ ...changed(), configs: new Map() })), undefined);
  });
});
