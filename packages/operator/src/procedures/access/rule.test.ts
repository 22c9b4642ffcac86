import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, facts, founded, member, NOW, observed, running } from "../../testing/builders.ts";
import type { World } from "../../testing/builders.ts";
import { accessConditions } from "../../report/access-state.ts";
import { keepAccess } from "./rule.ts";
import type { Observed, SeenAccess, SentEffect } from "../../model/observation.ts";

const three = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];

/** Endpoints of the talosconfig that is written while these addresses are not known; `undefined` = none is written. */
function endpointsWithout(...unknown: readonly string[]): readonly string[] | undefined {
  const machines = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((address) => configured(address));
  const seen = observed({ facts: facts({ machines, bootstrapDone: founded }), talosconfig: { kind: "absent" } });
  const verdict = keepAccess.decide(
    assess({
      ...seen,
      machines: seen.machines.map((machine) =>
        unknown.includes(machine.declared.address) ? { ...machine, declared: { ...machine.declared, address: "" } } : machine,
      ),
    }),
  );
  return verdict?.actions?.flatMap((action) => (action.kind === "WriteTalosconfig" ? action.endpoints : []));
}

test("talosconfig: a control plane whose address no reference has given yet is no endpoint", () => {
  assert.deepEqual(endpointsWithout("10.0.0.1"), ["10.0.0.2", "10.0.0.3"]);
});

test("talosconfig: none is written that leads nowhere", () => {
  assert.equal(endpointsWithout("10.0.0.1", "10.0.0.2", "10.0.0.3"), undefined);
});

for (const [what, endpoints, want] of [
  ["whose control planes all left is written anew", ["10.0.0.8", "10.0.0.9"], three],
  ["of which one control plane left is written anew", ["10.0.0.8", "10.0.0.1"], three],
  ["of which one control plane is on its way out stays", ["10.0.0.7", "10.0.0.1"], undefined],
  ["with an address that a person wrote stays", ["talos.example.org"], undefined],
  ["keeps what a person wrote when another one left", ["talos.example.org", "10.0.0.8"], [...three, "talos.example.org"]],
  ["that names no place stays", [], undefined],
] as const)
  test(`talosconfig: one ${what}`, () => {
    const left = ["10.0.0.8", "10.0.0.9"].map((address) => configured(address, "controlplane", "demo", { releasedAt: NOW }));
    const known = facts({ machines: [configured("10.0.0.1"), configured("10.0.0.7"), ...left], bootstrapDone: founded });
    const value = { expiresAt: NOW + 300 * 24 * 3_600_000, isOurs: true, endpoints };
    const looks = { "10.0.0.1": running(member(0, 3)) };
    const { actions = [] } = keepAccess.decide(assess(observed({ facts: known, looks, talosconfig: { kind: "present", value } }))) ?? {};
    const written = actions.find((action) => action.kind === "WriteTalosconfig");
    assert.deepEqual(written?.endpoints, want);
  });

for (const [what, server, over, want] of [
  ["that leads to an earlier endpoint is written again", "https://old.example:6443", {}, true],
  ["that leads to the endpoint stays", "https://10.0.0.100:6443", {}, false],
  ["that leads where the cluster never was stays", "https://elsewhere.example:6443", {}, false],
  ["of somebody else stays", "https://old.example:6443", { isOurs: false }, false],
  ["that a person made immutable stays", "https://old.example:6443", { isImmutable: true }, false],
] as const)
  test(`kubeconfig: one ${what}`, () => {
    const known = facts({ machines: [configured("10.0.0.1")], bootstrapDone: founded, formerEndpoints: ["https://old.example:6443"] });
    const value = { expiresAt: NOW + 300 * 24 * 3_600_000, isOurs: true, endpoints: [server], ...over };
    const looks = { "10.0.0.1": running(member(0, 3)) };
    const { actions = [] } = keepAccess.decide(assess(observed({ facts: known, looks, kubeconfig: { kind: "present", value } }))) ?? {};
    assert.equal(
      actions.some(({ kind }) => kind === "WriteKubeconfig"),
      want,
    );
  });

const DAY_MS = 24 * 3_600_000;
const closeToEnd = { expiresAt: NOW + DAY_MS, isOurs: true };

/** A cluster of three whose kubeconfig is as given, after what was sent, the oldest first. */
function afterAsking(kubeconfig: SeenAccess, sent: Readonly<Record<string, Omit<SentEffect, "order">>>, over: World = {}): Observed {
  const machines = three.map((address) => configured(address));
  const looks = Object.fromEntries(three.map((address, index) => [address, running(member(index, 3))]));
  const notes = Object.entries(sent).map(([key, effect], order) => [key, { ...effect, order: order + 1 }] as const);
  return observed({
    facts: facts({ machines, bootstrapDone: founded }),
    looks,
    kubeconfig: { kind: "present", value: kubeconfig },
    sent: new Map(notes),
    ...over,
  });
}

/** Whom the rule asks for a kubeconfig. */
function asked(seen: Observed): string | undefined {
  const { actions = [] } = keepAccess.decide(assess(seen)) ?? {};
  return actions.flatMap((action) => (action.kind === "WriteKubeconfig" ? [action.via] : []))[0];
}

const unanswered = { at: NOW - 10_000, outcome: "unknown", detail: "" } as const;
const rejected = {
  at: NOW - 10_000,
  outcome: "refused",
  detail: "The kubeconfig that 10.0.0.1 makes is not given to people: it ended.",
} as const;

for (const [what, sent, want] of [
  ["the first control plane", {}, "10.0.0.1"],
  ["the next one when the first leaves the question unanswered", { "WriteKubeconfig/10.0.0.1": unanswered }, "10.0.0.2"],
  [
    "the first one again when all of them left it unanswered",
    Object.fromEntries(three.map((address) => [`WriteKubeconfig/${address}`, unanswered])),
    "10.0.0.1",
  ],
  ["the next one when what the first gives is of no use", { "WriteKubeconfig/10.0.0.1": rejected }, "10.0.0.2"],
  [
    "nobody for a minute when what all of them give is of no use",
    Object.fromEntries(three.map((address) => [`WriteKubeconfig/${address}`, rejected])),
    undefined,
  ],
  [
    "nobody for a minute when the API server refuses the Secret",
    { WriteKubeconfig: { at: NOW - 10_000, outcome: "refused", detail: "" } },
    undefined,
  ],
  ["somebody after that minute", { WriteKubeconfig: { at: NOW - 61_000, outcome: "refused", detail: "" } }, "10.0.0.1"],
] as const)
  test(`a kubeconfig close to its end is asked of ${what}`, () => assert.equal(asked(afterAsking(closeToEnd, sent)), want));

test("an immutable Secret is not written, and somebody is told to delete it once it is close to its end", () => {
  const seen = afterAsking(
    { ...closeToEnd, isImmutable: true },
    {},
    { talosconfig: { kind: "present", value: { ...closeToEnd, isImmutable: true } } },
  );
  assert.equal(keepAccess.decide(assess(seen)), undefined);
  const [told] = accessConditions(seen);
  assert.equal(told?.reason, "SecretImmutable");
  assert.match(told.message, /The Secret demo-kubeconfig holds a certificate that ends at .* delete it.*The Secret demo-talosconfig/);
  const fine = afterAsking({ expiresAt: NOW + 300 * DAY_MS, isOurs: true, isImmutable: true }, {});
  assert.deepEqual(accessConditions(fine), []);
});

for (const [what, seen, reason, says] of [
  [
    "the API server refuses it",
    afterAsking(closeToEnd, {
      WriteKubeconfig: { at: NOW, outcome: "refused", detail: "INVALID: update secrets default/demo-kubeconfig" },
    }),
    "WriteRefused",
    /demo-kubeconfig .* refuses the new one: INVALID: update secrets/,
  ],
  [
    "what a control plane gives is of no use",
    afterAsking({ ...closeToEnd, expiresAt: NOW + 29 * DAY_MS }, { "WriteKubeconfig/10.0.0.1": rejected }),
    "KubeconfigRejected",
    /The kubeconfig that 10\.0\.0\.1 makes is not given/,
  ],
  ["it ended", afterAsking({ ...closeToEnd, expiresAt: NOW - DAY_MS }, {}), "NotGiven", /holds a certificate that ended at/],
] as const)
  test(`people are told that a kubeconfig is not renewed: ${what}`, () => {
    const [told] = accessConditions(seen);
    assert.equal(told?.reason, reason);
    assert.match(told.message, says);
  });

test("nothing is said of a kubeconfig that is just due, nor of what a control plane gave once when another one has given a good one", () => {
  assert.deepEqual(accessConditions(afterAsking({ ...closeToEnd, expiresAt: NOW + 29 * DAY_MS }, {})), []);
  const renewed = { expiresAt: NOW + 300 * DAY_MS, isOurs: true };
  assert.deepEqual(accessConditions(afterAsking(renewed, { "WriteKubeconfig/10.0.0.1": rejected })), []);
});

const year = 365 * DAY_MS;
for (const [what, value, at, isWritten] of [
  [
    "that begins in a year, for the clock was ahead when it was made, is written anew",
    { validFrom: NOW + year, expiresAt: NOW + 2 * year },
    NOW,
    true,
  ],
  ["of a machine whose clock is some minutes ahead stays", { validFrom: NOW + 10 * 60_000, expiresAt: NOW + year }, NOW, false],
  [
    "close to its end stays while only looks of before the clock was set back are there",
    { validFrom: NOW - year, expiresAt: NOW },
    NOW + year,
    false,
  ],
  [
    "that begins in a year stays while no machine has shown that the clock is right",
    { validFrom: NOW + year, expiresAt: NOW + 2 * year },
    undefined,
    false,
  ],
] as const)
  test(`talosconfig: one ${what}`, () => {
    const looks = at === undefined ? {} : { "10.0.0.1": running(member(0, 3), { at }) };
    const known = facts({ machines: three.map((address) => configured(address)), bootstrapDone: founded });
    const seen = observed({ facts: known, looks, talosconfig: { kind: "present", value: { ...value, isOurs: true } } });
    const { actions = [] } = keepAccess.decide(assess(seen)) ?? {};
    assert.equal(
      actions.some(({ kind }) => kind === "WriteTalosconfig"),
      isWritten,
    );
  });
