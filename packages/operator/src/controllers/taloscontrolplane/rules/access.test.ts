import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, facts, founded, observed } from "../../../testing/builders.ts";
import { keepAccess } from "./access.ts";

/** Endpoints of the talosconfig that is written while these addresses are not known; `undefined` = none is written. */
function endpointsWithout(...unknown: readonly string[]): readonly string[] | undefined {
  const machines = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((address) => configured(address));
  const seen = observed({ facts: facts({ machines, bootstrapDone: founded }), talosconfig: { kind: "absent" } });
  const verdict = keepAccess.decide({
    ...seen,
    machines: seen.machines.map((machine) =>
      unknown.includes(machine.declared.address) ? { ...machine, declared: { ...machine.declared, address: "" } } : machine,
    ),
  });
  return verdict?.actions?.flatMap((action) => (action.kind === "WriteTalosconfig" ? action.endpoints : []));
}

test("talosconfig: a control plane whose address no reference has given yet is no endpoint", () => {
  assert.deepEqual(endpointsWithout("10.0.0.1"), ["10.0.0.2", "10.0.0.3"]);
});

test("talosconfig: none is written that leads nowhere", () => {
  assert.equal(endpointsWithout("10.0.0.1", "10.0.0.2", "10.0.0.3"), undefined);
});
