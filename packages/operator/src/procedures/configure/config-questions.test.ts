import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, facts, member, observed, running } from "../../testing/builders.ts";
import { configQuestion } from "./config-questions.ts";

test("a control plane whose address is not known yet is no name in certificates", () => {
  const machines = [configured("10.0.0.1")];
  const at = { machine: "demo-10.0.0.1", address: "10.0.0.1", uuid: "uuid-10.0.0.1", at: 0, evidence: "" };
  const seen = observed({ facts: facts({ machines, bootstrapDone: at }), looks: { "10.0.0.1": running(member(0, 1)) } });
  const [machine] = seen.machines;
  assert.ok(machine !== undefined);
  const unknown = { ...machine, declared: { ...machine.declared, name: "demo-later", address: "" } };
  const question = configQuestion(machine, [machine, unknown], seen.controlPlane, facts({ machines, bootstrapDone: at }));
  assert.deepEqual(question?.input.addresses.includes(""), false);
  assert.ok(question.addresses.has(""), "one that an earlier release wrote is no difference");
});
