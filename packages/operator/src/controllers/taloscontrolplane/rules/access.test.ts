import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, facts, founded, NOW, observed } from "../../../testing/builders.ts";
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

for (const [what, endpoints, isWritten] of [
  ["whose control planes all left is written anew", ["10.0.0.8", "10.0.0.9"], true],
  ["of which one control plane is still there stays", ["10.0.0.8", "10.0.0.1"], false],
  ["with an address that a person wrote stays", ["talos.example.org"], false],
  ["that names no place stays", [], false],
] as const)
  test(`talosconfig: one ${what}`, () => {
    const left = ["10.0.0.8", "10.0.0.9"].map((address) => configured(address, "controlplane", "demo", { releasedAt: NOW }));
    const known = facts({ machines: [configured("10.0.0.1"), ...left], bootstrapDone: founded });
    const value = { expiresAt: NOW + 300 * 24 * 3_600_000, isOurs: true, endpoints };
    const { actions = [] } = keepAccess.decide(observed({ facts: known, talosconfig: { kind: "present", value } })) ?? {};
    assert.equal(
      actions.some(({ kind }) => kind === "WriteTalosconfig"),
      isWritten,
    );
  });
